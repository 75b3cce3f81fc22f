"""What triggers see: frames of rows around them, and the partials of each frame.

In: a `Sight`, the rows that some triggers can see, ordered by time and arrival. Out: the partials of each trigger's
frame. Decided here: that a frame is a run. Rows are ordered by partition and then as they were, so the rows of one
partition between two instants stand together, and both ends are found by search over one number, of partition and time.

Fused, all frames are ranges over the same arrays (`ranges.py`) or pieces (`sharing.py`), and cost the same, or nearly,
however long they are. Buffered, the rows of each frame are gathered on their own. Both give the same partials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, Numbers, array_of, arrow_type, conform, numbers
from tidegate.kernel.dense import fold_of, read_numbers
from tidegate.kernel.gathering import Input, gathered, is_folded, single_partials
from tidegate.kernel.ranges import folded, sums
from tidegate.kernel.sharing import combined
from tidegate.kernel.windowed import Runs, lengths_of, members, pieces
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge

_ROOM = 1 << 62
_HALF = 1 << 16
_FEW = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """From `lookback_us` before to `lookahead_us` behind, both ends in, among rows of equal `partition`."""

    lookback_us: int
    lookahead_us: int
    partition: tuple[Field, ...]
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows of a sight by partition, at `places` (None: as they are), and the triggers' frames among them.

    `owners` are the triggers in the order of their frames (None: as they are). Frames have one run of rows each, or
    two: what came before, and of what stands behind, what had come.
    """

    places: Integers | None
    owners: Integers | None
    runs: tuple[Runs, ...]

    def in_order(self, made: pa.Array) -> pa.Array:
        """Values of frames as values of triggers."""
        if self.owners is None:
            return made
        back = np.empty(len(self.owners), np.int64)
        back[self.owners] = np.arange(len(self.owners))
        return made.take(pa.array(back))


@dataclass(frozen=True, slots=True)
class Sight:
    """Rows, which of them are triggers, and the numbers of their partitions, by the columns that these go by.

    `new`: of rows of this batch, triggers see only those that came before them.
    """

    rows: pa.RecordBatch
    times_us: Integers
    triggers: Integers
    new: Mask | None
    slots: Mapping[tuple[Field, ...], Integers]

    def ordered(self, frame: Frame) -> Ordered:
        """Where the frame of each trigger begins and ends."""
        if not frame.partition:
            slots = np.zeros(len(self.times_us), np.int64)
            places, at, owners = None, self.triggers, None
        else:
            slots = self.slots[frame.partition]
            places = self._by_partition(slots)
            is_trigger = np.zeros(len(slots), bool)
            is_trigger[self.triggers] = True
            at = np.flatnonzero(is_trigger[places])
            owners = (np.cumsum(is_trigger) - 1)[places[at]]
        rows = at if places is None else places[at]
        scale = _Scale.of(slots, self.times_us)
        if places is None:
            every = scale.number(slots, self.times_us)
        else:
            every = scale.number(slots[places], self.times_us[places])
        times, own = self.times_us[rows], slots[rows]
        first = np.searchsorted(every, scale.number(own, times - frame.lookback_us))
        last = scale.number(own, times + frame.lookahead_us, last=True)
        runs: tuple[Runs, ...]
        if self.new is None:
            runs = (Runs(first, np.searchsorted(every, last, side="right"), places),)
        else:
            runs = self._come(frame, places, at, first, every, last)
        return Ordered(places, owners, runs)

    def _by_partition(self, slots: Integers) -> Integers:
        """The rows by partition; where few are triggers, those of the triggers' partitions alone."""
        if _FEW * len(self.triggers) >= len(slots):
            return by_slot(slots)
        asked = np.zeros(int(slots.max()) + 1, bool)
        asked[slots[self.triggers]] = True
        rows = np.flatnonzero(asked[slots])
        found: Integers = rows[by_slot(slots[rows])]
        return found

    def _come(
        self,
        frame: Frame,
        places: Integers | None,
        at: Integers,
        first: Integers,
        every: Integers,
        last: Integers,
    ) -> tuple[Runs, ...]:
        """Up to the trigger itself; behind it only what had come with earlier batches."""
        assert self.new is not None
        before = Runs(first, at + 1, places)
        if frame.lookahead_us == 0:
            return (before,)
        old = np.flatnonzero(~(self.new if places is None else self.new[places]))
        behind = Runs(
            np.searchsorted(old, at, side="right"),
            np.searchsorted(every[old], last, side="right"),
            old if places is None else places[old],
        )
        return before, behind


@dataclass(frozen=True, slots=True)
class _Scale:
    """Partition and time as one number that ascends by both; `ranks`: times by their rank, where there is no room."""

    earliest_us: int
    stride: int
    ranks: Integers | None

    @classmethod
    def of(cls, slots: Integers, times_us: Integers) -> "_Scale":
        if len(times_us) == 0:
            return cls(0, 1, None)
        earliest, latest, most = int(times_us[0]), int(times_us[-1]), int(slots.max())
        stride = latest - earliest + 1
        if (most + 1) * stride < _ROOM:
            return cls(earliest, stride, None)
        ranks = np.unique(times_us)
        return cls(earliest, len(ranks), ranks)

    def number(self, slots: Integers, times_us: Integers, *, last: bool = False) -> Integers:
        """That of the first row at or behind the time, or of the `last` one at or before it, if there is such a row."""
        if self.ranks is None:
            on_scale = times_us - self.earliest_us
            on_scale = np.minimum(on_scale, self.stride - 1) if last else np.maximum(on_scale, 0)
        elif last:
            on_scale = np.searchsorted(self.ranks, times_us, side="right") - 1
        else:
            on_scale = np.searchsorted(self.ranks, times_us)
        number: Integers = slots * self.stride + on_scale
        return number


def by_slot(slots: Integers) -> Integers:
    """The order by slot, which leaves equal ones as they are; two rounds of 16 bits are a third of one of 64."""
    most = int(slots.max()) if len(slots) else 0
    order: Integers = np.argsort(slots.astype(np.uint16), kind="stable")
    if most < _HALF:
        return order
    high = (slots >> 16).astype(np.uint16)[order]
    order = order[np.argsort(high, kind="stable")]
    if most < _HALF * _HALF:
        return order
    return np.argsort(slots, kind="stable")


def framed(sight: Sight, frame: Frame, *, fused: bool) -> list[pa.Array]:
    """The partials of each trigger's frame, input by input."""
    ordered = sight.ordered(frame)
    if fused:
        made = _shared(sight.rows, frame.inputs, ordered)
    else:
        made = _each(sight.rows, frame.inputs, ordered.runs)
    return [ordered.in_order(array) for array in made]


def _shared(rows: pa.RecordBatch, inputs: Sequence[Input], ordered: Ordered) -> list[pa.Array]:
    """What frames have in common is combined once."""
    made = {
        number: _ranged(rows, one, ordered)
        for number, one in enumerate(inputs)
        if is_folded(one.spec)
    }
    if len(made) < len(inputs):
        (run,) = ordered.runs
        singles = single_partials(rows, inputs)
        if ordered.places is not None:
            singles = singles.take(pa.array(ordered.places))
        table = combined(singles, [one.spec for one in inputs], run.first, run.end)
        for number in range(len(inputs)):
            made.setdefault(number, table.column(f"$p{number}"))
    return [made[number] for number in range(len(inputs))]


def _ranged(rows: pa.RecordBatch, one: Input, ordered: Ordered) -> pa.Array:
    (run,) = ordered.runs
    kind = arrow_type(one.spec.type)
    if not one.columns:
        return array_of(run.lengths, None, kind)
    column = numbers(conform(rows.column(one.columns[0].name), one.spec.type))
    fold = fold_of(one.spec.merge, column.values.dtype)
    values = _placed(column.filled(fold.identity), ordered.places)
    if one.spec.merge is Merge.ADD and values.dtype.kind == "i":
        found = sums(values, run.first, run.end)
    else:
        with np.errstate(all="ignore"):
            found = folded(fold, values, run.first, run.end)
    valid = None
    if column.valid is not None:
        there = _placed(column.valid, ordered.places).astype(np.int64)
        valid = sums(there, run.first, run.end) > 0
    return read_numbers(found, valid, kind)


def _placed(values: Numbers, places: Integers | None) -> Numbers:
    return values if places is None else values[places]


def _each(rows: pa.RecordBatch, inputs: Sequence[Input], runs: Sequence[Runs]) -> list[pa.Array]:
    """The rows of each frame on their own."""
    parts = []
    for start, stop in pieces(lengths_of(runs)):
        picks, owners = members(runs, start, stop)
        lengths = np.bincount(owners, minlength=stop - start)
        parts.append(gathered(rows, inputs, picks, lengths))
    return [pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)]
