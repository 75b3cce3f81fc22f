"""How a name finds a column."""

import pytest

from tidegate.model.schema import Column, Schema
from tidegate.model.types import Scalar

COLUMNS = Schema(
    (
        Column("a", Scalar.BIGINT, nullable=False),
        Column("A", Scalar.DOUBLE),
        Column("Bc", Scalar.DATE),
        Column("xy", Scalar.REAL),
        Column("xY", Scalar.REAL),
    )
)


@pytest.mark.parametrize(
    ("name", "found"),
    [("a", "a"), ("A", "A"), ("BC", "Bc"), ("bc", "Bc"), ("xY", "xY"), ("XY", None), ("z", None)],
)
def test_exact_names_win_and_ambiguous_ones_find_nothing(name: str, found: str | None) -> None:
    column = COLUMNS.find(name)
    assert (column.name if column else None) == found


def test_a_schema_is_its_columns() -> None:
    assert len(COLUMNS) == 5
    assert COLUMNS.names == ("a", "A", "Bc", "xy", "xY")
    assert [str(column) for column in COLUMNS][:2] == ["a BIGINT NOT NULL", "A DOUBLE"]
