"""A query that runs for long needs no more memory than one that has just begun.

Measured after a collection of garbage on both sides: what Python has allocated, what the JVM's heap holds, and how many
of its objects Python keeps alive there.
"""

import gc
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.planning import program
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.spark.build import spark_build
from tidegate.plan.settings import Settings
from tidegate.state import Identity, open_log

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EPOCHS, SETTLED = 1_000, 300
SQL = """
CREATE SOURCE ev (k BIGINT, v BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND);
CREATE STREAM counted AS SELECT k, COUNT(*) AS n, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '2' SECOND);
CREATE STREAM visits AS SELECT k, COUNT(*) AS n FROM ev GROUP BY k, SESSION(at, INTERVAL '1' SECOND)"""
SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))])


@dataclass(frozen=True, kw_only=True)
class Held:
    """`objects` are those of the JVM that Python refers to."""

    python_bytes: int
    heap_bytes: int
    objects: int


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def held(spark: SparkSession) -> Held:
    gc.collect()
    jvm = spark._jvm
    assert jvm is not None
    runtime = jvm.java.lang.Runtime.getRuntime()
    for _ in range(3):
        runtime.gc()
    return Held(
        python_bytes=tracemalloc.get_traced_memory()[0],
        heap_bytes=runtime.totalMemory() - runtime.freeMemory(),
        objects=len(_finalizers()),
    )


def _finalizers() -> dict[str, object]:
    from py4j.finalizer import ThreadSafeFinalizer

    found: dict[str, object] = ThreadSafeFinalizer.finalizers
    return found


def insert(engine: Engine, epoch: int) -> None:
    ats = [1_000_000 * epoch + 1_000 * n for n in range(10)]
    rows = pa.record_batch({"k": list(range(10)), "v": ats, "at": ats}, SCHEMA)
    engine.insert("ev", [rows])


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("state", ["driver", "executors"])
def test_a_thousand_epochs(state: str, tmp_path: Path, spark: SparkSession) -> None:
    made = program(SQL, prelude="", settings=Settings(spark={"state": state, "shards": 2}))
    assert made.errors == []
    log = open_log(tmp_path, identity=Identity(plans={}))
    engine = spark_build()(made, Surroundings(clock=ManualClock(), log=log))
    for epoch in range(SETTLED):
        insert(engine, epoch)
    engine.checkpoint()
    before = held(spark)
    for epoch in range(SETTLED, EPOCHS):
        insert(engine, epoch)
    engine.checkpoint()
    after = held(spark)
    engine.close()
    assert after.python_bytes - before.python_bytes < 3 << 20, (before, after)
    assert after.heap_bytes - before.heap_bytes < 20 << 20, (before, after)
    assert after.objects - before.objects < 100, (before, after)
