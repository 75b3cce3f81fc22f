"""What commands say: results on stdout, everything else on stderr, colours only where a person looks.

`NO_COLOR` turns colours off, `FORCE_COLOR` on; otherwise a terminal decides.
"""

import os
import sys
from typing import TextIO

import click

from tidegate.errors import TidegateError
from tidegate.sql.carets import Paint, describe, plain

_STYLES: dict[str, dict[str, str | bool]] = {
    "code": {"fg": "red", "bold": True},
    "message": {"bold": True},
    "caret": {"fg": "red", "bold": True},
    "hint": {"fg": "cyan"},
}


def _coloured(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    return bool(os.environ.get("FORCE_COLOR")) or terminal


def _paint(text: str, role: str) -> str:
    return click.style(text, **_STYLES[role])  # type: ignore[arg-type]


def show_error(error: TidegateError) -> None:
    """One error, in full, on stderr."""
    paint: Paint = _paint if _coloured(sys.stderr) else plain
    click.echo(describe(error, paint), err=True, color=True)


def show_heading(text: str) -> None:
    """A line of a result that stands out."""
    click.echo(_paint(text, "message") if _coloured(sys.stdout) else text, color=True)


_OUTCOMES = {"passed": "green", "failed": "red", "error": "red", "skipped": "yellow"}


def paint_outcome(text: str, outcome: str) -> str:
    """A word of a result, in the colour of what it says."""
    return click.style(text, fg=_OUTCOMES[outcome]) if _coloured(sys.stdout) else text


def show_errors(errors: list[TidegateError]) -> None:
    """Several, with a blank line between."""
    for place, error in enumerate(errors):
        if place:
            click.echo(err=True)
        show_error(error)


def only_counted(sink: str, what: str) -> str:
    """A route to a sink that nobody defined."""
    return (
        f"warning: {what} are only counted: there is no sink {sink}; "
        f"CREATE SINK {sink} WITH (connector = 'file', path = '{sink}') keeps them"
    )
