"""Rows within reach of triggers, in layers, each of them ordered once.

Decided here: what an epoch costs. Rows that come are a layer of their own, ordered by time and arrival and, for each
partition that frames go by, by partition; older layers stay as they are, with the prefixes and blocks that were made
of them. So an epoch costs what its own rows and triggers do, however much is within reach. Layers of about the same
size are united (O'Neil 1996, the log-structured merge tree), small ones at once, large ones when there are four; so
there are few layers, and a row is ordered anew a few times in its life.

    layers      [ 8 rows ][ 3 ][ 1 ]  +  [ 1 ]      the last three become one of 5, which stays beside the first
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, Numbers, conform, numbers
from tidegate.kernel.dense import fold_of
from tidegate.kernel.finishing import TS
from tidegate.kernel.gathering import Input
from tidegate.kernel.ranges import Ranges
from tidegate.kernel.scale import Scale, by_slot
from tidegate.kernel.windowed import Runs
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge
from tidegate.model.types import Scalar

Partition = tuple[Field, ...]
_SMALL, _LARGEST = 1 << 16, 1 << 23
_MANY = 4


class Layer:
    """Rows by time and arrival, and which of them have fired; before `begin`, all have. `slots` are the numbers of
    their partitions."""

    __slots__ = ("_orders", "begin", "fired", "rows", "slots", "times_us")

    def __init__(
        self, rows: pa.RecordBatch, fired: Mask, slots: Mapping[Partition, Integers]
    ) -> None:
        self.rows, self.fired, self.slots = rows, fired, dict(slots)
        self.times_us: Integers = numbers(conform(rows.column(TS), Scalar.BIGINT)).values
        self.begin = int(np.argmin(fired)) if len(fired) and not fired.all() else len(fired)
        self._orders: dict[Partition, Order] = {}

    @classmethod
    def of(cls, rows: pa.RecordBatch, fired: Mask, slots: Mapping[Partition, Integers]) -> "Layer":
        """Of rows in the order of arrival, as far as their times are equal."""
        made = cls(rows, fired, slots)
        if (made.times_us[1:] < made.times_us[:-1]).any():
            return made.picked(np.argsort(made.times_us, kind="stable"))
        return made

    def __len__(self) -> int:
        return len(self.times_us)

    @property
    def bytes(self) -> int:
        arrays = (self.fired, *self.slots.values())
        orders = sum(order.bytes for order in self._orders.values())
        return int(self.rows.nbytes) + sum(int(one.nbytes) for one in arrays) + orders

    def before(self, time_us: int) -> int:
        """How many rows are earlier."""
        return int(np.searchsorted(self.times_us, time_us))

    def firing(self, horizon_us: int) -> "Layer":
        """The rows up to there that have not fired; now they have."""
        end = self.before(horizon_us + 1)
        begin, self.begin = self.begin, max(self.begin, end)
        due = ~self.fired[begin:end]
        self.fired[begin:end] = True
        if due.all():
            return self.between(begin, max(begin, end))
        return self.picked(begin + np.flatnonzero(due))

    def order(self, partition: Partition) -> "Order":
        if partition not in self._orders:
            self._orders[partition] = Order.of(self, partition)
        return self._orders[partition]

    def picked(self, places: Integers) -> "Layer":
        """Some of the rows."""
        slots = {keys: one[places] for keys, one in self.slots.items()}
        return Layer(self.rows.take(pa.array(places)), self.fired[places], slots)

    def between(self, start: int, end: int) -> "Layer":
        """A run of the rows."""
        slots = {keys: one[start:end] for keys, one in self.slots.items()}
        return Layer(self.rows.slice(start, end - start), self.fired[start:end], slots)


def united(layers: Sequence[Layer], *, since_us: int) -> Layer:
    """One layer of all rows that are not earlier than that; layers come in the order of arrival."""
    parts = [layer.between(layer.before(since_us), len(layer)) for layer in layers]
    slots = {keys: np.concatenate([part.slots[keys] for part in parts]) for keys in parts[0].slots}
    fired = np.concatenate([part.fired for part in parts])
    return Layer.of(pa.concat_batches([part.rows for part in parts]), fired, slots)


def settled(layers: Sequence[Layer], *, since_us: int) -> list[Layer]:
    """The layers without rows that are earlier than that, as far as it pays, and small ones united."""
    kept: list[Layer] = []
    for layer in layers:
        dead = layer.before(since_us)
        if dead == len(layer):
            continue
        kept.append(united([layer], since_us=since_us) if 2 * dead > len(layer) else layer)
        while count := _alike(kept):
            kept[-count:] = [united(kept[-count:], since_us=since_us)]
    return kept


def _alike(layers: Sequence[Layer]) -> int:
    """How many of the last layers should be one; 0 if none."""
    sizes = [len(layer) for layer in layers]
    count = 2 if sizes[-1] < _SMALL else _MANY
    near = sizes[-count:]
    alike = len(near) == count and max(near) < 2 * near[-1] and sum(near) <= _LARGEST
    return count if alike else 0


@dataclass(frozen=True, slots=True)
class Order:
    """A layer's rows by partition and time, at `places` (None: as they are), and what has been made of them."""

    layer: Layer
    places: Integers | None
    slots: Integers
    times_us: Integers
    _scales: list[tuple[Scale, Integers]] = field(default_factory=list)
    _ranges: dict[int, tuple[Ranges, Ranges | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, layer: Layer, partition: Partition) -> "Order":
        times = layer.times_us
        if not partition:
            return cls(layer, None, np.zeros(len(times), np.int64), times)
        slots = layer.slots[partition]
        places = by_slot(slots)
        return cls(layer, places, slots[places], times[places])

    @property
    def bytes(self) -> int:
        arrays = [self.slots, self.times_us, *(every for _, every in self._scales)]
        arrays += [] if self.places is None else [self.places]
        made = (one for pair in self._ranges.values() for one in pair if one is not None)
        return sum(int(one.nbytes) for one in arrays) + sum(one.bytes for one in made)

    @property
    def _scaled(self) -> tuple[Scale, Integers]:
        """The scale of the rows, and where each is on it."""
        if not self._scales:
            scale = Scale.of(self.slots, self.times_us)
            self._scales.append((scale, scale.number(self.slots, self.times_us)))
        return self._scales[0]

    def run(
        self, slots: Integers, times_us: Integers, *, lookback_us: int, lookahead_us: int
    ) -> Runs:
        """The rows of these partitions around these times."""
        scale, every = self._scaled
        begins = scale.number(slots, times_us - lookback_us)
        ends = scale.number(slots, times_us + lookahead_us, last=True)
        first = np.searchsorted(every, begins)
        return Runs(first, np.searchsorted(every, ends, side="right"), self.places)

    def ranges(self, one: Input) -> tuple[Ranges, Ranges | None]:
        """Folds of what rows bring for an input, and of how many bring anything (None: all do)."""
        if one.place not in self._ranges:
            column = numbers(conform(self.layer.rows.column(one.columns[0].name), one.spec.type))
            fold = fold_of(one.spec.merge, column.values.dtype)
            there = None
            if column.valid is not None:
                counts = self._placed(column.valid).astype(np.int64)
                there = Ranges(fold_of(Merge.ADD, counts.dtype), counts)
            values = Ranges(fold, self._placed(column.filled(fold.identity)))
            self._ranges[one.place] = values, there
        return self._ranges[one.place]

    def _placed(self, values: Numbers) -> Numbers:
        return values if self.places is None else values[self.places]
