"""Bound expressions as text of DuckDB's SQL.

Decided here: an expression that has no value for a row is NULL (`TRY`), as everywhere in Tidegate; who leaves such rows
out asks `error_of`. An INTERVAL is a BIGINT of microseconds. A function that is not in the table below has not been
compared with DuckDB's, and is refused: a judge must not guess.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal as Number
from typing import assert_never

from tidegate import errors
from tidegate.model.expressions import Call, Case, Cast, Expr, Field, Literal, Parameter
from tidegate.model.time import (
    DAY,
    HOUR,
    MAX_EVENT_TIME_US,
    MILLISECOND,
    MIN_EVENT_TIME_US,
    MINUTE,
    SECOND,
)
from tidegate.model.types import (
    Array,
    DataType,
    Decimal,
    Map,
    Scalar,
    Struct,
    as_decimal,
    is_float,
    is_integer,
    is_numeric,
)

_NAMES = {
    Scalar.REAL: "FLOAT",
    Scalar.BINARY: "BLOB",
    Scalar.INTERVAL: "BIGINT",
    Scalar.NULL: "VARCHAR",
}
Writer = Callable[[Call, Sequence[str]], str]


def refused(what: object) -> errors.TidegateError:
    """DuckDB has no counterpart for it, or none that was compared."""
    return errors.not_verifiable(what=what)


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def type_name(kind: DataType) -> str:
    match kind:
        case Scalar():
            return _NAMES.get(kind, kind.value)
        case Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case Array(element):
            return f"{type_name(element)}[]"
        case Map(key, value):
            return f"MAP({type_name(key)}, {type_name(value)})"
        case Struct(fields):
            parts = (f"{quote(name)} {type_name(part)}" for name, part in fields)
            return f"STRUCT({', '.join(parts)})"
        case _:
            assert_never(kind)


def scalar(expr: Expr) -> str:
    """The expression as text."""
    match expr:
        case Field(name=name):
            return quote(name)
        case Parameter(name=name):
            raise refused(f"the clock ({name})")
        case Literal():
            return literal(expr)
        case Call():
            return _call(expr)
        case Cast(operand=operand):
            return _cast(scalar(operand), operand.type, expr.type)
        case Case(branches=branches, otherwise=otherwise):
            whens = " ".join(f"WHEN {scalar(when)} THEN {scalar(then)}" for when, then in branches)
            return f"CASE {whens} ELSE {scalar(otherwise)} END"
        case _:
            assert_never(expr)


def literal(expr: Literal) -> str:
    if isinstance(expr.value, int) and expr.type in (Scalar.TIMESTAMP, Scalar.DATE):
        is_day = expr.type is Scalar.DATE
        return f"(DATE '1970-01-01' + {expr.value})" if is_day else f"make_timestamp({expr.value})"
    match expr.value:
        case None:
            return f"CAST(NULL AS {type_name(expr.type)})"
        case bool(value):
            return "TRUE" if value else "FALSE"
        case int(value):
            return str(value) if expr.type is Scalar.BIGINT else _typed(str(value), expr.type)
        case float() | Number():
            return _typed(text(f"{expr.value}"), expr.type)
        case str(value):
            return text(value)
        case bytes(value):
            escaped = "".join(f"\\x{byte:02X}" for byte in value)
            return f"CAST('{escaped}' AS BLOB)"
        case _:
            assert_never(expr.value)


def _typed(value: str, kind: DataType) -> str:
    return f"CAST({value} AS {type_name(kind)})"


def _call(expr: Call) -> str:
    args = [scalar(arg) for arg in expr.args]
    writer = _WRITERS.get(expr.function)
    if writer is None:
        raise refused(f"the function {expr.function.strip('$').upper()}")
    if isinstance(writer, str):
        return writer.format(*args, args=", ".join(args), rest=", ".join(args[1:]))
    return writer(expr, args)


# Functions


def _arithmetic(symbol: str) -> Writer:
    def write(expr: Call, args: Sequence[str]) -> str:
        kinds = [arg.type for arg in expr.args]
        if Scalar.TIMESTAMP in kinds:
            numbers = [
                f"epoch_us({arg})" if kind is Scalar.TIMESTAMP else arg
                for arg, kind in zip(args, kinds, strict=True)
            ]
            shifted = f"{numbers[0]} {symbol} {numbers[1]}"
            is_instant = expr.type is Scalar.TIMESTAMP
            return instant(f"TRY({shifted})") if is_instant else f"({shifted})"
        if isinstance(expr.type, Decimal):
            exact = [_typed(arg, as_decimal(kind)) for arg, kind in zip(args, kinds, strict=True)]
            return _typed(f"({exact[0]} {symbol} {exact[1]})", expr.type)
        if expr.type is Scalar.DOUBLE:
            return f"(CAST({args[0]} AS DOUBLE) {symbol} CAST({args[1]} AS DOUBLE))"
        return f"TRY({args[0]} {symbol} {args[1]})"

    return write


def _only(kinds: Sequence[DataType], template: str) -> Writer:
    """For functions of which DuckDB agrees on some types only."""

    def write(expr: Call, args: Sequence[str]) -> str:
        if expr.args[0].type not in kinds:
            raise refused(f"{expr.function.upper()} of {expr.args[0].type}")
        return template.format(*args)

    return write


def instant(micros: str) -> str:
    """NULL outside the years 1 to 9999; DuckDB's go on."""
    inside = f"{micros} BETWEEN {MIN_EVENT_TIME_US} AND {MAX_EVENT_TIME_US}"
    return f"CASE WHEN {inside} THEN make_timestamp({micros}) END"


def _field(expr: Call, args: Sequence[str]) -> str:
    return f"struct_extract({args[0]}, {args[1]})"


def _rounding(name: str) -> Writer:
    def write(expr: Call, args: Sequence[str]) -> str:
        kind = expr.args[0].type
        if is_integer(kind):
            return args[0]
        if not is_float(kind) and len(args) == 1 and name != "round":
            raise refused(f"{expr.function.upper()} of {kind}")
        return _typed(f"{name}({', '.join(args)})", expr.type)

    return write


_FIXED_UNITS = {
    "microsecond": 1,
    "millisecond": MILLISECOND,
    "second": SECOND,
    "minute": MINUTE,
    "hour": HOUR,
    "day": DAY,
    "week": 7 * DAY,
}


def _between(expr: Call, args: Sequence[str]) -> str:
    """Whole units from one instant to another; months are of no fixed length."""
    unit = expr.args[0]
    length_us = _FIXED_UNITS.get(str(unit.value).lower()) if isinstance(unit, Literal) else None
    if length_us is None:
        raise refused(f"{expr.function.upper()} in {args[0]}")
    return f"((epoch_us({args[2]}) - epoch_us({args[1]})) // {length_us})"


def _part(name: str) -> str:
    return f"CAST(date_part('{name}', {{0}}) AS BIGINT)"


def _unix(divisor: int) -> str:
    return (
        f"((epoch_us({{0}}) - (epoch_us({{0}}) % {divisor} + {divisor}) % {divisor}) // {divisor})"
    )


_COMPARISONS = {symbol: f"({{0}} {symbol} {{1}})" for symbol in ("=", "<>", "<", "<=", ">", ">=")}
_PARTS = "year quarter month day doy dow isodow hour minute second week isoyear".split()
_WRITERS: Mapping[str, str | Writer] = {
    **_COMPARISONS,
    **{symbol: _arithmetic(symbol) for symbol in "+-*"},
    **{f"extract_{name}": _part(name) for name in _PARTS},
    "/": "({0} / NULLIF({1}, 0))",
    "%": "({0} % NULLIF({1}, 0))",
    "div": "TRY({0} // NULLIF({1}, 0))",
    "neg": "TRY(-({0}))",
    "and": "({0} AND {1})",
    "or": "({0} OR {1})",
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "is_not_null": "({0} IS NOT NULL)",
    "is_distinct": "({0} IS DISTINCT FROM {1})",
    "is_not_distinct": "({0} IS NOT DISTINCT FROM {1})",
    "in": "({0} IN ({rest}))",
    "like": "({0} LIKE {1} ESCAPE '\\')",
    "&": "({0} & {1})",
    "|": "({0} | {1})",
    "||": "({0} || {1})",
    "coalesce": "coalesce({args})",
    "nullif": "NULLIF({0}, {1})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "length": "length({0})",
    "starts_with": "starts_with({0}, {1})",
    "ends_with": "ends_with({0}, {1})",
    "contains": "contains({0}, {1})",
    "strpos": "strpos({0}, {1})",
    "abs": "TRY(abs({0}))",
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "round": _rounding("round"),
    "exp": _only((Scalar.DOUBLE,), "exp({0})"),
    "isnan": "isnan({0})",
    "field": _field,
    "date_trunc": "date_trunc({0}, {1})",
    "timestampdiff": _between,
    "dayofweek": "CAST(date_part('dow', {0}) + 1 AS BIGINT)",
    "unix_micros": "epoch_us({0})",
    "unix_millis": _unix(1_000),
    "unix_seconds": _unix(1_000_000),
    "to_timestamp_us": instant("{0}"),
    "to_timestamp_ms": instant("TRY({0} * 1000)"),
    "to_timestamp_s": instant("TRY({0} * 1000000)"),
}

# Conversions


def _cast(sql: str, source: DataType, target: DataType) -> str:
    if source == target or source is Scalar.NULL:
        return sql if source == target else _typed(sql, target)
    if is_numeric(source) and is_numeric(target):
        cut = is_integer(target) and not is_integer(source)
        return f"TRY_CAST({f'trunc({sql})' if cut else sql} AS {type_name(target)})"
    if (source, target) in _AGREED:
        return _typed(sql, target)
    raise refused(f"CAST of {source} to {target}")


_AGREED = {
    (Scalar.TIMESTAMP, Scalar.DATE),
    (Scalar.DATE, Scalar.TIMESTAMP),
    (Scalar.DATE, Scalar.VARCHAR),
    (Scalar.BIGINT, Scalar.VARCHAR),
    (Scalar.INTEGER, Scalar.VARCHAR),
    (Scalar.BOOLEAN, Scalar.VARCHAR),
    (Scalar.BOOLEAN, Scalar.BIGINT),
    (Scalar.BIGINT, Scalar.BOOLEAN),
}
