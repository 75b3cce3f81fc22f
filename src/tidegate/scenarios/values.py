"""Values of a scenario in the types of their columns.

In: what was written. Out: instants in µs, dates in days, `Decimal`, `bytes`; MAP as pairs, STRUCT as a dict with all
its fields; what is left out is NULL. Decided here: nothing is guessed. A string is no number, 1.0 is no BIGINT.
"""

import decimal
import math
from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.errors import Location, bad_scenario, nearest
from tidegate.model.schema import Schema
from tidegate.model.time import DAY, MILLISECOND, parse_instant
from tidegate.model.types import (
    INTEGER_BITS,
    Array,
    DataType,
    Decimal,
    Map,
    Scalar,
    Struct,
    is_float,
    is_integer,
)
from tidegate.scenarios.steps import Raw, RawRow

_WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "-inf": -math.inf}


class Misfit(ValueError):
    """The value is none of the type; the text says why."""


def typed(raw: Raw, kind: DataType) -> Any:
    """The value as the type; raises `Misfit`."""
    if raw is None:
        return None
    match kind:
        case Decimal():
            return _decimal(raw, kind)
        case Array(element):
            return [typed(item, element) for item in _listed(raw, kind)]
        case Map(key, value):
            return [
                (typed(_key(name, key), key), typed(item, value))
                for name, item in _entries(raw, kind)
            ]
        case Struct():
            return _struct(raw, kind)
        case _ if is_integer(kind):
            return _integer(raw, kind)
        case _ if is_float(kind):
            return _float(raw, kind)
        case _:
            return _scalar(raw, kind)


def _misfit(raw: Raw, kind: DataType, why: str = "") -> Misfit:
    return Misfit(f"{raw!r} is no {kind}{why}")


def _integer(raw: Raw, kind: DataType) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise _misfit(raw, kind)
    assert isinstance(kind, Scalar)
    limit = 2 ** (INTEGER_BITS[kind] - 1)
    if not -limit <= raw < limit:
        raise _misfit(raw, kind, ": it is out of range")
    return raw


def _float(raw: Raw, kind: DataType) -> float:
    if isinstance(raw, str) and raw.lower() in _WORDS:
        return _WORDS[raw.lower()]
    if isinstance(raw, bool) or not isinstance(raw, (int, float)):
        raise _misfit(raw, kind)
    return float(raw)


def _decimal(raw: Raw, kind: Decimal) -> decimal.Decimal:
    """Digits that the type has no room for are refused: nobody rounds in a test without knowing."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        raise _misfit(raw, kind)
    try:
        number = decimal.Decimal(str(raw))
        fitted = number.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=_EXACT)
    except decimal.InvalidOperation:
        raise _misfit(raw, kind) from None
    whole = decimal.Decimal(10) ** (kind.precision - kind.scale)
    if fitted != number or fitted.copy_abs() >= whole:
        raise _misfit(raw, kind, ": it has too many digits")
    return fitted


_EXACT = decimal.Context(prec=100)


def _scalar(raw: Raw, kind: DataType) -> Any:
    match kind, raw:
        case Scalar.BOOLEAN, bool():
            return raw
        case ((Scalar.VARCHAR | Scalar.NULL), str()):
            return raw
        case Scalar.BINARY, str():
            return raw.encode()
        case Scalar.TIMESTAMP, int() if not isinstance(raw, bool):
            return raw * MILLISECOND
        case ((Scalar.TIMESTAMP | Scalar.DATE), str()):
            return _moment(raw, kind)
        case Scalar.VARCHAR, _:
            raise _misfit(raw, kind, ": put it into quotes")
        case _:
            raise _misfit(raw, kind)


def _moment(raw: str, kind: DataType) -> int:
    try:
        instant_us = parse_instant(raw)
    except (ValueError, OverflowError):
        raise _misfit(raw, kind, ": write it like 2026-01-31T12:00:00Z") from None
    if kind is Scalar.DATE:
        if instant_us % DAY:
            raise _misfit(raw, kind, ": it has a time of day")
        return instant_us // DAY
    return instant_us


def _listed(raw: Raw, kind: DataType) -> tuple[Raw, ...]:
    if not isinstance(raw, tuple):
        raise _misfit(raw, kind)
    return raw


def _entries(raw: Raw, kind: DataType) -> Iterable[tuple[str, Raw]]:
    if not isinstance(raw, Mapping):
        raise _misfit(raw, kind)
    return raw.items()


def _key(name: str, kind: DataType) -> Raw:
    """Keys of YAML are strings; those of a MAP may be numbers."""
    return int(name) if is_integer(kind) and name.lstrip("+-").isdecimal() else name


def _struct(raw: Raw, kind: Struct) -> dict[str, Any]:
    given = {}
    for name, item in _entries(raw, kind):
        field = kind.field(name)
        if field is None:
            raise Misfit(f"{kind} has no field {name}")
        given[field[0]] = typed(item, field[1])
    return {name: given.get(name) for name, _ in kind.fields}


def typed_row(row: RawRow, schema: Schema, *, of: str, at: Location, whole: bool) -> dict[str, Any]:
    """A row in the types of its columns. `whole`: what is left out is NULL; otherwise it stays away."""
    values: dict[str, Any] = {}
    for name, raw in row.values.items():
        column = schema.find(name)
        if column is None:
            otherwise = f"columns are {', '.join(schema.names)}"
            hint = nearest(name, schema.names, otherwise=otherwise)
            raise bad_scenario(at, problem=f"{of} has no column {name}", hint=hint)
        try:
            values[column.name] = typed(raw, column.type)
        except Misfit as misfit:
            raise bad_scenario(at, problem=f"{of}.{name}: {misfit}") from None
    return {name: values.get(name) for name in schema.names} if whole else values
