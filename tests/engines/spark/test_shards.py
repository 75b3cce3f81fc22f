"""Shards at work: many rows in several epochs, tasks that run twice, moves in mid-run, disks that fail.

What is compared is everything that a run shows: emitted rows, diverted rows, counts. Doubles are multiples of a
quarter, so that sums do not depend on their order.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC, EROFS
from os import strerror
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from tests.engines.spark.test_files import drain, inputs
from tests.planning import program
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import BY_HAND
from tidegate.engines.local.build import local_build
from tidegate.engines.spark import rows, shards
from tidegate.engines.spark.build import spark_build
from tidegate.engines.spark.by_task import ByTask
from tidegate.engines.spark.shards import PlacedOperator
from tidegate.engines.stage import Made, WindowStage
from tidegate.engines.values import rows_of
from tidegate.errors import StateRefused
from tidegate.model.options import OptionValue
from tidegate.plan.catalog import SourceDef
from tidegate.plan.script import Program
from tidegate.plan.settings import Settings
from tidegate.state import Identity, Log, MemoryLog, open_log
from tidegate.state.local import LocalStore
from tidegate.state.parts import Sink

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

FILES = 3
SQL = """
CREATE SOURCE ev (k BIGINT, name VARCHAR, v BIGINT, d DOUBLE, at TIMESTAMP,
                  WATERMARK FOR at AS at - INTERVAL '2' SECOND)
WITH (connector = 'file', path = '{place}', bounded = 'true');
CREATE STREAM tumbled AS
  SELECT k, COUNT(*) AS n, SUM(v) AS s, MIN(d) AS lo, AVG(d) AS m, LAST_VALUE(v) AS l, COUNT(DISTINCT name) AS names,
         window_start
  FROM ev GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND) HAVING COUNT(*) > 1 {more};
CREATE STREAM visits AS
  SELECT k % 100 AS g, name, COUNT(*) AS n, MAX(v) AS hi, window_start, window_end
  FROM ev GROUP BY k % 100, name, SESSION(at, INTERVAL '1' SECOND);
CREATE STREAM corrected AS
  SELECT name, SUM(v) AS s, window_start FROM ev GROUP BY name, HOP(at, INTERVAL '5' SECOND, INTERVAL '15' SECOND)
  EMIT AFTER WATERMARK ALLOWED LATENESS INTERVAL '5' SECOND;
"""
SCHEMA = pa.schema(
    [
        ("k", pa.int64()),
        ("name", pa.string()),
        ("v", pa.int64()),
        ("d", pa.float64()),
        ("at", pa.timestamp("us", tz="UTC")),
    ]
)


def write_rows(place: Path, *, rows: int, keys: int) -> Path:
    """Files of a minute, in which some rows come seconds late."""
    draw = random.Random(5)
    place.mkdir()
    for number in range(FILES):
        first, last = number * rows // FILES, (number + 1) * rows // FILES
        table = pa.Table.from_pylist(
            [_row(draw, n, rows=rows, keys=keys) for n in range(first, last)], SCHEMA
        )
        parquet.write_table(table, place / f"{number}.parquet")
    return place


def _row(draw: random.Random, number: int, *, rows: int, keys: int) -> dict[str, Any]:
    behind = draw.choice([0, 0, 0, 400_000, 1_900_000, 9_000_000, 30_000_000])
    return {
        "k": draw.randrange(keys),
        "name": draw.choice(["Ann", "Bob", "Cid", None]),
        "v": draw.randrange(1000),
        "d": draw.randrange(1000) / 4,
        "at": 60_000_000 * number // rows - behind + 1_000_000_000,
    }


def told(place: Path, *, more: str = "", **spark: OptionValue) -> Program:
    settings = Settings(spark={"shards": 2, "driver_state": 1, **spark})
    made = program(SQL.format(place=place, more=more), prelude="", settings=settings)
    assert made.errors == []
    return made


@dataclass
class Seen:
    """All that a run shows, whatever becomes of the engine meanwhile."""

    rows: dict[str, Counter[str]]
    diverted: Counter[str]

    @classmethod
    def nothing(cls) -> "Seen":
        return cls({}, Counter())

    def watch(self, stage: str, made: Made) -> None:
        emitted = self.rows.setdefault(stage, Counter())
        emitted.update(map(repr, rows_of(made.emitted.visible.rows)))

    def hear(self, payloads: Any) -> None:
        for payload in payloads:
            self.diverted[json.dumps(payload, sort_keys=True)] += 1

    def surroundings(self, log: Log) -> Surroundings:
        listener = Listener(made=self.watch, diverted=self.hear)
        return Surroundings(clock=ManualClock(), log=log, listener=listener)


def start(made: Program, seen: Seen, log: Log | None = None, *, local: bool = False) -> Engine:
    log = log or MemoryLog(Identity(plans={}))
    build = local_build if local else spark_build
    return build(inputs=inputs(made, rows_of_a_file(made)))(made, seen.surroundings(log))


def rows_of_a_file(made: Program) -> int:
    """So that a file is an epoch on either engine."""
    source = made.catalog.find("ev")
    assert isinstance(source, SourceDef)
    return int(parquet.read_metadata(Path(str(source.options["path"]), "0.parquet")).num_rows)


def log_in(place: Any) -> Log:
    return open_log(place, identity=Identity(plans={}))


def run(
    made: Program, log: Log | None = None, *, local: bool = False
) -> tuple[Seen, dict[str, Any]]:
    seen = Seen.nothing()
    engine = start(made, seen, log, local=local)
    drain(engine)
    totals = engine.totals.facts()
    engine.close()
    return seen, totals


def away(engine: Engine) -> set[str]:
    """The stages whose state is on executors."""
    stages = [stage for stage in engine.dataflow.stages if isinstance(stage, WindowStage)]
    placed = [(stage.stage.name, stage.operator) for stage in stages]
    return {name for name, it in placed if isinstance(it, PlacedOperator) and it.is_away}


EVERYTHING = {"tumbled", "visits", "corrected"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("small") / "in", rows=2_100, keys=300)


@pytest.fixture(scope="module")
def expected(small: Path) -> tuple[Seen, dict[str, Any]]:
    return run(told(small), local=True)


def test_the_rows_are_worth_comparing(expected: tuple[Seen, dict[str, Any]]) -> None:
    seen, _ = expected
    assert all(len(seen.rows[name]) > 20 for name in EVERYTHING), seen.rows
    assert seen.diverted.total() > 50


@pytest.mark.slow
def test_many_rows_and_keys(tmp_path: Path, spark: SparkSession) -> None:
    place = write_rows(tmp_path / "in", rows=99_999, keys=20_000)
    ours = run(told(place, state="executors"), log_in(tmp_path / "state"))
    assert ours == run(told(place, state="driver"))
    assert ours == run(told(place), local=True)


def test_it_moves_when_it_has_grown(
    small: Path, tmp_path: Path, spark: SparkSession, expected: tuple[Seen, dict[str, Any]]
) -> None:
    seen, moved = Seen.nothing(), []
    made = told(small, state="auto", driver_state=20_000)
    engine = start(made, seen, log_in(tmp_path / "state"))
    while not engine.exhausted:
        engine.poll()
        moved.append(len(away(engine)))
    engine.end()
    assert (seen, engine.totals.facts()) == expected
    engine.close()
    assert moved[0] == 0 < moved[-1] < len(EVERYTHING), moved


@pytest.mark.parametrize("taken", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_task_that_runs_twice(
    taken: int,
    small: Path,
    tmp_path: Path,
    spark: SparkSession,
    expected: tuple[Seen, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every job does, and the driver hears of either of the two."""
    once = PlacedOperator._tasks

    def twice(self: PlacedOperator, task: Any, rows: Any) -> pa.Table:
        return [once(self, task, rows), once(self, task, rows)][taken]

    monkeypatch.setattr(PlacedOperator, "_tasks", twice)
    log = log_in(tmp_path / "state")
    assert run(told(small, state="executors"), log) == expected


def test_a_restart_behind_every_epoch(
    small: Path, tmp_path: Path, spark: SparkSession, expected: tuple[Seen, dict[str, Any]]
) -> None:
    seen, made = Seen.nothing(), told(small, state="executors")
    for _ in range(FILES):
        engine = start(made, seen, log_in(tmp_path / "state"))
        engine.poll()
        assert away(engine) == EVERYTHING
        engine.close()
    engine = start(made, seen, log_in(tmp_path / "state"))
    engine.end()
    assert (seen, engine.totals.facts()) == expected
    engine.close()


@pytest.mark.slow
def test_a_snapshot_behind_every_epoch(
    small: Path, tmp_path: Path, spark: SparkSession, expected: tuple[Seen, dict[str, Any]]
) -> None:
    seen = Seen.nothing()
    engine = start(told(small, state="executors"), seen, log_in(tmp_path / "state"))
    while not engine.exhausted:
        engine.poll()
        engine.checkpoint()
    engine.end()
    assert (seen, engine.totals.facts()) == expected
    engine.close()


def test_what_goes_with_every_job_stays_short(
    small: Path,
    tmp_path: Path,
    spark: SparkSession,
    expected: tuple[Seen, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An epoch is a turn or two of each stage, so the third one is behind a snapshot."""
    monkeypatch.setattr(shards, "_MOST_TURNS", 3)
    seen, made = Seen.nothing(), told(small, state="executors")
    engine = start(made, seen, log_in(tmp_path / "state"))
    lengths = []
    while not engine.exhausted:
        engine.poll()
        stages = [one for one in engine.dataflow.stages if isinstance(one, WindowStage)]
        lengths += [len(one.operator._away.history.past) for one in stages]  # type: ignore[attr-defined]
    engine.end()
    assert (seen, engine.totals.facts()) == expected
    engine.close()
    assert 0 < max(lengths) < 3
    assert lengths.count(0) == len(EVERYTHING)


def test_a_stream_goes_on_under_another_lateness(
    small: Path, tmp_path: Path, spark: SparkSession
) -> None:
    """What its shards hold comes to the driver, and leaves it again."""

    def changed(state: str, log: Log, *, local: bool) -> Seen:
        seen = Seen.nothing()
        engine = start(told(small, state=state), seen, log, local=local)
        engine.poll()
        engine.poll()
        more = "ALLOWED LATENESS INTERVAL '20' SECOND"
        engine.adopt(told(small, more=more, state=state), seen.surroundings(log))
        if not local:
            engine.poll()
            assert away(engine) == EVERYTHING
        drain(engine)
        engine.close()
        return seen

    ours = changed("executors", log_in(tmp_path / "state"), local=False)
    assert ours == changed("auto", MemoryLog(Identity(plans={})), local=True)


def test_a_watermark_that_moves_nothing_yet(tmp_path: Path, spark: SparkSession) -> None:
    """One of two inputs is told that it is far; when the other one is, too, all shards know."""
    sql = """
    CREATE SOURCE a (k BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND);
    CREATE SOURCE b (k BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND);
    CREATE STREAM counted AS SELECT k, COUNT(*) AS n FROM (SELECT k, at FROM a UNION ALL SELECT k, at FROM b)
    GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)"""
    made = program(sql, prelude="", settings=Settings(spark={"state": "executors", "shards": 3}))
    assert made.errors == []
    seen = Seen.nothing()
    engine = spark_build(inputs=BY_HAND)(made, seen.surroundings(log_in(tmp_path / "state")))
    schema = pa.schema([("k", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))])
    engine.insert("a", [pa.record_batch({"k": [1, 2, 3], "at": [1, 2, 3]}, schema)])
    engine.watermark("a", 60_000_000)
    engine.watermark("a", 70_000_000)
    assert seen.rows["counted"].total() == 0
    engine.watermark("b", 60_000_000)
    assert away(engine) == {"counted"}
    assert seen.rows["counted"].total() == 3
    engine.close()


@pytest.mark.parametrize("state", ["driver", "executors"])
def test_tasks_whose_partials_nobody_puts_together(
    state: str, small: Path, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An epoch of two files, each of them a task's."""
    cuts: list[bool] = []

    def noted(self: ByTask, frame: DataFrame) -> DataFrame | None:
        made = cut(self, frame)
        cuts.append(made is not None)
        return made

    cut = ByTask.cut
    monkeypatch.setattr(rows, "_FEW_ROWS", 0)
    monkeypatch.setattr(ByTask, "cut", noted)
    made = told(small, state=state)
    both = []
    for build in (spark_build, local_build):
        seen = Seen.nothing()
        around = seen.surroundings(log_in(tmp_path / build.__name__))
        engine = build(inputs=inputs(made, 2 * rows_of_a_file(made)))(made, around)
        drain(engine)
        both.append((seen, engine.totals.facts()))
        engine.close()
    assert both[0] == both[1]
    assert any(cuts)


def test_rows_that_only_bounds_can_tell(
    small: Path, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that is late and cannot be divided by is late. One shard sees that it cannot know; nothing counts twice."""
    sql = (
        SQL[: SQL.index("CREATE STREAM")]
        + """
    CREATE STREAM divided AS SELECT k, COUNT(*) AS n, SUM(1000 / (v % 20)) AS s FROM ev
    GROUP BY k, TUMBLE(at, INTERVAL '5' SECOND)"""
    )
    made = program(
        sql.format(place=small),
        prelude="",
        settings=Settings(spark={"state": "executors", "shards": 3}),
    )
    assert made.errors == []
    asked: list[bool] = []
    take = PlacedOperator._run

    def noted(self: PlacedOperator, *args: Any) -> Any:
        found = take(self, *args)
        asked.append(found is None)
        return found

    monkeypatch.setattr(PlacedOperator, "_run", noted)
    ours = run(made, log_in(tmp_path / "state"))
    assert ours == run(made, local=True)
    reasons = Counter(json.loads(one)["reason"] for one in ours[0].diverted)
    assert reasons["division_by_zero"] > 5 < reasons["allowed_lateness_exceeded"]
    assert asked.count(True) == 1, "from then on, statements have their bounds"


# Disks that fail


@dataclass(frozen=True, slots=True)
class FailingStore(LocalStore):
    """Writes nothing more, in any process, while there is a file of that name."""

    switch: str
    number: int

    @contextmanager
    def create(self, file: str) -> Iterator[Sink]:
        with super(FailingStore, self).create(file) as sink:
            if Path(self.switch).exists() and file.startswith("shard="):
                raise OSError(self.number, strerror(self.number))
            yield sink


@pytest.mark.parametrize("number", [ENOSPC, EROFS])
def test_a_disk_that_takes_no_more(
    number: int,
    small: Path,
    tmp_path: Path,
    spark: SparkSession,
    expected: tuple[Seen, dict[str, Any]],
) -> None:
    switch, seen = tmp_path / "failing", Seen.nothing()
    store = FailingStore(str(tmp_path / "state"), "state", str(switch), number)
    made = told(small, state="executors")
    engine = start(made, seen, log_in(store))
    engine.poll()
    engine.poll()
    switch.touch()
    with pytest.raises(StateRefused, match=strerror(number)) as refused:
        engine.poll()
    assert refused.value.code == "TG-5011"
    assert "shard=" in refused.value.message
    engine.close()
    switch.unlink()
    again = start(made, seen, log_in(store))
    drain(again)
    assert (seen, again.totals.facts()) == expected
    again.close()
