"""Both contestants on Spark: ours, and Structured Streaming's own windows, on one JVM, over the same Parquet files.

Decided here, so that the comparison is fair: one session on local[2] with the profile `prod`; files of half a million
rows in two row groups, so that either way both cores have work; instants with a zone, which both read without
conversion. State is durable in both: ours in a log on disk, theirs in RocksDB with changelog checkpointing, without
counting rows (which costs it lookups) and with checkpoint files written by renaming (without that it forks a process
for each). Neither pays for a sink: theirs is `noop`, ours counts rows. Ours also closes what is open at the end of the
input, which `availableNow` leaves open.
"""

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.events import cut, events
from tidegate.engines.clock import WallClock
from tidegate.engines.engine import Engine, Surroundings, identity_of
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import polled
from tidegate.engines.spark.build import spark_build
from tidegate.engines.spark.session import CHECKPOINT_MANAGER, checkpoint_settings, session
from tidegate.engines.stage import Made
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.state import open_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MASTER, PROFILE = "local[2]", "prod"
NATIVE = "Structured Streaming"
FILE_ROWS = 500_000
_PARTITIONS = 2
_HEAP = "4g"
_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"
_NATIVE_SETTINGS = {
    "spark.sql.shuffle.partitions": str(_PARTITIONS),
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{_ROCKSDB}.changelogCheckpointing.enabled": "true",
    f"{_ROCKSDB}.trackTotalNumberOfRows": "false",
    **checkpoint_settings("file:///"),
}
_SOURCE = """
CREATE SOURCE events (
    ts TIMESTAMP, key BIGINT, price DOUBLE, qty BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'file', path = '{path}', format = 'parquet', bounded = true);
"""

Shape = Callable[["DataFrame"], "DataFrame"]
"""What a native query does with its rows, which have a watermark."""


@cache
def spark() -> "SparkSession":
    """The one session of the process."""
    return session(MASTER, profile=PROFILE, conf={"spark.driver.memory": _HEAP})


@cache
def scratch() -> Path:
    """A folder that goes with the process."""
    made = Path(tempfile.mkdtemp(prefix="tidegate-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def files(*, rows: int, keys: int, per_second: float, size: int = FILE_ROWS) -> Path:
    """A folder of Parquet files with so many rows each, in the order of their times of modification."""
    place = scratch() / f"events-{rows}-{keys}-{per_second:g}-{size}"
    place.mkdir()
    whole = events(rows=rows, keys=keys, per_second=per_second)
    whole = whole.set_column(0, "ts", whole.column("ts").cast(pa.timestamp("us", tz="UTC")))
    for number, piece in enumerate(cut(whole, size)):
        write(place / f"{number:05}.parquet", pa.Table.from_batches([piece]), number)
    return place


def write(path: Path, rows: pa.Table, number: int) -> None:
    """The file is as old as its number says."""
    pq.write_table(rows, path, row_group_size=max(1, -(-rows.num_rows // _PARTITIONS)))
    os.utime(path, (1_700_000_000 + number,) * 2)


# Ours


def ours(sql: str, place: Path, *, batch_rows: int, state: str = "driver") -> float:
    """Seconds from a planned program to the last row that the end of input emits. `state`: where it is."""
    with tempfile.TemporaryDirectory(dir=scratch()) as checkpoint:
        begun = perf_counter()
        running = engine(sql, place, batch_rows=batch_rows, checkpoint=checkpoint, state=state)
        running.drive(lambda: False, lambda: None)
        running.end()
        took = perf_counter() - begun
        running.close()
    return took


def engine(
    sql: str, place: Path, *, batch_rows: int, checkpoint: str, state: str = "driver"
) -> Engine:
    """An engine over the files, that keeps its state on disk and hands its rows to a listener."""
    spark()
    settings = Settings(spark={"state": state, "shards": _PARTITIONS})
    program = plan_script(parse_script(SourceText(_SOURCE.format(path=place) + sql)), settings)
    assert not program.errors, program.errors
    emitted: list[int] = []

    def count(_stage: str, made: Made) -> None:
        emitted.append(made.emitted.rows.num_rows)

    around = Surroundings(
        clock=WallClock(),
        log=open_log(checkpoint, identity=identity_of(program)),
        listener=Listener(made=count, wanted=frozenset()),
    )
    return spark_build(MASTER, inputs=polled(bounded=True, batch_rows=batch_rows))(program, around)


# Theirs


def native(shape: Shape, place: Path, *, files_per_batch: int) -> float:
    """Seconds that a streaming query takes over the files, from its start to its end."""
    return run_native(shape, place, files_per_batch=files_per_batch)[0]


def run_native(
    shape: Shape, place: Path, *, files_per_batch: int
) -> tuple[float, list[dict[str, Any]]]:
    """The seconds, and what Spark reports of each batch."""
    own = spark().newSession()
    for name, value in _NATIVE_SETTINGS.items():
        own.conf.set(name, value)
    assert own.conf.get(CHECKPOINT_MANAGER)
    with tempfile.TemporaryDirectory(dir=scratch()) as checkpoint:
        begun = perf_counter()
        rows = (
            own.readStream.schema("ts TIMESTAMP, key BIGINT, price DOUBLE, qty BIGINT")
            .option("maxFilesPerTrigger", files_per_batch)
            .parquet(place.as_uri())
            .withWatermark("ts", "5 seconds")
        )
        query = (
            shape(rows)
            .writeStream.format("noop")
            .outputMode("append")
            .option("checkpointLocation", Path(checkpoint).as_uri())
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        took = perf_counter() - begun
        reports = [json.loads(report.json) for report in query.recentProgress]
    return took, reports


def batch_query(sql: str, place: Path) -> float:
    """Seconds that Spark takes for a query over all `events` at once."""
    own = spark().newSession()
    own.conf.set("spark.sql.shuffle.partitions", str(_PARTITIONS))
    begun = perf_counter()
    own.read.parquet(place.as_uri()).createOrReplaceTempView("events")
    own.sql(sql).write.format("noop").mode("overwrite").save()
    return perf_counter() - begun


def five(grouped_by: Callable[[], list[object]]) -> Shape:
    """The five aggregates over groups of the key and what `grouped_by` gives."""

    def shape(rows: "DataFrame") -> "DataFrame":
        from pyspark.sql import functions as f

        return rows.groupBy("key", *grouped_by()).agg(
            f.sum(f.col("price") * f.col("qty")).alias("total"),
            f.count("*").alias("n"),
            f.avg("price").alias("mean"),
            f.min("price").alias("low"),
            f.max("price").alias("high"),
        )

    return shape
