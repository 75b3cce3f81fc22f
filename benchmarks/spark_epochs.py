"""What an epoch costs on Spark when there is little in it: a hundred rows, or none.

The median over a run of small files, one for each epoch, with durable state; theirs is what Spark reports of its
triggers. The first epochs, in which everything is compiled and loaded, are left out of both. An epoch without rows is
one of a file without any to Structured Streaming; we pass over such files, and have epochs in which only time goes on.
"""

import tempfile
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn
from benchmarks.events import FIVE, cut, events
from benchmarks.on_spark import NATIVE, engine, five, run_native, scratch, write

_EPOCHS, _WARM = 60, 10
_MOST_REPEATS = 3
_SQL = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '10' SECOND)"


@cache
def _files(*, count: int, rows: int) -> Path:
    """So many files; a warm-up more of them. Those without rows come after a first one with some."""
    place = scratch() / f"epochs-{count}-{rows}"
    place.mkdir()
    whole = events(rows=(count + _WARM) * 100, keys=10_000, per_second=1_000)
    whole = whole.set_column(0, "ts", whole.column("ts").cast(pa.timestamp("us", tz="UTC")))
    for number, piece in enumerate(cut(whole, 100)):
        kept = piece if number == 0 else piece.slice(0, rows)
        write(place / f"{number:05}.parquet", pa.Table.from_batches([kept]), number)
    return place


def _ours(place: Path) -> float:
    """The median of what an epoch takes, in milliseconds."""
    times = []
    with tempfile.TemporaryDirectory(dir=scratch()) as checkpoint:
        running = engine(_SQL, place, batch_rows=1, checkpoint=checkpoint)
        went_on = True
        while went_on:
            begun = perf_counter()
            went_on = running.poll() is not None
            if went_on:
                times.append(perf_counter() - begun)
        running.close()
    return median(times[_WARM:]) * 1_000


def _ours_empty(count: int) -> float:
    """The same, of epochs without rows after one with some."""
    times = []
    with tempfile.TemporaryDirectory(dir=scratch()) as checkpoint:
        running = engine(_SQL, _files(count=1, rows=0), batch_rows=1, checkpoint=checkpoint)
        running.poll()
        for _ in range(count):
            begun = perf_counter()
            running.tick()
            times.append(perf_counter() - begun)
        running.close()
    return median(times) * 1_000


def _theirs(place: Path) -> float:
    from pyspark.sql import functions as f

    shape = five(lambda: [f.window("ts", "10 seconds")])
    _, reports = run_native(shape, place, files_per_batch=1)
    return float(median(report["durationMs"]["triggerExecution"] for report in reports[_WARM:]))


def _measure(scale: Scale, *, rows: int) -> Measured:
    count = scale.of(_EPOCHS, least=3)
    place = _files(count=count, rows=rows)
    found = in_turn(
        {
            "ours": lambda: _ours(place) if rows else _ours_empty(count),
            "theirs": lambda: _theirs(place),
        },
        min(scale.repeats, _MOST_REPEATS),
    )
    return Measured(ours=found["ours"], baseline=NATIVE, baseline_value=found["theirs"])


CASES = (
    Case(
        name="spark_tiny",
        about="on Spark: an epoch of 100 rows, median",
        unit="ms",
        target=Target(Bound.AT_MOST_TIMES, 1, 0.5),
        measure=lambda scale: _measure(scale, rows=100),
    ),
    Case(
        name="spark_empty",
        about="on Spark: an epoch without rows, median",
        unit="ms",
        target=Target(Bound.AT_MOST_TIMES, 1, 0.5),
        measure=lambda scale: _measure(scale, rows=0),
    ),
)
