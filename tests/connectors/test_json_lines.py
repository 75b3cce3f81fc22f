"""JSON lines: what a record means, and that the shortcut by blocks means the same as reading line by line."""

import datetime
import decimal
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.reading import drain, file_source, source_def
from tidegate.connectors.files.json_lines import JsonLines

UTC = datetime.UTC


def read(tmp_path: Path, columns: str, *lines: object, **options: Any) -> Any:
    path = tmp_path / "in.json"
    texts = (line if isinstance(line, bytes) else str(line).encode() for line in lines)
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    return drain(file_source(columns, path, **options))


def values(tmp_path: Path, kind: str, *texts: str) -> list[Any]:
    """The value of a single column, for each JSON text; what is malformed is left out."""
    found = read(tmp_path, f"a {kind}", *(f'{{"a": {text}}}' for text in texts))
    return [row["a"] for row in found.rows]


def complaint(tmp_path: Path, kind: str, text: str) -> str:
    found = read(tmp_path, f"a {kind}", '{"a": null}', f'{{"a": {text}}}', '{"a": null}')
    assert [row["a"] for row in found.rows] == [None, None]
    [record] = found.malformed
    assert record.text == f'{{"a": {text}}}'
    return str(record.detail)


def test_rows_in_the_types_of_their_columns(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "k VARCHAR, n BIGINT, small TINYINT, x DOUBLE, r REAL, d DECIMAL(10, 2), ok BOOLEAN, day DATE, raw BINARY",
        '{"k":"ä\\n","n":9007199254740993,"small":-128,"x":1,"r":0.5,"d":1.1,"ok":true,"day":"2026-02-28","raw":"/w=="}',
        '{"more": {"nested": [1]}}',
    )
    first, second = found.rows
    assert first == {
        "k": "ä\n", "n": 9007199254740993, "small": -128, "x": 1.0, "r": 0.5, "d": decimal.Decimal("1.10"),
        "ok": True, "day": datetime.date(2026, 2, 28), "raw": b"\xff",
    }  # fmt: skip
    assert set(second.values()) == {None}
    assert found.malformed == []


def test_nested_values(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "tags ARRAY<VARCHAR>, counts MAP<BIGINT, DOUBLE>, place STRUCT<city VARCHAR, at ARRAY<TIMESTAMP>>",
        '{"tags": ["a", null], "counts": {"1": 0.5}, "place": {"City": "x", "at": [1, "1970-01-01"], "zip": 1}}',
        '{"tags": ["a", 1]}',
    )
    assert found.rows == [
        {
            "tags": ["a", None],
            "counts": [(1, 0.5)],
            "place": {
                "city": "x",
                "at": [
                    datetime.datetime(1970, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC),
                    datetime.datetime(1970, 1, 1, tzinfo=UTC),
                ],
            },
        }
    ]
    assert found.malformed[0].detail == "tags: 1 is no VARCHAR: put it into quotes"


SPELLINGS = {
    "1500": 1_500_000,
    "-1": -1_000,
    '"1970-01-01T00:00:01.5Z"': 1_500_000,
    '"1970-01-01 00:00:01.5"': 1_500_000,
    '"1970-01-01T01:00:01.5+01:00"': 1_500_000,
    '"1970-01-01T01:00:01.500+0100"': 1_500_000,
    '"1970-01-01"': 0,
    '"1970-01-01T00:00"': 0,
    '"1969-12-31T23:59:59.999999999Z"': -1,
    '"0001-01-01T00:00:00Z"': -62_135_596_800_000_000,
    '"9999-12-31T23:59:59.999999Z"': 253_402_300_799_999_999,
    '"19700101T000001"': 1_000_000,
}


def instants(found: Any, name: str = "a") -> list[int | None]:
    column = found.table.column(name).cast("int64")
    return [value.as_py() for value in column]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_timestamp_in_each_spelling(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, "a TIMESTAMP", f'{{"a": {text}}}')
    assert instants(found) == [SPELLINGS[text]]


def test_timestamps_in_all_spellings_at_once(tmp_path: Path) -> None:
    lines = [f'{{"a": {text}}}' for text in SPELLINGS] * 20
    found = read(tmp_path, "a TIMESTAMP", *lines)
    assert instants(found) == list(SPELLINGS.values()) * 20
    assert found.malformed == []


@pytest.mark.parametrize(
    "text",
    [
        '"yesterday"',
        "1.5",
        "true",
        '"1970-13-01"',
        '"0000-01-01"',
        "253402300800000",
        '"1500"',
        "[]",
    ],
)
def test_what_is_no_timestamp(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, "TIMESTAMP", text).startswith("a: ")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("BIGINT", "1.0"),
        ("BIGINT", '"1"'),
        ("BIGINT", "9223372036854775808"),
        ("TINYINT", "128"),
        ("DOUBLE", '"1"'),
        ("VARCHAR", "1"),
        ("VARCHAR", '"\\ud800"'),
        ("BOOLEAN", "1"),
        ("DATE", '"2026-02-30"'),
        ("DATE", '"2026-02-28T12:00"'),
        ("DATE", "1"),
        ("DECIMAL(4, 2)", "1.234"),
        ("DECIMAL(4, 2)", "100"),
        ("DECIMAL(38, 5)", "1e37"),
        ("DECIMAL(38, 0)", "9" * 39),
        ("BINARY", '"?"'),
        ("BINARY", "1"),
        ("ARRAY<BIGINT>", "1"),
        ("MAP<VARCHAR, BIGINT>", "[1]"),
        ("STRUCT<x BIGINT>", "1"),
    ],
)
def test_values_that_do_not_fit(tmp_path: Path, kind: str, text: str) -> None:
    assert complaint(tmp_path, kind, text).startswith("a: ")


def test_exact_decimals_and_doubles_that_are_no_numbers(tmp_path: Path) -> None:
    assert values(
        tmp_path, "DECIMAL(38, 3)", "12345678901234567890123456789012345.678", '"1.5"', "1e2"
    ) == [
        decimal.Decimal("12345678901234567890123456789012345.678"),
        decimal.Decimal("1.5"),
        decimal.Decimal("100"),
    ]
    nan, infinite = values(tmp_path, "DOUBLE", '"NaN"', '"-Inf"')
    assert math.isnan(nan)
    assert infinite == -math.inf


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b'{"a": 1', "no JSON: "),
        (b'{"a": 1}{"a": 2}', "no JSON: "),
        (b'{"a": 1},', "no JSON: "),
        (b"[1]", "a record is an object: {…}"),
        (b"null", "a record is an object: {…}"),
        (b'{"a": 1, "b": "\xff"}', "byte 15 is not UTF-8"),
        (b'{"a": ' + b"[" * 100_000 + b"}", "it is nested too deep"),
        (b'{"a": ' + b"9" * 5_000 + b"}", ""),
    ],
)
def test_a_malformed_line_costs_itself(tmp_path: Path, line: bytes, detail: str) -> None:
    good = [f'{{"a": {n}}}' for n in range(500)]
    found = read(tmp_path, "a BIGINT", *good[:300], line, *good[300:])
    assert [row["a"] for row in found.rows] == list(range(500))
    [record] = found.malformed
    assert record.detail.startswith(detail)
    assert len(record.text) <= 1_000
    assert record.text[:6] == line[:6].decode()


def test_an_object_over_two_lines_is_two_malformed_ones(tmp_path: Path) -> None:
    found = read(tmp_path, "a BIGINT", '{"a": 1}{"a": 2}', '{"a":', "3}", '{"a": 4}')
    assert [row["a"] for row in found.rows] == [4]
    assert len(found.malformed) == 3


def test_blank_lines_returns_and_a_byte_order_mark(tmp_path: Path) -> None:
    found = read(tmp_path, "a BIGINT", b'\xef\xbb\xbf{"a": 1}\r', b"", b"  ", b'{"a": 2}\r')
    assert [row["a"] for row in found.rows] == [1, 2]
    assert found.malformed == []


def test_names_by_case_then_regardless_of_it(tmp_path: Path) -> None:
    lines = ['{"A": 1}', '{"a": 2, "A": 3}', '{"á": 4, "B": 1}', '{"a": 5}'] * 40
    found = read(tmp_path, "a BIGINT", *lines)
    assert [row["a"] for row in found.rows] == [1, 2, None, 5] * 40


def test_two_columns_that_differ_in_case_only_cannot_be_declared() -> None:
    parser = JsonLines(source_def("a BIGINT, b VARCHAR", connector="memory").physical)
    table, wrong = parser.parse(b'{"A": 1, "a": 2, "B": "x", "b": "y"}\n')
    assert table.to_pylist() == [{"a": 2, "b": "y"}]
    assert wrong == []


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(b'{"a": %d}\n' % n for n in range(1_000))))
    found = drain(file_source("a BIGINT", path), max_rows=7)
    assert [row["a"] for row in found.rows] == list(range(1_000))


# The shortcut: blocks give what their lines give.

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["2026-01-01", "2026-01-01T00:00:00.1234567+02:00", "1e2", "AA=="]),
    st.decimals(-1_000, 1_000, places=3).map(float),
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=2),
    st.dictionaries(st.text(max_size=2), SCALARS, max_size=2),
)
NAMES = st.sampled_from(["a", "A", "b", "c", "other"])
RECORDS = st.one_of(
    st.dictionaries(NAMES, VALUES, max_size=4).map(json.dumps), VALUES.map(json.dumps)
)
NOISE = st.sampled_from(
    ["", " ", "{", "}", '{"a":1}{"a":2}', '{"a":[{}', "{}]}", '{"a": 1, "a": 2}']
)
KINDS = st.sampled_from(
    "BIGINT|TINYINT|DOUBLE|DECIMAL(6, 2)|VARCHAR|BOOLEAN|TIMESTAMP|DATE|BINARY|ARRAY<BIGINT>|STRUCT<x VARCHAR>".split(
        "|"
    )
)


@given(st.tuples(KINDS, KINDS), st.lists(st.one_of(RECORDS, RECORDS, NOISE), max_size=8))
def test_a_block_means_what_its_lines_mean(kinds: tuple[str, str], lines: list[str]) -> None:
    schema = source_def(f"a {kinds[0]}, b {kinds[1]}", connector="memory").physical
    parser = JsonLines(schema)
    table, wrong = parser.parse("\n".join(lines).encode())
    slow = JsonLines(schema)
    slow._quick = False
    expected, expected_wrong = slow.parse("\n".join(lines).encode())
    assert table.schema == expected.schema
    assert repr(table.to_pylist()) == repr(expected.to_pylist())
    assert wrong == expected_wrong
