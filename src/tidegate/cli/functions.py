"""`tidegate functions`: what queries can call."""

import json
import sys

import click

from tidegate import errors
from tidegate.cli.messages import show_error, show_heading
from tidegate.plan.reference import Entry, entries

_EPILOG = """\b
Examples:
  tidegate functions
  tidegate functions trim
  tidegate functions --format json
"""


@click.command("functions", epilog=_EPILOG)
@click.argument("name", required=False)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(name: str | None, form: str) -> None:
    """List the functions that queries can call, or describe one of them."""
    chosen = entries() if name is None else _found(name)
    if not chosen:
        known = [alias for entry in entries() for alias in _names(entry)]
        show_error(errors.unknown_function(name=name, hint=errors.nearest(str(name), known)))
        sys.exit(2)
    if form == "json":
        click.echo(
            json.dumps([entry.as_object() for entry in chosen], indent=2, ensure_ascii=False)
        )
    elif name is not None and len(chosen) == 1:
        _show(chosen[0])
    else:
        _list(chosen)


def _found(name: str) -> list[Entry]:
    """The function of that name; else those with a name that it is part of."""
    lowered = name.lower()
    exact = [entry for entry in entries() if lowered in _names(entry)]
    return exact or [
        entry for entry in entries() if any(lowered in other for other in _names(entry))
    ]


def _names(entry: Entry) -> tuple[str, ...]:
    return (entry.name, *entry.aliases)


def _list(chosen: list[Entry]) -> None:
    width = max(len(entry.name) for entry in chosen)
    family = ""
    for entry in chosen:
        if entry.family != family:
            if family:
                click.echo()
            show_heading(entry.family)
            family = entry.family
        click.echo(f"  {entry.name:<{width}}  {entry.doc}")


def _show(entry: Entry) -> None:
    show_heading(entry.name)
    for line in (entry.doc, *entry.forms):
        click.echo(f"  {line}")
    if entry.aliases:
        click.echo(f"  also called {', '.join(entry.aliases)}")
    if entry.example:
        click.echo(f"  example: {entry.example}")
