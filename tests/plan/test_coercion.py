"""Implicit conversions: few, explicit in the plan, and none of a literal at run time."""

from decimal import Decimal as Number

import pytest

from tests.planning import written
from tidegate.model.expressions import Cast, Expr, Field, Literal, bigint, text
from tidegate.model.types import DataType, Decimal, Scalar
from tidegate.plan.coercion import coerce, coerce_all, make_case

A = Field("a", Scalar.INTEGER)


@pytest.mark.parametrize(
    ("given", "target", "made"),
    [
        (A, Scalar.INTEGER, A),
        (A, Scalar.BIGINT, Cast(A, Scalar.BIGINT)),
        (bigint(5), Scalar.DOUBLE, Literal(5.0, Scalar.DOUBLE)),
        (bigint(5), Scalar.INTEGER, Literal(5, Scalar.INTEGER)),
        (bigint(5), Decimal(4, 2), Literal(Number(5), Decimal(4, 2))),
        (Literal(Number("1.5"), Decimal(2, 1)), Scalar.DOUBLE, Literal(1.5, Scalar.DOUBLE)),
        (
            Literal(Number("1.5"), Decimal(2, 1)),
            Scalar.BIGINT,
            Cast(Literal(Number("1.5"), Decimal(2, 1)), Scalar.BIGINT),
        ),
        (Literal(None, Scalar.NULL), Scalar.DATE, Literal(None, Scalar.DATE)),
        (
            Literal(True, Scalar.BOOLEAN),
            Scalar.BIGINT,
            Cast(Literal(True, Scalar.BOOLEAN), Scalar.BIGINT),
        ),
        (
            Literal(0, Scalar.DATE),
            Scalar.TIMESTAMP,
            Cast(Literal(0, Scalar.DATE), Scalar.TIMESTAMP),
        ),
        (
            Literal(0, Scalar.TIMESTAMP),
            Scalar.BIGINT,
            Cast(Literal(0, Scalar.TIMESTAMP), Scalar.BIGINT),
        ),
        (text("5"), Scalar.BIGINT, Cast(text("5"), Scalar.BIGINT)),
    ],
)
def test_one_expression(given: Expr, target: DataType, made: Expr) -> None:
    assert coerce(given, target) == made


def test_several_expressions() -> None:
    assert coerce_all([A, text("x")]) is None
    assert coerce_all([]) == ((), Scalar.NULL)
    made = coerce_all([A, Literal(None, Scalar.NULL), Literal(1.5, Scalar.DOUBLE)])
    assert made is not None
    assert ([written(expr) for expr in made[0]], made[1]) == (
        ["a::DOUBLE", "NULL::DOUBLE", "1.5"],
        Scalar.DOUBLE,
    )


def test_results_of_a_case() -> None:
    when = Literal(True, Scalar.BOOLEAN)
    assert make_case([(when, A)], text("x")) is None
    case = make_case([(when, A), (when, bigint(2))], Literal(None, Scalar.NULL))
    assert case is not None
    assert written(case) == "case(TRUE: a::BIGINT, TRUE: 2, NULL::BIGINT)"
    assert case.type is Scalar.BIGINT
