"""What triggers see: frames of rows around them, and the partials of each frame.

In: layers of rows (`layers.py`), and triggers, which are rows, too. Out: the partials of each trigger's frame. Decided
here: that a frame is a run of each layer. A layer's rows are ordered by partition and then by time, so the rows of one
partition between two instants stand together, and both ends are found by search over one number.

Fused, all frames of a layer are ranges over the same arrays (`ranges.py`) or pieces (`sharing.py`), and cost the same,
or nearly, however long they are; what layers give is merged. Buffered, the rows of each frame are gathered on their
own, out of one layer of all. Both give the same partials.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, Numbers, array_of, arrow_type, numpy_type
from tidegate.kernel.dense import fold_of, read_numbers
from tidegate.kernel.gathering import Input, gathered, is_folded, single_partials
from tidegate.kernel.layers import Layer, Order
from tidegate.kernel.sharing import Shared
from tidegate.kernel.windowed import Runs, lengths_of, members, pieces
from tidegate.model.expressions import Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """From `lookback_us` before to `lookahead_us` behind, both ends in, among rows of equal `partition`."""

    lookback_us: int
    lookahead_us: int
    partition: tuple[Field, ...]
    inputs: tuple[Input, ...]

    def run(self, order: Order, slots: Integers, times_us: Integers) -> Runs:
        return order.run(
            slots, times_us, lookback_us=self.lookback_us, lookahead_us=self.lookahead_us
        )


# Fused


def fused(
    layers: Sequence[Layer], triggers: Layer, frame: Frame, *, at_once: bool
) -> list[pa.Array]:
    """The partials of each trigger's frame, input by input.

    `at_once`: the triggers are the last layer, and of it each sees only itself and what stands before it.
    """
    asking = triggers.order(frame.partition)
    seen = []
    for layer in layers:
        order = layer.order(frame.partition)
        run = frame.run(order, asking.slots, asking.times_us)
        if at_once and layer is triggers:
            run = Runs(run.first, np.arange(1, len(layer) + 1), run.via)
        if (run.first < run.end).any():
            seen.append((order, run))
    made = {
        number: _ranged(one, seen) for number, one in enumerate(frame.inputs) if is_folded(one.spec)
    }
    if len(made) < len(frame.inputs):
        table = Shared([one.spec for one in frame.inputs])
        for order, run in seen:
            singles = single_partials(order.layer.rows, frame.inputs)
            if order.places is not None:
                singles = singles.take(pa.array(order.places))
            table.add(singles, run.first, run.end)
        combined = table.partials()
        for number in range(len(frame.inputs)):
            made.setdefault(number, combined.column(f"$p{number}"))
    return [_in_order(made[number], asking.places) for number in range(len(frame.inputs))]


def _ranged(one: Input, seen: Sequence[tuple[Order, Runs]]) -> pa.Array:
    kind = arrow_type(one.spec.type)
    if not one.columns:
        return array_of(lengths_of([run for _, run in seen]), None, kind)
    fold = fold_of(one.spec.merge, np.dtype(numpy_type(one.spec.type)))
    found: Numbers | None = None
    counts: Integers | int = 0
    for order, run in seen:
        values, there = order.ranges(one)
        counts = counts + (run.lengths if there is None else there(run.first, run.end))
        with np.errstate(all="ignore"):
            more = values(run.first, run.end)
            found = more if found is None else fold.ufunc(found, more)
    assert found is not None
    return read_numbers(found, np.asarray(counts) > 0, kind)


def _in_order(made: pa.Array, places: Integers | None) -> pa.Array:
    """Values in the order of partitions as values of triggers."""
    if places is None:
        return made
    back = np.empty(len(places), np.int64)
    back[places] = np.arange(len(places))
    return made.take(pa.array(back))


# Buffered


@dataclass(frozen=True, slots=True)
class Sight:
    """All that some triggers can see, in one layer, and which of its rows they are.

    `new`: of rows of this batch, triggers see only those that came before them.
    """

    layer: Layer
    triggers: Integers
    new: Mask | None

    def runs(self, frame: Frame) -> tuple[Integers | None, tuple[Runs, ...]]:
        """Frames as runs of rows, and the triggers in the order of their frames (None: as they are).

        Frames have one run each, or two: what came before, and of what stands behind, what had come.
        """
        order = self.layer.order(frame.partition)
        at, owners = self.triggers, None
        if order.places is not None:
            is_trigger = np.zeros(len(self.layer), bool)
            is_trigger[self.triggers] = True
            at = np.flatnonzero(is_trigger[order.places])
            owners = (np.cumsum(is_trigger) - 1)[order.places[at]]
        run = frame.run(order, order.slots[at], order.times_us[at])
        if self.new is None:
            return owners, (run,)
        before = Runs(run.first, at + 1, order.places)
        if frame.lookahead_us == 0:
            return owners, (before,)
        return owners, (before, self._behind(order, at, run))

    def _behind(self, order: Order, at: Integers, run: Runs) -> Runs:
        """What had come with earlier batches."""
        assert self.new is not None
        places = order.places
        old = np.flatnonzero(~(self.new if places is None else self.new[places]))
        return Runs(
            np.searchsorted(old, at, side="right"),
            np.searchsorted(old, run.end),
            old if places is None else places[old],
        )


def buffered(sight: Sight, frame: Frame) -> list[pa.Array]:
    """The partials of each trigger's frame, input by input; the rows of each frame are on their own."""
    owners, runs = sight.runs(frame)
    parts = []
    for start, stop in pieces(lengths_of(runs)):
        picks, of = members(runs, start, stop)
        lengths = np.bincount(of, minlength=stop - start)
        parts.append(gathered(sight.layer.rows, frame.inputs, picks, lengths))
    made = [pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)]
    return [_in_order(array, owners) for array in made]
