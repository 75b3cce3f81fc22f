"""Which Python value is a value of which SQL type: everything that fits goes into Arrow as it is meant."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal as Number
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.rows import VALUES
from tidegate.kernel.arrow import arrow_type
from tidegate.model.python_values import Misfit, fitted
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct

POINT = Struct((("x", Scalar.DOUBLE), ("name", Scalar.VARCHAR)))


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        (None, Scalar.BIGINT, None),
        (True, Scalar.BOOLEAN, True),
        (127, Scalar.TINYINT, 127),
        (-(2**63), Scalar.BIGINT, -(2**63)),
        (np.int32(5), Scalar.BIGINT, 5),
        (1, Scalar.DOUBLE, 1.0),
        (2**70, Scalar.DOUBLE, 2.0**70),
        (np.float32(0.5), Scalar.DOUBLE, 0.5),
        (Number("0.5"), Scalar.DOUBLE, 0.5),
        (math.inf, Scalar.REAL, math.inf),
        (0.1, Scalar.REAL, pytest.approx(0.1)),
        ("é", Scalar.VARCHAR, "é"),
        (b"\xff", Scalar.BINARY, b"\xff"),
        (date(2026, 1, 1), Scalar.DATE, date(2026, 1, 1)),
        (datetime(2026, 1, 1), Scalar.TIMESTAMP, datetime(2026, 1, 1, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2026, 1, 1, tzinfo=UTC), Scalar.TIMESTAMP, datetime(2026, 1, 1, tzinfo=UTC)),
        (3, Decimal(5, 2), Number("3.00")),
        (Number("1.235"), Decimal(5, 2), Number("1.24")),
        (Number("-0.005"), Decimal(5, 2), Number("-0.01")),
        (Number("9" * 38), Decimal(38, 0), Number("9" * 38)),
        ((1, None), Array(Scalar.DOUBLE), [1.0, None]),
        ({"a": 1}, Map(Scalar.VARCHAR, Scalar.BIGINT), [("a", 1)]),
        ({"x": 1}, POINT, {"x": 1.0, "name": None}),
        ([{"x": 2, "name": "b"}], Array(POINT), [{"x": 2.0, "name": "b"}]),
    ],
)
def test_what_fits(value: Any, kind: DataType, found: Any) -> None:
    array = pa.array([fitted(value, kind)], arrow_type(kind))
    assert array.to_pylist() == [found]


@given(st.data())
def test_values_of_every_type_fit(data: st.DataObject) -> None:
    kind = data.draw(
        st.sampled_from([kind for kind in VALUES if kind not in (Scalar.DATE, Scalar.TIMESTAMP)])
    )
    value = data.draw(VALUES[kind])
    array = pa.array([fitted(value, kind)], arrow_type(kind))
    assert str(array) == str(pa.array([value], arrow_type(kind)))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, Scalar.BOOLEAN),
        (128, Scalar.TINYINT),
        (2**63, Scalar.BIGINT),
        (True, Scalar.BIGINT),
        (1.0, Scalar.BIGINT),
        (1.5, Scalar.BIGINT),
        ("1", Scalar.BIGINT),
        (True, Scalar.DOUBLE),
        ("1.5", Scalar.DOUBLE),
        (10**400, Scalar.DOUBLE),
        (1e300, Scalar.REAL),
        (1, Scalar.VARCHAR),
        (b"x", Scalar.VARCHAR),
        ("\ud800", Scalar.VARCHAR),
        ("x", Scalar.BINARY),
        (datetime(2026, 1, 1, tzinfo=UTC), Scalar.DATE),
        (5, Scalar.DATE),
        (date(2026, 1, 1), Scalar.TIMESTAMP),
        (5, Scalar.TIMESTAMP),
        (1.5, Decimal(5, 2)),
        (True, Decimal(5, 2)),
        (Number("1000"), Decimal(5, 2)),
        (Number("999.995"), Decimal(5, 2)),
        (Number("NaN"), Decimal(5, 2)),
        (Number("sNaN"), Decimal(5, 2)),
        (Number("Infinity"), Decimal(5, 2)),
        (Number("1e999999"), Decimal(38, 0)),
        ("ab", Array(Scalar.VARCHAR)),
        ({1}, Array(Scalar.BIGINT)),
        ([("a", 1)], Map(Scalar.VARCHAR, Scalar.BIGINT)),
        ({None: 1}, Map(Scalar.VARCHAR, Scalar.BIGINT)),
        ([1.0, "a"], POINT),
        (object(), POINT),
    ],
)
def test_what_does_not_fit(value: Any, kind: DataType) -> None:
    with pytest.raises(Misfit, match=r" is no "):
        fitted(value, kind)


def test_messages_name_the_part_that_does_not_fit_and_stay_short() -> None:
    with pytest.raises(Misfit, match=r"^'b' is no BIGINT$"):
        fitted([1, "b"], Array(Scalar.BIGINT))
    with pytest.raises(Misfit, match=r"^\{'y': 1\} is no STRUCT<x DOUBLE, name VARCHAR>$"):
        fitted({"y": 1}, POINT)
    with pytest.raises(Misfit) as refused:
        fitted("x" * 1000, Scalar.BIGINT)
    assert str(refused.value) == f"'{'x' * 59}… is no BIGINT"
