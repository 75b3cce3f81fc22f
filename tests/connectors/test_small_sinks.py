"""Memory, console and callback; what each is handed for streams that take rows back."""

import datetime
import io

import pyarrow as pa
import pytest

from tests.connectors.reading import sink_def, source_def
from tidegate.connectors import open_sink
from tidegate.connectors.callback import CallbackSink
from tidegate.connectors.console import ConsoleSink
from tidegate.connectors.memory import MemorySink
from tidegate.errors import TidegateError
from tidegate.model.policies import StreamKind

SCHEMA = source_def("k VARCHAR, n BIGINT", connector="memory").physical


def test_memory_has_the_columns_of_its_stream() -> None:
    for kind, names in ((StreamKind.APPEND, ["k", "n"]), (StreamKind.UPSERT, ["_op", "k", "n"])):
        writer = open_sink(sink_def("memory"), SCHEMA, kind)
        assert isinstance(writer, MemorySink)
        assert writer.rows().column_names == names


def test_an_epoch_that_comes_again_replaces_its_rows() -> None:
    writer = open_sink(sink_def("memory"), SCHEMA, StreamKind.APPEND)
    assert isinstance(writer, MemorySink)
    for epoch, rows in ((0, [1]), (1, [2, 3]), (1, [4]), (0, [])):
        writer.write(
            epoch,
            pa.table({"k": pa.nulls(len(rows), pa.string()), "n": pa.array(rows, pa.int64())}),
        )
    assert writer.rows().column("n").to_pylist() == [4]
    assert list(writer.epochs) == [1]
    writer.close()
    assert writer.rows().num_rows == 1


def test_console_aligns_and_repeats_the_head_when_it_has_to_grow() -> None:
    out = io.StringIO()
    writer = ConsoleSink(out)
    at = datetime.datetime(2026, 1, 31, 12, 30, tzinfo=datetime.UTC)
    writer.write(0, pa.table({"_op": ["+I"], "k": ["a\tb"], "n": [1], "ts": [at]}))
    writer.write(
        1, pa.table({"_op": ["-U"], "k": [None], "n": [22], "ts": [at.replace(microsecond=5)]})
    )
    writer.write(2, pa.table({"_op": ["+U"], "k": ["日本"], "n": [1.5], "ts": [at]}).slice(0, 0))
    writer.write(3, pa.table({"_op": ["+U"], "k": ["日本"], "n": [3], "ts": [at]}))
    writer.close()
    assert out.getvalue() == (
        "_op | k    | n | ts\n"
        "----+------+---+--------------------\n"
        "+I  | a\\tb | 1 | 2026-01-31 12:30:00\n"
        "_op | k    |  n | ts\n"
        "----+------+----+---------------------------\n"
        "-U  | NULL | 22 | 2026-01-31 12:30:00.000005\n"
        "+U  | 日本 |  3 | 2026-01-31 12:30:00\n"
    )


def test_console_prints_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    open_sink(sink_def("console"), SCHEMA, StreamKind.APPEND).write(
        0, pa.table({"k": ["a"], "n": [1]})
    )
    assert capsys.readouterr().out == "k | n\n--+--\na | 1\n"


def test_console_shortens_long_values_and_shows_nested_ones() -> None:
    out = io.StringIO()
    maps = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    ConsoleSink(out).write(
        0, pa.table({"long": ["x" * 1_000], "m": maps, "s": [{"a": [1]}], "raw": [b"\xff"]})
    )
    assert out.getvalue().splitlines()[2] == f"{'x' * 59}… | [a: 1] | {{a: [1]}} | ff"


def test_callback_calls_the_function_and_lets_its_errors_through() -> None:
    seen: list[tuple[int, list[int]]] = []
    writer = CallbackSink(lambda epoch, rows: seen.append((epoch, rows.column("n").to_pylist())))
    writer.write(0, pa.table({"n": [1]}))
    writer.write(1, pa.table({"n": pa.array([], pa.int64())}))
    writer.write(2, pa.table({"n": [2, 3]}))
    writer.close()
    assert seen == [(0, [1]), (2, [2, 3])]
    with pytest.raises(ZeroDivisionError):
        CallbackSink(lambda epoch, rows: 1 // epoch).write(0, pa.table({"n": [1]}))


def test_callback_from_sql_has_no_function() -> None:
    with pytest.raises(TidegateError, match="TG-6007: sink out has no function to call"):
        open_sink(sink_def("callback"), SCHEMA, StreamKind.APPEND)
