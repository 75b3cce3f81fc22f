"""The Spark engine: rows stay in Spark, what they amount to crosses, windows are the kernel's.

In: a planned program, what it stands in, readers of its sources, a SparkSession. Out: what `engines/epochs.py` makes of
it. Readers say where ranges end; what is in them is Spark's to read (`ranges.py`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.protocols import SourceReader
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import BATCH_ROWS, Engine, Surroundings
from tidegate.engines.epochs import Intent, Read, Told
from tidegate.engines.sides import malformed_of
from tidegate.engines.spark.executor import SparkExecutor
from tidegate.engines.spark.frames import Frame, Range, frame_of, private_session
from tidegate.engines.spark.ranges import Ranges, ranges_of
from tidegate.plan.physical import InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEngine(Engine):
    """Every call returns when its epoch is done and durable. `readers` are by lower-case name of the source."""

    def __init__(
        self,
        program: Program,
        around: Surroundings,
        *,
        spark: "SparkSession",
        workers: Workers,
        readers: Mapping[str, SourceReader] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> None:
        self._spark = private_session(spark)
        self._uses = _uses(program)
        self._ranges = self._ranges_of(readers or {})
        executor = SparkExecutor(workers)
        super().__init__(program, executor, around, readers=readers or {}, batch_rows=batch_rows)

    def _ranges_of(self, readers: Mapping[str, SourceReader]) -> dict[str, Ranges]:
        return {
            name: ranges_of(self._spark, reader, shared=self._uses[name] > 1)
            for name, reader in readers.items()
        }

    def _adopt_readers(self, readers: Mapping[str, SourceReader]) -> None:
        super()._adopt_readers(readers)
        self._uses = _uses(self.program)
        self._ranges = self._ranges_of(self._readers)

    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Sequence[Frame]:
        return [frame_of(self._spark, pa.Table.from_batches(batches))] if batches else []

    def _read(self, intent: Intent, number: int) -> Read:
        counts = {name: sum(it.count or 0 for it in rows) for name, rows in intent.rows.items()}
        ranges = {
            name: self._ranges[name].range(self._epochs.offsets.get(name), until)
            for name, until in intent.offsets.items()
        }

        def tell() -> Told:
            read = {name: self._count(name, it) for name, it in ranges.items()}
            wrong = {
                name: malformed_of(it.malformed(), source=name, epoch=number, now_us=intent.now_us)
                for name, it in ranges.items()
            }
            return Told(counts={**counts, **read}, malformed=wrong)

        def done() -> None:
            for one in ranges.values():
                one.done()

        rows = {**intent.rows, **{name: it.frames for name, it in ranges.items()}}
        return Read(rows=rows, tell=tell, done=done)

    def _count(self, name: str, found: Range) -> int:
        """What nobody reads has not been counted on the way."""
        if not self._uses[name]:
            for frame in found.frames:
                frame.data.count()
        return found.count()


def _uses(program: Program) -> Counter[str]:
    """How many branches read each source."""
    return Counter(
        branch.input.name.lower()
        for query in program.queries
        for stage in plan_query(query, program).stages
        for branch in stage.branches
        if branch.input.kind is InputKind.SOURCE
    )
