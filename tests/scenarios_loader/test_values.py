"""Values of scenarios in the types of their columns."""

import decimal
import math
from typing import Any

import pytest

from tidegate.errors import Location, TidegateError
from tidegate.model.schema import Column, Schema
from tidegate.model.time import DAY
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.scenarios.steps import Raw, RawRow
from tidegate.scenarios.values import Misfit, typed, typed_row

POINT = Struct((("x", Scalar.DOUBLE), ("Name", Scalar.VARCHAR)))


@pytest.mark.parametrize(
    ("raw", "kind", "value"),
    [
        (None, Scalar.BIGINT, None),
        (5, Scalar.TINYINT, 5),
        (-(2**63), Scalar.BIGINT, -(2**63)),
        (5, Scalar.DOUBLE, 5.0),
        (0.5, Scalar.REAL, 0.5),
        ("Infinity", Scalar.DOUBLE, math.inf),
        (1.5, Decimal(10, 2), decimal.Decimal("1.50")),
        ("1.50", Decimal(3, 1), decimal.Decimal("1.5")),
        (7, Decimal(38, 0), decimal.Decimal(7)),
        (True, Scalar.BOOLEAN, True),
        ("a", Scalar.VARCHAR, "a"),
        ("é", Scalar.BINARY, b"\xc3\xa9"),
        (1500, Scalar.TIMESTAMP, 1_500_000),
        (-1, Scalar.TIMESTAMP, -1_000),
        ("1970-01-01T01:00:00+01:00", Scalar.TIMESTAMP, 0),
        ("1970-01-01 00:00:00.000001", Scalar.TIMESTAMP, 1),
        ("1970-01-03", Scalar.DATE, 2),
        ("1969-12-31", Scalar.DATE, -1),
        ((1, None), Array(Scalar.BIGINT), [1, None]),
        ({"a": 1}, Map(Scalar.VARCHAR, Scalar.BIGINT), [("a", 1)]),
        ({"-7": "x"}, Map(Scalar.BIGINT, Scalar.VARCHAR), [(-7, "x")]),
        ({"NAME": "x"}, POINT, {"x": None, "Name": "x"}),
        (({"x": 1},), Array(POINT), [{"x": 1.0, "Name": None}]),
    ],
)
def test_values(raw: Raw, kind: DataType, value: Any) -> None:
    found = typed(raw, kind)
    assert found == value
    assert type(found) is type(value)


def test_nan() -> None:
    assert math.isnan(typed(".NaN".removeprefix("."), Scalar.DOUBLE))
    assert math.isnan(typed(math.nan, Scalar.DOUBLE))


@pytest.mark.parametrize(
    ("raw", "kind", "why"),
    [
        (1.0, Scalar.BIGINT, "1.0 is no BIGINT"),
        (True, Scalar.BIGINT, "True is no BIGINT"),
        ("5", Scalar.BIGINT, "'5' is no BIGINT"),
        (128, Scalar.TINYINT, "out of range"),
        (2**63, Scalar.BIGINT, "out of range"),
        ("x", Scalar.DOUBLE, "no DOUBLE"),
        (True, Scalar.DOUBLE, "no DOUBLE"),
        (1, Scalar.BOOLEAN, "no BOOLEAN"),
        (5, Scalar.VARCHAR, "put it into quotes"),
        (True, Scalar.TIMESTAMP, "no TIMESTAMP"),
        ("soon", Scalar.TIMESTAMP, "write it like"),
        ("1970-01-01T05:00", Scalar.DATE, "time of day"),
        (5, Scalar.DATE, "no DATE"),
        (1.005, Decimal(10, 2), "too many digits"),
        (1000, Decimal(3, 0), "too many digits"),
        ("x", Decimal(3, 0), "no DECIMAL"),
        (True, Decimal(3, 0), "no DECIMAL"),
        (5, Array(Scalar.BIGINT), "no ARRAY"),
        ((1, "x"), Array(Scalar.BIGINT), "'x' is no BIGINT"),
        ((1,), Map(Scalar.VARCHAR, Scalar.BIGINT), "no MAP"),
        ({"a": 1}, Map(Scalar.BIGINT, Scalar.BIGINT), "'a' is no BIGINT"),
        ({"y": 1}, POINT, "has no field y"),
    ],
)
def test_misfits(raw: Raw, kind: DataType, why: str) -> None:
    with pytest.raises(Misfit, match=why):
        typed(raw, kind)


PLACE = Location("f.yaml", 7, 3, "  - {}", 4)
SCHEMA = Schema((Column("k", Scalar.VARCHAR), Column("day", Scalar.DATE)))


def test_rows_are_filled_up_with_nulls() -> None:
    row = RawRow({"K": "a"}, 7)
    assert typed_row(row, SCHEMA, of="ev", at=PLACE, whole=True) == {"k": "a", "day": None}
    assert typed_row(row, SCHEMA, of="ev", at=PLACE, whole=False) == {"k": "a"}


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        ({"dya": 1}, "ev has no column dya", "did you mean day?"),
        ({"day": DAY}, f"ev.day: {DAY} is no DATE", ""),
    ],
)
def test_bad_rows_name_their_place(values: dict[str, Raw], message: str, hint: str) -> None:
    with pytest.raises(TidegateError) as refused:
        typed_row(RawRow(values, 7), SCHEMA, of="ev", at=PLACE, whole=True)
    assert refused.value.message == message
    assert refused.value.hint == hint
    assert refused.value.location == PLACE
