"""Collecting refusals."""

import pytest

from tidegate import errors
from tidegate.errors import Location, TidegateError
from tidegate.plan.diagnostics import Diagnostics, Refused


def refusal(column: int, name: str = "x") -> TidegateError:
    return errors.unknown_column(Location("q", 1, column, "…"), name=name)


def test_refusals_are_kept_in_order_and_raised_together() -> None:
    diagnostics = Diagnostics()
    diagnostics.raise_first()
    for column in (2, 1):
        with diagnostics.catching():
            raise refusal(column)
    with pytest.raises(Refused) as refused:
        diagnostics.raise_first()
    assert [error.column for error in refused.value.errors] == [2, 1]


def test_other_exceptions_pass() -> None:
    with pytest.raises(KeyError), Diagnostics().catching():
        raise KeyError


def test_one_refusal_is_kept_per_place_and_kind() -> None:
    diagnostics = Diagnostics()
    diagnostics.errors += [
        refusal(1, "a"),
        refusal(1, "b"),
        refusal(2, "c"),
        errors.unknown_field(Location("q", 1, 1, "…"), type="T", name="a"),
    ]
    diagnostics.drop_repeated()
    assert [(error.code, error.column) for error in diagnostics.errors] == [
        ("TG-2002", 1),
        ("TG-2002", 2),
        ("TG-2013", 1),
    ]
    assert "named a" in diagnostics.errors[0].message
