"""Rows as Python dicts, and back: the slow way in and out, for tests, scenarios and small inserts.

Values are plain: instants in µs and days since the epoch as integers (Python's dates are narrower than ours), MAP as
pairs, STRUCT as dicts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Schema
from tidegate.model.types import DataType


def batch_of(rows: Sequence[Mapping[str, Any]], schema: Schema) -> pa.RecordBatch:
    """The rows as the columns of the schema; a column that is left out is NULL."""
    arrays = [
        array_of_values([row.get(column.name) for row in rows], column.type) for column in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(schema.names))


def array_of_values(values: Sequence[Any], kind: DataType) -> pa.Array:
    """Plain values in the kernel's type."""
    wanted = arrow_type(kind)
    raw = _raw(wanted)
    array = pa.array(values, raw)
    return array if raw == wanted else array.cast(wanted)


def _raw(kind: pa.DataType) -> pa.DataType:
    """The type with integers for instants and days."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_date32(kind):
        return pa.int32()
    if pa.types.is_list(kind):
        return pa.list_(_raw(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_raw(kind.key_type), _raw(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _raw(field.type)) for field in kind])
    return kind


def rows_of(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows as dicts of plain values."""
    columns = {
        name: column.cast(_raw(column.type)).to_pylist()
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    names = list(columns)
    if not names:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
