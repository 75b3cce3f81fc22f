"""`tidegate run --engine spark` from nothing to its first emitted row, files in the disk cache, the profile of users.

Compared with the same in plain PySpark: Structured Streaming at its defaults, which is what a newcomer meets. Both are
processes of their own, read one small Parquet file, and print the first closed window.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn
from benchmarks.events import FIVE
from benchmarks.on_spark import files, scratch

_ROWS, _MOST_REPEATS = 10_000, 3
_SQL = """
CREATE SOURCE events (
    ts TIMESTAMP, key BIGINT, price DOUBLE, qty BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'file', path = '{place}', format = 'parquet');
SELECT key, window_end, {five} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '10' SECOND);
"""
_PLAIN = """
import sys
from pyspark.sql import SparkSession, functions as f
spark = SparkSession.builder.master("local[2]").getOrCreate()
rows = spark.readStream.schema("ts TIMESTAMP, key BIGINT, price DOUBLE, qty BIGINT").parquet(sys.argv[1])
made = (
    rows.withWatermark("ts", "5 seconds").groupBy("key", f.window("ts", "10 seconds"))
    .agg(f.sum(f.col("price") * f.col("qty")), f.count("*"), f.avg("price"), f.min("price"), f.max("price"))
)
query = made.writeStream.outputMode("append").foreachBatch(
    lambda batch, epoch: [print(row, flush=True) for row in batch.take(1)]
).start()
query.awaitTermination()
"""


def _first_line(*arguments: str) -> float:
    """Seconds until a Python with these arguments has printed a line; then it is stopped."""
    begun = perf_counter()
    running = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert running.stdout is not None
    try:
        assert running.stdout.readline(), "it ended without a row"
        return perf_counter() - begun
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        running.stdout.close()


def _measure(scale: Scale) -> Measured:
    place = files(rows=_ROWS, keys=100, per_second=500)
    text = _pipeline(place)
    run = ("-m", "tidegate", "run", str(text), "--engine", "spark", "-o", "jsonl", "--bounded")
    found = in_turn(
        {
            "ours": lambda: _first_line(*run, "--master", "local[2]"),
            "theirs": lambda: _first_line("-c", _PLAIN, str(place)),
        },
        min(scale.repeats, _MOST_REPEATS),
    )
    return Measured(
        ours=found["ours"],
        baseline="Structured Streaming, as it comes",
        baseline_value=found["theirs"],
    )


def _pipeline(place: Path) -> Path:
    text = scratch() / "start.sql"
    text.write_text(_SQL.format(place=place, five=FIVE), encoding="utf-8")
    return text


CASES = (
    Case(
        name="spark_start",
        about="tidegate run on Spark, from nothing to the first emitted row",
        unit="s",
        target=Target(Bound.AT_MOST, 7, 3.5),
        measure=_measure,
    ),
)
