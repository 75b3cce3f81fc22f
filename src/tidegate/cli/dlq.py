"""`tidegate dlq`: what became of rows that went wrong, and another try for them.

Nothing is removed: a dead-letter sink belongs to the run that writes it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import click

from tidegate.connectors.letters import Choice, Letter, letters, original, put

_EPILOG = """\b
Examples:
  tidegate dlq stats late_rows
  tidegate dlq show kafka://localhost:9092/dlq --kind error --limit 5
  tidegate dlq replay late_rows --reason malformed_record --to incoming
"""


@click.group("dlq", epilog=_EPILOG)
def command() -> None:
    """Look into dead letters, and replay them. PLACE is a directory of JSON lines, or kafka://BROKERS/TOPIC."""


def _choice(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which letters are meant."""
    for name, kinds in (
        ("stream", "of that stream or source"),
        ("reason", "for that reason"),
        ("kind", "of that kind"),
    ):
        function = click.option(f"--{name}", help=f"Only letters {kinds}.")(function)
    return click.argument("place")(function)


def _chosen(place: str, choice: Choice) -> Iterator[Letter]:
    return (letter for letter in letters(place) if choice.takes(letter))


@command.command("show")
@_choice
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="Whole payloads, a line each.")
def show(
    place: str, kind: str | None, reason: str | None, stream: str | None, limit: int, as_json: bool
) -> None:
    """Show letters, the oldest first."""
    for letter in islice(_chosen(place, Choice(kind=kind, reason=reason, stream=stream)), limit):
        if as_json:
            click.echo(json.dumps(letter, ensure_ascii=False))
            continue
        head = f"{letter.get('processing_time')}  {letter.get('stream')}  {letter['kind']}/{letter['reason']}"
        click.echo(head)
        for name in ("event_time", "window", "group_key", "original_event", "error_detail"):
            if letter.get(name) is not None:
                click.echo(f"    {name}: {_shown(letter[name])}")


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@command.command("stats")
@_choice
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def stats(
    place: str, kind: str | None, reason: str | None, stream: str | None, as_json: bool
) -> None:
    """Count letters by stream, kind and reason."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for letter in _chosen(place, Choice(kind=kind, reason=reason, stream=stream)):
        counts[str(letter.get("stream")), letter["kind"], letter["reason"]] += 1
    for (of, what, why), count in sorted(counts.items()):
        if as_json:
            told = {"stream": of, "kind": what, "reason": why, "count": count}
            click.echo(json.dumps(told, ensure_ascii=False))
        else:
            click.echo(f"{count:>12,}  {of}  {what}/{why}")
    if not as_json:
        click.echo(f"{counts.total():>12,}  in all")


@command.command("replay")
@_choice
@click.option(
    "--to", required=True, metavar="PLACE", help="The directory or topic that rows are added to."
)
@click.option("--dry-run", is_flag=True, help="Only say how many there are.")
def replay(
    place: str, kind: str | None, reason: str | None, stream: str | None, to: str, dry_run: bool
) -> None:
    """Put original rows back where a source reads them, as lines of JSON.

    Late rows are late again: raise allowed_lateness first, or read them by a stream of their own. Letters whose
    original is not there (include_original = false), or was cut, are counted.
    """
    rows, lost = [], 0
    for letter in _chosen(place, Choice(kind=kind, reason=reason, stream=stream)):
        row = original(letter)
        if row is None:
            lost += 1
        else:
            rows.append(row)
    where = to if dry_run or not rows else put(to, rows)
    done = "would be added" if dry_run else "added"
    click.echo(f"{len(rows):,} rows {done} to {where}; {lost:,} letters have no original")
