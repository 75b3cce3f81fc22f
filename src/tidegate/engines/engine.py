"""What both engines are: a program that runs, epoch by epoch, and what a caller may ask of it and do to it by hand.

Decided here: that rows handed over by a program, watermarks, ticks of the clock and the end of the input are epochs of
their own, and are done and durable when the call returns. Where rows of sources come from is decided by each engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.protocols import SinkWriter
from tidegate.engines.clock import Clock
from tidegate.engines.dataflow import Dataflow
from tidegate.engines.epochs import Epochs, Intent, Listener, Read, Totals
from tidegate.engines.executor import Executor, Rows
from tidegate.engines.routes import Routes
from tidegate.engines.timers import is_due
from tidegate.plan.catalog import SinkDef, SourceDef
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.physical import InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.state import Identity, Log

DEAF = Listener(wanted=frozenset())


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

    def __init__(self, program: Program, executor: Executor, around: Surroundings) -> None:
        self.program, self._clock = program, around.clock
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

    def drive(self, stop: Callable[[], bool], progress: Callable[[], None]) -> None:
        """Read sources, epoch by epoch, until all are exhausted or `stop()` says so.

        `progress` is called after every epoch, and at least every 100 ms or so. The end of the input is the caller's.
        """
        raise errors.cannot_run(what="a pipeline on this engine", instead="use --engine local")

    def adopt(self, program: Program, around: Surroundings) -> None:
        """Run another program from now on: queries that mean the same go on with their state."""
        with self._lock:
            self._epochs.adopt(
                program,
                identity=identity_of(program, anonymous=False),
                sinks=around.sinks,
                tables=around.tables,
                routes=around.routes,
            )
            self.program = program
            if self.epoch >= 0 and not self.ended:
                self._run()
                self._epochs.checkpoint()

    def close(self) -> None:
        self._epochs.close()

    # Epochs

    @abstractmethod
    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Rows:
        """Arrow batches as the engine's executor reads them."""

    @abstractmethod
    def _read(self, intent: Intent, number: int) -> Read:
        """What was intended."""

    def _now_us(self) -> int:
        return max(self._clock.now_us(), self.now_us)

    def _run(self, *, now_us: int | None = None, **given: Any) -> Read:
        with self._lock:
            intent = Intent(now_us=self._now_us() if now_us is None else now_us, **given)
            return self._epochs.run(intent, self._read)


def sources_of(program: Program) -> list[SourceDef]:
    """Those that a query or a sink of the program reads."""
    read = {
        branch.input.name.lower()
        for query in program.queries
        for stage in plan_query(query, program).stages
        for branch in stage.branches
        if branch.input.kind is InputKind.SOURCE
    }
    sinks = (sink for sink in program.catalog.all_of("sink") if isinstance(sink, SinkDef))
    read |= {sink.stream.lower() for sink in sinks if sink.stream}
    sources = (each for each in program.catalog.all_of("source") if isinstance(each, SourceDef))
    return [source for source in sources if source.name.lower() in read]


def identity_of(program: Program, *, anonymous: bool = True) -> Identity:
    """What a checkpoint of the program belongs to. In a session, queries without a name come and go."""
    kept = [query for query in program.queries if anonymous or not query.anonymous]
    plans = {query.name: plan_query(query, program) for query in kept}
    return Identity(plans={name: fingerprint(plan).lines for name, plan in plans.items()})
