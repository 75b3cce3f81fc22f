"""Groups and what is kept for each: the state of every aggregating operator.

Decided here: state has one form outside, the partial batch (`$pane` or whatever the keys are, `$rows`, `$max_ts`,
`$p0`, …), and merging such a batch is the only way in. Snapshot, restore, re-sharding and the union of panes are
therefore the same operation as a micro-batch, and cannot disagree with it. A slot is a group for as long as the table
lives; forgetting groups is making a table of the others (`kept`), or having a table for each pane and dropping it.

A merge costs numpy passes over the rows of the batch, and nothing that depends on the number of groups.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.accumulators import merge_order, state_columns
from tidegate.kernel.arrow import Integers, conform, is_dense
from tidegate.kernel.columns import Arrivals, Cells, Where
from tidegate.kernel.dense import DenseCells, Folded
from tidegate.kernel.halves import Halves
from tidegate.kernel.heap import HeapCells
from tidegate.kernel.ordering import present
from tidegate.kernel.slots import GroupIndex
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.types import Scalar, is_float

ROWS, MAX_TS = "$rows", "$max_ts"


class GroupTable:
    """All groups of one operator, shard or pane. `timed`: whether `$max_ts` is part of the batches; `repeats`: whether
    a group may be there more than once in one of them.

    >>> table = GroupTable([Field("$k0", Scalar.VARCHAR)], [], timed=False)
    >>> batch = pa.record_batch({"$k0": ["b", None], "$rows": [1, 2]})
    >>> table.merge(batch), table.merge(batch.slice(1))
    (array([0, 1]), array([1]))
    >>> table.partials().to_pylist()
    [{'$k0': 'b', '$rows': 1}, {'$k0': None, '$rows': 4}]
    """

    def __init__(
        self,
        keys: Sequence[Field],
        specs: Sequence[PartialSpec],
        *,
        timed: bool = True,
        reserve: int = 0,
        repeats: bool = False,
    ) -> None:
        self.keys, self.specs, self.timed = tuple(keys), tuple(specs), timed
        floats = any(is_float(key.type) for key in keys)
        self._may_repeat = bool(specs or timed) and (repeats or floats)
        self._index = GroupIndex(keys, reserve=reserve)
        self._key_cells = tuple(_key_cells(key) for key in keys)
        kept = state_columns(specs)
        counts = [place for place, spec in enumerate(specs) if _counts_rows(spec)]
        own = [kept[counts[0]] if counts else Folded(len(specs), Scalar.BIGINT, Merge.ADD)]
        if timed:
            own.append(Folded(len(specs) + 1, Scalar.BIGINT, Merge.MAX))
        self._columns = (*kept, *own)
        self._distinct = tuple(dict.fromkeys(self._columns))
        self._order = [kept[place] for place in merge_order(specs)]
        self._order += [column for column in own if column not in kept]
        self._halves = Halves(self.specs, self._columns)
        kinds = [*(spec.kept_type for spec in specs), Scalar.BIGINT, Scalar.BIGINT]
        names = [*(f"$p{place}" for place in range(len(specs))), ROWS, MAX_TS]
        self._parts = list(zip(names, kinds, strict=True))[: len(self._columns)]

    def __len__(self) -> int:
        return len(self._index)

    @property
    def bytes(self) -> int:
        """Memory that the table holds, whether used yet or not."""
        keys = sum(cells.bytes for cells in self._key_cells)
        return self._index.bytes + keys + sum(column.bytes for column in self._distinct)

    def merge(self, batch: pa.RecordBatch, *, expected: int = 0) -> Integers:
        """Take a partial batch in. The slot of each of its rows. `expected`: how many rows come right now, in all."""
        keys = [conform(batch.column(key.name), key.type) for key in self.keys]
        arrays = [conform(batch.column(name), kind) for name, kind in self._parts]
        return self._take(*self._index.slots(keys, batch.num_rows, expected), keys, arrays)

    def absorb(self, other: "GroupTable") -> None:
        """Take in all groups of a table with the same keys and columns; what `merge` would do with its partials."""
        every = slice(0, len(other))
        keys = [cells.read(every) for cells in other._key_cells]
        arrays = [column.read(every) for column in other._columns]
        self._take(*self._index.slots_of(other._index, keys), keys, arrays)

    def _take(
        self,
        slots: Integers,
        opened: Integers,
        keys: Sequence[pa.Array],
        arrays: Sequence[pa.Array],
    ) -> Integers:
        if len(opened):
            self._open(keys, opened)
        if len(opened) == len(slots):
            self._merge_rows(slice(len(self) - len(opened), len(self)), arrays)
        else:
            self._merge_distinct(slots, arrays)
        self._halves.settle(arrays[len(self.specs)])
        return slots

    def find(self, batch: pa.RecordBatch) -> Integers:
        """The slot of each row's keys, or -1; nothing changes."""
        keys = [conform(batch.column(key.name), key.type) for key in self.keys]
        return self._index.find(keys, batch.num_rows)

    def partials(self, slots: Integers | None = None) -> pa.RecordBatch:
        """The groups of the slots (None: all), as a partial batch."""
        where: Where = slice(0, len(self)) if slots is None else slots
        columns = {
            key.name: cells.read(where)
            for key, cells in zip(self.keys, self._key_cells, strict=True)
        }
        read = {column: column.read(where) for column in self._distinct}
        state = {
            name: read[column] for (name, _), column in zip(self._parts, self._columns, strict=True)
        }
        own = {name: state.pop(name) for name in (ROWS, MAX_TS) if name in state}
        return pa.record_batch({**columns, **own, **state})

    def kept(self, slots: Integers) -> "GroupTable":
        """A table of those groups alone; their slots are numbered in the order given."""
        table = GroupTable(self.keys, self.specs, timed=self.timed, reserve=len(slots))
        table.merge(self.partials(slots))
        return table

    def _open(self, keys: Sequence[pa.Array], rows: Integers) -> None:
        start = len(self) - len(rows)
        for cells, array in zip(self._key_cells, keys, strict=True):
            cells.grow(len(self))
            arrived = cells.arriving(Arrivals([array.take(pa.array(rows))]), 0)
            cells.put(slice(start, len(self)), arrived, present(arrived))

    def _merge_distinct(self, slots: Integers, arrays: Sequence[pa.Array]) -> None:
        """Slots repeat where keys are equal that the engine told apart, or with `repeats`: then in several rounds."""
        rows = _first_of_each(slots) if self._may_repeat else slots
        if len(rows) == len(slots):
            self._merge_rows(slots, arrays)
            return
        rest = np.setdiff1d(np.arange(len(slots)), rows)
        self._merge_rows(slots[rows], _rows_of(arrays, rows))
        self._merge_distinct(slots[rest], _rows_of(arrays, rest))

    def _merge_rows(self, where: Where, arrays: Sequence[pa.Array]) -> None:
        arrivals = Arrivals(arrays)
        for column in self._distinct:
            column.grow(len(self))
        with np.errstate(all="ignore"):  # infinities, as in SQL
            for column in self._order:
                column.merge(where, arrivals)


def _counts_rows(spec: PartialSpec) -> bool:
    """Whether it is what every group has as `$rows`."""
    return spec.op is PartialOp.ROWS and spec.filter is None


def _key_cells(key: Field) -> Cells:
    return DenseCells(key.type) if is_dense(key.type) else HeapCells(key.type)


def _rows_of(arrays: Sequence[pa.Array], rows: Integers) -> Sequence[pa.Array]:
    indices = pa.array(rows)
    return [array.take(indices) for array in arrays]


def _first_of_each(slots: Integers) -> Integers:
    rows = np.unique(slots, return_index=True)[1]
    rows.sort()
    return rows
