"""Expressions as text: as few parentheses as the meaning needs, and never fewer; always one line."""

import decimal

import pytest

from tests.planning import bound
from tidegate.model.expressions import Call, Field, Literal, Named
from tidegate.model.types import Decimal, Scalar
from tidegate.model.windows import Sliding
from tidegate.plan.display import Shown, show, show_name, show_named, shown, window_facts


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("qty + qty * qty", "qty + qty * qty"),
        ("(qty + qty) * qty", "(qty + qty) * qty"),
        ("qty - (qty - qty)", "qty - (qty - qty)"),
        ("qty - qty - qty", "qty - qty - qty"),
        ("qty DIV 2 % 3", "qty DIV 2 % 3"),
        ("-(-qty)", "-(-qty)"),
        ("qty - -1", "qty - -1"),
        ("-(qty + 1)", "-(qty + 1)"),
        ("ok OR ok AND ok", "ok OR ok AND ok"),
        ("(ok OR ok) AND ok", "(ok OR ok) AND ok"),
        ("NOT (ok AND ok)", "NOT (ok AND ok)"),
        ("NOT ok AND ok", "NOT ok AND ok"),
        ("(qty > 1) IS NULL", "(qty > 1) IS NULL"),
        ("qty + 1 IS NOT NULL", "qty + 1 IS NOT NULL"),
        ("NOT qty IS NULL", "qty IS NOT NULL"),
        ("NOT (qty > 1)", "NOT qty > 1"),
        ("(qty > 1) = ok", "qty > 1 = ok"),
        ("ok = (qty > 1)", "ok = (qty > 1)"),
        ("qty BETWEEN 1 AND 2", "qty >= 1 AND qty <= 2"),
        ("qty IN (1, 2)", "qty IN (1, 2)"),
        ("qty IS DISTINCT FROM 1", "qty IS DISTINCT FROM 1"),
        ("symbol LIKE 'a%' OR symbol || 'x' = 'y'", "symbol LIKE 'a%' OR symbol || 'x' = 'y'"),
        ("UPPER(symbol)", "UPPER(symbol)"),
        ("place.city", "place.city"),
        ("place.at.x", "place.at.x"),
        ("CASE WHEN ok THEN 1 ELSE 2 END + 1", "CASE WHEN ok THEN 1 ELSE 2 END + 1"),
        ("'it''s'", "'it''s'"),
        ("DATE '2026-01-31'", "DATE '2026-01-31'"),
        ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '0001-01-01T00:00:00Z'"),
        ("ts - INTERVAL '90' SECOND", "ts - INTERVAL '1m30s'"),
        ("TRUE", "TRUE"),
        ("NULL", "NULL"),
        ("1e300", "1e+300"),
    ],
)
def test_expressions(expression: str, text: str) -> None:
    assert show(bound(expression)) == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("a\nb", Scalar.VARCHAR, r"E'a\u000ab'"),
        ("a\\\nb", Scalar.VARCHAR, r"E'a\\\u000ab'"),
        ("a\\b", Scalar.VARCHAR, r"'a\b'"),
        ("\x1b[2J", Scalar.VARCHAR, r"E'\u001b[2J'"),
        ("\u2028", Scalar.VARCHAR, r"E'\u2028'"),
        ("é日", Scalar.VARCHAR, "'é日'"),
        (b"\x00\xff", Scalar.BINARY, "X'00ff'"),
        (decimal.Decimal("1E+5"), Decimal(10, 2), "100000"),
        (decimal.Decimal("-0.10"), Decimal(10, 2), "-0.10"),
        (1.0, Scalar.DOUBLE, "1.0"),
        (-0.0, Scalar.DOUBLE, "-0.0"),
        (float("inf"), Scalar.DOUBLE, "inf"),
        (1, Scalar.BIGINT, "1"),
    ],
)
def test_literals_are_one_line_each(value: object, kind: Scalar | Decimal, text: str) -> None:
    assert show(Literal(value, kind)) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("price", "price"),
        ("t.price", "t.price"),
        ("$a0", "$a0"),
        ("größe", "größe"),
        ("a b", '"a b"'),
        ("a + b", '"a + b"'),
        ("1a", '"1a"'),
        ("", '""'),
        ('a"b', '"a""b"'),
        ("@timestamp", '"@timestamp"'),
        ("a\nb", r'E"a\u000ab"'),
    ],
)
def test_names_that_could_be_something_else_are_quoted(name: str, text: str) -> None:
    assert show_name(name) == text
    assert show(Field(name, Scalar.BIGINT)) == text


def test_what_stands_for_a_name_keeps_together() -> None:
    a, b, x = (Field(name, Scalar.BIGINT) for name in ("a", "b", "$x0"))
    total = Call("+", (a, b), Scalar.BIGINT)
    names = {"$x0": shown(total), "$a0": Shown("SUM(a)")}
    assert show(x, names) == "a + b"
    assert show(Call("*", (x, x), Scalar.BIGINT), names) == "(a + b) * (a + b)"
    assert (
        show(Call("*", (Field("$a0", Scalar.BIGINT), x), Scalar.BIGINT), names)
        == "SUM(a) * (a + b)"
    )


def test_a_column_that_is_its_own_name_is_said_once() -> None:
    assert show_named(Named("a", Field("a", Scalar.BIGINT))) == "a"
    assert show_named(Named("b", Field("a", Scalar.BIGINT))) == "b = a"
    assert show_named(Named("b c", Field("a", Scalar.BIGINT))) == '"b c" = a'


def test_no_lookahead_and_one_of_zero_are_the_same() -> None:
    facts = {"kind": "sliding", "lookback": "1s", "lookahead": "none"}
    assert window_facts(Sliding(lookback_us=1_000_000)) == facts
    assert window_facts(Sliding(lookback_us=1_000_000, lookahead_us=0)) == facts
