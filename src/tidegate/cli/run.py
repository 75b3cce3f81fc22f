"""`tidegate run`: a pipeline, from its sources to its sinks, until they end or somebody stops it."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tidegate.cli.messages import show_errors
from tidegate.cli.overrides import define_option, pairs, settings_with
from tidegate.cli.scripts import chosen_files, config_option, read_source, sql_option
from tidegate.plan.settings import Settings
from tidegate.session.choice import (
    ENGINES,
    LOCAL,
    Running,
    default_engine,
    get_ready,
    need_engine,
)
from tidegate.sql.source import SourceText

_FORMS = ("table", "csv", "json", "jsonl", "markdown", "arrow")
_EPILOG = """\b
Examples:
  tidegate run pipeline.sql
  tidegate run pipeline.sql --bounded --checkpoint state
  tidegate run pipeline.sql --bounded -o csv -D watermark_lag=10s
  tidegate run pipeline.sql --ui 0
"""


@click.command("run", epilog=_EPILOG)
@click.argument("files", nargs=-1, metavar="FILE")
@sql_option
@click.option("-f", "--file", "named", metavar="FILE", help="The same as FILE.")
@config_option
@define_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=default_engine,
    show_default="spark; local where Spark is not installed",
    envvar="TIDEGATE_ENGINE",
    show_envvar=True,
    help="What runs the pipeline.",
)
@click.option("--master", metavar="URL", help="The Spark cluster; local[*] if not given.")
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark's.")
@click.option("--checkpoint", metavar="DIR", help="Keep state here, and go on from it.")
@click.option("--reset-state", is_flag=True, help="Begin anew, whatever the checkpoint holds.")
@click.option(
    "--bounded/--follow",
    default=None,
    help="Read what is there now and end; or wait for more. As declared, if not given.",
)
@click.option(
    "--batch-rows",
    type=click.IntRange(min=1),
    metavar="N",
    help="About how many rows an epoch takes at most.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(_FORMS),
    help="How rows of a SELECT are printed: table on a terminal, jsonl elsewhere.",
)
@click.option(
    "--ui",
    metavar="[HOST:]PORT",
    help="Show the run on a live page; 0 is any free port. On hosts but this one, its URL has a token.",
)
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Tell Prometheus of the run, at /metrics there; 0 is any free port.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of the progress.")
def command(  # noqa: PLR0913  # one argument per option
    files: tuple[str, ...],
    text: str | None,
    named: str | None,
    config_file: Path | None,
    defined: tuple[str, ...],
    engine: str,
    master: str | None,
    conf: tuple[str, ...],
    checkpoint: str | None,
    reset_state: bool,
    bounded: bool | None,
    batch_rows: int | None,
    form: str | None,
    ui: str | None,
    metrics: str | None,
    quiet: bool,
) -> None:
    """Run a pipeline: sources, streams and sinks of a file. Rows of a SELECT are printed, status goes to stderr.

    Where all sources end, everything that is open is emitted, and what became of every row is summed up. The first
    Ctrl-C stops between two epochs; with a checkpoint, the same command goes on from there. Exits with 0 when it has
    ended or was stopped, with 130 when --bounded was stopped before its end.
    """
    if reset_state and checkpoint is None:
        raise click.UsageError("--reset-state needs --checkpoint")
    if engine == LOCAL and (master or conf):
        raise click.UsageError("--master and --conf are for --engine spark")
    need_engine(engine)
    chosen = chosen_files((*files, *([named] if named else [])), text)
    if len(chosen) != 1:
        raise click.UsageError("run takes one file")
    settings = settings_with(config_file, defined)
    source = read_source(chosen[0], text)
    _refuse_unsound(source, settings)
    running = Running(
        bounded=bounded, batch_rows=batch_rows, master=master, conf=pairs(conf, "--conf")
    )
    get_ready(engine, running, settings)

    from tidegate.cli.running import Asked, Pipeline

    asked = Asked(
        engine=engine,
        running=running,
        checkpoint=checkpoint,
        reset=reset_state,
        form=form or ("table" if sys.stdout.isatty() else "jsonl"),
        quiet=quiet,
        ui=ui,
        metrics=metrics,
        resume=_resume_with(sys.argv[1:]),
    )
    sys.exit(Pipeline(source, settings, asked).run())


def _refuse_unsound(source: SourceText, settings: Settings) -> None:
    """All that is wrong with the text is shown, not only the first."""
    from tidegate.cli.scripts import plan_source

    program = plan_source(source, settings).program
    if program.errors:
        show_errors(program.errors)
        sys.exit(min(error.exit_code for error in program.errors))


def _resume_with(arguments: Sequence[str]) -> str:
    return shlex.join(["tidegate", *(one for one in arguments if one != "--reset-state")])
