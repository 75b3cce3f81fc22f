"""Sliding windows: every row is a trigger for the rows around it (semantics §6).

In: rows, taken in by (event time, arrival). Out: contents of the windows that fire. Decided here: when a trigger fires,
which rows it sees, and which rows are kept for triggers to come. Rows stand in one buffer, ordered by time and arrival,
so what a trigger sees is a run of it; a row goes when the watermark says that no pending and no possible trigger
reaches it.

    lookback 2, watermark 5:        1   2       4   5
    rows                            a   b       c   d       a trigger at 5 may still come: it would see [3, 5],
    kept for triggers to come                   c   d       so a and b are forgotten

A trigger that fires at once sees what has come so far: of the rows of its own batch only those before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, Numbers, array_of, conform, numbers
from tidegate.kernel.emission import horizon_us
from tidegate.kernel.finishing import ARRIVAL, TS
from tidegate.kernel.frames import Frame, Sight, framed
from tidegate.kernel.partitions import Partitions
from tidegate.kernel.taking import no_rows
from tidegate.kernel.windowed import Contained, Edges, contents_of, nothing, partial_columns
from tidegate.model.expressions import Field
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
    """The buffer. `fire` takes rows in, `contents` says what the fired windows hold; `drop` forgets."""

    unused = 0  # every row is at least in its own window

    def __init__(self, spec: SlidingSpec) -> None:
        self.spec = spec
        self._rows = no_rows(spec.what.kept)
        self._times = np.zeros(0, np.int64)
        self._fired = np.zeros(0, bool)
        self._new = np.zeros(0, bool)
        none = np.zeros(0, np.int64)
        self._slots = {frame.partition: none for frame in spec.frames if frame.partition}
        self._partitions = {keys: Partitions(keys) for keys in self._slots}

    def __len__(self) -> int:
        return len(self._times)

    @property
    def bytes(self) -> int:
        arrays = (self._times, self._fired, *self._slots.values())
        indices = sum(one.bytes for one in self._partitions.values())
        return int(self._rows.nbytes) + sum(int(one.nbytes) for one in arrays) + indices

    def nothing(self) -> pa.RecordBatch:
        made = nothing(self.spec.what)
        if not self.spec.frames:
            return made
        columns = self._rows.slice(0, 0).select([field.name for field in self.spec.what.columns])
        partials = [one.spec.kept_type for frame in self.spec.frames for one in frame.inputs]
        arrays = [conform(pa.nulls(0), kind) for kind in partials]
        edges = made.select(range(4))
        own = partial_columns(arrays)
        return pa.RecordBatch.from_arrays(
            [*edges.columns, *columns.columns, *own.values()],
            names=[*edges.schema.names, *columns.schema.names, *own],
        )

    # An epoch

    def take(self, rows: pa.RecordBatch) -> None:
        """Put rows where they belong; of rows with equal times, those that came later stand later."""
        count = rows.num_rows
        if count == 0:
            self._new = np.zeros(len(self), bool)
            return
        come = numbers(conform(rows.column(TS), Scalar.BIGINT)).values
        stays = int(np.searchsorted(self._times, come.min(), side="right"))
        times = np.r_[self._times[stays:], come]
        moving = pa.concat_batches([self._rows.slice(stays), rows]) if stays < len(self) else rows
        order = None
        if (times[1:] < times[:-1]).any():
            order = np.argsort(times, kind="stable")
            times, moving = times[order], moving.take(pa.array(order))
        slots = {keys: one.slots(rows) for keys, one in self._partitions.items()}
        for keys, one in slots.items():
            self._slots[keys] = _placed(self._slots[keys], one, stays, order)
        self._fired = _placed(self._fired, np.zeros(count, bool), stays, order)
        self._new = _placed(np.zeros(len(self), bool), np.ones(count, bool), stays, order)
        self._rows = pa.concat_batches([self._rows.slice(0, stays), moving]) if stays else moving
        self._times = np.r_[self._times[:stays], times]

    def fire(self, watermark_us: int) -> Integers:
        """The triggers that fire now, in order."""
        if self.spec.at_once:
            fires = self._new & ~self._fired
        else:
            fires = ~self._fired
            fires &= self._times <= horizon_us(watermark_us, self.spec.delay_us)
        self._fired = self._fired | fires
        return np.flatnonzero(fires)

    def finish(self) -> Integers:
        """The end of input is a watermark behind everything."""
        return np.zeros(0, np.int64)

    def drop(self, watermark_us: int) -> None:
        """Forget what no trigger reaches any more."""
        reach = horizon_us(horizon_us(watermark_us, self.spec.delay_us), self.spec.lookback_us)
        gone = int(np.searchsorted(self._times, reach))
        if gone:
            self._rows = self._rows.slice(gone)
            self._times, self._fired = self._times[gone:].copy(), self._fired[gone:].copy()
            for keys, one in self._partitions.items():
                self._slots[keys] = self._slots[keys][gone:].copy()
                if one.is_stale(len(self)):
                    self._number(keys)
        self._new = np.zeros(len(self), bool)

    # What windows hold

    def contents(self, triggers: Integers) -> Iterator[pa.RecordBatch]:
        if len(triggers) == 0:
            return
        sight = self._sight(triggers)
        edges = self._edges(sight)
        if self.spec.frames:
            yield from self._over(sight, edges)
        elif self.spec.fused:
            partials = framed(sight, self.spec.shown, fused=True)
            columns = edges.columns(slice(None)) | partial_columns(partials)
            yield pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])
        else:
            runs = sight.ordered(self.spec.shown).runs
            yield from contents_of(sight.rows, self.spec.what, edges, runs)

    def _sight(self, triggers: Integers) -> Sight:
        """The part of the buffer that the triggers can see."""
        first_us = int(self._times[triggers[0]]) - self.spec.lookback_us
        last_us = int(self._times[triggers[-1]]) + self.spec.lookahead_us
        start = int(np.searchsorted(self._times, first_us))
        end = int(np.searchsorted(self._times, last_us, side="right"))
        return Sight(
            rows=self._rows.slice(start, end - start),
            times_us=self._times[start:end],
            triggers=triggers - start,
            new=self._new[start:end] if self.spec.at_once else None,
            slots={keys: slots[start:end] for keys, slots in self._slots.items()},
        )

    def _edges(self, sight: Sight) -> Edges:
        times = sight.times_us[sight.triggers]
        arrivals = numbers(sight.rows.column(ARRIVAL)).values[sight.triggers]
        return Edges(
            numbers=arrivals,
            starts_us=times - self.spec.shown.lookback_us,
            ends_us=times + self.spec.shown.lookahead_us,
            times_us=times,
        )

    def _over(self, sight: Sight, edges: Edges) -> Iterator[pa.RecordBatch]:
        """One row per trigger, with the aggregates of its frames beside its own columns."""
        names = [field.name for field in self.spec.what.columns]
        own = sight.rows.select(names).take(pa.array(sight.triggers))
        columns = edges.columns(slice(None)) | dict(zip(names, own.columns, strict=True))
        count = 0
        for frame in self.spec.frames:
            partials = framed(sight, frame, fused=self.spec.fused)
            columns |= partial_columns(partials, first=count)
            count += len(partials)
        yield pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])

    # State

    def partials(self) -> pa.RecordBatch:
        """Rows, each with whether it has fired."""
        fired = array_of(self._fired, None, pa.bool_())
        return self._rows.append_column(FIRED, fired)

    def restore(self, batch: pa.RecordBatch) -> None:
        fired: Mask = numbers(conform(batch.column(FIRED), Scalar.BOOLEAN)).values
        kept = no_rows(self.spec.what.kept).schema.names
        times: Integers = numbers(conform(batch.column(TS), Scalar.BIGINT)).values
        order = np.lexsort((numbers(conform(batch.column(ARRIVAL), Scalar.BIGINT)).values, times))
        self._rows = batch.select(kept).take(pa.array(order))
        self._times, self._fired = times[order], fired[order]
        self._new = np.zeros(len(times), bool)
        for keys in self._slots:
            self._number(keys)

    def _number(self, keys: tuple[Field, ...]) -> None:
        self._partitions[keys] = Partitions(keys)
        self._slots[keys] = self._partitions[keys].slots(self._rows)


def _placed(kept: Numbers, come: Numbers, stays: int, order: Integers | None) -> Numbers:
    """What stays in its place, and behind it the rest, in order."""
    rest = np.r_[kept[stays:], come]
    placed: Numbers = np.r_[kept[:stays], rest if order is None else rest[order]]
    return placed
