"""Partials of many ranges of rows, from pieces that ranges have in common.

In: rows, each a partial of its own, and ranges of them. Out: the partial of each range. Decided here: how what cannot
be folded as numbers (moments, followers, long sums, texts) is still combined once and not per range. Pieces of two rows
are made of rows, pieces of four of those of two, and so on; a range of n rows is then at most two pieces of each size,
some 2·log2(n) in all. All ranges take their pieces of one size at once.

It is a segment tree (Bentley 1977), walked from its leaves up.

>>> from tidegate.kernel.groups import ROWS
>>> rows = pa.record_batch({ROWS: [1, 1, 1, 1, 1, 1, 1]})
>>> shared = Shared([])
>>> shared.add(rows, np.array([0, 3, 1]), np.array([7, 4, 6]))
>>> shared.partials().column(ROWS).to_pylist()
[7, 1, 5]
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, numbers
from tidegate.kernel.groups import GroupTable
from tidegate.model.expressions import Field
from tidegate.model.partials import PartialSpec
from tidegate.model.types import Scalar

_RANGE = Field("$range", Scalar.BIGINT)


class Shared:
    """The partials of ranges, each over rows that may be given in several parts; no range stays empty."""

    def __init__(self, specs: Sequence[PartialSpec]) -> None:
        self._specs = specs
        self._ranges = GroupTable([_RANGE], specs, timed=False)

    def add(self, rows: pa.RecordBatch, first: Integers, end: Integers) -> None:
        """For each range, the rows [first, end)."""
        pieces, first, end = rows, first.copy(), end.copy()
        while True:
            lower = (first & 1 == 1) & (first < end)
            _add(self._ranges, pieces, first, lower)
            first += lower
            upper = (end & 1 == 1) & (first < end)
            end -= upper
            _add(self._ranges, pieces, end, upper)
            first >>= 1
            end >>= 1
            if not (first < end).any():
                break
            pieces = _pairs(pieces, self._specs)

    def partials(self) -> pa.RecordBatch:
        made = self._ranges.partials()
        order = np.argsort(numbers(made.column(_RANGE.name)).values)
        return made.take(pa.array(order))


def _add(ranges: GroupTable, pieces: pa.RecordBatch, places: Integers, which: Mask) -> None:
    rows = np.flatnonzero(which)
    if len(rows):
        ranges.merge(_named(pieces.take(pa.array(places[rows])), rows))


def _pairs(pieces: pa.RecordBatch, specs: Sequence[PartialSpec]) -> pa.RecordBatch:
    """Pieces of twice the size."""
    places = np.arange(pieces.num_rows)
    table = GroupTable([_RANGE], specs, timed=False, reserve=(len(places) + 1) // 2)
    for half in (places[0::2], places[1::2]):
        table.merge(_named(pieces.take(pa.array(half)), half >> 1))
    return table.partials()


def _named(pieces: pa.RecordBatch, ranges: Integers) -> pa.RecordBatch:
    column = array_of(ranges, None, pa.int64())
    if _RANGE.name in pieces.schema.names:
        place = pieces.schema.get_field_index(_RANGE.name)
        return pieces.set_column(place, _RANGE.name, column)
    return pieces.append_column(_RANGE.name, column)
