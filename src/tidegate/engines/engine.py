"""What both engines are: a program that runs, epoch by epoch, and what a caller may ask of it and do to it by hand.

Decided here: that rows handed over by a program, watermarks, ticks of the clock and the end of the input are epochs of
their own, and are done and durable when the call returns. Where rows of sources come from is decided by each engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidegate.connectors.protocols import SinkWriter
from tidegate.engines.clock import Clock
from tidegate.engines.dataflow import Dataflow
from tidegate.engines.epochs import Epochs, Intent, Listener, Read, Totals
from tidegate.engines.executor import Executor, Rows
from tidegate.plan.script import Program
from tidegate.state import Log

DEAF = Listener(wanted=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run stands in, whatever the engine. Tables are by lower-case name, sinks by that of their stream."""

    clock: Clock
    log: Log
    listener: Listener = DEAF
    sinks: Mapping[str, Sequence[SinkWriter]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


class Engine(ABC):
    """Runs a program."""

    def __init__(self, program: Program, executor: Executor, around: Surroundings) -> None:
        self.program, self._clock = program, around.clock
        self._epochs = Epochs(
            program,
            executor,
            log=around.log,
            now_us=around.clock.now_us(),
            sinks=around.sinks,
            tables=around.tables,
            listener=around.listener,
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

    def checkpoint(self) -> None:
        """Write all state, so that a restart needs nothing before it."""
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
        intent = Intent(now_us=self._now_us() if now_us is None else now_us, **given)
        return self._epochs.run(intent, self._read)
