"""The Spark engine: rows stay in Spark, what they amount to crosses, windows are the kernel's.

In: a planned program, what it stands in, a SparkSession. Out: what `engines/epochs.py` makes of it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Intent, Read
from tidegate.engines.spark.executor import SparkExecutor
from tidegate.engines.spark.frames import Frame, frame_of, private_session
from tidegate.plan.script import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEngine(Engine):
    """Every call returns when its epoch is done and durable."""

    def __init__(
        self, program: Program, around: Surroundings, *, spark: "SparkSession", workers: Workers
    ) -> None:
        self._spark = private_session(spark)
        super().__init__(program, SparkExecutor(workers), around)

    def _as_rows(self, batches: Sequence[pa.RecordBatch]) -> Sequence[Frame]:
        return [frame_of(self._spark, batches)] if batches else []

    def _read(self, intent: Intent, number: int) -> Read:
        counts = {name: sum(it.count or 0 for it in rows) for name, rows in intent.rows.items()}
        return Read(rows=intent.rows, counts=counts)
