"""The in-process engine: reads sources range by range, and runs an epoch of each.

In: a planned program, what it stands in, readers of its sources. Out: what `engines/epochs.py` makes of it. Decided
here: what an epoch reads. A poll asks every source where its next range ends, and reads up to there. Between polls that
find little the engine waits as long as the last epoch took, and at least 10 ms, so that a trickle of rows is gathered
instead of keeping a core busy with tiny epochs; while nothing comes, it waits longer and longer, up to 100 ms.
"""

import time
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from tidegate.connectors.protocols import Offset, SourceReader
from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Intent, Read
from tidegate.engines.sides import Circumstances, Payload, malformed
from tidegate.model.time import NEVER_US
from tidegate.plan.script import Program

Open = Callable[[Program], Mapping[str, SourceReader]]
BATCH_ROWS = 1_000_000
_SHORTEST_S, _LONGEST_S = 0.01, 0.1


def _nothing(_program: Program) -> Mapping[str, SourceReader]:
    return {}


class LocalEngine(Engine):
    """Every call returns when its epoch is done and durable. `readers` are by lower-case name of the source.

    `open_readers` gives those of another program, which replace the ones that it does not need any more.
    """

    def __init__(
        self,
        program: Program,
        around: Surroundings,
        *,
        workers: Workers,
        readers: Mapping[str, SourceReader] | None = None,
        open_readers: Open = _nothing,
        batch_rows: int = BATCH_ROWS,
    ) -> None:
        super().__init__(program, EmbeddedExecutor(workers), around)
        self._open_readers, self._batch_rows = open_readers, batch_rows
        self._readers = dict(readers or open_readers(program))
        begun = self._epochs.interrupted
        if begun is not None and begun.batch is None:  # a batch of Spark's is not to be had here
            self._epochs.perform(begun, self._read)

    @property
    def exhausted(self) -> bool:
        """Whether no source will ever have anything new."""
        return all(
            reader.ended(self._epochs.offsets.get(name)) for name, reader in self._readers.items()
        )

    def poll(self) -> int | None:
        """An epoch of what sources have. The number of rows, or None if there is nothing new."""
        with self._lock:
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

    def drive(self, stop: Callable[[], bool], progress: Callable[[], None]) -> None:
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
            if rows is None or rows < self._batch_rows // 2:
                time.sleep(pause_s)

    def adopt(self, program: Program, around: Surroundings) -> None:
        with self._lock:
            opened = self._open_readers(program)
            super().adopt(program, around)
            for name in self._readers.keys() - opened.keys():
                self._readers.pop(name).close()
            for name, reader in opened.items():
                if self._readers.setdefault(name, reader) is not reader:
                    reader.close()

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        super().close()

    # Epochs

    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Sequence[pa.RecordBatch]:
        return batches

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
