"""`tidegate check`: is this SQL sound? All errors of all files, not only the first."""

import sys
from collections import Counter
from pathlib import Path

import click

from tidegate.cli.messages import show_errors
from tidegate.cli.scripts import config_option, load_settings, plan_source, read_sources, sql_option
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program

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

    Exits with 0 if all of it is sound, with 3 if some is not.
    """
    settings = load_settings(config_file)
    refused = []
    for source in read_sources(files, text):
        planned = plan_source(source, settings)
        if planned.program.errors:
            refused.extend(planned.program.errors)
            continue
        for query in planned.program.queries:
            plan_query(query, planned.program)
        click.echo(f"{planned.name}: {summary(planned.program)}")
    if refused:
        show_errors(refused)
        count = len(refused)
        click.echo(f"\n{count} error{'' if count == 1 else 's'}", err=True)
        sys.exit(3)


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
