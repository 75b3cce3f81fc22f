"""Current rows of a stream: the newest row of each window and group, as far as it was emitted.

Decided here: what a subscriber sees (`_op` in front of rows that replace others), and that a view is bounded. An
append stream has a row more with every window, for ever, so of more than `most` rows only the newest are kept.
"""

from collections import deque

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers
from tidegate.kernel.changes import OPS, Emitted, Op
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex

OP_COLUMN = "_op"


def as_seen(emitted: Emitted) -> pa.RecordBatch:
    """The rows as a subscriber or a sink gets them."""
    emitted = emitted.visible
    if emitted.ops is None:
        return emitted.rows
    ops = OPS.take(pa.array(emitted.ops))
    names = [OP_COLUMN, *emitted.rows.schema.names]
    return pa.RecordBatch.from_arrays([ops, *emitted.rows.columns], names=names)


class CurrentRows:
    """A view of one stream. `schema` is that of its rows, without `_op`."""

    def __init__(self, schema: pa.Schema, *, most: int) -> None:
        self._schema, self._most = schema, most
        self._kept: deque[pa.RecordBatch] = deque()
        self._count = 0
        self._index = KeyIndex()
        self._place = np.zeros(0, np.int64)  # by identity: the number of its newest row, -1: none

    def add(self, emitted: Emitted) -> None:
        emitted = emitted.visible
        if emitted.rows.num_rows == 0:
            return
        if emitted.ops is not None:
            self._replace(emitted.units, emitted.ops)
        self._kept.append(emitted.rows)
        self._count += emitted.rows.num_rows
        if emitted.ops is None:
            while self._count - self._kept[0].num_rows >= self._most:
                self._count -= self._kept.popleft().num_rows
        elif self._count > 2 * len(self._index) + self._most:
            self._compact()

    def _replace(self, units: pa.RecordBatch, ops: Integers) -> None:
        slots, _ = self._index.slots(hash_rows(units.columns, units.num_rows))
        more = len(self._index) - len(self._place)
        self._place = np.concatenate([self._place, np.full(more, -1)])
        numbers = np.where(ops == Op.DELETE, -1, self._count + np.arange(len(ops)))
        self._place[slots] = numbers  # of equal slots the last one stays

    def _compact(self) -> None:
        self._kept = deque([self._rows(self._live())])
        there = self._place >= 0
        self._place[there] = np.argsort(np.argsort(self._place[there]))
        self._count = self._kept[0].num_rows

    def _live(self) -> Integers:
        live: Integers = np.sort(self._place[self._place >= 0])
        return live

    def _rows(self, places: Integers) -> pa.RecordBatch:
        table = self._all().take(pa.array(places)).combine_chunks()
        return (table.to_batches() or [pa.RecordBatch.from_pylist([], schema=self._schema)])[0]

    def _all(self) -> pa.Table:
        return pa.Table.from_batches(self._kept, self._schema)

    def table(self) -> pa.Table:
        """The rows there are now, in the order in which they were last emitted."""
        if len(self._index) == 0:
            return self._all()
        return self._all().take(pa.array(self._live()))
