"""`tidegate check`: is this SQL sound? All errors of all files, not only the first."""

import sys
from collections import Counter
from pathlib import Path

import click

from tidegate.cli.messages import only_counted, show_errors
from tidegate.cli.scripts import (
    chosen_files,
    config_option,
    load_settings,
    plan_source,
    read_source,
    sql_option,
)
from tidegate.errors import TidegateError
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.plan.settings import Settings

_EPILOG = """\b
Examples:
  tidegate check query.sql
  tidegate check pipelines/*.sql
  tidegate check -e "CREATE SOURCE s (k VARCHAR, ts TIMESTAMP)"
"""


@click.command("check", epilog=_EPILOG)
@click.argument("files", nargs=-1, metavar="FILE...")
@sql_option
@config_option
def command(files: tuple[str, ...], text: str | None, config_file: Path | None) -> None:
    """Parse, bind and plan SQL; report everything that is wrong.

    Exits with 0 if all of it is sound, with 3 if some is not, with 2 if a file cannot be read.
    """
    settings = load_settings(config_file)
    refused: list[TidegateError] = []
    for file in chosen_files(files, text):
        found = _errors_of(file, text, settings)
        if found and refused:
            click.echo(err=True)
        show_errors(found)
        refused.extend(found)
    if refused:
        count = len(refused)
        click.echo(f"\n{count} error{'' if count == 1 else 's'}", err=True)
        sys.exit(min(error.exit_code for error in refused))


def _errors_of(file: str, text: str | None, settings: Settings) -> list[TidegateError]:
    """All that is wrong with one file; a sound one is summed up."""
    try:
        planned = plan_source(read_source(file, text), settings)
    except TidegateError as unreadable:
        return [unreadable]
    if not planned.program.errors:
        for query in planned.program.queries:
            plan_query(query, planned.program)
        click.echo(f"{planned.name}: {summary(planned.program)}")
        _warn(planned.program)
    return planned.program.errors


def _warn(program: Program) -> None:
    """What is allowed, and perhaps not meant. Who opens sinks is loaded only if some are named."""
    own = (dict(query.logical.options) for query in program.queries)
    given = (*own, program.settings.defaults, program.settings.session)
    if not any(name.endswith(".sink") for options in given for name in options):
        return
    from tidegate.engines.routes import unknown_routes

    for name, what in unknown_routes(program).items():
        click.echo(only_counted(name, what), err=True)


def summary(program: Program) -> str:
    """`1 source, 2 streams`: what a script defines and runs."""
    kinds = ("source", "table", "stream", "sink")
    counts = Counter({kind: len(program.catalog.all_of(kind)) for kind in kinds})
    counts["query"] = sum(query.anonymous for query in program.queries)
    words = [f"{count} {_plural(kind, count)}" for kind, count in counts.items() if count]
    return ", ".join(words) or "nothing to do"


def _plural(kind: str, count: int) -> str:
    if count == 1:
        return kind
    return "queries" if kind == "query" else f"{kind}s"
