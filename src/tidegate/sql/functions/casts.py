"""Conversions: which exist, and how each is written such that both engines agree and none raises.

A value that does not convert gives NULL; under CAST such a row is diverted as `invalid_cast`, under TRY_CAST it
stays. Decided here: fractions are cut off on the way to an integer, and rounded half away from zero on the way to a
DECIMAL; TIMESTAMP to DATE is the day that the instant lies in, also before 1970; text is read by strict patterns
(`readers`) and never by an engine's own taste. DOUBLE to VARCHAR does not exist, because engines print different
digits.
"""

from collections.abc import Callable

from tidegate.model.types import (
    INTEGER_BITS,
    INTEGER_DIGITS,
    Array,
    DataType,
    Decimal,
    Scalar,
    Struct,
    as_decimal,
    is_float,
    is_integer,
    is_numeric,
)
from tidegate.sql.functions import decimals, readers
from tidegate.sql.functions.signature import Engine, Template
from tidegate.sql.functions.spelling import day, instant, type_name

Writer = Callable[[str, DataType, DataType, Engine], str]


def cast_template(source: DataType, target: DataType, engine: Engine) -> Template:
    """Text of the conversion; `can_cast` holds for the pair."""
    if source == target:
        return "{0}"
    writer = _writer(source, target)
    assert writer is not None, (source, target)
    return lambda args, _types, _result: writer(args[0], source, target, engine)


def can_cast(source: DataType, target: DataType) -> bool:
    """Whether CAST between the types has a meaning (on both engines the same one).

    >>> can_cast(Scalar.VARCHAR, Scalar.TIMESTAMP), can_cast(Scalar.BIGINT, Scalar.TIMESTAMP)
    (True, False)
    """
    return source == target or _writer(source, target) is not None


def may_fail(source: DataType, target: DataType) -> bool:
    """Whether some value of the source type has no counterpart in the target type.

    >>> may_fail(Scalar.INTEGER, Scalar.BIGINT), may_fail(Scalar.BIGINT, Scalar.INTEGER)
    (False, True)
    """
    if source == target or source is Scalar.NULL:
        return False
    if is_numeric(source) and is_numeric(target):
        return not _holds(source, target)
    if source is Scalar.VARCHAR:
        return target is not Scalar.BINARY
    return source is Scalar.BINARY


def _holds(source: DataType, target: DataType) -> bool:
    """Whether every number of one type has a place in the other, be it rounded."""
    if is_float(target):
        return True
    if is_float(source):
        return False
    one, other = as_decimal(source), as_decimal(target)
    if isinstance(source, Scalar) and isinstance(target, Scalar):
        return INTEGER_BITS[source] <= INTEGER_BITS[target]
    spare = (other.precision - other.scale) - (one.precision - one.scale)
    if is_integer(target):
        return spare > 0  # 10 digits do not all fit the ten-digit INTEGER
    return spare > 0 or (spare == 0 and other.scale >= one.scale)


def _writer(source: DataType, target: DataType) -> Writer | None:
    if source is Scalar.NULL:
        return _cast
    if is_numeric(source) and is_numeric(target):
        return _number_writer(source, target)
    if isinstance(source, Scalar) and isinstance(target, Scalar):
        return _SCALARS.get((source, target))
    if source is Scalar.VARCHAR and isinstance(target, Decimal):
        return readers.number
    if isinstance(source, Decimal) and target is Scalar.VARCHAR:
        return decimals.to_text
    return _cast if _widens(source, target) else None


def _number_writer(source: DataType, target: DataType) -> Writer:
    if isinstance(target, Decimal):
        return decimals.from_double if is_float(source) else _try_cast
    if is_float(target):
        return decimals.to_double if isinstance(source, Decimal) else _cast
    if isinstance(source, Decimal):
        return decimals.to_integer
    if is_float(source):
        return _truncate
    return _cast if _holds(source, target) else _try_cast


def _cast(sql: str, _source: DataType, target: DataType, engine: Engine) -> str:
    return f"CAST({sql} AS {type_name(target, engine)})"


def _try_cast(sql: str, _source: DataType, target: DataType, engine: Engine) -> str:
    return f"TRY_CAST({sql} AS {type_name(target, engine)})"


def _truncate(sql: str, source: DataType, target: DataType, engine: Engine) -> str:
    """Spark takes 2^63, the DOUBLE next to the largest BIGINT, for that BIGINT."""
    if engine is Engine.SPARK:
        sql = f"NULLIF(CAST({sql} AS DOUBLE), 9.223372036854775808e18)"
    return _try_cast(sql, source, target, engine)


def _date_to_timestamp(sql: str, source: DataType, target: DataType, engine: Engine) -> str:
    if engine is Engine.SPARK:
        return f"timestamp_micros(try_multiply(CAST(unix_date({sql}) AS BIGINT), 86400000000L))"
    return _try_cast(sql, source, target, engine)


def _timestamp_to_date(sql: str, source: DataType, target: DataType, engine: Engine) -> str:
    return _cast(instant(sql, engine), source, target, engine)


def _date_to_text(sql: str, source: DataType, target: DataType, engine: Engine) -> str:
    return _cast(day(sql, engine), source, target, engine)


def _timestamp_to_text(sql: str, _source: DataType, _target: DataType, engine: Engine) -> str:
    sql = instant(sql, engine)
    if engine is Engine.SPARK:
        return f"date_format({sql}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    return f"to_char({sql}, '%Y-%m-%d %H:%M:%S%.6f')"


def _binary_to_text(sql: str, source: DataType, target: DataType, engine: Engine) -> str:
    if engine is Engine.SPARK:
        return f"try_validate_utf8(CAST({sql} AS STRING))"
    return _try_cast(sql, source, target, engine)


def _widens(source: DataType, target: DataType) -> bool:
    """Nested values convert as a whole, where no part can fail and engines agree; DataFusion casts no MAP."""
    match source, target:
        case Array(one), Array(other):
            return _widens(one, other)
        case Struct(fields), Struct(others):
            names = [name for name, _ in fields] == [name for name, _ in others]
            parts = zip(fields, others, strict=False)
            return names and all(_widens(one[1], other[1]) for one, other in parts)
        case Scalar(), Scalar():
            integers = is_integer(source) and is_numeric(target) and _holds(source, target)
            reals = source is Scalar.REAL and target is Scalar.DOUBLE
            return source is target or source is Scalar.NULL or integers or reals
        case ((Scalar() | Decimal()), Decimal()):
            exact = is_integer(source) or isinstance(source, Decimal)
            return source is Scalar.NULL or (exact and _holds(source, target))
        case _:
            return source == target or source is Scalar.NULL


_INTEGERS = tuple(INTEGER_DIGITS)
_SCALARS: dict[tuple[Scalar, Scalar], Writer] = {
    **{(kind, Scalar.BOOLEAN): _cast for kind in _INTEGERS},
    **{(Scalar.BOOLEAN, kind): _cast for kind in (*_INTEGERS, Scalar.VARCHAR)},
    **{(kind, Scalar.VARCHAR): _cast for kind in _INTEGERS},
    **{(Scalar.VARCHAR, kind): readers.number for kind in (*_INTEGERS, Scalar.REAL, Scalar.DOUBLE)},
    (Scalar.VARCHAR, Scalar.BOOLEAN): readers.boolean,
    (Scalar.VARCHAR, Scalar.DATE): readers.date,
    (Scalar.VARCHAR, Scalar.TIMESTAMP): readers.timestamp,
    (Scalar.VARCHAR, Scalar.BINARY): _cast,
    (Scalar.BINARY, Scalar.VARCHAR): _binary_to_text,
    (Scalar.DATE, Scalar.VARCHAR): _date_to_text,
    (Scalar.DATE, Scalar.TIMESTAMP): _date_to_timestamp,
    (Scalar.TIMESTAMP, Scalar.DATE): _timestamp_to_date,
    (Scalar.TIMESTAMP, Scalar.VARCHAR): _timestamp_to_text,
}
