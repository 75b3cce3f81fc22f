"""Windows that are cut by counting rows, or by conditions on them: what both have in common.

In: rows in the order of arrival. Out: contents of the windows that rows complete. Decided here: how such windows are
kept. The rows of every partition that windows to come may hold stand in front of what arrives, ordered by partition and
then by arrival; so a window is a run of rows, and a batch is cut in passes over all partitions at once.

Windows come out by the number of the row that completed them. They begin with the first instant among their rows and
end one microsecond behind the last; rows without a time say nothing of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, conform, numbers
from tidegate.kernel.finishing import ARRIVAL, TS
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.kernel.scale import by_slot
from tidegate.kernel.taking import no_rows
from tidegate.kernel.windowed import Contained, Edges, Runs, contents_of, nothing
from tidegate.model.expressions import Field
from tidegate.model.types import Scalar

_LATEST, _EARLIEST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Cut:
    """Windows as runs over ordered rows, and which of the rows are kept; `unused` are in no window."""

    rows: pa.RecordBatch
    first: Integers
    end: Integers
    kept: Mask
    unused: int = 0


class CompletingStore(ABC):
    """Rows of windows to come. `partition`: what windows are kept per; `own`: columns that only the cutting reads."""

    def __init__(
        self, what: Contained, partition: tuple[Field, ...], own: tuple[Field, ...]
    ) -> None:
        self.what, self.partition = what, partition
        self.columns = tuple(dict.fromkeys((*what.kept, *partition, *own)))
        self._rows = no_rows(self.columns)
        self._runs = Runs(np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._kept = np.zeros(0, bool)
        self.unused = 0

    @abstractmethod
    def cut(self, rows: pa.RecordBatch, starts: Integers, new: Mask) -> Cut:
        """The windows that `new` rows complete; each partition begins at one of `starts`."""

    @abstractmethod
    def rest(self, rows: pa.RecordBatch, starts: Integers) -> Cut:
        """The windows that were begun."""

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    @property
    def bytes(self) -> int:
        return int(self._rows.nbytes)

    def nothing(self) -> pa.RecordBatch:
        return nothing(self.what)

    # An epoch

    def take(self, rows: pa.RecordBatch) -> None:
        self.unused = 0
        if rows.num_rows == 0:
            return
        count = len(self)
        new = np.r_[np.zeros(count, bool), np.ones(rows.num_rows, bool)]
        every = (
            pa.concat_batches([self._rows, self._as_kept(rows)]) if count else self._as_kept(rows)
        )
        places, starts = self._by_partition(every)
        if places is not None:
            every, new = every.take(pa.array(places)), new[places]
        self._apply(self.cut(every, starts, new))

    def fire(self, _watermark_us: int) -> Integers:
        """The windows that are complete, by the rows that completed them."""
        last = numbers(self._rows.column(ARRIVAL)).values
        return np.argsort(last[self._runs.end - 1])

    def finish(self) -> Integers:
        """The end of input completes what was begun; nothing is kept."""
        places, starts = self._by_partition(self._rows)
        every = self._rows if places is None else self._rows.take(pa.array(places))
        self._apply(self.rest(every, starts))
        return self.fire(0)

    def drop(self, _watermark_us: int) -> None:
        """Forget the rows of complete windows. No instant makes a window due."""
        if not self._kept.all():
            self._rows = self._rows.filter(pa.array(self._kept))
        self._kept = np.ones(len(self), bool)
        none = np.zeros(0, np.int64)
        self._runs = Runs(none, none)

    def _apply(self, cut: Cut) -> None:
        self._rows, self._kept = cut.rows, cut.kept
        self._runs = Runs(cut.first, cut.end)
        self.unused = cut.unused

    def _as_kept(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows

    def _by_partition(self, rows: pa.RecordBatch) -> tuple[Integers | None, Integers]:
        """The places of rows by partition (None: as they are), and where each partition begins then."""
        if not self.partition:
            return None, np.zeros(min(rows.num_rows, 1), np.int64)
        keys = [conform(rows.column(key.name), key.type) for key in self.partition]
        slots, _ = KeyIndex().slots(hash_rows(keys, rows.num_rows))
        places = by_slot(slots)
        ordered = slots[places]
        return places, np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])

    # What windows hold

    def contents(self, windows: Integers) -> Iterator[pa.RecordBatch]:
        runs = Runs(self._runs.first[windows], self._runs.end[windows])
        yield from contents_of(self._rows, self.what, self._edges(runs), (runs,))

    def _edges(self, runs: Runs) -> Edges:
        times = numbers(conform(self._rows.column(TS), Scalar.BIGINT))
        arrivals = numbers(self._rows.column(ARRIVAL)).values
        first = _over(np.minimum, times.filled(_LATEST), runs)
        last = _over(np.maximum, times.filled(_EARLIEST), runs)
        there = first <= last
        return Edges(
            numbers=arrivals[runs.end - 1],
            starts_us=np.where(there, first, 0),
            ends_us=np.where(there, last, 0) + 1,
            times_us=np.where(there, last, 0),
            there=None if there.all() else there,
        )

    # State

    def partials(self) -> pa.RecordBatch:
        return self._rows

    def restore(self, batch: pa.RecordBatch) -> None:
        """Rows of several shards may come in any order; within a partition, arrival is what counts."""
        order = np.argsort(numbers(conform(batch.column(ARRIVAL), Scalar.BIGINT)).values)
        self._rows = batch.select(self._rows.schema.names).take(pa.array(order))
        self._kept = np.ones(len(self), bool)


def _over(ufunc: np.ufunc, values: Integers, runs: Runs) -> Integers:
    """Runs may overlap, and are not empty."""
    if len(runs.first) == 0:
        return values[:0]
    edges = np.stack([runs.first, runs.end], axis=1).ravel()
    found: Integers = ufunc.reduceat(np.append(values, values[-1]), edges)[0::2]
    return found
