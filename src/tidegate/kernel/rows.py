"""Windows without aggregates: whole rows as the partials of their windows (the raw-batch path).

In: rows with `$code`, `$ts` and columns. Out: partial batches in which one column is the list of the rows of a pane;
lists are collected and merged like any other partial, so such windows close, sessions grow and state is restored as
everywhere else. `$moves` is false for rows that say nothing of the watermark; without it, all do. Each row has a
number, in the order of arrival, which tells equal rows apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrivals import STAMPED_ROWS
from tidegate.kernel.arrow import Integers, Mask, array_of, arrow_type, conform, numbers
from tidegate.kernel.finishing import ARRIVAL, TS
from tidegate.kernel.gathering import Input, gathered
from tidegate.kernel.groups import MAX_TS, ROWS
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.kernel.lists import listed
from tidegate.kernel.panes import PANE
from tidegate.kernel.pieces import panes_of
from tidegate.kernel.sessions import FIRST_TS, LAST_TS
from tidegate.model.expressions import Field
from tidegate.model.grid import NO_PANES, Marks
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.policies import AGGREGATED
from tidegate.model.types import Array, Scalar, Struct

CODE, STAMPED, MOVES = "$code", "$stamped", "$moves"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowShape:
    """`columns` are what is kept of a row besides its time and number; `keys` what its windows are kept per.

    With `inputs`, rows are partials of one row each, and are combined at once. Without panes all rows are of one.
    """

    columns: tuple[Field, ...]
    keys: tuple[Field, ...]
    marks: Marks
    inputs: tuple[Input, ...] | None = None
    paned: bool = True

    @property
    def spec(self) -> PartialSpec:
        own = ((TS, Scalar.BIGINT), (ARRIVAL, Scalar.BIGINT))
        fields = (*own, *((field.name, field.type) for field in self.columns))
        return PartialSpec(
            op=PartialOp.COLLECT,
            args=self.columns,
            filter=None,
            type=Array(Struct(fields)),
            merge=Merge.CONCAT,
        )

    def partials(self, rows: pa.RecordBatch, first_number: int) -> pa.RecordBatch:
        """One partial per pane and key; rows that are not taken only count, under minus their code."""
        codes = _integers(rows, CODE)
        times = numbers(_times_of(rows))
        good = codes == AGGREGATED
        safe = np.where(good, times.values, 0)
        numbers_of = panes_of(safe, self.marks) if self.paned else NO_PANES
        panes = np.where(good, numbers_of, -codes)
        order, starts, _slots = self._grouped(rows, panes, good)
        arrival = np.arange(first_number, first_number + len(panes))
        lengths = np.diff(np.r_[starts, len(order)])
        heads = pa.array(order[starts])
        columns = {PANE: _column(panes[order][starts])}
        columns |= {
            key.name: conform(rows.column(key.name), key.type).take(heads) for key in self.keys
        }
        columns |= {ROWS: _column(lengths), **self._times(rows, order, starts)}
        if self.inputs is None:
            columns["$p0"] = self._listed(rows, order, lengths, (safe, arrival))
        else:
            made = gathered(rows, self.inputs, order, lengths)
            columns |= {f"$p{place}": array for place, array in enumerate(made)}
        return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])

    def _listed(
        self, rows: pa.RecordBatch, order: Integers, lengths: Integers, own: Sequence[Integers]
    ) -> pa.Array:
        """The rows of each partial as a list."""
        kept = [array_of(column[order], None, pa.int64()) for column in own]
        picked = [
            conform(rows.column(field.name), field.type).take(pa.array(order))
            for field in self.columns
        ]
        names = [TS, ARRIVAL, *(field.name for field in self.columns)]
        structs = pa.StructArray.from_arrays([*kept, *picked], names=names)
        return listed(lengths, structs, arrow_type(self.spec.type))

    def _grouped(
        self, rows: pa.RecordBatch, panes: Integers, good: Mask
    ) -> tuple[Integers, Integers, Integers]:
        """The rows ordered by partial, and where each partial begins."""
        keys = [conform(rows.column(key.name), key.type) for key in self.keys]
        lanes = hash_rows([_column(panes), *keys], len(panes))
        slots, _ = KeyIndex().slots(lanes)
        slots = np.where(good, slots, slots.max(initial=0) + 1 - panes)  # one for each code
        order = np.argsort(slots, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(slots[order]) != 0][: len(order)])
        return order, starts, slots

    def _times(
        self, rows: pa.RecordBatch, order: Integers, starts: Integers
    ) -> dict[str, pa.Array]:
        found = numbers(_times_of(rows))
        stamped = holds(rows, STAMPED, otherwise=False)
        there = np.ones(len(order), bool) if found.valid is None else found.valid
        lowest, highest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        tells = there & holds(rows, MOVES, otherwise=True)
        latest = np.where(tells, found.values, lowest)[order]
        last = np.maximum.reduceat(np.where(there, found.values, lowest)[order], starts)
        first = np.minimum.reduceat(np.where(there, found.values, highest)[order], starts)
        moves = np.maximum.reduceat(latest, starts)
        made = {MAX_TS: array_of(moves, moves > lowest, pa.int64())}
        made |= {FIRST_TS: _column(first), LAST_TS: _column(last)}
        made[STAMPED_ROWS] = _column(np.add.reduceat(stamped[order].astype(np.int64), starts))
        return made


def _times_of(rows: pa.RecordBatch) -> pa.Array:
    if TS not in rows.schema.names:
        return pa.nulls(rows.num_rows, pa.int64())
    return conform(rows.column(TS), Scalar.BIGINT)


def _integers(batch: pa.RecordBatch, name: str) -> Integers:
    values: Integers = numbers(conform(batch.column(name), Scalar.BIGINT)).values
    return values


def holds(batch: pa.RecordBatch, name: str, *, otherwise: bool) -> Mask:
    """A condition of each row; `otherwise` if row SQL had no need to say it."""
    if name not in batch.schema.names:
        return np.full(batch.num_rows, otherwise)
    held: Mask = numbers(conform(batch.column(name), Scalar.BOOLEAN)).filled(False).astype(bool)
    return held


def _column(values: Sequence[int] | Integers) -> pa.Array:
    return array_of(np.asarray(values), None, pa.int64())
