"""The same queries on Spark: against the oracle, and so against DataFusion; with ANSI mode and without it.

Spark compiles every query, so a batch of each must do; it has as many different rows as several small ones.
"""

import functools
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.plan.row_sql.batches import case_of, empty
from tests.plan.row_sql.checking import check, check_types
from tests.plan.row_sql.queries import OVER_STAGES, QUERIES
from tests.plan.row_sql.running import Case, on_spark, plan
from tidegate.sql.functions.signature import Engine

pytestmark = pytest.mark.spark

_ALL = {**QUERIES, **OVER_STAGES}
# Other constants, or other names, for what Spark computes in the same way.
_SAME_FOR_SPARK = frozenset(
    {
        *(f"by {column}" for column in ("qty", "tiny", "vast", "ok", "day", "raw", "at")),
        *("where", "where is true", "where with case", "where guards with or", "eKuiper"),
        *("tumble with offset", "tumble with large offset", "hop of uneven size", "hop copied"),
        *("no keys, sessions", "pre-epoch sessions", "comma join", "try"),
    }
)
_ONE_EACH = tuple(name for name in _ALL if name not in _SAME_FOR_SPARK)
_WITHOUT_ANSI = (
    "all aggregates of sessions",
    "hop copied thrice",
    "by many keys",
    "arguments fail",
    "where fails",
    "stamped sessions",
)
planned = functools.cache(plan)


@pytest.fixture(params=["true", "false"], ids=["ansi", "not ansi"])
def ansi(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    name, before = "spark.sql.ansi.enabled", spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set(name, request.param)
    yield spark
    spark.conf.set(name, before or "true")


def problems(spark: SparkSession, case: Case) -> list[str]:
    main, diverted = case.run(on_spark(spark), Engine.SPARK)
    wrong = check_types(case.planned.ruled, case.branch, main.schema)
    stage, branch = case.planned.ruled, case.branch
    return [*wrong, *check(stage, branch, case.expected(), main.rows, diverted.rows)]


@pytest.mark.parametrize("name", _ONE_EACH)
def test_each_row_goes_where_the_oracle_says(name: str, spark: SparkSession) -> None:
    for place in range(len(planned(_ALL[name]).ruled.branches)):
        assert problems(spark, case_of(planned(_ALL[name]), place, seed=0, count=80)) == []


@pytest.mark.parametrize("name", _WITHOUT_ANSI)
def test_ansi_mode_makes_no_difference(name: str, ansi: SparkSession) -> None:
    assert problems(ansi, case_of(planned(_ALL[name]), 0, seed=2, count=40)) == []


def test_a_batch_without_rows(spark: SparkSession) -> None:
    assert problems(spark, empty(planned(_ALL["all aggregates"]), 0)) == []
