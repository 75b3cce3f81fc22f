"""`tidegate why`: why has this window not fired?

Decided here: TARGET is a file of SQL or a checkpoint. Of a file the sources are read to what they have now, as if more
could come, and nothing is written. A checkpoint is only looked at, also while a run goes on; what it holds in numbers
is told from it alone, windows and groups where the file is given, too.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate import errors
from tidegate.cli.messages import show_errors
from tidegate.cli.overrides import define_option, pairs, settings_with
from tidegate.cli.scripts import config_option, plan_source, read_source
from tidegate.model.time import parse_instant

if TYPE_CHECKING:
    from tidegate.engines.sides import Payload
    from tidegate.plan.script import NamedQuery, Program
    from tidegate.state.survey import Survey

_EPILOG = """\b
Examples:
  tidegate why pipeline.sql minutes
  tidegate why pipeline.sql minutes --window 2026-01-01T00:01:00Z --group k=a
  tidegate why pipeline.sql minutes --checkpoint state
  tidegate why state minutes
"""


@click.command("why", epilog=_EPILOG)
@click.argument("target", metavar="FILE|CHECKPOINT")
@click.argument("stream")
@config_option
@define_option
@click.option("--window", metavar="TIME", help="The window that this instant is in: ISO 8601.")
@click.option("--group", multiple=True, metavar="KEY=VALUE", help="Only this group of it.")
@click.option("--checkpoint", metavar="DIR", help="Of the run that keeps its state here.")
@click.option(
    "--batch-rows",
    type=click.IntRange(min=1),
    metavar="N",
    help="About how many rows an epoch takes at most, as in run.",
)
def command(
    target: str,
    stream: str,
    config_file: Path | None,
    defined: tuple[str, ...],
    window: str | None,
    group: tuple[str, ...],
    checkpoint: str | None,
    batch_rows: int | None,
) -> None:
    """Say what STREAM waits for: its watermark, which input holds it back, what must happen for a window to fire.

    With --window and --group: how many rows that window has, whether it was closed, what came too late for it.
    """
    at_us = None if window is None else _instant(window)
    if _is_checkpoint(target):
        if at_us is not None or group:
            raise click.UsageError(
                f"windows are known with their SQL: tidegate why FILE {stream} --checkpoint {target}"
            )
        lines = _of_checkpoint(target, stream)
    else:
        program = _planned(target, config_file, defined)
        query = _query(program, stream, target)
        lines = _of_program(
            program,
            query,
            at_us,
            pairs(group, "--group"),
            checkpoint=checkpoint,
            batch_rows=batch_rows,
        )
    for line in lines:
        click.echo(line)


def _instant(text: str) -> int:
    try:
        return parse_instant(text)
    except ValueError:
        raise click.UsageError(f"--window {text} is no instant: give ISO 8601") from None


def _is_checkpoint(target: str) -> bool:
    return "://" in target or Path(target).is_dir()


def _planned(file: str, config_file: Path | None, defined: tuple[str, ...]) -> "Program":
    from tidegate.plan.user_aggregates import Installed

    settings = replace(settings_with(config_file, defined), aggregates=Installed())
    program = plan_source(read_source(file, None), settings).program
    if program.errors:
        show_errors(program.errors)
        sys.exit(3)
    return program


def _query(program: "Program", stream: str, file: str) -> "NamedQuery":
    found = program.query(stream)
    if found is None:
        names = [query.name for query in program.queries]
        otherwise = f"it has {', '.join(names)}" if names else "it defines no stream"
        hint = errors.nearest(stream, names, otherwise=otherwise)
        raise errors.no_such_stream(file=file, name=stream, hint=hint)
    return found


def _of_program(
    program: "Program",
    query: "NamedQuery",
    at_us: int | None,
    group: Mapping[str, str],
    *,
    checkpoint: str | None,
    batch_rows: int | None,
) -> Iterator[str]:
    from tidegate.session.choice import LOCAL, Running, need_engine, run_build

    need_engine(LOCAL)
    from tidegate.session.analysis import stood, stood_in
    from tidegate.session.reasons import Question, reasons

    late: list[Payload] = []
    if checkpoint is not None:
        standing = stood_in(checkpoint, query, program)
    else:
        build = run_build(LOCAL, Running(bounded=True, batch_rows=batch_rows), program.settings)
        standing, late = stood(query, program, build)
    unknown = set(group) - set(standing.keys)
    if unknown:
        keys = ", ".join(standing.keys) or "none"
        raise click.UsageError(
            f"{query.name} has no key {', '.join(sorted(unknown))}; keys are {keys}"
        )
    return reasons(standing, Question(at_us=at_us, group=group or None, late=late))


# What a checkpoint says without its SQL


def _of_checkpoint(place: str, stream: str) -> Iterator[str]:
    from tidegate.state.store import store_at
    from tidegate.state.survey import survey

    found = survey(store_at(place))
    names = {name.lower(): name for name in found.identity.plans}
    if stream.lower() not in names:
        otherwise = f"it has {', '.join(names.values())}"
        hint = errors.nearest(stream, names.values(), otherwise=otherwise)
        raise errors.no_such_stream(file=place, name=stream, hint=hint)
    return _told(found, names[stream.lower()], place)


def _told(found: "Survey", stream: str, place: str) -> Iterator[str]:
    from tidegate.session.reasons import instant

    if found.chain is None:
        yield f"{stream}: no epoch is committed yet"
        return
    facts = found.chain.newest.delta.facts
    yield f"{stream}: after epoch {found.epoch}, clock {instant(facts['clock_us'])}"
    for name, at_us in facts["watermarks"].items():
        if name == stream or name.startswith(f"{stream}$") or len(facts["watermarks"]) == 1:
            yield f"  watermark of {name}: {instant(at_us)}"
    others = {name: at for name, at in facts["watermarks"].items() if name != stream}
    for name, at_us in others.items():
        yield f"  watermark of {name}: {instant(at_us)}"
    for line in found.identity.plans[stream]:
        if any(word in line for word in ("window", "time", "emit", "lateness")):
            yield f"  plan: {line}"
    yield f"  windows and groups: tidegate why FILE {stream} --checkpoint {place}"
