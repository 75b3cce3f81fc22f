"""CSV: fields, NULLs and what is no row."""

import datetime
import decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.reading import Drained, drain, file_source, source_def
from tidegate.connectors.files.csv_lines import CsvLines
from tidegate.errors import TidegateError

UTC = datetime.UTC


def read(tmp_path: Path, columns: str, text: str | bytes, **options: Any) -> Drained:
    path = tmp_path / "in.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return drain(file_source(columns, path, **options))


def test_rows_in_the_types_of_their_columns(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "k VARCHAR, n BIGINT, x DOUBLE, d DECIMAL(10, 2), ok BOOLEAN, day DATE, raw BINARY, tags ARRAY<BIGINT>",
        "more,N,k,x,d,ok,day,raw,tags\n"
        ',5, "a","1e3",1.5,true,2026-02-28,/w==,"[1,null]"\n'
        'x, 6 ,"a ""b"", c",nan,,FALSE,,,\n',
    )
    assert [repr(row) for row in found.rows] == [
        repr(row)
        for row in (
            {"k": ' "a"', "n": 5, "x": 1000.0, "d": decimal.Decimal("1.50"), "ok": True,
             "day": datetime.date(2026, 2, 28), "raw": b"\xff", "tags": [1, None]},
            {"k": 'a "b", c', "n": 6, "x": float("nan"), "d": None, "ok": False,
             "day": None, "raw": None, "tags": None},
        )
    ]  # fmt: skip
    assert found.malformed == []


def test_null_and_empty_text(tmp_path: Path) -> None:
    found = read(tmp_path, "k VARCHAR, n BIGINT", 'k,n\n"",""\n,\n')
    assert found.rows == [{"k": "", "n": None}, {"k": None, "n": None}]


def test_a_column_that_no_field_has_is_null(tmp_path: Path) -> None:
    assert read(tmp_path, "k VARCHAR, gone BIGINT", "k\na\n").rows == [{"k": "a", "gone": None}]


def test_without_a_head_fields_go_by_place(tmp_path: Path) -> None:
    found = read(tmp_path, "k VARCHAR, n BIGINT", "a,1\nb,2,3\nc\nd,4\n", header="false")
    assert found.rows == [{"k": "a", "n": 1}, {"k": "d", "n": 4}]
    assert [(record.text, record.detail) for record in found.malformed] == [
        ("b,2,3", "3 fields instead of 2"),
        ("c", "1 fields instead of 2"),
    ]


def test_delimiters(tmp_path: Path) -> None:
    assert read(tmp_path, "k VARCHAR, n BIGINT", "k;n\na,b;1\n", delimiter=";").rows == [
        {"k": "a,b", "n": 1}
    ]
    assert read(tmp_path, "n BIGINT", "k\tn\na\t1\n", delimiter="\\t").rows == [{"n": 1}]
    (tmp_path / "x.tsv").write_text("k\tn\na\t2\n")
    assert drain(file_source("n BIGINT", tmp_path / "x.tsv")).rows == [{"n": 2}]
    with pytest.raises(
        TidegateError, match="TG-4002: delimiter = 'ab': expected one ASCII character"
    ):
        read(tmp_path, "n BIGINT", "", delimiter="ab")


def test_timestamps_in_each_spelling_in_one_column(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "ts TIMESTAMP",
        "ts\n1500\n1970-01-01 00:00:01.5\n1970-01-01T01:00:01.5+01:00\n"
        "1970-01-01T00:00:01.500000999Z\n\n+1500\n1970-01-01\n",
    )
    column = found.table.column("ts").cast("int64").to_pylist()
    assert column == [1_500_000] * 5 + [0]


def test_a_value_that_does_not_fit_spoils_its_row_only(tmp_path: Path) -> None:
    lines = [f"k{n},{n},{n}" for n in range(1_000)]
    lines[7], lines[500], lines[999] = "x,seven,7", "y,500,", 'z,"999",1e9'
    lines.insert(20, "too,short")
    found = read(tmp_path, "k VARCHAR, n SMALLINT, ts TIMESTAMP", "k,n,ts\n" + "\n".join(lines))
    assert [row["n"] for row in found.rows] == [n for n in range(999) if n != 7]
    assert [(record.text, record.detail) for record in found.malformed] == [
        ("too,short", "2 fields instead of 3"),
        ("x,seven,7", "n: 'seven' is no SMALLINT"),
        ('z,"999",1e9', "ts: '1e9' is no TIMESTAMP"),
    ]


@pytest.mark.parametrize(
    "line",
    ['"open,1', 'a"b,"open', '"open\r,1', "a\rb,1", b"\xff,1", '""",1'],
)
def test_a_malformed_line_costs_itself(tmp_path: Path, line: str | bytes) -> None:
    raw = line if isinstance(line, bytes) else line.encode()
    text = b"k,n\n" + b"a,0\n" * 100 + raw + b"\n" + b'"b",1\n' * 100
    found = read(tmp_path, "k VARCHAR, n BIGINT", text)
    assert [(row["k"], row["n"]) for row in found.rows] == [("a", 0)] * 100 + [("b", 1)] * 100
    assert len(found.malformed) == 1


def test_a_head_that_names_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        TidegateError, match=r"TG-6004: in\.csv in .*: its head names none of the columns"
    ) as caught:
        read(tmp_path, "k VARCHAR", "1,2\n3,4\n")
    assert "on_bad_file = 'skip'" in caught.value.hint


def test_only_a_head_and_nothing_at_all(tmp_path: Path) -> None:
    assert read(tmp_path, "k VARCHAR", "k\n").rows == []
    assert read(tmp_path, "k VARCHAR", "").rows == []


def test_a_head_longer_than_a_page_and_with_a_byte_order_mark(tmp_path: Path) -> None:
    names = ",".join(f"c{n}" for n in range(3_000))
    text = b"\xef\xbb\xbf" + f"n,{names}\r\n1{',' * 3_000}\r\n".encode()
    assert read(tmp_path, "n BIGINT", text).rows == [{"n": 1}]


FIELDS = st.lists(st.text('ab1,"\r ', max_size=4), min_size=1, max_size=3)


@given(st.lists(FIELDS.map(",".join), max_size=12))
def test_lines_are_independent(lines: list[str]) -> None:
    """A block gives the rows, and the complaints, that its lines give one by one."""
    parser = CsvLines(source_def("a VARCHAR, b BIGINT", connector="memory").physical, delimiter=",")
    names = ("a", "b")

    def read(text: str) -> tuple[list[dict[str, Any]], list[str]]:
        table, wrong = parser.parse(text.encode(), names)
        return table.to_pylist(), sorted(record.text for record in wrong)

    single = [read(line) for line in lines]
    rows, wrong = read("\n".join(lines))
    assert rows == [row for found, _ in single for row in found]
    assert wrong == sorted(text for _, found in single for text in found)
