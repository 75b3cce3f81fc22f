"""`tidegate explain`: what a query means, and how it is run."""

import json
import sys
from pathlib import Path

import click

from tidegate import errors
from tidegate.cli.messages import show_errors
from tidegate.cli.scripts import (
    chosen_files,
    config_option,
    load_settings,
    plan_source,
    read_source,
    sql_option,
)
from tidegate.plan.explain.json import as_object
from tidegate.plan.explain.logical import logical_tree
from tidegate.plan.explain.physical import physical_tree
from tidegate.plan.explain.text import as_text
from tidegate.plan.explain.tree import Node
from tidegate.plan.planner import plan_query
from tidegate.plan.script import NamedQuery, Program

_EPILOG = """\b
Examples:
  tidegate explain query.sql
  tidegate explain query.sql --stream vwap --logical
  tidegate explain query.sql --sql --format json
"""


@click.command("explain", epilog=_EPILOG)
@click.argument("files", nargs=-1, metavar="FILE")
@sql_option
@config_option
@click.option(
    "--stream", metavar="NAME", help="Only this stream; all queries of the file otherwise."
)
@click.option("--logical", "level", flag_value="logical", help="What the query means.")
@click.option(
    "--physical",
    "level",
    flag_value="physical",
    default="physical",
    help="How it is run (the default).",
)
@click.option(
    "--sql", "show_sql", is_flag=True, help="With the SQL that each engine runs per batch."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(
    files: tuple[str, ...],
    text: str | None,
    config_file: Path | None,
    stream: str | None,
    level: str,
    show_sql: bool,
    form: str,
) -> None:
    """Show how the queries of a file are understood and run."""
    settings = load_settings(config_file)
    chosen = chosen_files(files, text)
    if len(chosen) != 1:
        raise click.UsageError("explain takes one file")
    planned = plan_source(read_source(chosen[0], text), settings)
    if planned.program.errors:
        show_errors(planned.program.errors)
        sys.exit(3)
    queries = _chosen(planned.program, stream, planned.name)
    trees = [_tree(query, planned.program, level, show_sql) for query in queries]
    if form == "json":
        shown = [as_object(tree) for tree in trees]
        click.echo(json.dumps(shown[0] if stream else shown, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(map(as_text, trees)), nl=False)


def _chosen(program: Program, stream: str | None, file: str) -> list[NamedQuery]:
    if stream is None:
        return program.queries
    found = program.query(stream)
    if found is None:
        names = [query.name for query in program.queries]
        otherwise = f"it has {', '.join(names)}" if names else "it defines no stream"
        raise errors.no_such_stream(
            file=file, name=stream, hint=errors.nearest(stream, names, otherwise=otherwise)
        )
    return [found]


def _tree(query: NamedQuery, program: Program, level: str, show_sql: bool) -> Node:
    if level == "logical":
        return logical_tree(query.logical)
    return physical_tree(plan_query(query, program), sql=show_sql)
