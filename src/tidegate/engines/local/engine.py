"""The in-process engine: reads sources range by range, and runs an epoch of each.

In: a planned program, a clock, a log, the outside. Out: what `engines/epochs.py` makes of it. Decided here: what an
epoch reads. A poll asks every source where its next range ends; what a program hands over is an epoch of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidegate.connectors.protocols import Offset, SinkWriter, SourceReader
from tidegate.engines.clock import Clock
from tidegate.engines.dataflow import Dataflow
from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.epochs import Epochs, Intent, Listener, Read, Totals
from tidegate.engines.sides import Circumstances, Payload, malformed
from tidegate.model.time import NEVER_US
from tidegate.plan.script import Program
from tidegate.state import Log

_DEAF = Listener(wanted=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What an engine reads and writes. Readers and tables are by lower-case name, sinks by that of their stream."""

    readers: Mapping[str, SourceReader] = field(default_factory=dict)
    sinks: Mapping[str, Sequence[SinkWriter]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


class LocalEngine:
    """Runs a program. Every call returns when its epoch is done and durable."""

    def __init__(
        self,
        program: Program,
        *,
        clock: Clock,
        log: Log,
        outside: Outside,
        workers: Workers,
        listener: Listener = _DEAF,
        batch_rows: int = 1_000_000,
    ) -> None:
        self.program, self._clock = program, clock
        self._readers, self._batch_rows = outside.readers, batch_rows
        self._epochs = Epochs(
            program,
            EmbeddedExecutor(workers),
            log=log,
            now_us=clock.now_us(),
            sinks=outside.sinks,
            tables=outside.tables,
            listener=listener,
        )
        begun = self._epochs.interrupted
        if begun is not None and begun.batch is None:  # a batch of Spark's is not to be had here
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

    # What a run does

    def insert(self, source: str, rows: Sequence[pa.RecordBatch]) -> None:
        """One micro-batch."""
        self._run(rows={source.lower(): rows})

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

    def poll(self) -> int | None:
        """An epoch of what sources have. The number of rows, or None if there is nothing new."""
        now_us = self._now_us()
        offsets: dict[str, Offset] = {}
        for name, reader in self._readers.items():
            at = self._epochs.offsets.get(name)
            until = reader.latest(at, max_rows=self._batch_rows, now_us=now_us)
            if until is not None:
                offsets[name] = until
        return self._run(now_us=now_us, offsets=offsets) if offsets else None

    def checkpoint(self) -> None:
        """Write all state, so that a restart needs nothing before it."""
        self._epochs.checkpoint()

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._epochs.close()

    # Epochs

    def _now_us(self) -> int:
        return max(self._clock.now_us(), self.now_us)

    def _run(self, *, now_us: int | None = None, **given: Any) -> int:
        intent = Intent(now_us=self._now_us() if now_us is None else now_us, **given)
        return sum(self._epochs.run(intent, self._read).counts.values())

    def _read(self, intent: Intent, number: int) -> Read:
        rows = {**intent.rows}
        wrong = {}
        for name, until in intent.offsets.items():
            delivery = self._readers[name].read(self._epochs.offsets.get(name), until)
            rows[name] = delivery.rows.to_batches()
            around = Circumstances(
                stream=name, plan_id="", epoch=number, now_us=intent.now_us, watermark_us=NEVER_US
            )
            payloads: list[Payload] = [
                malformed(one.text, one.detail, around) for one in delivery.malformed
            ]
            wrong[name] = payloads
        counts = {name: sum(batch.num_rows for batch in batches) for name, batches in rows.items()}
        return Read(rows=rows, malformed=wrong, counts=counts)
