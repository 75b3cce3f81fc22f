"""What commands say: results on stdout, everything else on stderr, colours only where a person looks.

`NO_COLOR` turns colours off, `FORCE_COLOR` on; otherwise a terminal decides.
"""

import os
import sys

import click

from tidegate.errors import TidegateError
from tidegate.sql.carets import Paint, describe, plain

_STYLES: dict[str, dict[str, str | bool]] = {
    "code": {"fg": "red", "bold": True},
    "message": {"bold": True},
    "caret": {"fg": "red", "bold": True},
    "hint": {"fg": "cyan"},
}


def _painter() -> Paint:
    if os.environ.get("NO_COLOR"):
        return plain
    if os.environ.get("FORCE_COLOR") or sys.stderr.isatty():
        return lambda text, role: click.style(text, **_STYLES[role])  # type: ignore[arg-type]
    return plain


def show_error(error: TidegateError) -> None:
    """One error, in full, on stderr."""
    click.echo(describe(error, _painter()), err=True, color=True)


def show_errors(errors: list[TidegateError]) -> None:
    """Several, with a blank line between."""
    for place, error in enumerate(errors):
        if place:
            click.echo(err=True)
        show_error(error)
