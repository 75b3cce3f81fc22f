"""Static tables from files: all rows or none."""

from pathlib import Path

import pytest

from tests.connectors.reading import table_def
from tidegate.connectors import read_table
from tidegate.errors import TidegateError


def test_a_table_has_all_rows_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("symbol,sector\nA,tech\nB,\n")
    (tmp_path / "b.json").write_text('{"symbol": "C", "sector": "food"}')
    table = read_table(table_def("symbol VARCHAR, sector VARCHAR", connector="file", path=tmp_path))
    assert table.column_names == ["symbol", "sector"]
    assert sorted(table.column("symbol").to_pylist()) == ["A", "B", "C"]


def test_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("symbol\n")
    table = read_table(table_def("symbol VARCHAR", connector="file", path=tmp_path / "a.csv"))
    assert (table.num_rows, table.column_names) == (0, ["symbol"])


def test_a_record_that_is_no_row_refuses_the_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\nx\n")
    with pytest.raises(TidegateError) as caught:
        read_table(table_def("n BIGINT", connector="file", path=tmp_path / "a.csv"))
    assert str(caught.value) == (
        "TG-6009: table it has a record that is no row: n: 'x' is no BIGINT\nhint: mend it, or take it out: x"
    )
