"""Spark against DataFusion: every overload of every function, and every conversion, on adversarial values.

DataFusion's own answers are checked against Python in `test_oracles` and `test_casts`. ANSI mode must make no
difference, nor whether Spark compiles the expressions or interprets them: the second run changes both.
"""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.sql.functions.engines import datafusion_run, spark_run
from tests.sql.functions.exercises import (
    CASTS,
    EXERCISES,
    WILD_CASTS,
    WILD_EXERCISES,
    Conversion,
    Exercise,
)
from tests.sql.functions.harness import (
    Pools,
    by_pools,
    differences,
    expression_of,
    results,
    rows_of,
)
from tidegate.sql.functions.signature import Engine

_ALL: tuple[Exercise | Conversion, ...] = (*EXERCISES, *CASTS, *WILD_EXERCISES, *WILD_CASTS)
_GROUPS = by_pools(_ALL)
_MODES: dict[str, dict[str, str]] = {
    "ansi": {},
    "interpreted": {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    },
}


@pytest.fixture(params=_MODES)
def mode(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    settings = {"spark.sql.ansi.enabled": "true", **_MODES[request.param]}
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name, old in before.items():
        spark.conf.unset(name) if old is None else spark.conf.set(name, old)


@pytest.mark.spark
@pytest.mark.parametrize(
    "pools", _GROUPS, ids=lambda pools: "-".join(map(str, pools)) or "constant"
)
def test_engines_agree(pools: Pools, mode: SparkSession) -> None:
    exercises = _GROUPS[pools]
    exprs = [expression_of(exercise) for exercise in exercises]
    one = results(pools, exprs, datafusion_run, Engine.DATAFUSION)
    other = results(pools, exprs, spark_run(mode), Engine.SPARK)
    wrong = {
        str(exercise): different[:5]
        for exercise, left, right in zip(exercises, one, other, strict=True)
        if (different := differences(left, right, rows_of(pools)))
    }
    assert wrong == {}
