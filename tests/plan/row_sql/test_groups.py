"""Group SQL: HAVING, sort keys and output of finished groups, against plain Python, row by row."""

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.plan.row_sql import streams
from tests.plan.row_sql.evaluation import Failed, evaluate
from tests.plan.row_sql.oracle import canonical
from tests.plan.row_sql.running import Row, Run, on_datafusion, on_spark, plan, values_of
from tidegate.model.policies import AGGREGATED, DISPOSITION, FILTERED, Reason
from tidegate.model.schema import Column, Schema
from tidegate.model.types import Scalar
from tidegate.plan.group_sql import GROUPS, GroupQuery, group_query
from tidegate.plan.physical import Stage
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

_TEN = "TUMBLE(ts, INTERVAL '10' SECOND)"
QUERIES = {
    "everything may fail": (
        "SELECT symbol, SUM(qty) DIV COUNT(*) AS share, 100 DIV MIN(small) AS other, window_start, window_time, "
        f"window_id FROM trades GROUP BY symbol, {_TEN} HAVING 10 DIV MAX(small) > 1 "
        "ORDER BY COUNT(*) % SUM(qty) DESC, symbol LIMIT 3"
    ),
    "having alone": f"SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, {_TEN} HAVING MAX(ok)",
    "having guards the output": (
        f"SELECT 100 DIV SUM(small) AS share FROM trades GROUP BY {_TEN} HAVING SUM(small) <> 0"
    ),
    "the output fails": (
        f"SELECT symbol, SUM(qty) * 2 AS twice, CAST(MAX(note) AS INT) AS n FROM trades GROUP BY symbol, {_TEN}"
    ),
    "a sort key fails": (
        f"SELECT symbol FROM trades GROUP BY symbol, {_TEN} ORDER BY 7 DIV MIN(small) LIMIT 2"
    ),
    "no window": "SELECT symbol, AVG(price) / SUM(small) AS a FROM trades GROUP BY symbol HAVING COUNT(*) > 1",
    "whole rows": (
        "SELECT symbol, upper(symbol || window_id) AS tag, qty DIV CAST(window_id AS INT) AS z, window_end "
        f"FROM trades GROUP BY {_TEN}"
    ),
    "over": (
        "SELECT symbol, qty DIV COUNT(*) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND "
        "PRECEDING AND CURRENT ROW) AS s FROM trades"
    ),
}  # fmt: skip


def groups_of(query: GroupQuery, *, count: int = 60) -> tuple[Schema, list[Row]]:
    """Random values of everything that the query reads."""
    schema = Schema(tuple(Column(field.name, field.type) for field in query.columns))
    rows = streams.rows_of(schema, seed=1, count=count)
    return schema, [{**row, "$row": place} for place, row in enumerate(rows)]


def expected_of(stage: Stage, row: Row) -> list[Any]:
    """Row, both codes, and keys and output where they are computed."""
    try:
        if stage.having is not None and evaluate(stage.having, row) is not True:
            return [row["$row"], FILTERED, 0]
        keys = [evaluate(key.expr, row) for key in stage.order]
    except Failed as failure:
        return [row["$row"], DISPOSITION[failure.reason], 0]
    try:
        output = [evaluate(named.expr, row) for named in stage.output]
    except Failed as failure:
        return [row["$row"], AGGREGATED, DISPOSITION[failure.reason], *keys]
    return [row["$row"], AGGREGATED, 0, *keys, *output]


def check(sql: str, run: Run, engine: Engine) -> None:
    stage = plan(sql).ruled
    query = group_query(stage)
    schema, rows = groups_of(query)
    zone = "UTC" if engine is Engine.SPARK else None
    tables = {GROUPS: streams.table_of(schema, rows, zone=zone)}
    table: pa.Table = run(render_relation(query.relation, engine), tables)
    sort = [f"$s{place}" for place in range(len(stage.order))]
    names = [named.name for named in stage.output]
    assert table.column_names == ["$row", "$code", "$output_code", *sort, *names]
    expected = [canonical(expected_of(stage, row)) for row in rows]
    found = sorted(([*row.values()] for row in values_of(table)), key=lambda row: row[0])
    assert [canonical(row[: len(want)]) for row, want in zip(found, expected, strict=True)] == (
        expected
    )


@pytest.mark.parametrize("name", QUERIES)
def test_groups_are_judged_in_the_order_of_evaluation(name: str) -> None:
    check(QUERIES[name], on_datafusion, Engine.DATAFUSION)


@pytest.mark.spark
@pytest.mark.parametrize("name", QUERIES)
def test_spark_judges_them_alike(name: str, spark: SparkSession) -> None:
    check(QUERIES[name], on_spark(spark), Engine.SPARK)


def test_the_batches_meet_every_outcome() -> None:
    met = set()
    for name in ("everything may fail", "the output fails"):
        stage = plan(QUERIES[name]).ruled
        _, rows = groups_of(group_query(stage))
        met |= {tuple(expected_of(stage, row)[1:3]) for row in rows}
    division = DISPOSITION[Reason.DIVISION_BY_ZERO]
    cast, overflow = DISPOSITION[Reason.INVALID_CAST], DISPOSITION[Reason.OVERFLOW]
    wanted = {(AGGREGATED, 0), (FILTERED, 0), (division, 0), (AGGREGATED, division)}
    assert met >= {*wanted, (AGGREGATED, cast), (AGGREGATED, overflow)}


def test_bare_columns_need_no_sql() -> None:
    query = group_query(
        plan(
            f"SELECT symbol, SUM(qty) AS q, window_start FROM trades GROUP BY symbol, {_TEN} "
            "ORDER BY COUNT(*) DESC LIMIT 3"
        ).ruled
    )
    assert query.plain == (("symbol", "$k0"), ("q", "$a0"), ("window_start", "$window_start"))
    assert query.sort == ("$a1",)
    names = ["$row", "$a1", "$k0", "$a0", "$window_start"]
    assert [field.name for field in query.columns] == names
    assert query.columns[-1].type is Scalar.TIMESTAMP


@pytest.mark.parametrize("name", QUERIES)
def test_whatever_computes_something_is_not_plain(name: str) -> None:
    query = group_query(plan(QUERIES[name]).ruled)
    assert (query.plain, query.sort) == (None, ())
