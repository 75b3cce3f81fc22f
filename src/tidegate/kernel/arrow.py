"""Arrow arrays at the seam, numpy arrays behind it.

Decided here: which Arrow type a SQL type has in the kernel, whatever the engine delivered (DataFusion gives minima of
REAL as doubles, strings as views), and how a fixed-width array is looked at as numpy without a copy. If an operator
looked at buffers itself, one of them would forget offsets of sliced arrays or bits of NULLs.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct

Numbers: TypeAlias = NDArray[Any]
Mask: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]

_ARROW: dict[Scalar, pa.DataType] = {
    Scalar.NULL: pa.null(),
    Scalar.BOOLEAN: pa.bool_(),
    Scalar.TINYINT: pa.int8(),
    Scalar.SMALLINT: pa.int16(),
    Scalar.INTEGER: pa.int32(),
    Scalar.BIGINT: pa.int64(),
    Scalar.REAL: pa.float32(),
    Scalar.DOUBLE: pa.float64(),
    Scalar.VARCHAR: pa.string(),
    Scalar.BINARY: pa.binary(),
    Scalar.DATE: pa.date32(),
    Scalar.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    Scalar.INTERVAL: pa.int64(),
}
_NUMPY: dict[pa.DataType, str] = {
    pa.bool_(): "?",
    pa.int8(): "i1",
    pa.int16(): "i2",
    pa.int32(): "i4",
    pa.int64(): "i8",
    pa.float32(): "f4",
    pa.float64(): "f8",
    pa.date32(): "i4",
    pa.timestamp("us", tz="UTC"): "i8",
}


def arrow_type(kind: DataType) -> pa.DataType:
    """The one Arrow type that values of a SQL type have here.

    >>> print(arrow_type(Array(Decimal(12, 2))))
    list<item: decimal128(12, 2)>
    """
    match kind:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([(name, arrow_type(part)) for name, part in fields])
        case _:
            return _ARROW[kind]


def numpy_type(kind: DataType) -> str:
    return _NUMPY[arrow_type(kind)]


def is_dense(kind: DataType) -> bool:
    """Whether a value of the type is one number of numpy's."""
    return arrow_type(kind) in _NUMPY


def has_numbers(array: pa.Array) -> bool:
    """Whether `numbers` can look at it."""
    return array.type in _NUMPY


def conform(array: Any, kind: DataType) -> pa.Array:
    """The array in the type that its values have here, in one piece."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    wanted = arrow_type(kind)
    return array if array.type == wanted else array.cast(wanted)


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers, and which of them are there (None: all). What stands in the place of a missing one is undefined."""

    values: Numbers
    valid: Mask | None = None

    def filled(self, identity: Any) -> Numbers:
        if self.valid is None:
            return self.values
        return np.where(self.valid, self.values, self.values.dtype.type(identity))


def bits(buffer: Any, offset: int, length: int) -> Mask:
    packed = np.frombuffer(buffer, np.uint8)[offset >> 3 : (offset + length + 7) >> 3]
    unpacked = np.unpackbits(packed, bitorder="little")
    return unpacked[offset & 7 : (offset & 7) + length].view(np.bool_)


def validity(array: pa.Array) -> Mask | None:
    """Which values are not NULL; None where all are."""
    if array.null_count == 0:
        return None
    if array.type == pa.null():
        return np.zeros(len(array), bool)
    return bits(array.buffers()[0], array.offset, len(array))


def numbers(array: pa.Array) -> Column:
    """A fixed-width array as numpy, without a copy of its values (booleans are unpacked)."""
    dtype, length, offset = _NUMPY[array.type], len(array), array.offset
    data = array.buffers()[1]
    if data is None or length == 0:
        return Column(np.zeros(length, dtype), validity(array))
    if dtype == "?":
        return Column(bits(data, offset, length), validity(array))
    values = np.frombuffer(data, dtype, count=offset + length)[offset:]
    return Column(values, validity(array))


def lanes_of(array: pa.Array) -> tuple[Words, Integers]:
    """The low and high halves of decimals, as strided views."""
    words = np.frombuffer(array.buffers()[1], np.uint64, count=2 * (array.offset + len(array)))
    words = words[2 * array.offset :]
    return words[0::2], words[1::2].view(np.int64)


def packed(valid: Mask | None) -> Any:
    """As bits; None where all are there."""
    if valid is None or valid.all():
        return None
    return bitmap(valid)


def bitmap(flags: Mask) -> Any:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def array_of(values: Numbers, valid: Mask | None, kind: pa.DataType) -> pa.Array:
    """An Arrow array over the numbers (not copied, so they must not change afterwards)."""
    there = packed(valid)
    if kind == pa.bool_():
        return pa.Array.from_buffers(kind, len(values), [there, bitmap(values.astype(bool))])
    values = np.ascontiguousarray(values, _NUMPY[kind])
    return pa.Array.from_buffers(kind, len(values), [there, pa.py_buffer(values)])


def decimals_of(low: Words, high: Integers, valid: Mask | None, kind: pa.DataType) -> pa.Array:
    words = np.empty((len(low), 2), np.uint64)
    words[:, 0] = low
    words[:, 1] = high.view(np.uint64)
    return pa.Array.from_buffers(kind, len(low), [packed(valid), pa.py_buffer(words)])
