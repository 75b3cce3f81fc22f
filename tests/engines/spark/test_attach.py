"""Attached to a Spark job: frames in, frames out, exactly once, whatever happens in between.

Rows come as Parquet files into a directory that a streaming DataFrame watches; a file is a batch where it matters.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidegate import errors
from tidegate.errors import TidegateError
from tidegate.spark import attach
from tidegate.spark.attached import Attached
from tidegate.spark.running import Run

pytestmark = pytest.mark.spark

START = datetime(2026, 1, 1, tzinfo=UTC)
PER_KEY = """
CREATE STREAM per_key AS SELECT k, window_start, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)
"""
Event = tuple[str, int, float]


def table(*events: Event) -> pa.Table:
    """Events as key, value, seconds."""
    times = [START + timedelta(seconds=second) for _, _, second in events]
    return pa.table(
        {
            "k": [key for key, _, _ in events],
            "v": [value for _, value, _ in events],
            "at": pa.array(times, pa.timestamp("us", tz="UTC")),
        }
    )


@dataclass
class Arriving:
    """A directory that is being filled."""

    place: Path
    files: int = 0

    def put(self, *events: Event) -> None:
        self.place.mkdir(exist_ok=True)
        written = self.place / f".{self.files}.parquet"
        parquet.write_table(table(*events), written)
        at_s = (
            time.time() - 1_000 + self.files
        )  # Spark orders files by their time, to the millisecond
        os.utime(written, (at_s, at_s))
        written.rename(self.place / f"{self.files}.parquet")
        self.files += 1

    def frame(self, spark: SparkSession) -> DataFrame:
        self.place.mkdir(exist_ok=True)
        read = spark.readStream.schema("k string, v bigint, at timestamp")
        return read.option("maxFilesPerTrigger", 1).parquet(str(self.place))


@pytest.fixture
def arriving(tmp_path: Path) -> Arriving:
    return Arriving(tmp_path / "in")


@dataclass
class Collected:
    """What was written, as a sink that skips epochs it has had: it sees at once if an epoch changed its meaning."""

    epochs: dict[int, Counter[tuple[Any, ...]]] = field(default_factory=dict)

    def __call__(self, rows: DataFrame, epoch: int) -> None:
        found = Counter(map(tuple, rows.collect()))
        assert self.epochs.setdefault(epoch, found) == found

    @property
    def rows(self) -> list[tuple[str, int, int]]:
        """Key, second at which the window starts, sum."""
        every = sum(self.epochs.values(), Counter[tuple[Any, ...]]())
        began = START.replace(tzinfo=None)
        return sorted(
            (row[0], int((row[1] - began).total_seconds()), row[2]) for row in every.elements()
        )


def program(
    spark: SparkSession, arriving: Arriving, sink: Callable[..., object], state: str = "auto"
) -> Attached:
    made = attach(spark, config={"spark": {"state": state, "shards": 2}})
    made.register("ev", arriving.frame(spark), event_time="at", watermark_lag="1 second")
    made.sql(PER_KEY)
    return made.foreach_batch("per_key", sink)


@pytest.fixture(autouse=True)
def utc(spark: SparkSession) -> None:
    """What `collect()` shows."""
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def ended(run: Run) -> Run:
    assert run.awaitTermination(60)
    return run


EVENTS: list[Event] = [("a", 1, 1), ("b", 2, 3), ("a", 5, 12), ("a", 1, 31), ("c", 1, 32)]
EXPECTED = [("a", 0, 1), ("a", 10, 5), ("a", 30, 1), ("b", 0, 2), ("c", 30, 1)]


def test_a_stream_goes_in_and_comes_out(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    sink = Collected()
    before, tables = dict(spark.conf.getAll), spark.catalog.listTables()
    made = program(spark, arriving, sink)
    arriving.put(*EVENTS[:3])
    run = made.start(checkpoint=tmp_path / "state")
    run.processAllAvailable()
    assert run.isActive
    assert run.exception() is None
    assert sink.rows == [("a", 0, 1), ("b", 0, 2)]
    assert sorted(row.s for row in made.table("per_key").collect()) == [1, 2]
    progress = run.lastProgress
    assert progress is not None
    assert progress["numInputRows"] == 3
    assert progress["numOutputRows"] == {"per_key": 2}
    assert progress["batches"] == {"ev": 0}
    assert progress["watermarks"] == {"per_key": "2026-01-01T00:00:11Z"}
    arriving.put(*EVENTS[3:])
    run.processAllAvailable()
    run.stop()
    assert run.status["message"] == "Stopped"
    assert sink.rows == [("a", 0, 1), ("a", 10, 5), ("b", 0, 2)]
    assert dict(spark.conf.getAll) == before, "the session is its owner's"
    assert spark.catalog.listTables() == tables
    assert (tmp_path / "state" / ".spark" / "frame=ev" / "offsets").is_dir()


@pytest.mark.parametrize("state", ["driver", "executors"])
def test_a_run_goes_on_where_the_last_one_was_stopped(
    state: str, spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    sink = Collected()
    for event in EVENTS:
        arriving.put(event)
        run = program(spark, arriving, sink, state).start(checkpoint=tmp_path / "state")
        run.processAllAvailable()
        run.stop()
    run = program(spark, arriving, sink, state).start(
        checkpoint=tmp_path / "state", trigger="availableNow"
    )
    assert sink.rows != EXPECTED
    ended(run)
    assert sink.rows == EXPECTED
    assert run.metrics()["sources"] == {"ev": {"read": 5, "malformed": 0}}


def union(
    spark: SparkSession, one: Arriving, other: Arriving, sink: Callable[..., object]
) -> Attached:
    made = attach(spark)
    for name, arriving in (("one", one), ("other", other)):
        made.register(name, arriving.frame(spark).withWatermark("at", "1 second"))
    made.sql("""
        CREATE STREAM per_key AS SELECT k, window_start, SUM(v) AS s
        FROM (SELECT * FROM one UNION ALL SELECT * FROM other)
        GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)""")
    return made.foreach_batch("per_key", sink)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_epoch_that_failed_comes_again_as_it_was(
    when: str, spark: SparkSession, tmp_path: Path
) -> None:
    """The function fails before or after it has written. Rows of another frame wait, and must not come first."""
    one, other, sink = Arriving(tmp_path / "one"), Arriving(tmp_path / "other"), Collected()
    failed_at: list[int] = []

    def write(rows: DataFrame, epoch: int) -> None:
        if when == "after":
            sink(rows, epoch)
        if not failed_at:
            failed_at.append(epoch)
            raise ValueError("no such place")
        sink(rows, epoch)

    other.put(("y", 0, 1_000))
    for event in [*EVENTS, ("z", 0, 100)]:
        one.put(event)
    run = union(spark, one, other, write).start(checkpoint=tmp_path / "state")
    with pytest.raises(ValueError, match="no such place") as raised:
        run.awaitTermination(60)
    assert not run.isActive
    assert run.exception() is raised.value
    assert raised.traceback[-1].name == "write"
    assert raised.value.__notes__ == [f"in the function for per_key, epoch {failed_at[0]}"]
    for number in range(3):
        other.put(("a", 100, 1_001 + number))
    run = union(spark, one, other, write).start(checkpoint=tmp_path / "state")
    run.processAllAvailable()
    run.stop()
    assert failed_at[0] in sink.epochs
    assert sink.rows == EXPECTED


def test_two_frames_have_the_earlier_watermark(spark: SparkSession, tmp_path: Path) -> None:
    """The watermark of the frames is their own, by withWatermark."""
    one, other, sink = Arriving(tmp_path / "one"), Arriving(tmp_path / "other"), Collected()
    run = union(spark, one, other, sink).start(checkpoint=tmp_path / "state")
    one.put(("a", 1, 1), ("a", 2, 50))
    run.processAllAvailable()
    assert sink.rows == [], "the other frame may still bring rows for every window"
    other.put(("a", 10, 2), ("b", 10, 25))
    run.processAllAvailable()
    run.stop()
    assert sink.rows == [("a", 0, 11)]
    other.put(("a", 3, 55))
    ended(
        union(spark, one, other, sink).start(checkpoint=tmp_path / "state", trigger="availableNow")
    )
    assert sink.rows == [("a", 0, 11), ("a", 50, 5), ("b", 20, 10)]


def refused(kind: errors.ErrorKind, call: Callable[[], object]) -> TidegateError:
    with pytest.raises(TidegateError) as raised:
        call()
    assert raised.value.code == kind.code
    return raised.value


def test_checkpoints_that_do_not_belong_together(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    state, sink = tmp_path / "state", Collected()
    arriving.put(*EVENTS[:3])
    run = program(spark, arriving, sink).start(checkpoint=state)
    run.processAllAvailable()
    run.stop()
    spark_part = state / ".spark"
    spark_part.rename(tmp_path / "elsewhere")
    told = refused(
        errors.spark_checkpoint_differs,
        lambda: program(spark, arriving, sink).start(checkpoint=state),
    )
    assert "Spark begins it anew" in told.message
    again = Collected()
    run = program(spark, arriving, again).start(
        checkpoint=state, trigger="availableNow", reset_state=True
    )
    ended(run)
    assert again.rows == [*EXPECTED[:2], ("b", 0, 2)]


def test_a_new_checkpoint_beside_an_old_one_of_sparks(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    """Spark would go on behind rows that we have never seen."""
    sink = Collected()
    arriving.put(*EVENTS[:3])
    run = program(spark, arriving, sink).start(checkpoint=tmp_path / "one")
    run.processAllAvailable()
    run.stop()
    (tmp_path / "other").mkdir()
    (tmp_path / "one" / ".spark").rename(tmp_path / "other" / ".spark")
    arriving.put(*EVENTS[3:])
    run = program(spark, arriving, sink).start(checkpoint=tmp_path / "other")
    told = refused(errors.spark_checkpoint_differs, lambda: run.awaitTermination(60))
    assert "Spark's batch 1 is the first one that comes" in told.message


def test_a_function_may_stop_the_run(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    runs: list[Run] = []
    sink = Collected()

    def write(rows: DataFrame, epoch: int) -> None:
        sink(rows, epoch)
        runs[0].stop()

    for event in EVENTS:
        arriving.put(event)
    made = program(spark, arriving, write)
    arriving.place.rename(tmp_path / "hidden")
    arriving.place.mkdir()
    runs.append(made.start(checkpoint=tmp_path / "state"))
    for file in sorted((tmp_path / "hidden").iterdir()):
        file.rename(arriving.place / file.name)
    ended(runs[0])
    assert sink.rows == [EXPECTED[0], EXPECTED[3]]
    ended(
        program(spark, arriving, sink).start(checkpoint=tmp_path / "state", trigger="availableNow")
    )
    assert sink.rows == EXPECTED


def test_a_frame_beside_a_source_of_ours(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    ours, sink = Arriving(tmp_path / "ours"), Collected()
    ours.put(*EVENTS[:2])
    arriving.put(*EVENTS[2:])
    made = attach(spark).register("ev", arriving.frame(spark), event_time="at")
    made.sql(f"""
        CREATE SOURCE own (k VARCHAR, v BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)
        WITH (connector = 'file', path = '{ours.place}');
        CREATE STREAM per_key AS SELECT k, window_start, SUM(v) AS s
        FROM (SELECT * FROM ev UNION ALL SELECT * FROM own) GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)""")
    run = ended(
        made.write("per_key", sink).start(checkpoint=tmp_path / "state", trigger="availableNow")
    )
    assert sink.rows == EXPECTED
    read = {name: one["read"] for name, one in run.metrics()["sources"].items()}
    assert read == {"ev": 3, "own": 2}


def test_late_rows_are_told_and_counted(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    sink = Collected()
    arriving.put(("a", 1, 1), ("a", 1, 40))
    arriving.put(("a", 7, 2), ("a", 1, 41))
    run = program(spark, arriving, sink).start(trigger="availableNow")
    ended(run)
    assert sink.rows == [("a", 0, 1), ("a", 30 + 10, 2)]
    (late,) = run.side("late")
    assert late["original_event"]["v"] == 7
    assert run.metrics()["diverted"] == {"late": 1}


def test_a_row_that_a_task_cannot_make(spark: SparkSession, arriving: Arriving) -> None:
    def fragile(value: int) -> int:
        return 100 // (value - 5)  # the line to blame

    arriving.put(*EVENTS[:3])
    made = attach(spark)
    frame = arriving.frame(spark).withColumn("v", f.udf(fragile, "bigint")("v"))
    made.register("ev", frame, event_time="at").sql(PER_KEY)
    run = made.start(trigger="availableNow")
    told = refused(errors.frame_failed, lambda: run.awaitTermination(60))
    assert "ZeroDivisionError" in told.message
    assert "test_attach.py" in told.hint
    assert "the line to blame" in told.hint
    assert told.__cause__ is not None


def test_a_table_is_joined(spark: SparkSession, arriving: Arriving) -> None:
    arriving.put(*EVENTS)
    names = spark.createDataFrame([("a", "Anna"), ("b", "Bert")], "k string, name string")
    sink = Collected()
    made = attach(spark).register("ev", arriving.frame(spark), event_time="at")
    made.register("names", names).sql("""
        CREATE STREAM named AS SELECT n.name, window_start, SUM(v) AS s FROM ev JOIN names n ON ev.k = n.k
        GROUP BY n.name, TUMBLE(at, INTERVAL '1' MINUTE)""")
    run = ended(made.write("named", sink).start(trigger="availableNow"))
    assert sink.rows == [("Anna", 0, 7), ("Bert", 0, 2)]
    assert run.metrics()["sources"]["ev"]["read"] == 5


def test_runs_that_are_gone_on_with_leave_windows_open(
    spark: SparkSession, arriving: Arriving, tmp_path: Path
) -> None:
    sink, state = Collected(), tmp_path / "state"
    for number, event in enumerate(EVENTS):
        arriving.put(event)
        last = number == len(EVENTS) - 1
        ended(
            program(spark, arriving, sink).start(
                checkpoint=state, trigger="availableNow", close_windows=last
            )
        )
    assert sink.rows == EXPECTED
    arriving.put(("a", 1, 99))
    run = program(spark, arriving, sink).start(checkpoint=state, trigger="availableNow")
    refused(errors.input_has_ended, lambda: run.awaitTermination(60))


def test_time_goes_on_without_rows(spark: SparkSession, arriving: Arriving) -> None:
    seen: list[tuple[int, list[Any]]] = []
    made = attach(spark).register("ev", arriving.frame(spark), event_time="at")
    made.sql("""
        CREATE STREAM often AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '1' MINUTE)
        EMIT EVERY INTERVAL '1' SECOND""")
    made.foreach_batch(
        "often", lambda rows, epoch: seen.append((epoch, rows.to_pylist())), arrow=True
    )
    arriving.put(("a", 1, 1))
    run = made.start()
    run.processAllAvailable()
    assert not run.awaitTermination(2.5)
    run.stop()
    assert [rows for _, rows in seen] == [[{"_op": "+U", "k": "a", "s": 1}]]
    assert run.lastProgress is not None
    assert run.lastProgress["batches"] == {}
