"""Rows of two streams that meet: equal in their keys, and not too far apart in time.

    left at t         matches right rows in [t + lower, t + upper]

In: rows of both sides. Out: joined rows, as contents of windows (`finishing.py`). Decided here: a pair comes out with
the row that completes it, so nothing waits; a row that may stand alone does so once the watermark says that no match
can come any more. Until then, and no longer, rows are kept: each side in layers (`layers.py`), of which each is ordered
by key and time once, so an epoch costs what its own rows and their matches do. A key that is NULL equals nothing.
`fired` says of a kept row that it needs not stand alone any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, arrow_type, conform, numbers, validity
from tidegate.kernel.emission import horizon_us
from tidegate.kernel.finishing import ARRIVAL, TS
from tidegate.kernel.layers import Layer, settled, united
from tidegate.kernel.partitions import Partitions
from tidegate.kernel.taking import no_rows
from tidegate.kernel.windowed import Contained, Edges, Runs, nothing
from tidegate.model.expressions import Field
from tidegate.model.time import NEVER_US
from tidegate.model.types import Scalar
from tidegate.model.windows import Interval

FIRED = "$fired"
_NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingSpec:
    """`own` are the columns of each side among those of `what`; `keeps`: whose rows may stand alone."""

    what: Contained
    interval: Interval
    side: str
    keys: tuple[Field, ...]
    own: tuple[tuple[str, ...], tuple[str, ...]]
    keeps: tuple[bool, bool]

    @property
    def kept(self) -> tuple[Field, ...]:
        return tuple(dict.fromkeys((*self.what.kept, *self.keys)))

    def reach_us(self, side: int) -> int:
        """How long a row waits for rows of the other side."""
        return self.interval.upper_us if side == 0 else -self.interval.lower_us


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows of a left and of a right layer, side by side; a side that is None is not there."""

    sides: tuple[Layer | None, Layer | None]
    places: tuple[Integers, Integers]

    def __len__(self) -> int:
        return max(len(places) for places in self.places)

    def own(self, side: int, name: str, otherwise: int) -> Integers:
        """A whole number that every row has."""
        layer = self.sides[side]
        if layer is None:
            return np.full(len(self), otherwise)
        values: Integers = numbers(conform(layer.rows.column(name), Scalar.BIGINT)).values
        return values[self.places[side]]


class MeetingStore:
    """What is kept of both sides, and what has met in this epoch."""

    unused = 0

    def __init__(self, spec: MeetingSpec) -> None:
        self.spec = spec
        self._layers: tuple[list[Layer], list[Layer]] = ([], [])
        self._met: list[_Pairs] = []
        self._since_us = [NEVER_US, NEVER_US]
        self._partitions = Partitions(spec.keys)

    def __len__(self) -> int:
        every = zip(self._layers, self._since_us, strict=True)
        return sum(len(one) - one.before(since) for layers, since in every for one in layers)

    @property
    def bytes(self) -> int:
        return self._partitions.bytes + sum(one.bytes for layers in self._layers for one in layers)

    def nothing(self) -> pa.RecordBatch:
        return nothing(self.spec.what)

    # An epoch

    def take(self, rows: pa.RecordBatch) -> None:
        """What meets because of these rows; then they are kept with the others."""
        self._met = []
        if rows.num_rows == 0:
            return
        of = numbers(conform(rows.column(self.spec.side), Scalar.BIGINT)).values
        new = [self._layer(rows.filter(pa.array(of == side))) for side in (0, 1)]
        for seen in (*self._layers[1], new[1]):
            self._meet(0, new[0], seen)
        for seen in self._layers[0]:
            self._meet(1, new[1], seen)
        for side in (0, 1):
            if len(new[side]):
                self._layers[side].append(new[side])

    def _meet(self, side: int, asking: Layer, seen: Layer) -> None:
        """Rows of a side with those of the other that are within reach of them."""
        if not len(asking) or not len(seen):
            return
        order, own = seen.order(self.spec.keys), asking.order(self.spec.keys)
        before_us, after_us = self.spec.reach_us(1 - side), self.spec.reach_us(side)
        run = order.run(own.slots, own.times_us, lookback_us=before_us, lookahead_us=after_us)
        asked = np.arange(len(asking)) if own.places is None else own.places
        lengths = np.where(self._comparable(asking)[asked], run.lengths, 0)
        if not lengths.any():
            return
        found = Runs(run.first, run.first + lengths, run.via).places(0, len(lengths))
        asked = np.repeat(asked, lengths)
        asking.fired[asked], seen.fired[found] = True, True
        if side == 0:
            self._met.append(_Pairs((asking, seen), (asked, found)))
        else:
            self._met.append(_Pairs((seen, asking), (found, asked)))

    def _comparable(self, layer: Layer) -> Mask:
        """Rows whose keys are all there."""
        fine = np.ones(len(layer), bool)
        for key in self.spec.keys:
            valid = validity(layer.rows.column(key.name))
            if valid is not None:
                fine &= valid
        return fine

    def fire(self, watermark_us: int) -> Integers:
        """All that has met, and those for whom nobody can come any more."""
        for side, keeps in enumerate(self.spec.keeps):
            last_us = horizon_us(watermark_us, self.spec.reach_us(side)) - 1
            alone = [layer.firing(last_us) for layer in self._layers[side] if keeps]
            for layer in alone:
                if len(layer):
                    self._met.append(_alone(side, layer))
        return np.arange(sum(map(len, self._met)))

    def finish(self) -> Integers:
        """The end of input is a watermark behind everything."""
        return _NOBODY

    def drop(self, watermark_us: int) -> None:
        self._met = []
        for side, layers in enumerate(self._layers):
            since_us = horizon_us(watermark_us, self.spec.reach_us(side))
            self._since_us[side] = max(self._since_us[side], since_us)
            layers[:] = settled(layers, since_us=self._since_us[side])
        if self._partitions.is_stale(len(self)):
            self._number()

    def _layer(self, rows: pa.RecordBatch, fired: Mask | None = None) -> Layer:
        slots = {self.spec.keys: self._partitions.slots(rows)} if self.spec.keys else {}
        return Layer.of(rows, np.zeros(rows.num_rows, bool) if fired is None else fired, slots)

    def _number(self) -> None:
        """Give the keys of the rows that there are new numbers."""
        self._partitions = Partitions(self.spec.keys)
        for layers in self._layers:
            layers[:] = [self._layer(layer.rows, layer.fired) for layer in layers]

    # Joined rows

    def contents(self, windows: Integers) -> Iterator[pa.RecordBatch]:
        """In the order in which they were completed."""
        if len(windows) == 0:
            return
        made = pa.concat_batches([self._beside(pairs) for pairs in self._met])
        arrivals = [
            np.concatenate([pairs.own(side, ARRIVAL, -1) for pairs in self._met]) for side in (0, 1)
        ]
        order = np.lexsort([*reversed(arrivals), np.maximum(*arrivals)])
        rows = made.take(pa.array(order))
        number = array_of(np.arange(len(order)), None, pa.int64())
        yield rows.set_column(rows.schema.get_field_index(ARRIVAL), ARRIVAL, number)

    def _beside(self, pairs: _Pairs) -> pa.RecordBatch:
        times = [pairs.own(side, TS, NEVER_US) for side in (0, 1)]
        last = np.maximum(*times)
        numbered = np.maximum(pairs.own(0, ARRIVAL, -1), pairs.own(1, ARRIVAL, -1))
        edges = Edges(numbers=numbered, starts_us=last, ends_us=last + 1, times_us=last)
        columns = edges.columns(slice(None))
        columns |= {TS: columns["$window_time"], ARRIVAL: columns["$window"]}
        for column in self.spec.what.columns:
            columns[column.name] = self._column(pairs, column)
        return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])

    def _column(self, pairs: _Pairs, column: Field) -> pa.Array:
        side = 1 if column.name in self.spec.own[1] else 0
        layer = pairs.sides[side]
        if layer is None:
            return pa.nulls(len(pairs), arrow_type(column.type))
        array = conform(layer.rows.column(column.name), column.type)
        return array.take(pa.array(pairs.places[side]))

    # State

    def partials(self) -> pa.RecordBatch:
        """Rows of both sides, each with whether it has fired."""
        every = [
            united(layers, since_us=since)
            for layers, since in zip(self._layers, self._since_us, strict=True)
            if layers
        ]
        parts = [no_rows(self.spec.kept), *(layer.rows for layer in every)]
        fired = np.concatenate([np.zeros(0, bool), *(layer.fired for layer in every)])
        return pa.concat_batches(parts).append_column(FIRED, array_of(fired, None, pa.bool_()))

    def restore(self, batch: pa.RecordBatch) -> None:
        order = np.argsort(numbers(conform(batch.column(ARRIVAL), Scalar.BIGINT)).values)
        batch = batch.take(pa.array(order))
        fired: Mask = numbers(conform(batch.column(FIRED), Scalar.BOOLEAN)).values.astype(bool)
        of = numbers(conform(batch.column(self.spec.side), Scalar.BIGINT)).values
        rows = batch.select(no_rows(self.spec.kept).schema.names)
        for side, layers in enumerate(self._layers):
            own = rows.filter(pa.array(of == side))
            layers[:] = [self._layer(own, fired[of == side])] if own.num_rows else []


def _alone(side: int, layer: Layer) -> _Pairs:
    places = np.arange(len(layer))
    if side == 0:
        return _Pairs((layer, None), (places, _NOBODY))
    return _Pairs((None, layer), (_NOBODY, places))
