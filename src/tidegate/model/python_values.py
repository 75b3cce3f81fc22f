"""Python values that are values of SQL types: what a user's function may give back.

Decided here: what fits. Nothing is guessed or cut off (Arrow would make 1 of 1.5 for a BIGINT), but every
number is a DOUBLE, a DECIMAL is rounded half away from zero to its digits, and an instant without a zone is in UTC.
"""

import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context
from decimal import Decimal as Number
from typing import Any

from tidegate.model.types import (
    INTEGER_BITS,
    Array,
    DataType,
    Decimal,
    Map,
    Scalar,
    Struct,
    is_integer,
)

_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_LARGEST_REAL = (2 - 2**-23) * 2.0**127
_SHOWN = 60


class Misfit(Exception):
    """The value is none of the type."""


def fitted(value: Any, kind: DataType) -> Any:
    """The value in the form that Arrow takes for the type; raises `Misfit`.

    >>> fitted([1, None], Array(Scalar.DOUBLE))
    [1.0, None]
    >>> fitted(1.5, Scalar.BIGINT)
    Traceback (most recent call last):
    tidegate.model.python_values.Misfit: 1.5 is no BIGINT
    """
    try:
        return _fitted(value, kind)
    except (ArithmeticError, ValueError, TypeError):
        raise _misfit(value, kind) from None


def _misfit(value: Any, kind: DataType) -> Misfit:
    text = repr(value)
    return Misfit(f"{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'} is no {kind}")


def _fitted(value: Any, kind: DataType) -> Any:
    if value is None:
        return None
    match kind:
        case Decimal():
            return _decimal(value, kind)
        case Array(element):
            return [fitted(item, element) for item in _one_of(value, list, tuple)]
        case Map(key, item_type):
            pairs = _one_of(value, dict).items()
            return [(_present(fitted(name, key)), fitted(item, item_type)) for name, item in pairs]
        case Struct(fields):
            if set(_one_of(value, dict)) - {name for name, _ in fields}:
                raise _misfit(value, kind)
            return {name: fitted(value.get(name), part) for name, part in fields}
        case _ if is_integer(kind):
            return _integer(value, kind)
        case _:
            return _SCALARS[kind](value)


def _one_of(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise TypeError
    return value


def _present(value: Any) -> Any:
    if value is None:
        raise TypeError
    return value


def _integer(value: Any, kind: DataType) -> int:
    """Whatever counts as an int (numpy's do), except bool."""
    if isinstance(value, bool):
        raise TypeError
    number: int = value.__index__() if hasattr(value, "__index__") else _one_of(value, int)
    assert isinstance(kind, Scalar)
    half = 1 << (INTEGER_BITS[kind] - 1)
    if not -half <= number < half:
        raise OverflowError
    return number


def _decimal(value: Any, kind: Decimal) -> Number:
    number = value if isinstance(value, Number) else Number(_integer(value, Scalar.BIGINT))
    rounded = number.quantize(Number(1).scaleb(-kind.scale), context=_EXACT)
    if not rounded.is_finite() or rounded.copy_abs() >= Number(10) ** (kind.precision - kind.scale):
        raise OverflowError
    return rounded


def _double(value: Any) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError
    return float(value)


def _real(value: Any) -> float:
    number = _double(value)
    if math.isfinite(number) and abs(number) > _LARGEST_REAL:
        raise OverflowError
    return number


def _text(value: Any) -> str:
    text: str = _one_of(value, str)
    text.encode()
    return text


def _day(value: Any) -> date:
    if isinstance(value, datetime):
        raise TypeError
    day: date = _one_of(value, date)
    return day


_SCALARS: dict[DataType, Callable[[Any], Any]] = {
    Scalar.BOOLEAN: lambda value: _one_of(value, bool),
    Scalar.REAL: _real,
    Scalar.DOUBLE: _double,
    Scalar.VARCHAR: _text,
    Scalar.BINARY: lambda value: _one_of(value, bytes),
    Scalar.DATE: _day,
    Scalar.TIMESTAMP: lambda value: _one_of(value, datetime),
}
