"""What counts as equal, and how a difference reads."""

import decimal
import math
from typing import Any

import pytest

from tidegate.model.types import Array, Map, Scalar, Struct
from tidegate.scenarios.compare import (
    difference,
    matching,
    row_matcher,
    same,
    same_json,
    show_row,
    show_value,
)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 1),
        (None, None),
        (1.0, 1.0 + 1e-10),
        (1e300, 1e300 * (1 + 1e-10)),
        (math.nan, math.nan),
        (math.inf, math.inf),
        (0.0, -0.0),
        (decimal.Decimal("1.50"), decimal.Decimal("1.5")),
        ([1, None], [1, None]),
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
        ({"a": 0.1}, {"a": 0.1 + 1e-12}),
    ],
)
def test_same(expected: Any, actual: Any) -> None:
    assert same(expected, actual)
    assert same(actual, expected)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 2),
        (None, 0),
        ("", None),
        (1.0, 1.0 + 1e-8),
        (math.nan, 1.0),
        (math.inf, -math.inf),
        (True, 1),
        (0.0, 1e-300),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ([(1, "a")], [(1, "b")]),
        ({"a": 1}, {"b": 1}),
    ],
)
def test_not_same(expected: Any, actual: Any) -> None:
    assert not same(expected, actual)
    assert not same(actual, expected)


def test_columns_that_are_not_given_are_not_compared() -> None:
    matches = row_matcher()
    assert matches({"a": 1}, {"a": 1, "b": 2})
    assert matches({}, {"a": 1})
    assert not matches({"a": 1, "c": None}, {"a": 1, "b": 2})


def test_unordered_columns() -> None:
    row, turned = {"a": [1, 2, 2]}, {"a": [2, 1, 2]}
    assert row_matcher(["A"])(row, turned)
    assert not row_matcher()(row, turned)
    assert not row_matcher(["a"])(row, {"a": [1, 1, 2]})
    assert not row_matcher(["a"])(row, {"a": None})


def test_matching_is_not_greedy() -> None:
    """The vague row must leave the exact one its only partner."""
    actual = [{"a": 1, "b": 2}, {"a": 1, "b": 3}]
    assert matching([{"a": 1}, {"a": 1, "b": 2}], actual, row_matcher()) == [1, 0]


def test_a_row_is_used_once() -> None:
    assert matching([{"a": 1}, {"a": 1}], [{"a": 1}], row_matcher()) in ([0, None], [None, 0])


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True),
        ({"a": 1000}, {"a": "1970-01-01T00:00:01Z"}, True),
        ({"a": "1970-01-01 00:00:01"}, {"a": "1970-01-01T00:00:01Z"}, True),
        ({"a": 1.5}, {"a": "1.50"}, True),
        ({"a": "x"}, {"a": "x"}, True),
        ({"a": (1, 2)}, {"a": [1, 2]}, True),
        ({"a": 1}, {"a": "x"}, False),
        ({"a": True}, {"a": "true"}, False),
        ({"a": 1}, {}, False),
        ({"a": None}, {"a": 1}, False),
        ({"a": 1001}, {"a": "1970-01-01T00:00:01Z"}, False),
    ],
)
def test_side_outputs_are_json(expected: Any, actual: Any, equal: bool) -> None:
    assert same_json(expected, actual) is equal


KINDS = {"k": Scalar.VARCHAR, "s": Scalar.BIGINT, "t": Scalar.TIMESTAMP}


def diff(expected: list[Any], actual: list[Any], *, ordered: bool = False) -> list[str]:
    return difference(
        expected,
        actual,
        equal=row_matcher(),
        show=lambda row: show_row(row, KINDS),
        ordered=ordered,
    )


def test_no_difference() -> None:
    rows = [{"k": "a"}, {"k": "b"}]
    assert diff(rows, rows) == []
    assert diff(rows, rows[::-1]) == []
    assert diff(rows, rows, ordered=True) == []
    assert diff([], []) == []


def test_the_nearest_row_stands_beside_the_missing_one() -> None:
    expected = [{"k": "a", "s": 3, "t": 5_000_000}, {"k": "b", "s": 1, "t": 0}]
    actual = [{"k": "c", "s": 9, "t": 0}, {"k": "a", "s": 4, "t": 5_000_000}, expected[1]]
    assert diff(expected, actual) == [
        "3 rows, 2 expected",
        "  - {k: a, s: 3, t: 5000}",
        "  + {k: a, s: 4, t: 5000}",
        "  + {k: c, s: 9, t: 0}",
    ]


def test_wrong_order() -> None:
    rows = [{"k": "a"}, {"k": "b"}]
    assert diff(rows, rows[::-1], ordered=True) == [
        "the rows are right, their order is not; it should be",
        "  {k: a}",
        "  {k: b}",
    ]


def test_values_are_shown_as_they_are_written() -> None:
    assert show_value(None, Scalar.BIGINT) == "null"
    assert show_value(True, Scalar.BOOLEAN) == "true"
    assert show_value(1, Scalar.TIMESTAMP) == "1970-01-01T00:00:00.000001Z"
    assert show_value([1_000, None], Array(Scalar.TIMESTAMP)) == "[1, null]"
    assert show_value([("a", 1)], Map(Scalar.VARCHAR, Scalar.BIGINT)) == "{a: 1}"
    assert show_value({"x": 1.5}, Struct((("x", Scalar.DOUBLE),))) == "{x: 1.5}"
