"""The catalogue as a table: unique names, documented entries, and what binding relies on."""

import re
from collections import Counter

import pytest

from tests.sql.functions.oracles import SEES_NULLS
from tidegate.model.types import Array, Decimal, Map, Scalar
from tidegate.sql.functions.catalogue import FUNCTIONS, find_function, function_names
from tidegate.sql.functions.signature import Function

_CALLABLE = [function for function in FUNCTIONS.values() if function.family != "internal"]


def test_no_name_is_taken_twice() -> None:
    names = [name for function in FUNCTIONS.values() for name in (function.name, *function.aliases)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("function", _CALLABLE, ids=lambda function: function.name)
def test_entries_are_documented(function: Function) -> None:
    assert re.fullmatch(r"(?s)\S.*[.]", function.doc)
    assert function.example
    assert function.family
    assert function.overloads


@pytest.mark.parametrize("function", _CALLABLE, ids=lambda function: function.name)
def test_what_can_fail_is_strict(function: Function) -> None:
    """A NULL result with no NULL argument diverts the row: the oracles prove the rest of that."""
    if any(overload.fails for overload in function.overloads):
        assert function.name not in SEES_NULLS


def test_names_that_queries_may_call() -> None:
    names = function_names()
    assert {"mod", "substr", "rlike", "date_trunc", "hour"} <= set(names)
    assert not {"+", "and", "is_null"} & set(names)
    found = find_function("SUBSTR")
    assert found is not None
    assert found.name == "substring"
    assert find_function("no_such_function") is None


@pytest.mark.parametrize(
    ("name", "given", "targets"),
    [
        ("+", (Scalar.INTEGER, Scalar.TINYINT), (Scalar.BIGINT, Scalar.BIGINT)),
        ("+", (Decimal(5, 2), Scalar.BIGINT), (Decimal(5, 2), Scalar.BIGINT)),
        ("+", (Scalar.DATE, Scalar.INTERVAL), (Scalar.TIMESTAMP, Scalar.INTERVAL)),
        ("/", (Scalar.BIGINT, Decimal(5, 2)), (Scalar.DOUBLE, Scalar.DOUBLE)),
        ("=", (Scalar.NULL, Scalar.VARCHAR), (Scalar.VARCHAR, Scalar.VARCHAR)),
        ("=", (Scalar.DATE, Scalar.TIMESTAMP), (Scalar.TIMESTAMP, Scalar.TIMESTAMP)),
        (
            "element_at",
            (Map(Scalar.VARCHAR, Scalar.DOUBLE), Scalar.VARCHAR),
            (Map(Scalar.VARCHAR, Scalar.DOUBLE), Scalar.VARCHAR),
        ),
        (
            "array_contains",
            (Array(Scalar.INTEGER), Scalar.TINYINT),
            (Array(Scalar.BIGINT), Scalar.BIGINT),
        ),
    ],
    ids=str,
)
def test_conversions_of_arguments(
    name: str, given: tuple[Scalar, ...], targets: tuple[Scalar, ...]
) -> None:
    resolved = FUNCTIONS[name].resolve(given)
    assert resolved is not None
    assert resolved[1] == targets


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("+", (Scalar.VARCHAR, Scalar.BIGINT)),
        ("=", (Scalar.VARCHAR, Scalar.BIGINT)),
        ("=", (Array(Scalar.BIGINT), Array(Scalar.BIGINT))),
        ("and", (Scalar.BIGINT, Scalar.BOOLEAN)),
        ("log", (Scalar.DOUBLE,)),
        ("concat", ()),
        ("element_at", (Map(Scalar.DOUBLE, Scalar.DOUBLE), Scalar.DOUBLE)),
        ("date_trunc", (Scalar.VARCHAR, Scalar.BIGINT)),
    ],
    ids=str,
)
def test_calls_that_do_not_fit(name: str, given: tuple[Scalar, ...]) -> None:
    assert FUNCTIONS[name].resolve(given) is None
