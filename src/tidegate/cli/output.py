"""Rows of a query on stdout, in the form that was asked for: each a sink, as any other.

Decided here: what is a stream of lines (table, csv, jsonl, markdown) is written epoch by epoch; an array of JSON and a
stream of Arrow are closed at the end, and are whole only then. A form with a head writes it once, also if no row comes.
"""

import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import TextIO

import pyarrow as pa

from tidegate.connectors.console import ConsoleSink, show, show_empty
from tidegate.connectors.files.texts import write_csv, write_json
from tidegate.connectors.memory import stream_schema
from tidegate.connectors.protocols import SinkWriter
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema

FOR_ONE_QUERY = ("csv", "json", "arrow")


class Printer:
    """Text, written as soon as it is there."""

    def __init__(self, schema: pa.Schema, stream: TextIO) -> None:
        self._schema, self._stream = schema, stream
        self._begun = False

    def write(self, epoch: int, rows: pa.Table) -> None:
        if rows.num_rows:
            self._say(self._head() + self._rows(rows))
            self._begun = True

    def close(self) -> None:
        self._say(self._head() + self._foot())

    def _say(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _head(self) -> str:
        return ""

    def _rows(self, rows: pa.Table) -> str:
        raise NotImplementedError

    def _foot(self) -> str:
        return ""


def _written(write: Callable[[pa.Table, BytesIO], None], rows: pa.Table) -> str:
    buffer = BytesIO()
    write(rows, buffer)
    return buffer.getvalue().decode()


class JsonLines(Printer):
    def _rows(self, rows: pa.Table) -> str:
        return _written(write_json, rows)


class JsonArray(Printer):
    def _rows(self, rows: pa.Table) -> str:
        lines = _written(write_json, rows).splitlines()
        return (",\n" if self._begun else "[\n") + ",\n".join(f"  {line}" for line in lines)

    def _foot(self) -> str:
        return "\n]\n" if self._begun else "[]\n"


class Csv(Printer):
    def _head(self) -> str:
        return "" if self._begun else _written(write_csv, self._schema.empty_table())

    def _rows(self, rows: pa.Table) -> str:
        head = _written(write_csv, rows.slice(0, 0))
        return _written(write_csv, rows).removeprefix(head)


class Markdown(Printer):
    def _head(self) -> str:
        if self._begun:
            return ""
        rules = ["---:" if _is_number(field.type) else "---" for field in self._schema]
        return _cells(self._schema.names) + _cells(rules)

    def _rows(self, rows: pa.Table) -> str:
        columns = [column.to_pylist() for column in rows.columns]
        return "".join(_cells([show(value) for value in row]) for row in zip(*columns, strict=True))


def _cells(texts: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |\n"


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


class ArrowStream:
    """The IPC format, for other programs."""

    def __init__(self, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_stream(sys.stdout.buffer, schema)

    def write(self, epoch: int, rows: pa.Table) -> None:
        if rows.num_rows:
            self._writer.write_table(rows)
            sys.stdout.buffer.flush()

    def close(self) -> None:
        self._writer.close()
        sys.stdout.buffer.flush()


_PRINTERS: Mapping[str, type[Printer]] = {
    "csv": Csv,
    "json": JsonArray,
    "jsonl": JsonLines,
    "markdown": Markdown,
}


def printer(form: str, schema: Schema, kind: StreamKind) -> SinkWriter:
    """A sink that prints rows of the stream."""
    if form == "table":
        return ConsoleSink(sys.stdout)
    columns = stream_schema(schema, kind)
    return ArrowStream(columns) if form == "arrow" else _PRINTERS[form](columns, sys.stdout)


def print_table(form: str, rows: pa.Table) -> None:
    """Rows that are all there."""
    if form in ("table", "arrow") and not rows.num_rows:
        sys.stdout.write(show_empty(rows.column_names))
        return
    if form in ("table", "arrow"):
        ConsoleSink(sys.stdout).write(0, rows)
        return
    sink = _PRINTERS[form](rows.schema, sys.stdout)
    sink.write(0, rows)
    sink.close()
