"""Counting windows: every `step` rows, the last `rows` rows (semantics §2).

    rows 3, step 2          a  b | c  d | e  f | g          windows: ab, bcd, def; at the end of input: fg
    since the last window   1  0   1  0   1  0   1

Decided here: that each row says how many rows have come since the last window of its partition, itself included, and
0 if it completed one. The last row of a partition thus tells all that the next batch has to know.
"""

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, conform, numbers
from tidegate.kernel.completing import CompletingStore, Cut
from tidegate.kernel.windowed import Contained
from tidegate.model.expressions import Field
from tidegate.model.types import Scalar
from tidegate.model.windows import Counting

SINCE = Field("$since", Scalar.BIGINT)


class CountingStore(CompletingStore):
    """The last rows of each partition."""

    def __init__(self, window: Counting, what: Contained, partition: tuple[Field, ...]) -> None:
        super().__init__(what, partition, (SINCE,))
        self._window = window

    def _as_kept(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        unknown = array_of(np.zeros(rows.num_rows, np.int64), None, pa.int64())
        return rows.append_column(SINCE.name, unknown).select(self._rows.schema.names)

    def cut(self, rows: pa.RecordBatch, starts: Integers, new: Mask) -> Cut:
        owner = owners_of(starts, len(new))
        since = np.where(new, 0, numbers(conform(rows.column(SINCE.name), Scalar.BIGINT)).values)
        known = np.flatnonzero(~new)
        began = np.zeros(len(starts), np.int64)
        began[owner[known]] = since[known]  # of the rows of a partition the last one stays
        come = _counted(new, starts, owner)
        since = np.where(new, (began[owner] + come) % self._window.step, since)
        ends = np.flatnonzero(new & (since == 0)) + 1
        first = np.maximum(ends - self._window.rows, starts[owner[ends - 1]])
        place = rows.schema.get_field_index(SINCE.name)
        told = rows.set_column(place, SINCE.name, array_of(since, None, pa.int64()))
        return Cut(told, first, ends, self._last(starts, len(new)))

    def _last(self, starts: Integers, count: int) -> Mask:
        """The last rows of each partition, which windows to come may hold."""
        lengths = np.diff(np.r_[starts, count])
        from_end = np.repeat(starts + lengths, lengths) - np.arange(count)
        kept: Mask = from_end <= self._window.rows
        return kept

    def rest(self, rows: pa.RecordBatch, starts: Integers) -> Cut:
        """The windows that would have come next, as far as they have rows."""
        ends = np.r_[starts[1:], rows.num_rows][: len(starts)]
        since = numbers(rows.column(SINCE.name)).values[ends - 1]
        size = np.minimum(self._window.rows - (self._window.step - since), ends - starts)
        begun = (since > 0) & (size > 0)
        none = np.zeros(rows.num_rows, bool)
        return Cut(rows, (ends - size)[begun], ends[begun], none)


def owners_of(starts: Integers, count: int) -> Integers:
    lengths = np.diff(np.r_[starts, count]) if len(starts) else starts
    return np.repeat(np.arange(len(starts)), lengths)


def _counted(new: Mask, starts: Integers, owner: Integers) -> Integers:
    """For each row, how many new rows its partition has up to it."""
    counts: Integers = np.cumsum(new)
    before: Integers = counts[starts] - new[starts]
    found: Integers = counts - before[owner]
    return found
