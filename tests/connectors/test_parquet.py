"""Parquet: any Arrow type that can become the declared one, and row by row what does not fit."""

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.connectors.reading import Drained, drain, file_source
from tidegate.errors import TidegateError


def read(tmp_path: Path, columns: str, table: dict[str, pa.Array], **options: Any) -> Drained:
    path = tmp_path / "in.parquet"
    parquet.write_table(pa.table(table), path, row_group_size=3)
    return drain(file_source(columns, path, **options), max_rows=2)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1_500, -1], pa.int64()),
        pa.array([1_500, -1], pa.int16()),
        pa.array([1_500, -1], pa.timestamp("ms")),
        pa.array([1_500_000, -1_000], pa.timestamp("us", tz="Europe/Berlin")),
        pa.array([1_500_000_999, -1_000_000], pa.timestamp("ns")),
        pa.array(["1970-01-01T00:00:01.5Z", "1969-12-31 23:59:59.999"]),
        pa.array(["1970-01-01T00:00:01.5Z", "1969-12-31 23:59:59.999"]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_a_timestamp_in_each_type(tmp_path: Path, array: pa.Array) -> None:
    found = read(tmp_path, "ts TIMESTAMP", {"ts": array})
    assert found.table.column("ts").cast("int64").to_pylist() == [1_500_000, -1_000]


def test_nanoseconds_are_floored(tmp_path: Path) -> None:
    found = read(tmp_path, "ts TIMESTAMP", {"ts": pa.array([-1, 999], pa.timestamp("ns"))})
    assert found.table.column("ts").cast("int64").to_pylist() == [-1, 0]


def test_dates(tmp_path: Path) -> None:
    dates = pa.array([datetime.date(2026, 2, 28)])
    instants = pa.array([datetime.datetime(2026, 2, 28, 23, 59)], pa.timestamp("us"))  # noqa: DTZ001
    for array in (dates, dates.cast(pa.date64()), instants, pa.array(["2026-02-28"])):
        found = read(tmp_path, "day DATE", {"day": array})
        assert found.rows == [{"day": datetime.date(2026, 2, 28)}]


def test_columns_by_name_missing_ones_and_nested_ones(tmp_path: Path) -> None:
    place = pa.array([{"city": "x", "zip": 1}])
    found = read(
        tmp_path,
        "K VARCHAR, gone BIGINT, place STRUCT<city VARCHAR, zip BIGINT>, tags ARRAY<INTEGER>",
        {"k": pa.array(["a"], pa.large_string()), "other": pa.array([1]), "place": place, "tags": pa.array([[1]])},
    )  # fmt: skip
    assert found.rows == [{"K": "a", "gone": None, "place": {"city": "x", "zip": 1}, "tags": [1]}]


def test_a_value_that_does_not_fit_spoils_its_row_only(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "n TINYINT, ts TIMESTAMP",
        {"n": pa.array([1, 2, 300, 4, 5, 6]), "ts": pa.array([0, 1, 2, 2**62, 4, None])},
    )
    assert [row["n"] for row in found.rows] == [1, 2, 5, 6]
    assert [(record.text, record.detail) for record in found.malformed] == [
        ('{"n": 300, "ts": 2}', "n: 300 is no TINYINT"),
        ('{"n": 4, "ts": 4611686018427387904}', "ts: 4611686018427387904 is no TIMESTAMP"),
    ]


def refusal(tmp_path: Path, columns: str, table: dict[str, Any]) -> TidegateError:
    with pytest.raises(TidegateError) as caught:
        read(tmp_path, columns, table)
    return caught.value


def test_a_type_that_can_never_fit(tmp_path: Path) -> None:
    error = refusal(tmp_path, "n BIGINT", {"n": pa.array([[1]])})
    assert error.code == "TG-6004"
    assert "column n is list<element: int64>, and declared BIGINT" in error.message


def test_what_is_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(
        TidegateError, match=r"TG-6004: in\.parquet in .* cannot be read: Parquet magic"
    ):
        drain(file_source("n BIGINT", path))


def test_ranges_across_row_groups(tmp_path: Path) -> None:
    found = read(tmp_path, "n BIGINT", {"n": pa.array(range(20))})
    assert [row["n"] for row in found.rows] == list(range(20))
    assert found.sizes == [2] * 10
