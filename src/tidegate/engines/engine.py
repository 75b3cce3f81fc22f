"""What both engines are: a program that runs, epoch by epoch, and what a caller may ask of it and do to it by hand.

Decided here: that rows handed over by a program, watermarks, ticks of the clock and the end of the input are epochs of
their own, and are done and durable when the call returns. A poll asks every source where its next range ends, and is an
epoch of all these ranges; who reads a range, and into what, is decided by each engine. Between polls that find little
the engine waits as long as the last epoch took, and at least 10 ms, so that a trickle of rows is gathered instead of
keeping a core busy with tiny epochs; while nothing comes, it waits longer and longer, up to 100 ms.
"""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import pyarrow as pa

from tidegate.connectors.protocols import Offset, Partitioned, SinkWriter, SourceReader
from tidegate.engines.clock import Clock
from tidegate.engines.dataflow import Dataflow
from tidegate.engines.epochs import Epochs, Listener
from tidegate.engines.executor import Executor, Rows
from tidegate.engines.inputs import Inputs
from tidegate.engines.intents import Intent, Read, Told
from tidegate.engines.routes import Routes
from tidegate.engines.timers import is_due
from tidegate.engines.totals import Totals
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.state import Identity, Log

DEAF = Listener(wanted=frozenset())
_MOST_DURATIONS = 1_000
_SHORTEST_S, _LONGEST_S = 0.01, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run stands in, whatever the engine. Tables are by lower-case name, sinks by that of their stream."""

    clock: Clock
    log: Log
    listener: Listener = DEAF
    sinks: Mapping[str, Sequence[SinkWriter]] = field(default_factory=dict)
    routes: Routes | None = None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


class Engine(ABC):
    """Runs a program."""

    def __init__(
        self, program: Program, executor: Executor, around: Surroundings, inputs: Inputs
    ) -> None:
        self.program, self._clock = program, around.clock
        self._inputs = inputs
        self._readers = dict(inputs.readers or inputs.open(program))
        self._epochs_s: deque[float] = deque(maxlen=_MOST_DURATIONS)
        self._lock = RLock()  # epochs come one by one, whoever asks for them
        self._epochs = Epochs(
            program,
            executor,
            log=around.log,
            now_us=around.clock.now_us(),
            sinks=around.sinks,
            tables=around.tables,
            listener=around.listener,
            routes=around.routes,
        )
        begun = self._epochs.interrupted
        if begun is not None:
            self._repeat(begun)

    # What there is

    @property
    def dataflow(self) -> Dataflow:
        return self._epochs.dataflow

    @property
    def totals(self) -> Totals:
        return self._epochs.totals

    @property
    def epoch(self) -> int:
        """The number of the last epoch, -1 before the first."""
        return self._epochs.number

    @property
    def now_us(self) -> int:
        return self._epochs.now_us

    @property
    def watermarks(self) -> Mapping[str, int]:
        """Of every stage, by its name."""
        return self._epochs.watermarks

    @property
    def seconds(self) -> Mapping[str, float]:
        """What each stage took, since this engine was built."""
        return self.dataflow.seconds

    @property
    def ended(self) -> bool:
        return self._epochs.ended

    @property
    def exhausted(self) -> bool:
        """Whether no source will ever have anything new."""
        return all(
            reader.ended(self._epochs.offsets.get(name)) for name, reader in self._readers.items()
        )

    # What is done by hand

    def insert(self, source: str, rows: Sequence[pa.RecordBatch]) -> None:
        """One micro-batch."""
        self._run(rows={source.lower(): self._as_rows(rows)})

    def insert_into_table(self, table: str, rows: pa.Table) -> None:
        """Rows of a static table; they count for what comes after them."""
        self._run(tables={table.lower(): rows})

    def watermark(self, source: str, at_us: int) -> None:
        self._run(watermarks={source.lower(): at_us})

    def tick(self) -> None:
        """An epoch without rows: the clock went on."""
        self._run()

    def end(self) -> None:
        """The inputs have ended: everything that is open closes."""
        if not self.ended:
            self._run(ended=True)

    def wake(self) -> bool:
        """An epoch without rows, if anything is due by the clock alone; whether there was one."""
        with self._lock:
            now_us = self._now_us()
            due = any(is_due(stage, self.now_us, now_us) for stage in self.dataflow.stages)
            if due and not self.ended:
                self._run(now_us=now_us)
            return due

    def checkpoint(self) -> None:
        """Write all state, so that a restart needs nothing before it."""
        with self._lock:
            self._epochs.checkpoint()

    # Driven by its sources

    def poll(self) -> int | None:
        """An epoch of what sources have. The number of rows, or None if there is nothing new."""
        with self._lock:
            if self.ended:  # by another thread
                return None
            now_us = self._now_us()
            offsets: dict[str, Offset] = {}
            for name, reader in self._readers.items():
                at = self._epochs.offsets.get(name)
                until = reader.latest(at, max_rows=self._inputs.batch_rows, now_us=now_us)
                if until is not None:
                    offsets[name] = until
            if not offsets:
                return None
            return sum(self._run(now_us=now_us, offsets=offsets).counts.values())

    def drive(self, stop: Callable[[], bool], progress: Callable[[], None]) -> None:
        """Read sources, epoch by epoch, until all are exhausted or `stop()` says so.

        `progress` is called after every epoch, and at least every 100 ms or so. The end of the input is the caller's.
        """
        pause_s = _SHORTEST_S
        while not stop() and not self.ended:
            began = time.monotonic()
            rows = self.poll()
            if rows is None:
                if self.exhausted:
                    return
                self.wake()
                pause_s = min(2 * pause_s, _LONGEST_S)
            else:
                took_s = time.monotonic() - began
                pause_s = min(max(took_s, _SHORTEST_S), _LONGEST_S)
            progress()
            if rows is None or rows < self._inputs.batch_rows // 2:
                time.sleep(pause_s)

    def adopt(self, program: Program, around: Surroundings) -> None:
        """Run another program from now on: queries that mean the same go on with their state."""
        with self._lock:
            opened = self._inputs.open(program)
            self._epochs.adopt(
                program,
                identity=identity_of(program, anonymous=False),
                sinks=around.sinks,
                tables=around.tables,
                routes=around.routes,
            )
            self.program = program
            self._read_by(opened)
            if self.epoch >= 0 and not self.ended:
                self._run()
                self._epochs.checkpoint()

    def _read_by(self, opened: Mapping[str, SourceReader]) -> None:
        """Readers that are at work go on; others come and go."""
        for name in self._readers.keys() - opened.keys():
            self._readers.pop(name).close()
        for name, reader in opened.items():
            if self._readers.setdefault(name, reader) is not reader:
                reader.close()

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._epochs.close()

    # Epochs

    def _repeat(self, begun: Intent) -> None:
        """The epoch that was begun and not finished, as it was intended."""
        self._epochs.perform(begun, self._read)

    @abstractmethod
    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Rows:
        """Arrow batches as the engine's executor reads them."""

    @abstractmethod
    def _read(self, intent: Intent, number: int) -> Read:
        """What was intended. Its ranges begin where the inputs stand."""

    def _partitions(self, intent: Intent) -> Mapping[str, Sequence[int]]:
        """Those that sources of the intent have."""
        found: dict[str, Sequence[int]] = {}
        for name, until in intent.offsets.items():
            reader: object = self._readers.get(name)
            if isinstance(reader, Partitioned):
                found[name] = reader.partitions(until)
        return found

    def _now_us(self) -> int:
        return max(self._clock.now_us(), self.now_us)

    def _run(self, *, now_us: int | None = None, **given: Any) -> Told:
        with self._lock:
            intent = Intent(now_us=self._now_us() if now_us is None else now_us, **given)
            began = time.monotonic()
            told = self._epochs.run(intent, self._read)
            self._epochs_s.append(time.monotonic() - began)
            return told

    def take_epochs_s(self) -> list[float]:
        """How long each epoch took since this was last asked; the newest thousand."""
        with self._lock:
            taken = [*self._epochs_s]
            self._epochs_s.clear()
            return taken


def identity_of(program: Program, *, anonymous: bool = True) -> Identity:
    """What a checkpoint of the program belongs to. In a session, queries without a name come and go."""
    kept = [query for query in program.queries if anonymous or not query.anonymous]
    plans = {query.name: plan_query(query, program) for query in kept}
    return Identity(plans={name: fingerprint(plan).lines for name, plan in plans.items()})
