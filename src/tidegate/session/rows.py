"""Rows that a program hands over, as the columns of a source.

In: an Arrow table, batch or reader, a frame of pandas or Polars, a dict of columns, or dicts. Out: a batch in the
kernel's types. Decided here: all rows or none. A column that the source does not have is refused, and so is a value
that is none of its column, naming the row; a column that is left out is NULL. Instants are datetimes (without a zone:
UTC), ISO 8601 texts, or milliseconds since the epoch, as in scenario files.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as Number
from typing import Any, TypeAlias

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.conform import NO_FIT, Conformed, arrow_converter
from tidegate.engines.values import array_of_values
from tidegate.model.schema import Column, Schema
from tidegate.model.time import (
    DAY,
    EPOCH,
    MAX_EVENT_TIME_US,
    MILLISECOND,
    MIN_EVENT_TIME_US,
    parse_instant,
)
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct

Given: TypeAlias = Any
"""What has an Arrow stream, or rows as dicts; frames of libraries that need not be installed cannot be named."""

_MICROSECOND = timedelta(microseconds=1)


def batch_from(rows: Given, schema: Schema, *, source: str) -> pa.RecordBatch:
    """The rows with the columns of the schema."""
    if isinstance(rows, Mapping) or hasattr(rows, "__arrow_c_stream__") or _is_arrow(rows):
        return _from_table(_table_of(rows, source), schema, source)
    if type(rows).__module__.startswith("pandas"):
        return _from_table(pa.Table.from_pandas(rows, preserve_index=False), schema, source)
    if isinstance(rows, Iterable) and not isinstance(rows, (str, bytes)):
        return _from_dicts(list(rows), schema, source)
    raise _refused(source, f"{type(rows).__name__} holds no rows")


def _table_of(rows: Given, source: str) -> pa.Table:
    """A dict may hold columns that are no columns, or not equally long ones."""
    try:
        return pa.table(rows)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise _refused(source, str(problem)) from None


def _is_arrow(rows: Given) -> bool:
    return isinstance(rows, (pa.Table, pa.RecordBatch, pa.RecordBatchReader))


def _refused(source: str, problem: str, hint: str = "") -> errors.TidegateError:
    return errors.bad_rows(source=source, problem=problem, hint=hint)


def _refuse_unknown(names: Iterable[str], schema: Schema, source: str) -> None:
    for name in names:
        if schema.find(name) is None:
            otherwise = f"columns are {', '.join(schema.names)}"
            hint = errors.nearest(name, schema.names, otherwise=otherwise)
            raise _refused(source, f"there is no column {name}", hint)


# Columns


def _from_table(table: pa.Table, schema: Schema, source: str) -> pa.RecordBatch:
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    _refuse_unknown(names, schema, source)
    places = {name.lower(): table.column_names.index(name) for name in names}
    conformed = Conformed()
    for column in schema:
        place = places.get(column.name.lower())
        array = pa.nulls(table.num_rows) if place is None else _one_chunk(table.column(place))
        try:
            conformed.add(column, array, arrow_converter(array.type, column.type))
        except pa.ArrowException:
            problem = f"column {column.name} is {array.type}, and declared {column.type}"
            raise _refused(source, problem) from None
    if conformed.wrong:
        place = min(conformed.wrong)
        raise _refused(source, f"row {place + 1}: {conformed.wrong[place]}")
    return pa.RecordBatch.from_arrays([*conformed.columns.values()], names=[*schema.names])


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    array = joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
    if pa.types.is_dictionary(array.type) and pa.types.is_string_view(array.type.value_type):
        return array.dictionary.cast(pa.string()).take(array.indices)  # Arrow cannot decode these
    return array


# Dicts


def _from_dicts(rows: Sequence[Any], schema: Schema, source: str) -> pa.RecordBatch:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise _refused(source, f"row {number} is no dict, but {type(row).__name__}")
        _refuse_unknown(row, schema, source)
    lowered = [{str(name).lower(): value for name, value in row.items()} for row in rows]
    arrays = [
        _column([row.get(column.name.lower()) for row in lowered], column, source)
        for column in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[*schema.names])


def _column(values: Sequence[Any], column: Column, source: str) -> pa.Array:
    try:
        return array_of_values([_plain(value, column.type) for value in values], column.type)
    except NO_FIT:
        for number, value in enumerate(values, 1):
            _refuse_misfit(value, column, f"row {number}", source)
        raise


def _refuse_misfit(value: Any, column: Column, row: str, source: str) -> None:
    try:
        array_of_values([_plain(value, column.type)], column.type)
    except NO_FIT:
        problem = f"{row}: {column.name}: {value!r} is no {column.type}"
        raise _refused(source, problem) from None


def _plain(value: Any, kind: DataType) -> Any:
    """A value as `engines/values.py` has it: instants and days are numbers. Raises one of `NO_FIT`."""
    if value is None:
        return None
    match kind:
        case Scalar.TIMESTAMP:
            return instant_us(value)
        case Scalar.DATE:
            return instant_us(value) // DAY
        case Decimal():
            return Number(str(value)) if not isinstance(value, bool) else value
        case Array(element):
            return [_plain(item, element) for item in value]
        case Map(key, item_kind):
            pairs = value.items() if isinstance(value, Mapping) else value
            return [(_plain(k, key), _plain(v, item_kind)) for k, v in pairs]
        case Struct(fields):
            return {name: _plain(value.get(name), part) for name, part in fields}
        case _:
            return value


def instant_given(value: Any) -> int:
    """What a caller gave as an instant; refused if it is none, or none that a row could have.

    >>> instant_given("1970-01-01T00:00:02Z")
    2000000
    """
    try:
        at_us = instant_us(value)
    except (ValueError, OverflowError):
        raise errors.bad_instant(value=repr(value)) from None
    if not MIN_EVENT_TIME_US <= at_us <= MAX_EVENT_TIME_US:
        raise errors.bad_instant(value=repr(value))
    return at_us


def instant_us(value: Any) -> int:
    """Microseconds of a datetime, a date, ISO 8601, or milliseconds; ValueError if it is none of them.

    >>> instant_us(2_000), instant_us("1970-01-01T00:00:02Z"), instant_us(datetime(1970, 1, 1, 0, 0, 2))
    (2000000, 2000000, 2000000)
    """
    match value:
        case datetime():
            at = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (at - EPOCH) // _MICROSECOND
        case date():
            return (
                datetime(value.year, value.month, value.day, tzinfo=UTC) - EPOCH
            ) // _MICROSECOND
        case bool():
            raise ValueError(value)
        case int():
            return value * MILLISECOND
        case str():
            return parse_instant(value)
        case _:
            raise ValueError(value)
