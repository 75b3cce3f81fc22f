"""The types of Tidegate SQL, and the arithmetic on types that binding needs.

One closed union; a type prints as its SQL name. TIMESTAMP is an instant in microseconds, UTC. INTERVAL has a fixed
length in microseconds and exists inside expressions only. NULL is the type of a bare NULL, and turns into any other.
"""

from dataclasses import dataclass
from enum import StrEnum


class Scalar(StrEnum):
    """Types without parameters. The order of the numeric ones is the order of widening."""

    NULL = "NULL"
    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    REAL = "REAL"
    DOUBLE = "DOUBLE"
    VARCHAR = "VARCHAR"
    BINARY = "BINARY"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    INTERVAL = "INTERVAL"


@dataclass(frozen=True, slots=True)
class Decimal:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    element: "DataType"

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: "DataType"
    value: "DataType"

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: "tuple[tuple[str, DataType], ...]"

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(f'{name} {kind}' for name, kind in self.fields)}>"

    def field(self, name: str) -> "tuple[str, DataType] | None":
        exact = [field for field in self.fields if field[0] == name]
        loose = [field for field in self.fields if field[0].lower() == name.lower()]
        found = exact or loose
        return found[0] if len(found) == 1 else None


DataType = Scalar | Decimal | Array | Map | Struct

MAX_PRECISION = 38
INTEGER_DIGITS = {Scalar.TINYINT: 3, Scalar.SMALLINT: 5, Scalar.INTEGER: 10, Scalar.BIGINT: 19}
INTEGER_BITS = {Scalar.TINYINT: 8, Scalar.SMALLINT: 16, Scalar.INTEGER: 32, Scalar.BIGINT: 64}
FLOATS = (Scalar.REAL, Scalar.DOUBLE)
_WIDENING = (*INTEGER_DIGITS, *FLOATS)


def is_integer(kind: DataType) -> bool:
    return isinstance(kind, Scalar) and kind in INTEGER_DIGITS


def is_float(kind: DataType) -> bool:
    return isinstance(kind, Scalar) and kind in FLOATS


def is_numeric(kind: DataType) -> bool:
    return is_integer(kind) or is_float(kind) or isinstance(kind, Decimal)


def is_comparable(kind: DataType) -> bool:
    """Whether values of the type can be ordered, grouped and compared for equality (on both engines)."""
    return not isinstance(kind, (Array, Map, Struct))


def as_decimal(kind: DataType) -> Decimal:
    """The smallest DECIMAL that holds every value of an integer or decimal type."""
    if isinstance(kind, Decimal):
        return kind
    assert isinstance(kind, Scalar)
    return Decimal(INTEGER_DIGITS[kind], 0)


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type that both sides turn into without loss of meaning, or None when there is none.

    >>> print(common_type(Scalar.INTEGER, Decimal(4, 2)), common_type(Scalar.DATE, Scalar.TIMESTAMP))
    DECIMAL(12, 2) TIMESTAMP
    >>> common_type(Scalar.VARCHAR, Scalar.BIGINT) is None
    True
    """
    if left == right:
        return left
    if left is Scalar.NULL:
        return right
    if right is Scalar.NULL:
        return left
    if is_numeric(left) and is_numeric(right):
        return _common_number(left, right)
    if {left, right} == {Scalar.DATE, Scalar.TIMESTAMP}:
        return Scalar.TIMESTAMP
    return _common_nested(left, right)


def _common_number(left: DataType, right: DataType) -> DataType:
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        widest = max(left, right, key=_WIDENING.index)
        exact = is_integer(left) == is_integer(right)
        return widest if exact else Scalar.DOUBLE  # REAL has too few digits for integers
    if is_float(left) or is_float(right):
        return Scalar.DOUBLE
    one, other = as_decimal(left), as_decimal(right)
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    return Decimal(whole + scale, scale) if whole + scale <= MAX_PRECISION else Scalar.DOUBLE


def _common_nested(left: DataType, right: DataType) -> DataType | None:
    match left, right:
        case Array(one), Array(other) if Scalar.NULL in (one, other) or (
            is_numeric(one) and is_numeric(other)
        ):
            element = common_type(one, other)
            return None if element is None else Array(element)
        case _:
            return None  # no other pair can be converted on both engines
