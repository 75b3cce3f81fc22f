"""Columns as files have them, turned into the kernel's Arrow types; values that do not fit are found out.

Decided here: a column is converted as a whole. Only where that fails is it halved, and halved again, until the values
that do not fit stand alone: they cost a few conversions each, and nothing costs a loop over all rows. A row with such
a value is no row.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.connectors.files import instants
from tidegate.connectors.files.values import value_of
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Column
from tidegate.model.types import DataType, Decimal, Scalar, is_comparable

Convert: TypeAlias = Callable[[pa.Array], pa.Array]

NO_FIT = (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, OverflowError)


@dataclass(slots=True)
class Conformed:
    """Columns so far, and what is wrong with some of the rows: the first complaint about each."""

    columns: dict[str, pa.Array] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)

    def add(self, column: Column, array: pa.Array, convert: Convert) -> None:
        converted, wrong = salvage(array, convert, arrow_type(column.type))
        self.columns[column.name] = converted
        for place in wrong:
            shown = _shown(array[place])
            self.wrong.setdefault(place, f"{column.name}: {shown} is no {column.type}")

    def table(self) -> pa.Table:
        """The rows with which nothing is wrong."""
        table = pa.table(self.columns)
        if not self.wrong:
            return table
        keep = np.ones(table.num_rows, bool)
        keep[list(self.wrong)] = False
        return table.filter(pa.array(keep))


def _shown(value: pa.Scalar) -> str:
    try:
        plain = value.as_py()
        text = plain.decode("utf-8", "backslashreplace") if isinstance(plain, bytes) else plain
        return repr(text)[:100]
    except (ValueError, OverflowError):  # an instant that Python has no name for
        return str(value)[:100]


def salvage(array: pa.Array, convert: Convert, kind: pa.DataType) -> tuple[pa.Array, Sequence[int]]:
    """The array converted, with NULL at the places that cannot be, and those places.

    >>> from_text = lambda texts: texts.cast(pa.int64())
    >>> converted, wrong = salvage(pa.array(["1", "x", None, "4"]), from_text, pa.int64())
    >>> converted.to_pylist(), wrong
    ([1, None, None, 4], [1])
    """
    pieces: list[pa.Array] = []
    wrong: list[int] = []
    pending = [(0, len(array))]
    while pending:
        start, length = pending.pop()
        try:
            pieces.append(convert(array.slice(start, length)))
        except NO_FIT:
            if length == 1:
                wrong.append(start)
                pieces.append(pa.nulls(1, kind))
            else:
                half = length // 2
                pending += [(start + half, length - half), (start, half)]
    return (pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)), wrong


def text_converter(kind: DataType) -> Convert:
    """For fields of CSV: an empty one is NULL, unless it is a quoted VARCHAR. Nested values are JSON."""
    if kind is Scalar.VARCHAR:
        return lambda texts: texts.cast(pa.string())
    if kind is Scalar.TIMESTAMP:
        return lambda texts: instants.from_texts(_trimmed(texts), digits=True)
    if kind is Scalar.BINARY or not is_comparable(kind):
        return lambda texts: _one_by_one(_trimmed(texts), kind)
    if kind is Scalar.DATE:
        return lambda texts: _dates(_trimmed(texts))
    wanted = arrow_type(kind)
    return lambda texts: _trimmed(texts).cast(wanted)


def _trimmed(texts: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _one_by_one(texts: pa.Array, kind: DataType) -> pa.Array:
    nested = not is_comparable(kind)
    values = [
        None if text is None else value_of(json.loads(text) if nested else text, kind)
        for text in texts.to_pylist()
    ]
    return pa.array(values, arrow_type(kind))


def _dates(texts: pa.Array) -> pa.Array:
    dates = texts.cast(pa.date32())
    instants.within_range(dates.cast(pa.timestamp("us")).cast(instants.INSTANT))
    return dates


def json_converter(kind: DataType) -> Convert | None:
    """For columns that Arrow's JSON reader gives in another type; None where it gives the kernel's itself."""
    match kind:
        case Scalar.TIMESTAMP:
            return _json_instants
        case Scalar.DATE:
            return _dates
        case Scalar.BINARY:
            return lambda texts: _one_by_one(texts, kind)
        case Decimal():
            return lambda decimals: decimals.cast(arrow_type(kind))
        case _:
            return None


def _json_instants(array: pa.Array) -> pa.Array:
    if pa.types.is_integer(array.type):
        return instants.from_milliseconds(array)
    return instants.from_texts(array, digits=False)


def arrow_converter(source: pa.DataType, kind: DataType) -> Convert:
    """For columns that have an Arrow type already. Raises if no value of the one type can be one of the other."""
    if pa.types.is_dictionary(source):
        inner = arrow_converter(source.value_type, kind)
        return lambda array: inner(array.dictionary_decode())
    wanted = arrow_type(kind)
    if kind is Scalar.TIMESTAMP:
        return _to_instants(source)
    if kind is Scalar.DATE and not pa.types.is_date32(source):
        convert = arrow_converter(source, Scalar.TIMESTAMP)
        return lambda array: convert(array).cast(pa.timestamp("us")).cast(wanted)
    pa.nulls(0, source).cast(wanted)
    return lambda array: array if array.type == wanted else array.cast(wanted)


def _to_instants(source: pa.DataType) -> Convert:
    if pa.types.is_integer(source):
        return lambda array: instants.from_milliseconds(array.cast(pa.int64()))
    if pa.types.is_timestamp(source):
        return instants.from_timestamps
    if pa.types.is_date(source):
        return lambda array: instants.from_timestamps(array.cast(pa.timestamp("us")))
    pa.nulls(0, source).cast(pa.string())
    return lambda array: instants.from_texts(array.cast(pa.string()), digits=False)
