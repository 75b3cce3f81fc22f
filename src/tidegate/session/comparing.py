"""Two tables that should hold the same rows, in any order.

Decided here: floating numbers are the same at 1e-9, relative to the larger one or absolute; everything else to the bit.
Rows are paired by all that is exact in them, so that a wrong sum is told as the row it is in.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from tidegate.model.schema import Column
from tidegate.model.time import format_instant
from tidegate.model.types import DataType, Scalar, is_float

_CLOSE = 1e-9
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A row that only one side has, by column."""

    side: str
    row: Mapping[str, str]


def differences(
    ours: pa.Table, theirs: pa.Table, columns: Sequence[Column], *, names: tuple[str, str]
) -> Iterator[Difference]:
    """Rows that one side has and the other has not; `names` are those of the sides."""
    exact = [place for place, column in enumerate(columns) if not is_float(column.type)]
    loose = [place for place, column in enumerate(columns) if is_float(column.type)]
    groups: dict[Row, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, table in enumerate((ours, theirs)):
        for row in _rows(table, columns):
            key = tuple(row[place] for place in exact)
            groups[key][side].append(tuple(row[place] for place in loose))
    places = [*exact, *loose]
    for key, (left, right) in groups.items():
        for side, values in _unpaired(left, right):
            found = dict(zip(places, (*key, *values), strict=True))
            shown = {
                column.name: _shown(found[place], column.type)
                for place, column in enumerate(columns)
            }
            yield Difference(side=names[side], row=shown)


def _unpaired(left: list[Row], right: list[Row]) -> Iterator[tuple[int, Row]]:
    if len(left) == len(right):
        pairs = list(zip(sorted(left, key=_order), sorted(right, key=_order), strict=True))
        if all(_close(one, other) for one, other in pairs):
            return
    rest = [*right]
    for row in left:
        found = next((place for place, other in enumerate(rest) if _close(row, other)), None)
        if found is None:
            yield 0, row
        else:
            rest.pop(found)
    for row in rest:
        yield 1, row


def _order(row: Row) -> tuple[tuple[bool, bool, float], ...]:
    return tuple(
        (
            value is None,
            value is not None and math.isnan(value),
            0.0 if value is None or math.isnan(value) else value,
        )
        for value in row
    )


def _close(one: Row, other: Row) -> bool:
    return all(_equal(left, right) for left, right in zip(one, other, strict=True))


def _equal(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    both_nan = math.isnan(left) and math.isnan(right)
    return both_nan or math.isclose(left, right, rel_tol=_CLOSE, abs_tol=_CLOSE)


# Values


def _rows(table: pa.Table, columns: Sequence[Column]) -> Iterator[Row]:
    return zip(*(_values(table.column(column.name)) for column in columns), strict=True)


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist())
    return [_plain(value) for value in column.to_pylist()]


def _plain(value: Any) -> Any:
    """Hashable, and of one kind on both sides."""
    match value:
        case datetime():
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            since = aware - datetime(1970, 1, 1, tzinfo=UTC)
            return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        case list() | tuple():
            return tuple(map(_plain, value))
        case dict():
            return tuple((name, _plain(part)) for name, part in sorted(value.items()))
        case _:
            return value


def _shown(value: Any, kind: DataType) -> str:
    if value is None:
        return "NULL"
    return format_instant(value) if kind is Scalar.TIMESTAMP else str(value)
