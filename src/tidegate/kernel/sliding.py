"""Sliding windows: every row is a trigger for the rows around it (semantics §6).

In: rows. Out: contents of the windows that fire. Decided here: when a trigger fires, which rows it sees, and which rows
are kept for triggers to come: a row goes when the watermark says that no pending and no possible trigger reaches it.

    lookback 2, watermark 5:        1   2       4   5
    rows                            a   b       c   d       a trigger at 5 may still come: it would see [3, 5],
    kept for triggers to come                   c   d       so a and b are forgotten

A trigger that fires at once sees what has come so far: of the rows of its own batch only those before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, conform, numbers
from tidegate.kernel.emission import horizon_us
from tidegate.kernel.finishing import ARRIVAL
from tidegate.kernel.frames import Frame, Sight, buffered, fused
from tidegate.kernel.layers import Layer, Partition, settled, united
from tidegate.kernel.partitions import Partitions
from tidegate.kernel.taking import no_rows
from tidegate.kernel.windowed import Contained, Edges, contents_of, nothing, partial_columns
from tidegate.model.expressions import Field
from tidegate.model.time import NEVER_US
from tidegate.model.types import Scalar

FIRED = "$fired"
FIRED_FIELD = Field(FIRED, Scalar.BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingSpec:
    """`frames` are those of OVER, else empty. `shown`: the frame whose edges are the window's.

    `at_once`: triggers fire when they come. `fused`: frames share what they are combined from.
    """

    what: Contained
    frames: tuple[Frame, ...]
    shown: Frame
    lookback_us: int
    lookahead_us: int
    lateness_us: int
    at_once: bool
    fused: bool

    @property
    def delay_us(self) -> int:
        return self.lookahead_us + self.lateness_us


class SlidingStore:
    """The rows within reach. `fire` says which triggers are due, `contents` what their windows hold; `drop` forgets."""

    unused = 0  # every row is at least in its own window

    def __init__(self, spec: SlidingSpec) -> None:
        self.spec = spec
        self._layers: list[Layer] = []
        self._new: Layer | None = None
        self._reach_us = NEVER_US
        self._partitions: dict[Partition, Partitions] = {}
        self._number()

    def __len__(self) -> int:
        return sum(len(layer) - layer.before(self._reach_us) for layer in self._layers)

    @property
    def bytes(self) -> int:
        indices = sum(one.bytes for one in self._partitions.values())
        return indices + sum(layer.bytes for layer in self._layers)

    def nothing(self) -> pa.RecordBatch:
        made = nothing(self.spec.what)
        if not self.spec.frames:
            return made
        columns = self._none.select([field.name for field in self.spec.what.columns])
        partials = [one.spec.kept_type for frame in self.spec.frames for one in frame.inputs]
        arrays = [conform(pa.nulls(0), kind) for kind in partials]
        edges = made.select(range(4))
        own = partial_columns(arrays)
        return pa.RecordBatch.from_arrays(
            [*edges.columns, *columns.columns, *own.values()],
            names=[*edges.schema.names, *columns.schema.names, *own],
        )

    @property
    def _none(self) -> pa.RecordBatch:
        return no_rows(self.spec.what.kept)

    # An epoch

    def take(self, rows: pa.RecordBatch) -> None:
        """The rows are a layer of their own, until triggers have fired."""
        self._new = None
        if rows.num_rows:
            self._new = self._layer(rows, np.zeros(rows.num_rows, bool))
            self._layers.append(self._new)

    def fire(self, watermark_us: int) -> Layer:
        """The triggers that fire now, by time and arrival."""
        if self.spec.at_once:
            if self._new is None:
                return self._nobody
            self._new.fired[:] = True
            return self._new
        horizon = horizon_us(watermark_us, self.spec.delay_us)
        due = [layer.firing(horizon) for layer in self._layers]
        found = [layer for layer in due if len(layer)]
        if len(found) == 1:
            return found[0]
        return united(found, since_us=NEVER_US) if found else self._nobody

    def finish(self) -> Layer:
        """The end of input is a watermark behind everything."""
        return self._nobody

    def drop(self, watermark_us: int) -> None:
        """Forget what no trigger reaches any more."""
        reach = horizon_us(horizon_us(watermark_us, self.spec.delay_us), self.spec.lookback_us)
        self._reach_us = max(self._reach_us, reach)
        self._layers = settled(self._layers, since_us=self._reach_us)
        self._new = None
        if any(one.is_stale(len(self)) for one in self._partitions.values()):
            self._number()

    @property
    def _nobody(self) -> Layer:
        return self._layer(self._none, np.zeros(0, bool))

    def _layer(self, rows: pa.RecordBatch, fired: Mask) -> Layer:
        slots = {keys: one.slots(rows) for keys, one in self._partitions.items()}
        return Layer.of(rows, fired, slots)

    def _number(self) -> None:
        """Give the partitions of the rows that there are new numbers."""
        keys = {frame.partition for frame in self.spec.frames if frame.partition}
        self._partitions = {one: Partitions(one) for one in keys}
        self._layers = [self._layer(layer.rows, layer.fired) for layer in self._layers]

    # What windows hold

    def contents(self, triggers: Layer) -> Iterator[pa.RecordBatch]:
        if len(triggers) == 0:
            return
        edges = self._edges(triggers)
        if not self.spec.frames and not self.spec.fused:
            sight = self._sight(triggers)
            _, runs = sight.runs(self.spec.shown)
            yield from contents_of(sight.layer.rows, self.spec.what, edges, runs)
            return
        names = [field.name for field in self.spec.what.columns if self.spec.frames]
        own = {name: triggers.rows.column(name) for name in names}
        columns = edges.columns(slice(None)) | own | partial_columns(self._partials(triggers))
        yield pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])

    def _partials(self, triggers: Layer) -> list[pa.Array]:
        """The aggregates of all frames of each trigger."""
        frames = self.spec.frames or (self.spec.shown,)
        if self.spec.fused:
            layers, at_once = self._seen(triggers), self.spec.at_once
            made = [fused(layers, triggers, frame, at_once=at_once) for frame in frames]
        else:
            sight = self._sight(triggers)
            made = [buffered(sight, frame) for frame in frames]
        return [array for arrays in made for array in arrays]

    def _seen(self, triggers: Layer) -> list[Layer]:
        """The layers that have something for the triggers."""
        first_us = int(triggers.times_us[0]) - self.spec.lookback_us
        last_us = int(triggers.times_us[-1]) + self.spec.lookahead_us
        return [
            layer
            for layer in self._layers
            if layer.times_us[-1] >= first_us and layer.times_us[0] <= last_us
        ]

    def _sight(self, triggers: Layer) -> Sight:
        first_us = int(triggers.times_us[0]) - self.spec.lookback_us
        layer = united(self._seen(triggers), since_us=first_us)
        arrivals = _arrivals(layer)
        at = np.flatnonzero(np.isin(arrivals, _arrivals(triggers)))
        new = None
        if self.spec.at_once:
            new = np.zeros(len(layer), bool)
            new[at] = True
        return Sight(layer, at, new)

    def _edges(self, triggers: Layer) -> Edges:
        times = triggers.times_us
        return Edges(
            numbers=_arrivals(triggers),
            starts_us=times - self.spec.shown.lookback_us,
            ends_us=times + self.spec.shown.lookahead_us,
            times_us=times,
        )

    # State

    def partials(self) -> pa.RecordBatch:
        """Rows, each with whether it has fired."""
        if not self._layers:
            return self._none.append_column(FIRED, pa.array([], pa.bool_()))
        whole = united(self._layers, since_us=self._reach_us)
        return whole.rows.append_column(FIRED, array_of(whole.fired, None, pa.bool_()))

    def restore(self, batch: pa.RecordBatch) -> None:
        fired: Mask = numbers(conform(batch.column(FIRED), Scalar.BOOLEAN)).values
        rows = batch.select(self._none.schema.names)
        order = np.argsort(numbers(conform(batch.column(ARRIVAL), Scalar.BIGINT)).values)
        rows, fired = rows.take(pa.array(order)), fired[order]
        self._layers = [self._layer(rows, fired)] if batch.num_rows else []


def _arrivals(layer: Layer) -> Integers:
    found: Integers = numbers(conform(layer.rows.column(ARRIVAL), Scalar.BIGINT)).values
    return found
