"""Python aggregates over what row SQL collects for them: two batches, merged, against the oracle over all rows."""

import functools
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.oracle.aggregates import Input
from tests.oracle.aggregates import aggregate as judged
from tests.oracle.values import RowError
from tests.plan.row_sql.batches import cases
from tests.plan.row_sql.checking import expected_groups, key_of
from tests.plan.row_sql.evaluation import evaluate
from tests.plan.row_sql.oracle import Judged, canonical
from tests.plan.row_sql.running import (
    Case,
    Planned,
    Run,
    on_datafusion,
    on_spark,
    plan,
    values_of,
)
from tests.user_aggregates import USERS
from tidegate.kernel.arrivals import read
from tidegate.kernel.finish import finish
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.user import accumulated
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.physical import PANE
from tidegate.plan.row_sql import row_queries
from tidegate.plan.settings import Settings
from tidegate.plan.user_aggregates import user_aggregate
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

pytestmark = pytest.mark.thorough


class Seen:
    """Everything that it is given, as text."""

    arguments = ("ARRAY<VARCHAR>", "DATE", "BINARY", "BOOLEAN", "INT", "VARCHAR")
    returns = "ARRAY<VARCHAR>"

    def init(self) -> list[str]:
        return []

    def accumulate(self, state: list[str], *given: Any) -> None:
        state.append(repr(given))

    def merge(self, one: list[str], other: list[str]) -> list[str]:
        return one + other

    def finish(self, state: list[str]) -> list[str]:
        return sorted(state)


_TEN = "TUMBLE(ts, INTERVAL '10' SECOND)"
_ALL = (
    "PRODUCT(price) AS a, PRODUCT(small) FILTER (WHERE ok) AS b, PRODUCT(DISTINCT ratio) AS c, "
    "PATH(symbol, qty) AS d, PATH(DISTINCT note, small) FILTER (WHERE qty > 0) AS e, PATH(symbol, 3) AS f, "
    "PICKY(small) AS g, PICKY(DISTINCT tiny) AS h, CENTS(amount, at) AS i, COUNT(DISTINCT symbol) AS j, "
    "SEEN(tags, day, raw, ok, small, note) AS k, CENTS(amount, day) AS l"
)  # fmt: skip
QUERIES = {
    "windows": f"SELECT symbol, {_ALL} FROM trades WHERE qty <> 7 GROUP BY symbol, {_TEN}",
    "no keys": f"SELECT {_ALL} FROM trades GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
    "no window": f"SELECT symbol, {_ALL} FROM trades GROUP BY symbol",
}
SETTINGS = Settings(aggregates={**USERS, "seen": user_aggregate("seen", Seen)})


@functools.cache
def planned(name: str) -> Planned:
    return plan(QUERIES[name], SETTINGS)


def finished(case: Case, run: Run, engine: Engine) -> dict[Any, list[Any]]:
    """By group, the value of each aggregate, or the reason why there is none."""
    stage = case.planned.ruled
    keys = (PANE, *stage.keys)
    table = GroupTable(keys, stage.partials, timed=False)
    for rows in (case.rows[::2], case.rows[1::2]):
        part = Case(case.planned, case.place, rows, case.parameters)
        main, _ = part.tables(run, engine)
        for batch in read(main.combine_chunks().to_batches()).partials:
            table.merge(accumulated(batch, stage.partials))
    partials = table.partials()
    columns = []
    for spec in stage.finishes:
        done = finish(spec, partials)
        values = _values(done.values)
        for place, code in enumerate([] if done.codes is None else done.codes.tolist()):
            if code != AGGREGATED:
                assert code == DISPOSITION[Reason.UDF_FAILED]
                values[place] = Reason.UDF_FAILED
        columns.append(values)
    groups = values_of(pa.table({key.name: partials.column(key.name) for key in keys}))
    return {
        key_of(stage, group): [column[place] for column in columns]
        for place, group in enumerate(groups)
    }


def _values(array: pa.Array) -> list[Any]:
    found: list[Any] = values_of(pa.table({"v": array}))
    return [row["v"] for row in found]


def expected(case: Case) -> dict[Any, list[Any]]:
    stage = case.planned.ruled
    return {
        key: [_judged(named.call, members) for named in stage.aggregates]
        for key, members in expected_groups(stage, case.expected()).items()
    }


def _judged(call: AggregateCall, members: list[Judged]) -> Any:
    inputs = [
        Input(member.ts, tuple(evaluate(arg, member.values) for arg in call.args))
        for member in members
        if call.filter is None or evaluate(call.filter, member.values) is True
    ]
    try:
        return judged(call, inputs)
    except RowError as failed:
        return failed.reason


def check(name: str, run: Run, engine: Engine) -> None:
    met: set[str] = set()
    for case in cases(planned(name)):
        found, wanted = finished(case, run, engine), expected(case)
        assert found.keys() == wanted.keys()
        for key, values in wanted.items():
            assert list(map(canonical, found[key])) == list(map(canonical, values)), key
            met |= {type(value).__name__ for value in values}
    assert met >= {"Reason", "float", "list", "int", "Decimal"}


@pytest.mark.parametrize("name", QUERIES)
def test_values_are_those_of_all_rows(name: str) -> None:
    check(name, on_datafusion, Engine.DATAFUSION)


@pytest.mark.spark
@pytest.mark.parametrize("name", QUERIES)
def test_spark_collects_the_same(name: str, spark: SparkSession) -> None:
    check(name, on_spark(spark), Engine.SPARK)


def test_nested_arguments_are_python_values() -> None:
    """MAP as pairs, STRUCT as a dict."""

    class Nested(Seen):
        arguments = ("MAP<VARCHAR, BIGINT>", "STRUCT<a BIGINT, b ARRAY<VARCHAR>>")  # type: ignore[assignment]

    user = user_aggregate("nested", Nested)
    sql = (
        "CREATE SOURCE deep (m MAP<VARCHAR, BIGINT>, s STRUCT<a BIGINT, b ARRAY<VARCHAR>>, ts TIMESTAMP, "
        "WATERMARK FOR ts AS ts); SELECT NESTED(m, s) AS n FROM deep GROUP BY TUMBLE(ts, INTERVAL '1' DAY)"
    )
    made = plan(sql, Settings(aggregates={"nested": user}))
    kind = pa.schema(
        {
            "m": pa.map_(pa.string(), pa.int64()),
            "s": pa.struct({"a": pa.int64(), "b": pa.list_(pa.string())}),
            "ts": pa.timestamp("us"),
        }
    )
    rows = [
        {"m": [("x", 1), ("y", None)], "s": {"a": 2, "b": ["z", None]}, "ts": 5},
        {"m": None, "s": {"a": 2, "b": []}, "ts": 5},
    ]
    table = pa.Table.from_pylist(rows, schema=kind)
    case = Case(made, 0, [], {"open_from_us": 0, "latest_us": 10, "clock_us": 0})
    relation = row_queries(made.ruled, case.branch).main
    text = render_relation(relation, Engine.DATAFUSION, case.parameters)
    (batch,) = on_datafusion(text, {"$batch": table}).combine_chunks().to_batches()
    stage = made.ruled
    done = finish(stage.finishes[0], accumulated(batch, stage.partials))
    assert done.values.to_pylist() == [["([('x', 1), ('y', None)], {'a': 2, 'b': ['z', None]})"]]
