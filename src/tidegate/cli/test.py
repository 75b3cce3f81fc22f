"""`tidegate test`: plays scenarios and shows what is not as expected.

Decided here: all scenarios run, whatever becomes of those before. A file that cannot be read as a scenario makes the
exit code 2, for then nobody knows what it would have said; else one that differs, or that broke us, makes it 5. That
nothing was found to run is a mistake, too: a green run of nothing is worth nothing.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate.cli.messages import paint_outcome
from tidegate.cli.selection import selection

if TYPE_CHECKING:
    from tidegate.scenarios.steps import Scenario
    from tidegate.session.trials import Trial

_DIFFERS, _MALFORMED = 5, 2
_SUFFIXES = (".yaml", ".yml")
_EPILOG = """\b
Examples:
  tidegate test scenarios/hopping.yaml
  tidegate test scenarios -k "cumulating and not size" --junit report.xml
"""


@click.command("test", epilog=_EPILOG)
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path)
)
@click.option(
    "--engine",
    type=click.Choice(["local", "spark", "all"]),
    default="local",
    show_default=True,
    help="What runs the scenarios.",
)
@click.option(
    "-k", "expression", metavar="EXPR", help="Only those with these words in name or path."
)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a report for CI servers, too.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per scenario and engine.")
@click.option("-v", "--verbose", is_flag=True, help="Show those that hold, too.")
def command(
    paths: tuple[Path, ...],
    engine: str,
    expression: str | None,
    junit: Path | None,
    as_json: bool,
    verbose: bool,
) -> None:
    """Play the scenarios in files, or in directories of *.yaml and *.yml files.

    Exits with 0 if all hold, with 5 if some differ, with 2 if a file is malformed.
    """
    from tidegate.session.choice import ENGINES, need

    chosen = selection(expression) if expression is not None else _every
    need(["yaml"], extra="local")
    trials = []
    show = _show_json if as_json else _shower(verbose)
    for trial in _trials(_files(paths), ENGINES if engine == "all" else (engine,), chosen):
        trials.append(trial)
        show(trial)
    if junit is not None:
        from tidegate.cli.junit import write_junit

        write_junit(junit, trials)
    if not trials:
        raise click.UsageError(f"there is no scenario to run in {', '.join(map(str, paths))}")
    if not as_json:
        click.echo(_summary(trials))
    sys.exit(_exit_code(trials))


def _every(_text: str) -> bool:
    return True


# What is run


def _files(paths: Sequence[Path]) -> list[Path]:
    """Those that are named, and all in directories; each once."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else None
        if inside is None:
            found[path] = None
        else:
            found |= dict.fromkeys(
                file for file in inside if file.suffix.lower() in _SUFFIXES and file.is_file()
            )
    return list(found)


def _trials(
    files: Sequence[Path], engines: Sequence[str], chosen: Callable[[str], bool]
) -> Iterator["Trial"]:
    from tidegate.session.choice import build_of

    builds = {engine: build_of(engine) for engine in engines}

    from tidegate.session.trials import attempt, unreadable

    for file in files:
        scenario = _read(file)
        if isinstance(scenario, Exception):
            yield from (unreadable(str(file), engine, scenario) for engine in engines)
        elif chosen(f"{scenario.name} {scenario.file}"):
            yield from (attempt(scenario, engine, build) for engine, build in builds.items())


def _read(file: Path) -> "Scenario | Exception":
    from tidegate.scenarios.loader import load

    try:
        return load(file)
    except Exception as problem:  # one file must not end the run of all others
        return problem


# What is said


def _show_json(trial: "Trial") -> None:
    shown = asdict(trial)
    del shown["malformed"]
    click.echo(json.dumps(shown | {"seconds": round(trial.seconds, 6)}, ensure_ascii=False))


def _shower(verbose: bool) -> Callable[["Trial"], None]:
    quiet = () if verbose else ("passed", "skipped")

    def show(trial: "Trial") -> None:
        if trial.outcome in quiet:
            return
        outcome = paint_outcome(f"{trial.outcome:<7}", trial.outcome)
        click.echo(f"{outcome} {trial.engine:<5} {trial.name or trial.file}", color=True)
        if trial.message:
            click.echo("".join(f"  {line}\n" for line in trial.message.splitlines()))

    return show


def _summary(trials: Sequence["Trial"]) -> str:
    counts = Counter(str(trial.outcome) for trial in trials)
    words = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    seconds = sum(trial.seconds for trial in trials)
    return f"{', '.join(words)} in {seconds:.1f} s"


def _exit_code(trials: Sequence["Trial"]) -> int:
    if any(trial.malformed for trial in trials):
        return _MALFORMED
    bad = any(trial.outcome in ("failed", "error") for trial in trials)
    return _DIFFERS if bad else 0
