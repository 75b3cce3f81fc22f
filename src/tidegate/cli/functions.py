"""`tidegate functions`: what queries can call."""

import json

import click

from tidegate import errors
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
    chosen = [entry for entry in entries() if name is None or _fits(entry, name)]
    if not chosen:
        known = [alias for entry in entries() for alias in (entry.name, *entry.aliases)]
        raise errors.unknown_function(name=name, hint=errors.nearest(str(name), known))
    if form == "json":
        click.echo(
            json.dumps([entry.as_object() for entry in chosen], indent=2, ensure_ascii=False)
        )
    elif name is not None and len(chosen) == 1:
        click.echo(_in_full(chosen[0]))
    else:
        _list(chosen)


def _fits(entry: Entry, name: str) -> bool:
    return any(name.lower() in candidate.lower() for candidate in (entry.name, *entry.aliases))


def _list(chosen: list[Entry]) -> None:
    width = max(len(entry.name) for entry in chosen)
    family = ""
    for entry in chosen:
        if entry.family != family:
            click.echo(f"{'' if not family else chr(10)}{click.style(entry.family, bold=True)}")
            family = entry.family
        click.echo(f"  {entry.name:<{width}}  {entry.doc}")


def _in_full(entry: Entry) -> str:
    lines = [click.style(entry.name, bold=True), f"  {entry.doc}"]
    lines += [f"  {form}" for form in entry.forms]
    if entry.aliases:
        lines.append(f"  also called {', '.join(entry.aliases)}")
    if entry.example:
        lines.append(f"  example: {entry.example}")
    return "\n".join(lines)
