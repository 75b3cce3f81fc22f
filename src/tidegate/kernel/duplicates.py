"""Duplicates: rows whose key was seen within a time, counted from the row that was kept (semantics §8).

In: the rows that row SQL would have taken, of all inputs of an epoch. Out: the same, with duplicates under their code,
and what is known of those. Decided here: which of equal rows stays. Those that were kept in earlier epochs stay; of a
batch the earliest by event time does, of equal times the one that came first; and each row that stays hides those
within reach of it, but no chain of hidden rows hides another one.

    within 5        a 1     a 3     a 7     a 9         1 stays and hides 3; 7 is 6 behind 1, so it stays and hides 9

Rows without a time are near to all others of their key. NULL is a value like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, arrow_type, conform, numbers
from tidegate.kernel.chains import chain
from tidegate.kernel.finishing import TS
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.kernel.rows import CODE
from tidegate.kernel.steps import Brought, Step
from tidegate.model.expressions import Field
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.model.time import MIN_EVENT_TIME_US, NEVER_US
from tidegate.model.types import Scalar

_DUPLICATE = DISPOSITION[Reason.DUPLICATE_KEY]
_SLACK = 1 << 12
_NO_TIME = NEVER_US


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupSpec:
    """`within_us` None: for ever. `timed`: rows have a time."""

    keys: tuple[Field, ...]
    within_us: int | None
    timed: bool

    @property
    def columns(self) -> tuple[Field, ...]:
        return (Field(TS, Scalar.BIGINT), *self.keys)


@dataclass(slots=True)
class _Kept:
    """Rows that stay, by the number of their key."""

    slots: Integers
    times_us: Integers


class Duplicates:
    """The keys that were seen. Rows that were kept are remembered as they came, and found by number and time."""

    def __init__(self, spec: DedupSpec) -> None:
        self.spec = spec
        self._index = KeyIndex()
        self._rows = [self._no_rows()]
        none = np.zeros(0, np.int64)
        self._kept = _Kept(none, none)

    @property
    def bytes(self) -> int:
        rows = sum(int(batch.nbytes) for batch in self._rows)
        return self._index.bytes + rows + int(2 * self._kept.slots.nbytes)

    def marked(self, step: Step) -> tuple[Step, tuple[pa.RecordBatch, ...]]:
        """The step with duplicates under their code, and by input the time and key of each."""
        parts = [
            (place, number, self._fit(batch))
            for place, brought in enumerate(step.inputs)
            for number, batch in enumerate(brought.batches)
        ]
        nothing = self._no_rows()
        every = pa.concat_batches([nothing, *(rows for _, _, (rows, _) in parts)])
        duplicate = self._judged(every)
        if not duplicate.any():
            return step, tuple(nothing for _ in step.inputs)
        batches = [list(brought.batches) for brought in step.inputs]
        found: list[list[pa.RecordBatch]] = [[nothing] for _ in step.inputs]
        start = 0
        for place, number, (rows, places) in parts:
            which = duplicate[start : start + rows.num_rows]
            start += rows.num_rows
            if which.any():
                batches[place][number] = _under(_DUPLICATE, batches[place][number], places[which])
                found[place].append(rows.filter(pa.array(which)))
        inputs: Sequence[Brought] = [
            replace(brought, batches=own) for brought, own in zip(step.inputs, batches, strict=True)
        ]
        told = tuple(pa.concat_batches(own) for own in found)
        return replace(step, inputs=inputs), told

    def _fit(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Integers]:
        """Time and key of the rows that would be taken, and where they stand."""
        codes = numbers(conform(batch.column(CODE), Scalar.BIGINT)).values
        places = np.flatnonzero(codes == AGGREGATED)
        columns = [
            conform(batch.column(field.name), field.type).take(pa.array(places))
            if field.name in batch.schema.names
            else pa.nulls(len(places), arrow_type(field.type))
            for field in self.spec.columns
        ]
        names = [field.name for field in self.spec.columns]
        return pa.RecordBatch.from_arrays(columns, names=names), places

    # Judgement

    def _judged(self, rows: pa.RecordBatch) -> Mask:
        """Which rows are duplicates; the others are remembered."""
        if rows.num_rows == 0:
            return np.zeros(0, bool)
        before = len(self._index)
        slots, _ = self._index.slots(self._lanes(rows))
        found = numbers(rows.column(TS))
        times = found.filled(0)
        order = np.lexsort((times, slots))
        if self.spec.within_us is None or not self.spec.timed:
            stays = _first_of_each(slots, order) & (slots >= before)
        else:
            timed = np.ones(len(slots), bool) if found.valid is None else found.valid
            stays = self._apart(slots, times, order, timed)
        picked = np.flatnonzero(stays)
        self._remember(rows.take(pa.array(picked)), slots[picked])
        duplicates: Mask = ~stays
        return duplicates

    def _remember(self, rows: pa.RecordBatch, slots: Integers) -> None:
        if rows.num_rows:
            times = numbers(rows.column(TS)).filled(_NO_TIME)
            self._rows.append(rows)
            self._kept = _Kept(np.r_[self._kept.slots, slots], np.r_[self._kept.times_us, times])

    def _apart(self, slots: Integers, times: Integers, order: Integers, timed: Mask) -> Mask:
        """Rows that are not near to one that stays. One without a time stays if it is the first, and then alone."""
        within_us = self.spec.within_us
        assert within_us is not None
        known, without_time = np.zeros(len(self._index), bool), np.zeros(len(self._index), bool)
        known[self._kept.slots] = True
        without_time[self._kept.slots[self._kept.times_us == _NO_TIME]] = True
        alone = _first_of_each(slots, order) & ~timed & ~known[slots]
        without_time[slots[alone]] = True
        near = self._near_kept(slots, times, within_us) | without_time[slots] | ~timed
        stays: Mask = alone | _apart(slots, times, order[~near[order]], within_us)
        return stays

    def _near_kept(self, slots: Integers, times: Integers, within_us: int) -> Mask:
        """Rows near to one that stayed before."""
        asked = np.zeros(len(self._index), bool)
        asked[slots] = True
        rows = np.flatnonzero(asked[self._kept.slots])
        count = len(rows)
        owner = np.r_[self._kept.slots[rows], slots]
        at = np.r_[self._kept.times_us[rows], times]
        order = np.lexsort((at, owner))
        owner, at, is_kept = owner[order], at[order], order < count
        places = np.arange(len(order))
        before = np.maximum.accumulate(np.where(is_kept, places, -1))
        behind = np.minimum.accumulate(np.where(is_kept, places, len(order))[::-1])[::-1]
        near = np.zeros(len(order), bool)
        for beside, there in ((before, before >= 0), (behind, behind < len(order))):
            other = np.where(there, beside, 0)
            same = there & (owner[other] == owner) & (at[other] != _NO_TIME)
            near[order] |= same & (np.abs(at - np.where(same, at[other], at)) <= within_us)
        return near[count:]

    def _lanes(self, rows: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        return hash_rows([rows.column(key.name) for key in self.spec.keys], rows.num_rows)

    # Forgetting

    def forget(self, open_from_us: int) -> None:
        """No row earlier than that will come."""
        if self.spec.within_us is None or open_from_us <= MIN_EVENT_TIME_US:
            return
        times = self._kept.times_us
        reached = (times >= open_from_us - self.spec.within_us) | (times == _NO_TIME)
        if reached.all():
            return
        rows = pa.concat_batches(self._rows).filter(pa.array(reached))
        self._rows = [rows]
        self._kept = _Kept(self._kept.slots[reached], times[reached])
        if len(self._index) > 2 * rows.num_rows + _SLACK:
            self.restore(rows)

    # State

    def partials(self) -> pa.RecordBatch:
        """Time and key of the rows that were kept."""
        self._rows = [pa.concat_batches(self._rows)]
        return self._rows[0]

    def restore(self, rows: pa.RecordBatch) -> None:
        self._index = KeyIndex()
        none = np.zeros(0, np.int64)
        self._rows, self._kept = [self._no_rows()], _Kept(none, none)
        fields = self.spec.columns
        columns = [conform(rows.column(field.name), field.type) for field in fields]
        kept = pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])
        if kept.num_rows:
            self._remember(kept, self._index.slots(self._lanes(kept))[0])

    def _no_rows(self) -> pa.RecordBatch:
        arrays = [pa.array([], arrow_type(field.type)) for field in self.spec.columns]
        return pa.RecordBatch.from_arrays(arrays, names=[one.name for one in self.spec.columns])


def unique(duplicates: Duplicates | None, step: Step) -> tuple[Step, tuple[pa.RecordBatch, ...]]:
    """The step as it is counted, and what is known of duplicates, if any are looked for."""
    return (step, ()) if duplicates is None else duplicates.marked(step)


def _first_of_each(slots: Integers, order: Integers) -> Mask:
    """The first row of each slot, in the order."""
    first = np.zeros(len(slots), bool)
    ordered = slots[order]
    new = np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)]
    first[order[new]] = True
    return first


def _apart(slots: Integers, times: Integers, order: Integers, within_us: int) -> Mask:
    """Of the rows in `order` (by slot and time), the first of each slot, then the first beyond its reach, and so on."""
    stays = np.zeros(len(slots), bool)
    count = len(order)
    if count == 0:
        return stays
    owner, at = slots[order], times[order]
    _, ranks = np.unique(at, return_inverse=True)
    known = np.unique(at)
    stride = len(known) + 1
    beyond = np.searchsorted(known, at + within_us, side="right")
    next_one = np.searchsorted(owner * stride + ranks, owner * stride + beyond)
    following = np.full(count + 1, count)
    there = next_one < count
    same = there & (owner[np.where(there, next_one, 0)] == owner)
    following[:count][same] = next_one[same]
    begins = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    stays[order[chain(begins, following)]] = True
    return stays


def _under(code: int, batch: pa.RecordBatch, places: Integers) -> pa.RecordBatch:
    """The batch with rows under another code."""
    codes = numbers(conform(batch.column(CODE), Scalar.BIGINT)).values.copy()
    codes[places] = code
    column = array_of(codes, None, pa.int64())
    return batch.set_column(batch.schema.get_field_index(CODE), CODE, column)
