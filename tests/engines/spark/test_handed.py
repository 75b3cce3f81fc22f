"""Batches that are handed over, without Spark's own clockwork: every order in which they may come after a crash."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from tidegate import errors
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Surroundings, identity_of
from tidegate.engines.inputs import BY_HAND
from tidegate.engines.spark.build import frame_build
from tidegate.engines.spark.handed import Batch, FrameEngine, HandedFrame, RunOver
from tidegate.errors import TidegateError
from tidegate.plan.catalog import SourceDef
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.state import open_log

pytestmark = pytest.mark.spark

COLUMNS = "(k VARCHAR, at TIMESTAMP, WATERMARK FOR at AS at)"
SQL = f"""
CREATE SOURCE one {COLUMNS}; CREATE SOURCE other {COLUMNS};
CREATE STREAM n AS SELECT k, COUNT(*) AS n FROM (SELECT * FROM one UNION ALL SELECT * FROM other)
GROUP BY k EMIT ON UPDATE
"""
START = datetime(2026, 1, 1, tzinfo=UTC)


class Sink:
    """Keeps what each epoch brought, and fails when it is told to."""

    def __init__(self) -> None:
        self.epochs: dict[int, list[dict[str, object]]] = {}
        self.fails = False

    def write(self, epoch: int, rows: pa.Table) -> None:
        self.epochs.setdefault(epoch, rows.drop_columns("_op").to_pylist())
        if self.fails:
            raise OSError("the disk is full")

    def close(self) -> None:
        """Nothing is held."""


class Place:
    """One checkpoint, and engines on it."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self.spark, self.place, self.sink = spark, place, Sink()
        self.clock = ManualClock(1_000)
        program = plan_script(parse_script(SourceText(SQL)), Settings())
        assert not program.errors
        self.program: Program = program

    def engine(self) -> FrameEngine:
        frames: dict[str, HandedFrame] = {}
        for name in ("one", "other"):
            source = self.program.catalog.find(name)
            assert isinstance(source, SourceDef)
            frames[name] = HandedFrame(schema=source.physical, repeatable=True)
        around = Surroundings(
            clock=self.clock,
            log=open_log(self.place, identity=identity_of(self.program)),
            sinks={"n": (self.sink,)},
        )
        made = frame_build(self.spark, frames, inputs=BY_HAND)(self.program, around)
        assert isinstance(made, FrameEngine)
        return made

    def rows(self, *keys: str) -> DataFrame:
        rows = [(key, START + timedelta(seconds=place)) for place, key in enumerate(keys)]
        return self.spark.createDataFrame(rows, "k string, at timestamp")


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Place:
    return Place(spark, tmp_path / "state")


def batch(number: int, query: str = "q") -> Batch:
    return Batch(number=number, query=query)


def failing(place: Place) -> None:
    """Batch 1 of `one` has reached the sink, and was not committed."""
    engine = place.engine()
    assert engine.take("one", batch(0), place.rows("a"))
    place.sink.fails = True
    with pytest.raises(OSError, match="the disk is full"):
        engine.take("one", batch(1), place.rows("a", "b"))
    with pytest.raises(RunOver):
        engine.take("other", batch(0), place.rows("x"))
    assert not engine.wake()
    engine.close()
    place.sink.fails = False


def test_a_batch_that_is_in_is_skipped(place: Place) -> None:
    engine = place.engine()
    assert engine.take("one", batch(0), place.rows("a"))
    assert not engine.take("one", batch(0), place.rows("a"))
    engine.close()
    again = place.engine()
    assert not again.take("one", batch(0), place.rows("a"))
    assert again.take("one", batch(1), place.rows("a"))
    again.close()
    assert place.sink.epochs == {0: [{"k": "a", "n": 1}], 1: [{"k": "a", "n": 2}]}


def test_everybody_waits_for_the_batch_that_was_interrupted(place: Place) -> None:
    failing(place)
    place.clock.set_us(9_000_000)
    engine = place.engine()
    assert not engine.wake()
    assert engine.poll() is None
    engine.end()
    assert not engine.ended
    waiting = Thread(target=engine.take, args=("other", batch(0), place.rows("x")))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive(), "the epoch's number belongs to another batch"
    assert not engine.take("one", batch(0), place.rows("a")), "Spark may repeat what is in"
    assert engine.take("one", batch(1), place.rows("a", "b"))
    waiting.join(30)
    assert not waiting.is_alive()
    engine.close()
    assert place.sink.epochs == {
        0: [{"k": "a", "n": 1}],
        1: [{"k": "a", "n": 2}, {"k": "b", "n": 1}],
        2: [{"k": "x", "n": 1}],
    }


def test_it_runs_by_the_clock_that_was_intended(place: Place) -> None:
    failing(place)
    place.clock.set_us(9_000_000)
    engine = place.engine()
    engine.take("one", batch(1), place.rows("a", "b"))
    assert engine.now_us == 1_000
    engine.take("other", batch(0), place.rows("x"))
    assert engine.now_us == 9_000_000
    engine.close()


def test_who_waits_when_the_run_is_stopped_is_let_go(place: Place) -> None:
    failing(place)
    engine = place.engine()
    told: list[BaseException] = []

    def take() -> None:
        try:
            engine.take("other", batch(0), place.rows("x"))
        except RunOver as over:
            told.append(over)

    waiting = Thread(target=take)
    waiting.start()
    engine.stop()
    waiting.join(30)
    assert len(told) == 1
    engine.close()


def after_one(place: Place) -> None:
    engine = place.engine()
    engine.take("one", batch(0), place.rows("a"))
    engine.close()


def after_two(place: Place) -> None:
    after_one(place)
    engine = place.engine()
    engine.take("one", batch(1), place.rows("a"))
    engine.close()


MISFITS: Mapping[str, tuple[Callable[[Place], None], Batch, str]] = {
    "a gap": (after_one, batch(2), "Spark's batch 2 follows batch 0"),
    "another query": (after_one, batch(1, "p"), "Spark begins it anew"),
    "another query, while one is awaited": (failing, batch(1, "p"), "Spark begins it anew"),
    "a gap at the beginning": (lambda _: None, batch(3), "Spark's batch 3 is the first one"),
    "a step back": (after_two, batch(0), "batch 0 follows batch 1"),
}


@pytest.mark.parametrize("name", list(MISFITS))
def test_batches_that_do_not_follow(name: str, place: Place) -> None:
    before, given, told = MISFITS[name]
    before(place)
    engine = place.engine()
    with pytest.raises(TidegateError, match=told) as raised:
        engine.take("one", given, place.rows("a"))
    assert raised.value.code == errors.spark_checkpoint_differs.code
    engine.close()
