"""What both engines are: a program that runs, epoch by epoch, and what a caller may ask of it and do to it by hand.

Decided here: that rows handed over by a program, watermarks, ticks of the clock and the end of the input are epochs of
their own, and are done and durable when the call returns; and what an epoch reads of sources: a poll asks each where
its next range ends, and reads up to there. Who reads a range, and into what, is decided by each engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidegate.connectors.protocols import Offset, SinkWriter, SourceReader
from tidegate.engines.clock import Clock
from tidegate.engines.dataflow import Dataflow
from tidegate.engines.epochs import Epochs, Intent, Listener, Read, Told, Totals
from tidegate.engines.executor import Executor, Rows
from tidegate.plan.script import Program
from tidegate.state import Log

DEAF = Listener(wanted=frozenset())
BATCH_ROWS = 1_000_000


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

    def __init__(
        self,
        program: Program,
        executor: Executor,
        around: Surroundings,
        *,
        readers: Mapping[str, SourceReader],
        batch_rows: int,
    ) -> None:
        self.program, self._clock = program, around.clock
        self._readers, self._batch_rows = readers, batch_rows
        self._epochs = Epochs(
            program,
            executor,
            log=around.log,
            now_us=around.clock.now_us(),
            sinks=around.sinks,
            tables=around.tables,
            listener=around.listener,
        )
        begun = self._epochs.interrupted
        if begun is not None:
            self._epochs.perform(begun, self._read)

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

    @property
    def exhausted(self) -> bool:
        """Whether no source will ever have anything new."""
        return bool(self._readers) and all(
            reader.ended(self._epochs.offsets.get(name)) for name, reader in self._readers.items()
        )

    # What sources have

    def poll(self) -> int | None:
        """An epoch of what sources have. The number of rows, or None if there is nothing new."""
        now_us = self._now_us()
        offsets: dict[str, Offset] = {}
        for name, reader in self._readers.items():
            at = self._epochs.offsets.get(name)
            until = reader.latest(at, max_rows=self._batch_rows, now_us=now_us)
            if until is not None:
                offsets[name] = until
        if not offsets:
            return None
        return sum(self._run(now_us=now_us, offsets=offsets).counts.values())

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
        for reader in self._readers.values():
            reader.close()
        self._epochs.close()

    # Epochs

    @abstractmethod
    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Rows:
        """Arrow batches as the engine's executor reads them."""

    @abstractmethod
    def _read(self, intent: Intent, number: int) -> Read:
        """What was intended. Its ranges begin where the inputs stand."""

    def _now_us(self) -> int:
        return max(self._clock.now_us(), self.now_us)

    def _run(self, *, now_us: int | None = None, **given: Any) -> Told:
        intent = Intent(now_us=self._now_us() if now_us is None else now_us, **given)
        return self._epochs.run(intent, self._read)
