"""Where the code of a row error comes from: which parts of an expression are looked at, and in which order.

That the codes are right for every row is proved in `row_sql/`; here is what is written down for an expression.
"""

import pytest

from tests.planning import bound, written
from tidegate.model.expressions import FALSE, TRUE, Field, bigint
from tidegate.model.types import Scalar
from tidegate.plan.row_errors import NO_ERROR, error_of, first_of, only_where

DIV = "case(((is_null(div(qty, small::BIGINT)) and not(is_null(qty))) and not(is_null(small::BIGINT))): 11, 0)"


@pytest.mark.parametrize(
    "safe",
    [
        "qty",
        "price * 2 + price",
        "qty & 7",
        "upper(symbol)",
        "TRY_CAST(symbol AS INT)",
        "CAST(small AS BIGINT)",
        "CAST(qty AS DOUBLE)",
        "COALESCE(price, 0)",
        "CASE WHEN ok THEN price ELSE 1 END",
        "price > 0 AND ok",
        "amount + amount",
        "qty DIV NULL",
    ],
)
def test_most_expressions_cannot_fail(safe: str) -> None:
    assert error_of(bound(safe)) == NO_ERROR


@pytest.mark.parametrize(
    "unsafe",
    [
        "qty + 1",
        "-qty",
        "qty * small",
        "qty DIV small",
        "qty % small",
        "price / qty",
        "CAST(symbol AS INT)",
        "CAST(price AS BIGINT)",
        "CAST(qty AS INT)",
        "ts + INTERVAL '1' DAY",
        "upper(CAST(CAST(symbol AS INT) AS VARCHAR))",
        "ok AND qty + 1 > 0",
        "CASE WHEN ok THEN qty + 1 END",
        "COALESCE(qty, qty + 1)",
    ],
)
def test_others_can(unsafe: str) -> None:
    assert error_of(bound(unsafe)) != NO_ERROR


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("qty DIV small", DIV),
        ("(qty DIV small) & 1", DIV),
        ("ok AND qty DIV small = 0", f"case(is_distinct(ok, FALSE): {DIV}, 0)"),
        ("ok OR qty DIV small = 0", f"case(is_distinct(ok, TRUE): {DIV}, 0)"),
        ("qty DIV small = 0 AND ok", DIV),
        ("CASE WHEN ok THEN qty DIV small END", f"case(ok: {DIV}, 0)"),
        ("CASE WHEN ok THEN qty ELSE qty DIV small END", f"case(ok: 0, {DIV})"),
        ("COALESCE(qty, qty DIV small)", f"case(is_null(qty): {DIV}, 0)"),
    ],
)
def test_what_is_not_needed_is_not_looked_at(expression: str, code: str) -> None:
    assert written(error_of(bound(expression))) == code


def test_the_first_code_counts() -> None:
    one, other = Field("one", Scalar.BIGINT), Field("other", Scalar.BIGINT)
    assert first_of() == NO_ERROR
    assert first_of(NO_ERROR, one, NO_ERROR) == one
    assert written(first_of(one, other)) == "coalesce(nullif(one, 0), other)"
    assert written(first_of(first_of(one, other), one)) == (
        "coalesce(nullif(one, 0), nullif(other, 0), one)"
    )


def test_only_where_needs_something_to_guard() -> None:
    assert only_where(TRUE, NO_ERROR) == NO_ERROR
    assert written(only_where(FALSE, bigint(3))) == "case(FALSE: 3, 0)"
