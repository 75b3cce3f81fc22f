"""Rows written as JSON lines or CSV, so that our own sources read the same rows back.

Decided here: a TIMESTAMP is RFC 3339 in UTC, with microseconds only where there are any; a DATE is ISO 8601; BINARY is
base64; a DECIMAL keeps its digits; a double that is no number is "NaN", "Inf" or "-Inf". In JSON a NULL is written
out, so that every line has every column. In CSV a NULL is an empty field and an empty text is a quoted one; nested
values are JSON.
"""

import json
import math
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa
from pyarrow import csv as arrow_csv

from tidegate.model.time import EPOCH, format_instant

Encode: TypeAlias = Callable[[Any], str]

_ROWS = 65_536
_MICROSECOND = timedelta(microseconds=1)


def write_json(rows: pa.Table, file: BinaryIO) -> None:
    """A line per row."""
    encoders = [encoder(field.type) for field in rows.schema]
    heads = [f"{json.dumps(name, ensure_ascii=False)}:" for name in rows.column_names]
    for batch in rows.to_batches(max_chunksize=_ROWS):
        columns = [
            [head + encode(value) for value in _values(array)]
            for head, encode, array in zip(heads, encoders, batch.columns, strict=True)
        ]
        lines = ["{" + ",".join(cells) + "}\n" for cells in zip(*columns, strict=True)]
        file.write("".join(lines).encode())


def _values(array: pa.Array) -> list[Any]:
    """Instants as numbers, which is faster; nested ones are Python's."""
    plain = array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array
    values: list[Any] = plain.to_pylist()
    return values


def encoder(kind: pa.DataType) -> Encode:
    """How values of the type are written in JSON.

    >>> encoder(pa.list_(pa.float64()))([1.5, None, math.nan])
    '[1.5,null,"NaN"]'
    """
    inner = _encoder(kind)
    return lambda value: "null" if value is None else inner(value)


def _encoder(kind: pa.DataType) -> Encode:
    if pa.types.is_list(kind):
        item = encoder(kind.value_type)
        return lambda values: f"[{','.join(map(item, values))}]"
    if pa.types.is_struct(kind):
        fields = [(f"{json.dumps(field.name)}:", field.name, encoder(field.type)) for field in kind]
        return lambda row: (
            "{" + ",".join(head + encode(row[name]) for head, name, encode in fields) + "}"
        )
    if pa.types.is_map(kind):
        key, item = _encoder(kind.key_type), encoder(kind.item_type)
        return lambda pairs: (
            "{" + ",".join(f"{_quoted(key(name))}:{item(value)}" for name, value in pairs) + "}"
        )
    return _leaf(kind)


def _quoted(text: str) -> str:
    """Keys of JSON are texts."""
    return text if text.startswith('"') else f'"{text}"'


def _leaf(kind: pa.DataType) -> Encode:
    if pa.types.is_boolean(kind):
        return lambda value: "true" if value else "false"
    if pa.types.is_timestamp(kind):
        return _instant
    if pa.types.is_date(kind):
        return lambda value: f'"{value.isoformat()}"'
    if pa.types.is_floating(kind):
        return _number
    if pa.types.is_decimal(kind):
        return lambda value: format(value, "f")
    if pa.types.is_binary(kind):
        return lambda value: f'"{b64encode(value).decode("ascii")}"'
    if pa.types.is_string(kind):
        return _text
    return str


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else '"Inf"' if value > 0 else '"-Inf"'


def _instant(value: Any) -> str:
    instant_us = value if isinstance(value, int) else (value - EPOCH) // _MICROSECOND
    return f'"{format_instant(instant_us)}"'


def write_csv(rows: pa.Table, file: BinaryIO, *, header: bool = True) -> None:
    """A line with the names, and a line per row."""
    arrays = [_csv_column(rows.column(place)) for place in range(rows.num_columns)]
    options = arrow_csv.WriteOptions(include_header=header)
    arrow_csv.write_csv(pa.Table.from_arrays(arrays, names=rows.column_names), file, options)


def _csv_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return column
    encode = _encoder(kind)
    nested = pa.types.is_nested(kind)
    texts = [
        None if value is None else encode(value) if nested else encode(value).strip('"')
        for chunk in column.chunks
        for value in _values(chunk)
    ]
    return pa.chunked_array([pa.array(texts, pa.string())])
