"""The engine of an attached job: micro-batches that Structured Streaming hands over are epochs.

In: frames with the number of their batch. Out: epochs, each frame's last batch among their offsets.

Decided here: what makes that exactly once. Spark writes down what a batch will be before it hands it over, and hands
it over again, with the same rows and number, until we have returned. So a batch that is in is skipped; and an epoch
that was begun and not finished is repeated by Spark and not by us: until its batch comes again, nothing else may
happen, or the epoch's number would mean other rows to a sink that has seen it. Numbers that do not follow each other
say that the two checkpoints do not belong together: that is refused, since rows would be lost or come twice.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Condition
from typing import TYPE_CHECKING

from tidegate import errors
from tidegate.connectors.protocols import Offset
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.inputs import Inputs, uses_of
from tidegate.engines.intents import Intent, Read, Told
from tidegate.engines.spark.columns import conformed
from tidegate.engines.spark.engine import SparkEngine
from tidegate.engines.spark.frames import Frame, brought
from tidegate.model.schema import Schema
from tidegate.plan.physical import InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedFrame:
    """A frame that is registered. `repeatable`: reading a batch of it twice gives the same rows."""

    schema: Schema
    repeatable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Which micro-batch of a frame; `query` is the id that Spark's checkpoint gives its query."""

    number: int
    query: str

    @property
    def offset(self) -> Offset:
        return {"batch": self.number, "query": self.query}


class RunOver(Exception):
    """The run is over: no further batch is taken. Spark will hand it over to the next run."""


class FrameEngine(SparkEngine):
    """`frames` are by lower-case name."""

    def __init__(
        self,
        program: Program,
        around: Surroundings,
        inputs: Inputs,
        *,
        spark: "SparkSession",
        workers: Workers,
        frames: Mapping[str, HandedFrame],
    ) -> None:
        self._frames = frames
        self._held = _held(program, frames)
        self._awaited: Intent | None = None
        self._over = False
        self._handed: dict[str, Frame] = {}
        super().__init__(program, around, inputs, spark=spark, workers=workers)
        self._turn = Condition(self._lock)

    def _repeat(self, begun: Intent) -> None:
        if self._frames.keys().isdisjoint(begun.offsets):
            super()._repeat(begun)
        else:
            self._awaited = begun

    def held(self) -> AbstractContextManager[object]:
        """Nobody else has an epoch meanwhile."""
        return self._lock

    # Batches

    def take(self, name: str, batch: Batch, data: "DataFrame") -> bool:
        """One micro-batch; whether it was new. Returns when its epoch is durable."""
        with self._turn:
            self._turn.wait_for(lambda: self._over or self._is_next(name))
            if self._over:
                raise RunOver
            self.check(name, batch.query)
            if not self._is_new(name, batch):
                return False
            self._perform(name, batch, data)
            return True

    def insert_frames(self, frames: Mapping[str, "DataFrame"]) -> None:
        """All rows of static frames, as one epoch."""
        made = {name: self._frame(name, data) for name, data in frames.items()}
        try:
            self._run(rows={name: (frame,) for name, frame in made.items()})
        finally:
            for name in made.keys() & self._held:
                made[name].data.unpersist()

    def check(self, name: str, query: str) -> None:
        """Refuses a query whose checkpoint is not the one that the last batch came from."""
        with self._lock:
            begun = self._awaited.offsets.get(name) if self._awaited else None
            known = begun or self._epochs.offsets.get(name)
            if known is not None and known.get("query") != query:
                raise _differs(name, "Spark begins it anew, and Tidegate has batches of it already")

    def _is_next(self, name: str) -> bool:
        return self._awaited is None or name in self._awaited.offsets

    def _is_new(self, name: str, batch: Batch) -> bool:
        known = self._epochs.offsets.get(name)
        last = -1 if known is None else int(known["batch"])
        if last <= batch.number <= last + 1:
            return batch.number > last
        before = f"follows batch {last}" if last >= 0 else "is the first one that comes"
        raise _differs(name, f"Spark's batch {batch.number} {before}")

    def _perform(self, name: str, batch: Batch, data: "DataFrame") -> None:
        awaited, self._awaited = self._awaited, None
        try:
            self._handed = {name: self._frame(name, data)}
            if awaited is None:
                self._run(offsets={name: batch.offset})
            else:
                self._epochs.perform(awaited, self._read)
        except BaseException:
            self._over = True  # what is in memory is no longer what is in the log
            raise
        finally:
            self._handed = {}
            self._turn.notify_all()

    def _frame(self, name: str, data: "DataFrame") -> Frame:
        frame = conformed(brought(data, self._spark), self._frames[name].schema)
        return Frame(frame.persist() if name in self._held else frame)

    def _read(self, intent: Intent, number: int) -> Read:
        if not self._handed:
            return super()._read(intent, number)
        held = {name: it for name, it in self._handed.items() if name in self._held}

        def tell() -> Told:
            return Told(counts={name: it.data.count() for name, it in held.items()})

        def done() -> None:
            for it in held.values():
                it.data.unpersist()

        return Read(rows={name: (it,) for name, it in self._handed.items()}, tell=tell, done=done)

    # Time, and the end

    def wake(self) -> bool:
        with self._lock:
            return self._is_free and super().wake()

    def poll(self) -> int | None:
        with self._lock:
            return super().poll() if self._is_free else None

    def end(self) -> None:
        with self._lock:
            if self._is_free:
                super().end()

    @property
    def _is_free(self) -> bool:
        return self._awaited is None and not self._over

    def stop(self) -> None:
        """No further batch is taken; returns between two epochs."""
        with self._turn:
            self._over = True
            self._turn.notify_all()


def _differs(name: str, problem: str) -> errors.TidegateError:
    return errors.spark_checkpoint_differs(frame=name, problem=problem)


def _held(program: Program, frames: Mapping[str, HandedFrame]) -> frozenset[str]:
    """Frames whose batches are kept while an epoch reads them: more than once, or rows that no stage counts."""
    uses = uses_of(program)
    counted = set(_counted(program))
    return frozenset(
        name
        for name, frame in frames.items()
        if uses[name] != 1 or name not in counted or not frame.repeatable
    )


def _counted(program: Program) -> Iterable[str]:
    """Sources that a stage reads with no other kind of input beside them, and without a join."""
    for query in program.queries:
        for stage in plan_query(query, program).stages:
            inputs = [branch.input for branch in stage.branches]
            plain = not any(branch.lookups for branch in stage.branches)
            if plain and all(one.kind is InputKind.SOURCE for one in inputs):
                yield from (one.name.lower() for one in inputs)
