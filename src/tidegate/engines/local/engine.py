"""The in-process engine: reads ranges of sources into Arrow batches.

In: a planned program, what it stands in, readers of its sources. Out: what `engines/epochs.py` makes of it.
"""

from collections.abc import Sequence

import pyarrow as pa

from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.inputs import BY_HAND, Inputs
from tidegate.engines.intents import Intent, Read, Told
from tidegate.engines.sides import malformed_of
from tidegate.plan.script import Program


class LocalEngine(Engine):
    """Every call returns when its epoch is done and durable."""

    def __init__(
        self,
        program: Program,
        around: Surroundings,
        inputs: Inputs = BY_HAND,
        *,
        workers: Workers,
    ) -> None:
        super().__init__(program, EmbeddedExecutor(workers), around, inputs)

    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Sequence[pa.RecordBatch]:
        return batches

    def _read(self, intent: Intent, number: int) -> Read:
        rows = {**intent.rows}
        wrong = {}
        for name, until in intent.offsets.items():
            delivery = self._readers[name].read(self._epochs.offsets.get(name), until)
            rows[name] = delivery.rows.to_batches()
            wrong[name] = malformed_of(
                delivery.malformed, source=name, epoch=number, now_us=intent.now_us
            )
        counts = {name: sum(batch.num_rows for batch in batches) for name, batches in rows.items()}
        return Read(
            rows=rows,
            partitions=self._partitions(intent),
            tell=lambda: Told(counts=counts, malformed=wrong),
        )
