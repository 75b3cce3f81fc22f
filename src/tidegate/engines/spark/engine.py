"""The Spark engine: rows stay in Spark, what they amount to crosses, windows are the kernel's.

In: a planned program, what it stands in, readers of its sources, a SparkSession. Out: what `engines/epochs.py` makes of
it. Readers say where ranges end; what is in them is Spark's to read (`ranges.py`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.protocols import SourceReader
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.inputs import BY_HAND, Inputs, dated_by_source, uses_of
from tidegate.engines.intents import Intent, Read, Told
from tidegate.engines.sides import malformed_of
from tidegate.engines.spark.cluster import check_executors, runs_python
from tidegate.engines.spark.executor import SparkExecutor
from tidegate.engines.spark.frames import Frame, Range, frame_of, private_session
from tidegate.engines.spark.ranges import Ranges, ranges_of
from tidegate.engines.spark.shards import Placement
from tidegate.model.options import SPARK_OPTIONS
from tidegate.plan.script import Program
from tidegate.state import PartialLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEngine(Engine):
    """Every call returns when its epoch is done and durable."""

    def __init__(
        self,
        program: Program,
        around: Surroundings,
        inputs: Inputs = BY_HAND,
        *,
        spark: "SparkSession",
        workers: Workers,
    ) -> None:
        self._spark = private_session(spark)
        self._ranges: dict[str, tuple[tuple[SourceReader, bool, bool], Ranges]] = {}
        files = around.log.shards if isinstance(around.log, PartialLog) else None
        if runs_python(program, on_executors=files is not None):
            check_executors(spark)
        placement = Placement(
            spark=self._spark,
            files=files,
            count=_option(program, "shards"),
            most_bytes=_option(program, "driver_state"),
        )
        super().__init__(program, SparkExecutor(workers, placement), around, inputs)

    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Sequence[Frame]:
        return [frame_of(self._spark, pa.Table.from_batches(batches))] if batches else []

    def _read(self, intent: Intent, number: int) -> Read:
        counts = {name: sum(it.count or 0 for it in rows) for name, rows in intent.rows.items()}
        ranges = {
            name: self._ranges_of(name).range(self._epochs.offsets.get(name), until)
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
        return Read(rows=rows, partitions=self._partitions(intent), tell=tell, done=done)

    def _ranges_of(self, name: str) -> Ranges:
        reader, shared = self._readers[name], uses_of(self.program)[name] > 1
        made_for = (reader, shared, name in dated_by_source(self.program))
        known = self._ranges.get(name)
        if known is None or known[0] != made_for:
            found = ranges_of(self._spark, reader, shared=shared, dated=made_for[2])
            known = self._ranges[name] = made_for, found
        return known[1]

    def _count(self, name: str, found: Range) -> int:
        """What nobody reads has not been counted on the way."""
        if not uses_of(self.program)[name]:
            for frame in found.frames:
                frame.data.count()
        return found.count()


def _option(program: Program, name: str) -> int:
    value = program.settings.spark.get(name, SPARK_OPTIONS[name].default)
    assert isinstance(value, int), (name, value)
    return value
