"""Sinks of side outputs: any sink, written payloads instead of rows.

Decided here: files of JSON get the payload as it is, a line each, and so do the console and topics of JSON. All others
get a row with a column for each part of a payload; the parts whose shape depends on the stream (the group, the original
row) are JSON texts in it.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

import pyarrow as pa

from tidegate.connectors.files.sink import FileSink
from tidegate.connectors.protocols import Resumable, Resumed, SinkWriter
from tidegate.connectors.registry import open_sink
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Column, Schema
from tidegate.model.types import Scalar
from tidegate.plan.catalog import SinkDef

_TEXTS = ("kind", "reason", "event_time", "processing_time", "watermark")
_JSON = ("group_key", "original_event")
_NAMES = {
    **dict.fromkeys((*_TEXTS, "window_start", "window_end", *_JSON), Scalar.VARCHAR),
    **dict.fromkeys(("error_detail", "plan_id", "stream"), Scalar.VARCHAR),
    **dict.fromkeys(("shard", "epoch"), Scalar.BIGINT),
}
_COLUMNS = Schema(tuple(Column(name, kind) for name, kind in _NAMES.items()))
_LINE = Schema((Column("line", Scalar.VARCHAR),))
LINE = pa.schema([("line", pa.string())])
Payload = Mapping[str, Any]


class Lines:
    """A line of JSON per payload, into a directory."""

    def __init__(self, sink: SinkWriter) -> None:
        self._sink = sink

    def write(self, epoch: int, payloads: Sequence[Payload]) -> None:
        self._sink.write(epoch, pa.table({"line": [*map(as_line, payloads)]}, schema=LINE))

    def resume(self, resumed: Resumed) -> None:
        if isinstance(self._sink, Resumable):
            self._sink.resume(resumed)

    def close(self) -> None:
        self._sink.close()


class Printed:
    """A line of JSON per payload, for eyes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, epoch: int, payloads: Sequence[Payload]) -> None:
        self._stream.write("".join(f"{as_line(payload)}\n" for payload in payloads))
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()


class Columns:
    """A row per payload, into any other sink."""

    def __init__(self, sink: SinkWriter) -> None:
        self._sink = sink

    def write(self, epoch: int, payloads: Sequence[Payload]) -> None:
        self._sink.write(epoch, as_table(payloads))

    def resume(self, resumed: Resumed) -> None:
        if isinstance(self._sink, Resumable):
            self._sink.resume(resumed)

    def close(self) -> None:
        self._sink.close()


SideSink = Lines | Printed | Columns


def as_line(payload: Payload) -> str:
    """
    >>> as_line({"kind": "late", "window": None})
    '{"kind": "late", "window": null}'
    """
    return json.dumps(payload, ensure_ascii=False)


def as_table(payloads: Sequence[Payload]) -> pa.Table:
    """Payloads as rows."""
    kinds = {
        name: pa.int64() if kind is Scalar.BIGINT else pa.string() for name, kind in _NAMES.items()
    }
    return pa.Table.from_pylist([_row(one) for one in payloads], schema=pa.schema(kinds.items()))


def _row(payload: Payload) -> dict[str, Any]:
    window = payload["window"] or {}
    texts = {
        name: None if payload[name] is None else json.dumps(payload[name], ensure_ascii=False)
        for name in _JSON
    }
    edges = {"window_start": window.get("start"), "window_end": window.get("end")}
    return {**payload, **texts, **edges}


def open_side_sink(definition: SinkDef) -> SideSink:
    """The sink of the definition, for payloads."""
    if definition.connector == "console":
        return Printed(sys.stdout)
    if definition.connector == "file" and definition.options.get("format", "json") == "json":
        return Lines(FileSink(str(definition.options["path"]), LINE, format="lines"))
    if definition.connector == "kafka" and definition.options.get("format", "json") == "json":
        raw = replace(definition, options={**definition.options, "format": "raw"})
        return Lines(open_sink(raw, _LINE, StreamKind.APPEND))
    return Columns(open_sink(definition, _COLUMNS, StreamKind.APPEND))
