"""What batches have changed since rows were last emitted: which groups, and what they held before.

A unit (a group in a window, a group with its sessions, or a whole window, as its store says) is looked at when it is
first about to change; nothing is copied of what stays.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of
from tidegate.kernel.groups import ROWS, GroupTable
from tidegate.model.expressions import Field


class Store(Protocol):
    """State that windows are read from: `PaneStore`, `SessionStore`."""

    @property
    def unit_fields(self) -> tuple[Field, ...]: ...

    @property
    def bytes(self) -> int: ...

    def partials(self) -> pa.RecordBatch: ...

    def closing(self, *, after_us: int, upto_us: int) -> Iterator[pa.RecordBatch]: ...

    def closes(self, after_us: int, upto_us: int) -> bool:
        """Whether anything ends in (after, upto]."""

    def next_end_us(self, after_us: int) -> int: ...

    def of(self, units: pa.RecordBatch) -> pa.RecordBatch: ...

    def nothing(self) -> pa.RecordBatch: ...

    def touched(self, batch: pa.RecordBatch, *, after_us: int) -> pa.RecordBatch: ...

    def ended(self, units: pa.RecordBatch, upto_us: int) -> Mask:
        """Units that no later batch can change."""


class Dirty:
    """`units` are those that changed, `old` the contents that they had."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._old: list[pa.RecordBatch] = []
        self._table = self._new()

    def _new(self) -> GroupTable:
        return GroupTable(self._store.unit_fields, (), timed=False)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def units(self) -> pa.RecordBatch:
        return self._table.partials()

    @property
    def old(self) -> pa.RecordBatch:
        return pa.concat_batches(self._old) if self._old else self._store.nothing()

    def before(self, batch: pa.RecordBatch, *, after_us: int) -> None:
        """A partial batch is about to be merged; windows that ended by then are not changed by it."""
        fresh = self._fresh(self._store.touched(batch, after_us=after_us))
        if fresh.num_rows:
            self._old.append(self._store.of(fresh))

    def _fresh(self, units: pa.RecordBatch) -> pa.RecordBatch:
        """The units that are new here, each once."""
        known = len(self._table)
        slots = self._table.merge(counted(units, self._store.unit_fields))
        return self._table.partials(np.arange(known, len(self._table))) if len(slots) else units

    def clear(self) -> None:
        if len(self._table):
            self._table, self._old = self._new(), []

    def restore(self, units: pa.RecordBatch, old: pa.RecordBatch) -> None:
        """From what `units` and `old` were; of several shards, one after the other."""
        self._table.merge(units)
        self._old.append(old)

    def keep(self, units: Integers, old: Integers) -> None:
        """Only these rows of `units` and `old`."""
        before = self.old
        self._table, self._old = self._table.kept(units), [before.take(pa.array(old))]


def counted(batch: pa.RecordBatch, keys: Sequence[Field]) -> pa.RecordBatch:
    """The key columns of the rows, and a count; a batch must have a column to have rows."""
    ones = array_of(np.ones(batch.num_rows, np.int64), None, pa.int64())
    arrays = [*(batch.column(key.name) for key in keys), ones]
    return pa.RecordBatch.from_arrays(arrays, names=[*(key.name for key in keys), ROWS])
