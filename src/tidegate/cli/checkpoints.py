"""What there is to say about a checkpoint: as an object for programs, as lines for people.

Facts are the engine's, so nothing is known of them but how instants are named: what is under a name that ends with
`watermark_us`, `clock_us` or `now_us` (or their plurals) is shown as a time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tidegate.model.time import FOREVER_US, NEVER_US, format_instant
from tidegate.plan.fingerprint import Fingerprint
from tidegate.state.chain import Chain
from tidegate.state.documents import FORMAT
from tidegate.state.records import Entry, Facts
from tidegate.state.survey import Survey

_TIMES = re.compile(r"(.*_)?(watermark|clock|now)s?_us")


def as_object(survey: Survey) -> dict[str, Any]:
    """Everything, exactly."""
    chain = survey.chain
    return {
        "checkpoint": survey.place,
        "format": FORMAT,
        "mark": survey.mark,
        "epoch": chain.newest.epoch if chain else None,
        "facts": chain.newest.delta.facts if chain else None,
        "intended": survey.intent,
        "snapshot": _snapshot(chain),
        "deltas": [
            {
                "epoch": link.epoch,
                "facts": link.delta.facts,
                "entries": _entries(link.delta.entries),
            }
            for link in (chain.deltas if chain else ())
        ],
        "streams": {
            name: {"plan_id": Fingerprint(lines).plan_id, "plan": list(lines)}
            for name, lines in survey.identity.plans.items()
        },
    }


def _snapshot(chain: Chain | None) -> dict[str, Any] | None:
    if chain is None or chain.snapshot is None:
        return None
    stored = chain.snapshot
    return {
        "epoch": chain.links[0].epoch,
        "facts": stored.facts,
        "entries": _entries(stored.entries),
    }


def _entries(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in entries]


def as_lines(survey: Survey) -> Iterator[str]:
    """The short of it."""
    chain = survey.chain
    yield from _columns(_summary(survey, chain))
    yield ""
    plans = survey.identity.plans.items()
    streams = [(name, Fingerprint(lines).plan_id) for name, lines in plans]
    yield from _columns([("stream", "plan_id"), *streams])
    if chain is not None:
        yield ""
        yield from _columns([("part", "shard", "held in", "rows", "bytes"), *_parts(chain)])


def _summary(survey: Survey, chain: Chain | None) -> Iterator[tuple[str, str]]:
    yield "checkpoint", survey.place
    yield "epoch", str(survey.epoch) if chain else "none is committed yet"
    if survey.intent is not None:
        yield "intended", f"epoch {survey.epoch + 1}"
    if chain is not None:
        if chain.snapshot is not None:
            yield "snapshot", f"after epoch {chain.links[0].epoch}, {chain.snapshot.bytes:,} bytes"
        size = sum(link.delta.bytes for link in chain.deltas)
        yield (
            "deltas",
            f"{len(chain.deltas):,} epoch{'' if len(chain.deltas) == 1 else 's'}, {size:,} bytes",
        )
        yield from ((name, show_time(at_us)) for name, at_us in times(chain.newest.delta.facts))


def _parts(chain: Chain) -> Iterator[tuple[str, ...]]:
    deltas = [entry for link in chain.deltas for entry in link.delta.entries]
    held = {"snapshot": chain.snapshot.entries if chain.snapshot else (), "deltas": deltas}
    for where, entries in held.items():
        for (name, shard), (rows, size) in sorted(_totals(entries).items()):
            yield name, str(shard), where, f"{rows:,}", f"{size:,}"


def _totals(entries: Iterable[Entry]) -> dict[tuple[str, int], tuple[int, int]]:
    """Rows and bytes of each part of each shard."""
    totals: dict[tuple[str, int], tuple[int, int]] = {}
    for entry in entries:
        for part in entry.parts:
            rows, size = totals.get((part.name, entry.shard), (0, 0))
            totals[part.name, entry.shard] = rows + part.rows, size + part.bytes
    return totals


def _columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Numbers and names alike to the left; what is last in a line is not padded."""
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        yield "  ".join(
            f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
        ).rstrip()


def times(facts: Facts) -> Iterator[tuple[str, int]]:
    """The instants among the facts, each with its path."""
    for path, value in leaves(facts):
        is_time = any(_TIMES.fullmatch(step) for step in path)
        if is_time and isinstance(value, int) and not isinstance(value, bool):
            yield ".".join(path), value


def leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """All that is neither an object nor a list, with the names and numbers that lead to it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, (*path, str(name)))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, str(place)))
    else:
        yield path, value


def show_time(at_us: int) -> str:
    if at_us <= NEVER_US:
        return "none yet"
    if at_us >= FOREVER_US:
        return "end of input"
    try:
        return format_instant(at_us)
    except OverflowError:
        return f"{at_us} µs"


def fact_differences(ours: Facts, theirs: Facts) -> Iterator[str]:
    """`path: ours -> theirs` for what is not the same."""
    before, after = dict(leaves(ours)), dict(leaves(theirs))
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            yield f"{'.'.join(path)}: {before.get(path, 'nothing')} -> {after.get(path, 'nothing')}"
