"""The arithmetic on types."""

import pytest

from tidegate.model.types import (
    Array,
    DataType,
    Decimal,
    Map,
    Scalar,
    Struct,
    as_decimal,
    common_type,
    is_comparable,
    is_float,
    is_integer,
    is_numeric,
)

INTEGERS = (Scalar.TINYINT, Scalar.SMALLINT, Scalar.INTEGER, Scalar.BIGINT)
FLOATS = (Scalar.REAL, Scalar.DOUBLE)
NESTED = (Array(Scalar.BIGINT), Map(Scalar.VARCHAR, Scalar.BIGINT), Struct((("a", Scalar.BIGINT),)))


@pytest.mark.parametrize("kind", [*Scalar, Decimal(4, 2), *NESTED], ids=str)
def test_families(kind: DataType) -> None:
    assert is_integer(kind) is (kind in INTEGERS)
    assert is_float(kind) is (kind in FLOATS)
    assert is_numeric(kind) is (kind in INTEGERS or kind in FLOATS or kind == Decimal(4, 2))
    assert is_comparable(kind) is (kind not in NESTED)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Decimal(10, 2), "DECIMAL(10, 2)"),
        (Array(Scalar.VARCHAR), "ARRAY<VARCHAR>"),
        (Map(Scalar.VARCHAR, Scalar.DOUBLE), "MAP<VARCHAR, DOUBLE>"),
        (
            Struct((("a", Scalar.DATE), ("b", Array(Scalar.BOOLEAN)))),
            "STRUCT<a DATE, b ARRAY<BOOLEAN>>",
        ),
    ],
)
def test_types_print_as_sql(kind: DataType, text: str) -> None:
    assert str(kind) == text


@pytest.mark.parametrize(
    ("kind", "digits"),
    [(Scalar.TINYINT, 3), (Scalar.SMALLINT, 5), (Scalar.INTEGER, 10), (Scalar.BIGINT, 19)],
)
def test_integers_as_decimals_hold_every_value(kind: Scalar, digits: int) -> None:
    assert as_decimal(kind) == Decimal(digits, 0)
    assert as_decimal(Decimal(7, 3)) == Decimal(7, 3)


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        (Scalar.TINYINT, Scalar.SMALLINT, Scalar.SMALLINT),
        (Scalar.SMALLINT, Scalar.INTEGER, Scalar.INTEGER),
        (Scalar.INTEGER, Scalar.BIGINT, Scalar.BIGINT),
        (Scalar.REAL, Scalar.DOUBLE, Scalar.DOUBLE),
        (Scalar.REAL, Scalar.TINYINT, Scalar.DOUBLE),
        (Scalar.DOUBLE, Scalar.BIGINT, Scalar.DOUBLE),
        (Scalar.INTEGER, Decimal(4, 2), Decimal(12, 2)),
        (Decimal(4, 2), Decimal(6, 1), Decimal(7, 2)),
        (Decimal(38, 0), Decimal(4, 2), Scalar.DOUBLE),
        (Decimal(36, 0), Decimal(4, 2), Decimal(38, 2)),
        (Decimal(4, 2), Scalar.REAL, Scalar.DOUBLE),
        (Scalar.DATE, Scalar.TIMESTAMP, Scalar.TIMESTAMP),
        (Scalar.NULL, Scalar.VARCHAR, Scalar.VARCHAR),
        (Scalar.VARCHAR, Scalar.VARCHAR, Scalar.VARCHAR),
        (Scalar.VARCHAR, Scalar.BIGINT, None),
        (Scalar.BOOLEAN, Scalar.TINYINT, None),
        (Scalar.DATE, Scalar.BIGINT, None),
        (Scalar.INTERVAL, Scalar.TIMESTAMP, None),
        (Array(Scalar.INTEGER), Array(Scalar.BIGINT), Array(Scalar.BIGINT)),
        (Array(Scalar.INTEGER), Array(Scalar.VARCHAR), None),
        (Array(Scalar.INTEGER), Scalar.INTEGER, None),
        (Map(Scalar.VARCHAR, Scalar.REAL), Map(Scalar.VARCHAR, Scalar.DOUBLE), None),
        (Map(Scalar.VARCHAR, Scalar.REAL), Map(Scalar.DATE, Scalar.REAL), None),
        (Map(Scalar.DATE, Scalar.REAL), Map(Scalar.DATE, Scalar.BOOLEAN), None),
        (NESTED[2], Struct((("a", Scalar.DOUBLE),)), None),
    ],
)
def test_the_common_type_does_not_depend_on_the_side(
    left: DataType, right: DataType, shared: DataType | None
) -> None:
    assert common_type(left, right) == shared
    assert common_type(right, left) == shared


def test_fields_are_found_exactly_and_then_regardless_of_case() -> None:
    kind = Struct((("City", Scalar.VARCHAR), ("x", Scalar.DOUBLE), ("X", Scalar.REAL)))
    assert kind.field("city") == ("City", Scalar.VARCHAR)
    assert kind.field("X") == ("X", Scalar.REAL)
    assert Struct((("ab", Scalar.DATE), ("aB", Scalar.DATE))).field("AB") is None
    assert kind.field("y") is None
