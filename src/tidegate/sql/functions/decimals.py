"""DECIMAL from and to DOUBLE and text.

A DOUBLE becomes a DECIMAL by multiplying it with the power of ten of the scale and rounding the product, half away
from zero. That is IEEE arithmetic, so it is the same everywhere; converting the shortest digits instead (as Spark
does on its own) would depend on the version of Java.
"""

from collections.abc import Sequence

from tidegate.model.types import DataType, Decimal, Scalar
from tidegate.sql.functions.signature import Engine
from tidegate.sql.functions.spelling import type_name

_EXACT_DIGITS = 15  # integers up to here, and powers of ten up to _EXACT_POWER, are exact as DOUBLE
_EXACT_POWER = 22
_SMALL_DIGITS = 18
_SIGN_DIGITS = 34


def from_double(sql: str, _source: DataType, target: DataType, engine: Engine) -> str:
    assert isinstance(target, Decimal)
    if engine is Engine.DATAFUSION:
        return _from_double_datafusion(sql, target)
    scaled = f"round(CAST({sql} AS DOUBLE) * 1e{target.scale}D)"
    if target.precision <= _SMALL_DIGITS:
        return _from_small(scaled, target)
    return f"TRY_CAST(CONCAT({_from_large(scaled)}, 'E-{target.scale}') AS {target})"


def _from_double_datafusion(sql: str, target: Decimal) -> str:
    if target.scale <= _EXACT_POWER:
        return f"TRY_CAST(CAST({sql} AS DOUBLE) AS {target})"
    unscaled = f"TRY_CAST(round(CAST({sql} AS DOUBLE) * 1e{target.scale}) AS DECIMAL(38, 0))"
    return f"TRY_CAST({unscaled} * {_unit(target.scale)} AS {target})"


def _from_small(scaled: str, target: Decimal) -> str:
    unscaled = f"TRY_CAST({scaled} AS BIGINT)"
    if target.scale == 0:
        return f"TRY_CAST({unscaled} AS {target})"
    return f"TRY_CAST(CAST({unscaled} AS DECIMAL(19, 0)) * {_unit(target.scale)} AS {target})"


def _from_large(scaled: str) -> str:
    """The digits of an integral DOUBLE, cut into 64, 32 and 32 bits that Spark converts exactly.

    The DOUBLE next to 10^38 is below it, so it has 38 digits too.
    """
    high = f"TRY_CAST({scaled} / 18446744073709551616e0 AS BIGINT)"
    rest = f"({scaled} - CAST({high} AS DOUBLE) * 18446744073709551616e0)"
    middle = f"TRY_CAST({rest} / 4294967296e0 AS BIGINT)"
    low = f"TRY_CAST({rest} - CAST({middle} AS DOUBLE) * 4294967296e0 AS BIGINT)"
    total = (
        f"CAST({high} AS DECIMAL(19, 0)) * 18446744073709551616BD"
        f" + CAST({middle} AS DECIMAL(10, 0)) * 4294967296BD + CAST({low} AS DECIMAL(10, 0))"
    )
    return f"CASE WHEN abs({scaled}) <= 1e38D THEN CAST({total} AS STRING) END"


def _unit(scale: int) -> str:
    return f"CAST('0.{'1'.zfill(scale)}' AS DECIMAL({scale}, {scale}))"


def to_double(sql: str, source: DataType, target: DataType, engine: Engine) -> str:
    """The nearest DOUBLE. DataFusion divides, which is exact for few digits only; otherwise it goes through text."""
    assert isinstance(source, Decimal)
    few = source.precision <= _EXACT_DIGITS and source.scale <= _EXACT_POWER
    if engine is Engine.DATAFUSION and not few:
        sql = f"CAST({sql} AS VARCHAR)"
    nearest = f"CAST({sql} AS DOUBLE)"
    if target is Scalar.DOUBLE:
        return nearest
    return f"CAST({nearest} AS {type_name(target, engine)})"


def to_integer(sql: str, _source: DataType, target: DataType, engine: Engine) -> str:
    """Spark goes through DOUBLE for all but BIGINT, which may round up."""
    if engine is Engine.SPARK:
        sql = f"TRY_CAST({sql} AS BIGINT)"
    return f"TRY_CAST({sql} AS {type_name(target, engine)})"


def to_text(sql: str, source: DataType, _target: DataType, engine: Engine) -> str:
    """All digits of the scale, never an exponent."""
    assert isinstance(source, Decimal)
    if engine is Engine.DATAFUSION:
        return f"CAST({sql} AS VARCHAR)"
    return f"format_number({sql}, '{'0.' + '0' * source.scale if source.scale else '0'}')"


def negated(args: Sequence[str], types: Sequence[DataType], engine: Engine) -> str:
    """Spark keeps 34 digits of a sign change; longer numbers change it in their text."""
    if _few(types[0]) or engine is Engine.DATAFUSION:
        return f"(- {args[0]})"
    signed = f"concat('-', {to_text(args[0], types[0], Scalar.VARCHAR, engine)})"
    return f"CAST(regexp_replace({signed}, '^--', '') AS {types[0]})"


def absolute(args: Sequence[str], types: Sequence[DataType], engine: Engine) -> str:
    """As for `negated`."""
    if _few(types[0]) or engine is Engine.DATAFUSION:
        return f"abs({args[0]})"
    return f"CAST(ltrim('-', {to_text(args[0], types[0], Scalar.VARCHAR, engine)}) AS {types[0]})"


def _few(kind: DataType) -> bool:
    assert isinstance(kind, Decimal)
    return kind.precision <= _SIGN_DIGITS
