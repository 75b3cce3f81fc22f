"""CAST on DataFusion against Python: every pair of types that convert."""

import pytest

from tests.sql.functions.engines import datafusion_run
from tests.sql.functions.exercises import CASTS
from tests.sql.functions.harness import (
    Pools,
    by_pools,
    differences,
    expression_of,
    results,
    rows_of,
)
from tests.sql.functions.oracles_cast import cast_of
from tidegate.model.types import Array, Decimal, Map, Scalar, Struct
from tidegate.sql.functions.casts import can_cast, may_fail
from tidegate.sql.functions.signature import Engine

_GROUPS = by_pools(CASTS)


@pytest.mark.parametrize("pools", _GROUPS, ids=lambda pools: str(pools[0]))
def test_datafusion_converts_as_the_oracle_says(pools: Pools) -> None:
    conversions = _GROUPS[pools]
    rows = rows_of(pools)
    exprs = [expression_of(conversion) for conversion in conversions]
    found = results(pools, exprs, datafusion_run, Engine.DATAFUSION)
    wrong = {}
    for conversion, values in zip(conversions, found, strict=True):
        source, target = conversion.source.type, conversion.target
        if isinstance(source, (Array, Map, Struct)) or source == target:
            expected = [row[0] for row in rows]
        else:
            oracle = cast_of(source, target)
            expected = [None if row[0] is None else oracle(row[0]) for row in rows]
        if different := differences(values, expected, rows):
            wrong[str(conversion)] = different[:5]
        failed = any(
            row[0] is not None and value is None for row, value in zip(rows, values, strict=True)
        )
        assert may_fail(source, target) or not failed, str(conversion)
    assert wrong == {}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (Scalar.BIGINT, Scalar.TIMESTAMP),
        (Scalar.TIMESTAMP, Scalar.BIGINT),
        (Scalar.DOUBLE, Scalar.VARCHAR),
        (Scalar.REAL, Scalar.VARCHAR),
        (Scalar.DOUBLE, Scalar.BOOLEAN),
        (Decimal(5, 0), Scalar.BOOLEAN),
        (Scalar.BOOLEAN, Scalar.DOUBLE),
        (Scalar.INTERVAL, Scalar.BIGINT),
        (Scalar.VARCHAR, Scalar.INTERVAL),
        (Scalar.BINARY, Scalar.BIGINT),
        (Scalar.DATE, Scalar.BIGINT),
        (Array(Scalar.VARCHAR), Array(Scalar.BIGINT)),
        (Array(Scalar.BIGINT), Array(Scalar.INTEGER)),
        (Scalar.VARCHAR, Array(Scalar.VARCHAR)),
        (Struct((("a", Scalar.BIGINT),)), Struct((("b", Scalar.BIGINT),))),
        (Map(Scalar.VARCHAR, Scalar.BIGINT), Map(Scalar.VARCHAR, Scalar.VARCHAR)),
    ],
    ids=str,
)
def test_conversions_that_do_not_exist(source: Scalar, target: Scalar) -> None:
    assert not can_cast(source, target)
