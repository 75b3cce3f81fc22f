"""How partial aggregates are written; that they are right is proved by `tests/plan/row_sql`."""

import pytest

from tidegate.model.expressions import Expr, Field
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.types import Array, DataType, Scalar
from tidegate.sql.functions.signature import Engine
from tidegate.sql.partials import render_partial

Q, X, S = Field("q", Scalar.BIGINT), Field("x", Scalar.DOUBLE), Field("s", Scalar.VARCHAR)
R, OK = Field("r", Scalar.REAL), Field("ok", Scalar.BOOLEAN)
DF, SPARK = Engine.DATAFUSION, Engine.SPARK


def text(
    engine: Engine,
    op: PartialOp,
    *args: Expr,
    kind: DataType = Scalar.BIGINT,
    where: Expr | None = None,
) -> str:
    spec = PartialSpec(op=op, args=args, filter=where, type=kind, merge=Merge.ADD)
    return " ".join(line.strip() for line in render_partial(spec, engine))


@pytest.mark.parametrize(
    ("op", "args", "datafusion", "spark"),
    [
        (PartialOp.ROWS, (), "count(*)", "count(*)"),
        (PartialOp.COUNT, (Q,), 'count("q")', "count(`q`)"),
        (PartialOp.SUM, (Q,), 'sum("q")', "sum(`q`)"),
        (PartialOp.MAX, (S,), 'max("s")', "max(`s`)"),
        (PartialOp.M2, (X,), '(var_pop("x") * count("x"))', "(var_pop(`x`) * count(`x`))"),
        (
            PartialOp.FIRST,
            (Q, S),
            'first_value("s" ORDER BY "q" ASC, "s" ASC)',
            "(min(named_struct('k', `q`, 'v', `s`))).v",
        ),
        (
            PartialOp.COLLECT,
            (S,),
            'array_agg("s") FILTER (WHERE "s" IS NOT NULL)',
            "collect_list(`s`) FILTER (WHERE `s` IS NOT NULL)",
        ),
        (
            PartialOp.COLLECT,
            (S, Q),
            "array_agg(named_struct('v0', \"s\", 'v1', \"q\"))",
            "collect_list(named_struct('v0', `s`, 'v1', `q`))",
        ),
    ],
    ids=str,
)
def test_each_engine_in_its_words(
    op: PartialOp, args: tuple[Expr, ...], datafusion: str, spark: str
) -> None:
    assert text(DF, op, *args) == datafusion
    assert text(SPARK, op, *args) == spark


@pytest.mark.parametrize("op", [op for op in PartialOp if op is not PartialOp.ROWS])
@pytest.mark.parametrize("engine", Engine)
def test_a_filter_is_on_every_aggregate_inside(op: PartialOp, engine: Engine) -> None:
    two = (PartialOp.FIRST, PartialOp.LAST, PartialOp.COMOMENT)
    made = text(engine, op, *((X, X) if op in two else (X,)), kind=Scalar.DOUBLE, where=OK)
    calls = (
        "count(",
        "min(",
        "max(",
        "(var_pop(",
        "covar_pop(",
        "avg(",
        "sum(",
        "bool_",
        "bit_",
        "_value(",
    )
    assert made.count("FILTER (WHERE") == max(1, sum(made.count(word) for word in calls))


def test_extremes_of_floats_do_not_trust_datafusion_with_nan_and_infinity() -> None:
    largest = text(DF, PartialOp.MAX, R, kind=Scalar.REAL)
    assert largest.startswith('CASE max(CASE WHEN isnan("r") THEN 2')
    assert "CAST('NaN' AS REAL)" in largest
    assert text(SPARK, PartialOp.MAX, X, kind=Scalar.DOUBLE) == "max((`x` + CAST(0 AS DOUBLE)))"


def test_sets_of_floats_are_sets_of_values() -> None:
    real = text(DF, PartialOp.COLLECT_SET, R, kind=Array(Scalar.REAL))
    assert real.startswith('array_agg(DISTINCT CAST((nanvl(CAST("r" AS DOUBLE)')
