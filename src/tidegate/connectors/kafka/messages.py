"""Rows turned into messages: a key, and a value.

Decided here: values are written as lines of a file are, so that our own sources read the same rows back; the columns of
the key are in the value, too. Rows of a stream that replaces rows need a key. With one, a row that is gone is a
message without value (a tombstone), and a row that is taken back for its replacement is no message: the replacement
stands for both. A changelog without a key is written as it is, with `_op` among its columns.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.texts import encoder, write_csv, write_json
from tidegate.connectors.settings import Settings
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.model.types import Scalar

Message: TypeAlias = tuple[bytes | None, bytes | None]
Encode: TypeAlias = Callable[[pa.Table], list[bytes | None]]

_OP = "_op"


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How rows are written. `keyed`: rows replace each other by their key."""

    key: Encode | None
    value: Encode
    keyed: bool

    def messages(self, rows: pa.Table) -> list[Message]:
        keys = [None] * rows.num_rows if self.key is None else self.key(rows)
        if not self.keyed:
            return list(zip(keys, self.value(rows), strict=True))
        values = self.value(rows.drop_columns([_OP]))
        operations = rows.column(_OP).to_pylist()
        return [
            (key, None if operation == "-D" else value)
            for key, value, operation in zip(keys, values, operations, strict=True)
            if operation != "-U"
        ]


def encoding_of(settings: Settings, schema: Schema, kind: StreamKind, *, sink: str) -> Encoding:
    """What the options say, checked against the columns."""
    names = [
        name.strip() for name in (settings.text("key.fields") or "").replace(";", ",").split(",")
    ]
    fields = [_column(settings, schema, name) for name in names if name]
    if kind is StreamKind.UPSERT and not fields:
        example = schema.names[0]
        raise errors.key_needed(name=sink, kind=kind, example=example)
    keyed = bool(fields) and kind is not StreamKind.APPEND
    format = settings.text("format") or "json"
    whole = kind is not StreamKind.APPEND and not keyed
    if format == "raw" and (whole or not _is_text(schema)):
        problem = "a raw value is one column, VARCHAR or BINARY, of rows that are only added"
        raise settings.refusal("format", problem)
    key = None
    if fields:
        raw = settings.text("key.format") == "raw"
        if raw and len(fields) > 1:
            raise settings.refusal("key.format", "a raw key is one column")
        key = _of(_raw if raw else _json, fields)
    values = {"json": _json, "csv": _csv, "raw": _raw}
    return Encoding(key=key, value=values[format], keyed=keyed)


def _column(settings: Settings, schema: Schema, name: str) -> str:
    column = schema.find(name)
    if column is None:
        hint = errors.nearest(name, schema.names, otherwise=f"there are {', '.join(schema.names)}")
        raise settings.refusal("key.fields", f"there is no column {name}; {hint}")
    return column.name


def _is_text(schema: Schema) -> bool:
    return [column.type for column in schema] in ([Scalar.VARCHAR], [Scalar.BINARY])


def _of(encode: Encode, names: Sequence[str]) -> Encode:
    return lambda rows: encode(rows.select(list(names)))


def _json(rows: pa.Table) -> list[bytes | None]:
    """JSON texts have no line breaks."""
    file = io.BytesIO()
    write_json(rows, file)
    return [*file.getvalue().split(b"\n")[:-1]]


def _csv(rows: pa.Table) -> list[bytes | None]:
    """Without a head. Texts may have line breaks: then rows are written one by one."""
    lines = _csv_lines(rows)
    if len(lines) == rows.num_rows:
        return [*lines]
    return [b"\n".join(_csv_lines(rows.slice(place, 1))) for place in range(rows.num_rows)]


def _csv_lines(rows: pa.Table) -> list[bytes]:
    file = io.BytesIO()
    write_csv(rows, file, header=False)
    return file.getvalue().split(b"\n")[:-1]


def _raw(rows: pa.Table) -> list[bytes | None]:
    """The text of one column; NULL is no content."""
    column = rows.column(0)
    if pa.types.is_binary(column.type) or pa.types.is_string(column.type):
        return list(column.cast(pa.binary()).to_pylist())
    encode = encoder(column.type)
    return [
        None if value is None else encode(value).strip('"').encode() for value in column.to_pylist()
    ]
