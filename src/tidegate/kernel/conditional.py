"""State windows: from the first row that opens to the first later one that closes, both in (semantics §2).

    opens       o . . o . . o                   rows before the first o, and between a window and the next o,
    closes      . . c . . c .                   are in no window
    windows     [---]  [---]  [ still open

Decided here: how windows are found without walking from row to row. Each row that opens knows the row that would close
its window, and so the row that would open the next one; which of them really do is found by doubling these steps, in as
many rounds as the number of windows has binary digits. NULL neither opens nor closes.
"""

from typing import Literal

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, conform, numbers
from tidegate.kernel.chains import chain
from tidegate.kernel.completing import CompletingStore, Cut
from tidegate.kernel.counting import owners_of
from tidegate.kernel.windowed import Contained
from tidegate.model.expressions import Field
from tidegate.model.types import Scalar


class ConditionalStore(CompletingStore):
    """The rows of open windows: what is kept of a partition is its window, from the row that opened it."""

    def __init__(
        self, opens: Field, closes: Field, what: Contained, partition: tuple[Field, ...]
    ) -> None:
        super().__init__(what, partition, (opens, closes))
        self._opens, self._closes = opens, closes

    def cut(self, rows: pa.RecordBatch, starts: Integers, new: Mask) -> Cut:
        count = rows.num_rows
        owner = owners_of(starts, count)
        ends = np.r_[starts[1:], count][: len(starts)]
        opens, closes = _holds(rows, self._opens) & new, _holds(rows, self._closes) & new
        closing = _next(closes, owner, ends, side="right")
        # A window that was open goes on from its first row, which is the first of its partition.
        begins = np.where(new[starts], _next(opens, owner, ends)[starts], starts)
        following = _next(opens, owner, ends, side="right")[closing]
        first = chain(begins, following)
        end = closing[first]
        complete = end < count
        open_first = first[~complete]
        kept = _within(open_first, ends[owner[open_first]], count)
        first, end = first[complete], end[complete] + 1
        inside = kept | _within(first, end, count)
        return Cut(rows, first, end, kept, unused=int((~inside).sum()))

    def rest(self, rows: pa.RecordBatch, starts: Integers) -> Cut:
        """Open windows, as far as they have rows."""
        ends = np.r_[starts[1:], rows.num_rows][: len(starts)]
        return Cut(rows, starts, ends, np.zeros(rows.num_rows, bool))


def _holds(rows: pa.RecordBatch, condition: Field) -> Mask:
    holds: Mask = numbers(conform(rows.column(condition.name), Scalar.BOOLEAN)).filled(False)
    return holds


def _next(
    holds: Mask, owner: Integers, ends: Integers, *, side: Literal["left", "right"] = "left"
) -> Integers:
    """For each row the first one of its partition where it holds, from itself on or, on the `right`, behind it.

    The number of rows where there is none, which is also what stands behind the last row.
    """
    count = len(holds)
    places = np.append(np.flatnonzero(holds), count)
    found = np.full(count + 1, count)
    found[:count] = places[np.searchsorted(places, np.arange(count), side=side)]
    elsewhere = found[:count] >= ends[owner]
    found[:count][elsewhere] = count
    return found


def _within(first: Integers, end: Integers, count: int) -> Mask:
    """Rows inside one of the runs, which do not overlap."""
    change = np.zeros(count + 1, np.int64)
    np.add.at(change, first, 1)
    np.add.at(change, end, -1)
    inside: Mask = np.cumsum(change[:count]) > 0
    return inside
