"""Files as a sink: whole epochs, each exactly once; what is written can be read back."""

import datetime
import decimal
import json
import math
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from tests.connectors.reading import drain, file_source, sink_def, source_def
from tidegate.connectors import open_sink
from tidegate.connectors.files import sink as file_sink
from tidegate.connectors.files import texts
from tidegate.connectors.protocols import SinkWriter
from tidegate.errors import TidegateError
from tidegate.kernel.arrow import arrow_type
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema


def schema_of(columns: str) -> Schema:
    return source_def(columns, connector="memory").physical


def open_at(path: Path, columns: str = "n BIGINT", **options: object) -> SinkWriter:
    return open_sink(sink_def("file", path=path, **options), schema_of(columns), StreamKind.APPEND)


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir())


def test_a_file_per_epoch(tmp_path: Path) -> None:
    writer = open_at(tmp_path / "deep" / "out")
    writer.write(0, pa.table({"n": [1, 2]}))
    writer.write(1, pa.table({"n": pa.array([], pa.int64())}))
    writer.write(12, pa.table({"n": [3]}))
    writer.close()
    assert names(tmp_path / "deep" / "out") == [
        "part-000000000000.parquet",
        "part-000000000012.parquet",
    ]
    assert drain(file_source("n BIGINT", tmp_path / "deep" / "out", bounded=True)).rows == [
        {"n": 1}, {"n": 2}, {"n": 3},
    ]  # fmt: skip


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_an_epoch_that_comes_again_replaces_its_file(tmp_path: Path, format: str) -> None:
    open_at(tmp_path, format=format).write(7, pa.table({"n": [1, 2]}))
    again = open_at(tmp_path, format=format)
    again.write(7, pa.table({"n": [3]}))
    assert drain(file_source("n BIGINT", tmp_path)).rows == [{"n": 3}]
    again.write(7, pa.table({"n": pa.array([], pa.int64())}))
    assert names(tmp_path) == []


class Crash(BaseException):
    """The process is gone; nothing that handles errors sees it."""


@pytest.mark.parametrize("step", ["_write_parquet", "fsync", "replace", "_sync_directory"])
def test_a_crash_at_any_step_leaves_whole_epochs(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the renaming the epoch is not there, behind it it is; either way it is there once when it comes again."""
    open_at(tmp_path).write(0, pa.table({"n": [1]}))

    def crash(*_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patched:
        if step == "_write_parquet":
            patched.setitem(file_sink._WRITERS, "parquet", crash)
        elif step == "_sync_directory":
            patched.setattr(file_sink.FileSink, step, crash)
        else:
            patched.setattr(os, step, crash)
        with pytest.raises(Crash):
            open_at(tmp_path).write(1, pa.table({"n": [2]}))
    seen = drain(file_source("n BIGINT", tmp_path)).rows
    assert seen == ([{"n": 1}, {"n": 2}] if step == "_sync_directory" else [{"n": 1}])
    writer = open_at(tmp_path)
    assert not any(name.startswith(".") for name in names(tmp_path))
    writer.write(1, pa.table({"n": [2]}))
    writer.write(2, pa.table({"n": [3]}))
    assert drain(file_source("n BIGINT", tmp_path)).rows == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    for name in ("notes.txt", ".hidden", ".part-1.json.crc"):
        (tmp_path / name).touch()
    open_at(tmp_path)
    assert names(tmp_path) == [".hidden", ".part-1.json.crc", "notes.txt"]


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        TidegateError, match=f"TG-6003: {tmp_path}/file cannot be written: "
    ) as caught:
        open_at(tmp_path / "file")
    assert caught.value.exit_code == 4


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = open_at(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        TidegateError, match=r"TG-6003: .* cannot be written: No space left on device"
    ):
        writer.write(0, pa.table({"n": [1]}))


COLUMNS = (
    "k VARCHAR, n BIGINT, x DOUBLE, d DECIMAL(10, 2), ok BOOLEAN, day DATE, raw BINARY, ts TIMESTAMP, "
    "tags ARRAY<VARCHAR>, counts MAP<BIGINT, DOUBLE>, place STRUCT<city VARCHAR, at TIMESTAMP>"
)
AT = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
ROWS: list[dict[str, Any]] = [
    {
        "k": 'a "b", \\ ä', "n": -5, "x": 0.1, "d": decimal.Decimal("-1.50"), "ok": True,
        "day": datetime.date(2026, 1, 31), "raw": b"\xff\x00", "ts": AT, "tags": ["x", None, ""],
        "counts": [(1, 0.5), (2, None)], "place": {"city": "y", "at": AT.replace(microsecond=1)},
    },
    {"k": "", "n": None, "x": -math.inf, "d": decimal.Decimal("0.00"), "ok": False, "tags": [], "counts": []},
    {},
]  # fmt: skip


def table_of(rows: list[dict[str, Any]], schema: Schema) -> pa.Table:
    fields = pa.schema([(column.name, arrow_type(column.type)) for column in schema])
    return pa.Table.from_pylist([{**dict.fromkeys(fields.names), **row} for row in rows], fields)


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_what_is_written_reads_back(tmp_path: Path, format: str) -> None:
    schema = schema_of(COLUMNS)
    written = table_of(ROWS, schema)
    open_at(tmp_path, COLUMNS, format=format).write(0, written)
    found = drain(file_source(COLUMNS, tmp_path))
    assert found.malformed == []
    assert found.table.select(schema.names).combine_chunks().equals(written.combine_chunks())


def test_json_as_text(tmp_path: Path) -> None:
    schema = schema_of(COLUMNS)
    open_at(tmp_path, COLUMNS, format="json").write(0, table_of(ROWS, schema))
    first, second, third = (tmp_path / "part-000000000000.json").read_text().splitlines()
    assert first == (
        '{"k":"a \\"b\\", \\\\ ä","n":-5,"x":0.1,"d":-1.50,"ok":true,"day":"2026-01-31","raw":"/wA=",'
        '"ts":"2026-01-31T12:00:00Z","tags":["x",null,""],"counts":{"1":0.5,"2":null},'
        '"place":{"city":"y","at":"2026-01-31T12:00:00.000001Z"}}'
    )
    assert json.loads(second)["x"] == "-Inf"
    assert set(json.loads(third).values()) == {None}


def test_csv_as_text(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"k": None, "n": 1, "ts": AT},
        {"k": "", "n": None, "ts": AT.replace(microsecond=5)},
    ]
    columns = "k VARCHAR, n BIGINT, ts TIMESTAMP"
    open_at(tmp_path, columns, format="csv").write(0, table_of(rows, schema_of(columns)))
    assert (tmp_path / "part-000000000000.csv").read_text() == (
        '"k","n","ts"\n,1,"2026-01-31T12:00:00Z"\n"",,"2026-01-31T12:00:00.000005Z"\n'
    )
    assert csv.read_csv(tmp_path / "part-000000000000.csv").num_rows == 2


def test_the_first_and_the_last_instant(tmp_path: Path) -> None:
    bounds = pa.array([-62_135_596_800_000_000, 253_402_300_799_999_999])
    for place, format in enumerate(("json", "csv", "parquet")):
        directory = tmp_path / str(place)
        open_at(directory, "ts TIMESTAMP", format=format).write(
            0, pa.table({"ts": bounds.cast(pa.timestamp("us", tz="UTC"))})
        )
        found = drain(file_source("ts TIMESTAMP", directory)).table.column("ts")
        assert found.cast("int64").to_pylist() == bounds.to_pylist()


def test_many_rows_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_ROWS", 3)
    rows = pa.concat_tables([pa.table({"n": range(5)}), pa.table({"n": range(5, 10)})])
    open_at(tmp_path, format="json").write(0, rows)
    assert [row["n"] for row in drain(file_source("n BIGINT", tmp_path)).rows] == list(range(10))


def test_another_filesystem(tmp_path: Path) -> None:
    """Through pyarrow's own streams, as on an object store."""
    writer = open_at(tmp_path)
    assert isinstance(writer, file_sink.FileSink)
    writer._local = False
    writer.write(0, pa.table({"n": [1]}))
    writer.write(0, pa.table({"n": [2]}))
    assert names(tmp_path) == ["part-000000000000.parquet"]
    assert parquet.read_table(tmp_path / "part-000000000000.parquet").to_pylist() == [{"n": 2}]
