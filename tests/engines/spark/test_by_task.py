"""Partials that tasks make on their own: merged, they are what the whole statement gives.

rows    | a b a c | a a b |      two tasks
cut     | a b c   | a b   |      a batch of each, every group once
whole   | a b c |
"""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.planning import planned
from tidegate.engines.spark import by_task as module
from tidegate.engines.spark.by_task import ByTask, by_task
from tidegate.engines.spark.frames import lookup_frame, name_frame, private_session
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.panes import PANE
from tidegate.kernel.user import accumulated
from tidegate.model.expressions import Field
from tidegate.model.relations import Relation
from tidegate.model.types import Scalar
from tidegate.plan.physical import Stage
from tidegate.plan.planner import plan_query
from tidegate.plan.row_sql import BATCH, row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

pytestmark = pytest.mark.spark

BOUNDS = {"open_from_us": 0, "latest_us": 60_000_000, "clock_us": 0}
ROWS = """
    SELECT CASE WHEN id % 7 > 0 THEN CONCAT('s', id % 7) END AS symbol, CAST(id % 5 AS DOUBLE) / 4 AS price,
           IF(id % 11 = 0, NULL, (id * 7919) % 1000 - 500) AS qty, CAST(id % 100 AS INT) AS small, id % 3 = 0 AS ok,
           CAST(id % 10 AS DECIMAL(10, 2)) AS amount, TIMESTAMP_MICROS(id * 30000) AS ts
"""
EVERY = """
    COUNT(*), COUNT(price), SUM(price * qty), SUM(qty), SUM(small), AVG(price), MIN(price), MAX(qty),
    BOOL_AND(ok), BOOL_OR(ok), BIT_AND(small), BIT_OR(small), BIT_XOR(qty), SUM(qty) FILTER (WHERE ok), COUNT(*) + 1
"""
TUMBLE = "GROUP BY symbol, TUMBLE(ts, INTERVAL '10' SECOND)"


class Statement:
    """The row SQL of a query over trades."""

    def __init__(self, spark: SparkSession, select: str) -> None:
        made = planned(select)
        self.stage: Stage = plan_query(made.queries[-1], made).last
        self.relation: Relation = row_queries(self.stage, self.stage.branches[0]).main
        self.session = private_session(spark)

    @property
    def by_task(self) -> ByTask:
        made = by_task(self.relation)
        assert made is not None
        return made

    def frame(self, *, tasks: int, rows: int = 4_000) -> DataFrame:
        made = self.session.range(0, rows, 1, tasks).createOrReplaceTempView("numbers")
        assert made is None
        name_frame(self.session.sql(f"{ROWS} FROM numbers"), BATCH)
        return self.session.sql(render_relation(self.relation, Engine.SPARK, BOUNDS))

    def merged(self, batches: list[pa.RecordBatch]) -> list[dict[str, object]]:
        keys = [Field(PANE, Scalar.BIGINT), *self.stage.keys]
        table = GroupTable(keys, self.stage.partials, timed=True)
        for batch in batches:
            table.merge(accumulated(batch, self.stage.partials))
        return sorted(table.partials().to_pylist(), key=repr)


def groups_of(stage: Stage, batch: pa.RecordBatch) -> list[tuple[object, ...]]:
    columns = (batch.column(name).to_pylist() for name in (PANE, *(key.name for key in stage.keys)))
    return list(zip(*columns, strict=True))


def each_once(stage: Stage, batches: list[pa.RecordBatch]) -> Iterator[bool]:
    for batch in batches:
        groups = groups_of(stage, batch)
        yield len(set(groups)) == len(groups)


@pytest.mark.parametrize(
    "select",
    [
        f"SELECT symbol, {EVERY} FROM trades {TUMBLE}",
        f"SELECT symbol, ok, COUNT(*), MAX(price) FROM trades WHERE qty > 0 {TUMBLE}, ok, price, small",
        "SELECT COUNT(*), MIN(qty) FROM trades GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)",
        "SELECT qty, SUM(small) FROM trades GROUP BY qty, HOP(ts, INTERVAL '5' SECOND, INTERVAL '20' SECOND)",
    ],
)
def test_merged_they_are_the_whole(spark: SparkSession, select: str) -> None:
    statement = Statement(spark, select)
    frame = statement.frame(tasks=3)
    whole = frame.toArrow().combine_chunks().to_batches()
    cut = statement.by_task.partials(frame)
    assert cut is not None
    assert len(cut) == 3
    assert all(each_once(statement.stage, cut))
    assert sum(batch.num_rows for batch in cut) > whole[0].num_rows
    assert cut[0].schema.types == whole[0].schema.types
    assert statement.merged(cut) == statement.merged(whole)


def test_a_frame_that_was_cut_says_where_columns_of_the_statement_are(spark: SparkSession) -> None:
    statement = Statement(spark, f"SELECT symbol, {EVERY} FROM trades {TUMBLE}")
    made, frame = statement.by_task, statement.frame(tasks=2)
    cut = made.cut(frame)
    assert cut is not None
    assert len(cut.columns) < len(frame.columns), "COUNT(*) is there once"
    assert list(made.columns) == frame.columns
    assert set(made.columns.values()) == set(cut.columns)


def test_a_table_is_joined_below_the_cut(spark: SparkSession) -> None:
    statement = Statement(
        spark,
        "SELECT s.sector, COUNT(*), SUM(qty) FROM trades t JOIN symbols s ON t.symbol = s.symbol "
        "GROUP BY s.sector, TUMBLE(ts, INTERVAL '10' SECOND)",
    )
    sectors = {"symbol": [f"s{n}" for n in range(1, 5)], "sector": ["x", "y", "x", None]}
    table = pa.table({**sectors, "lot": pa.array([1] * 4, pa.int64())})
    name_frame(lookup_frame(statement.session, table), "symbols")
    frame = statement.frame(tasks=2)
    cut = statement.by_task.partials(frame)
    assert cut is not None
    assert statement.merged(cut) == statement.merged(frame.toArrow().combine_chunks().to_batches())


@pytest.mark.parametrize(
    "aggregate", ["SUM(amount)", "LAST_VALUE(qty)", "COUNT(DISTINCT qty)", "STDDEV(price)"]
)
def test_what_has_other_buffers_is_never_cut(spark: SparkSession, aggregate: str) -> None:
    statement = Statement(spark, f"SELECT symbol, {aggregate} FROM trades {TUMBLE}")
    assert by_task(statement.relation) is None


def test_rows_that_cross_whole_are_never_cut(spark: SparkSession) -> None:
    statement = Statement(spark, "SELECT symbol, price FROM trades WHERE qty > 0")
    assert by_task(statement.relation) is None


@pytest.mark.parametrize("tasks", [1, 9])
def test_one_task_has_no_exchange_and_many_keep_it(spark: SparkSession, tasks: int) -> None:
    statement = Statement(spark, f"SELECT symbol, COUNT(*) FROM trades {TUMBLE}")
    assert statement.by_task.cut(statement.frame(tasks=tasks)) is None


def test_after_many_tasks_nobody_asks_for_a_while(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE", 2)
    statement = Statement(spark, f"SELECT symbol, COUNT(*) FROM trades {TUMBLE}")
    made = statement.by_task
    tasks = [9, 2, 2, 2, 9, 2, 2, 2]
    found = [made.cut(statement.frame(tasks=count)) is not None for count in tasks]
    assert found == [False, False, False, True, False, False, False, True]


def test_what_has_to_be_sorted_is_run_whole(spark: SparkSession) -> None:
    statement = Statement(spark, f"SELECT price, MIN(symbol) FROM trades {TUMBLE}, price")
    assert statement.by_task.cut(statement.frame(tasks=2)) is None


def test_a_plan_that_looks_different_is_run_whole(spark: SparkSession) -> None:
    statement = Statement(spark, f"SELECT symbol, COUNT(*) FROM trades {TUMBLE}")
    statement.session.conf.set("spark.sql.adaptive.enabled", "true")
    assert statement.by_task.cut(statement.frame(tasks=2)) is None
