"""What each function should give, in plain Python. Instants and intervals are microseconds, dates are days.

An oracle sees arguments as the overload takes them and is not asked where one is NULL, unless it is in
`SEES_NULLS`. It shares nothing with the templates but the documentation.
"""

import decimal
import math
import operator
from collections.abc import Callable
from typing import Any

from tests.sql.functions.oracles_text import TEXT
from tests.sql.functions.oracles_time import TIMES, add_time, in_time, quotient
from tidegate.model.time import DAY, MAX_DURATION_US
from tidegate.model.types import DataType, Decimal, Scalar

Oracle = Callable[..., Any]


_EXACT = decimal.Context(prec=80, rounding=decimal.ROUND_HALF_UP)


def converted(value: Any, source: DataType, target: DataType) -> Any:
    """The implicit conversions of arguments."""
    if value is None or source == target:
        return value
    if target is Scalar.DOUBLE:
        return float(value)
    if isinstance(target, Decimal):
        return decimal.Decimal(value)
    return value * DAY if (source, target) == (Scalar.DATE, Scalar.TIMESTAMP) else value


def _in_bigint(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def _in_interval(value: int) -> int | None:
    return value if abs(value) <= MAX_DURATION_US else None


_RANGES: dict[DataType, Oracle] = {
    Scalar.BIGINT: _in_bigint,
    Scalar.TIMESTAMP: in_time,
    Scalar.INTERVAL: _in_interval,
}


def arithmetic(symbol: str, result: DataType) -> Oracle:
    plain = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
    exact = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}[symbol]
    if isinstance(result, Decimal):
        return exact
    if result is Scalar.DOUBLE:
        return lambda left, right: plain(float(left), float(right))
    inside = _RANGES[result]
    return lambda left, right: inside(plain(left, right))


def _remainder(left: Any, right: Any) -> Any:
    if right == 0:
        return None
    if isinstance(left, int):
        return left - right * quotient(left, right)
    return math.fmod(left, right) if math.isfinite(left) else math.nan


def key(value: Any) -> Any:
    """Order of SQL: NaN is the largest, and equal to itself."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value


def _compared(compare: Callable[[Any, Any], bool]) -> Oracle:
    return lambda left, right: compare(key(left), key(right))


def _in(value: Any, *listed: Any) -> bool | None:
    if value is None:
        return None
    if any(item is not None and key(item) == key(value) for item in listed):
        return True
    return None if None in listed else False


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def _to_whole(rounding: str) -> Oracle:
    def oracle(value: Any, *digits: int) -> Any:
        places = digits[0] if digits else 0
        if isinstance(value, decimal.Decimal):
            rounded = value.quantize(decimal.Decimal(1).scaleb(-places), rounding, _EXACT)
            return (
                None if digits and rounded.copy_abs() >= 10**28 else rounded
            )  # DECIMAL(38, 10) is full
        if isinstance(value, int) or not math.isfinite(value):
            return value
        power = 10.0 ** abs(places)
        scaled = value * power if places >= 0 else value / power
        if abs(scaled) >= 2**52:
            return value
        whole = float(decimal.Decimal(scaled).to_integral_value(rounding))
        return whole / power if places >= 0 else whole * power

    return oracle


def _real(function: Callable[..., float], *, too_large: float = math.inf) -> Oracle:
    """Outside the domain NULL, too large is infinite."""

    def oracle(*args: float) -> float | None:
        try:
            return function(*args)
        except ValueError:
            return math.nan if any(math.isinf(arg) for arg in args) else None
        except OverflowError:
            return math.copysign(too_large, args[0]) if function is math.sinh else too_large

    return oracle


def _log(function: Callable[[float], float]) -> Oracle:
    return lambda value: None if value <= 0 else function(value)


def _log_base(base: float, value: float) -> float | None:
    if base <= 0 or value <= 0 or base == 1:
        return None
    one, other = math.log(value), math.log(base)
    return math.nan if math.isinf(one) and math.isinf(other) else one / other


def _power(base: float, exponent: float) -> float | None:
    if (base == 0 and exponent < 0) or (
        base == -math.inf and exponent % 1 != 0 and math.isfinite(exponent)
    ):
        return None
    try:
        return math.pow(base, exponent)
    except ValueError:
        return None
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _element(container: Any, index: Any) -> Any:
    if container and isinstance(container[0], tuple):
        return dict(container).get(index)
    if not isinstance(index, int) or not 1 <= abs(index) <= len(container):
        return None
    return container[index - 1 if index > 0 else index]


SEES_NULLS = frozenset(
    {
        "is_distinct",
        "is_not_distinct",
        "in",
        "and",
        "or",
        "is_null",
        "is_not_null",
        "coalesce",
        "nullif",
        "greatest",
        "least",
        "concat",
        "named_struct",
        "concat_ws",
        "make_array",
        "nanvl",
    }
)


def _skipping(choose: Callable[..., Any]) -> Oracle:
    def oracle(*args: Any) -> Any:
        present = [arg for arg in args if arg is not None]
        return choose(present, key=key) if present else None

    return oracle


def _nullif(left: Any, right: Any) -> Any:
    return None if left is not None and right is not None and key(left) == key(right) else left


_HALF_AWAY = _to_whole(decimal.ROUND_HALF_UP)


ORACLES: dict[str, Oracle] = {
    "/": lambda left, right: None if right == 0 else left / right,
    "div": lambda left, right: None if right == 0 else _in_bigint(quotient(left, right)),
    "%": _remainder,
    "neg": lambda value: (
        _in_bigint(-value)
        if isinstance(value, int)
        else value.copy_negate()
        if isinstance(value, decimal.Decimal)
        else -value
    ),
    "=": _compared(operator.eq),
    "<>": _compared(operator.ne),
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
    "is_distinct": lambda left, right: key(left) != key(right),
    "is_not_distinct": lambda left, right: key(left) == key(right),
    "in": _in,
    "and": _and,
    "or": _or,
    "not": operator.not_,
    "is_null": lambda value: value is None,
    "is_not_null": lambda value: value is not None,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "~": operator.invert,
    "<<": lambda value, count: _signed(value << (count & 63)),
    ">>": lambda value, count: value >> (count & 63),
    "coalesce": lambda *args: next((arg for arg in args if arg is not None), None),
    "nullif": _nullif,
    "greatest": _skipping(max),
    "least": _skipping(min),
    "nanvl": lambda value, other: other if value is not None and math.isnan(value) else value,
    "abs": lambda value: (
        _in_bigint(abs(value))
        if isinstance(value, int)
        else value.copy_abs()
        if isinstance(value, decimal.Decimal)
        else abs(value)
    ),
    "sign": lambda value: value if value != value else (value > 0) - (value < 0),
    "ceil": _to_whole(decimal.ROUND_CEILING),
    "floor": _to_whole(decimal.ROUND_FLOOR),
    "round": _HALF_AWAY,
    "truncate": _to_whole(decimal.ROUND_DOWN),
    "sqrt": lambda value: None if value < 0 else math.sqrt(value),
    "cbrt": math.cbrt,
    "exp": _real(math.exp),
    "ln": _log(math.log),
    "log10": _log(math.log10),
    "log2": _log(math.log2),
    "log": _log_base,
    "power": _power,
    **{
        name: _real(getattr(math, name))
        for name in ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "radians")
    },
    "atan2": lambda y, x: math.atan2(y + 0.0, x + 0.0),
    "asin": lambda value: (
        value if math.isnan(value) else math.asin(value) if abs(value) <= 1 else None
    ),
    "acos": lambda value: (
        value if math.isnan(value) else math.acos(value) if abs(value) <= 1 else None
    ),
    "degrees": math.degrees,
    "pi": lambda: math.pi,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "element_at": _element,
    "slice": lambda values, start, count: values[max(start, 1) - 1 :][: max(count, 0)],
    "cardinality": len,
    "array_contains": lambda values, value: value in values,
    "map_keys": lambda entries: [entry[0] for entry in entries],
    "map_values": lambda entries: [entry[1] for entry in entries],
    "named_struct": lambda *args: dict(zip(args[::2], args[1::2], strict=True)),
    "field": lambda struct, name: struct[name],
    "make_array": lambda *args: list(args),
    "$shift": operator.add,
    "$divide": quotient,
    "$remainder": _remainder,
    "$scale": operator.mul,
    "$negate": operator.neg,
    **TEXT,
    **TIMES,
}


def _part_of_digits(function: str, extra: int, scale: int) -> Oracle:
    unit = decimal.Decimal(1).scaleb(extra - scale, _EXACT)
    if function == "$fine":
        return lambda value: _EXACT.remainder(value, unit)
    visible = unit if extra <= scale else 1
    return lambda value: _EXACT.multiply(_EXACT.divide_int(value, unit), visible)


def oracle_of(function: str, types: tuple[DataType, ...], result: DataType) -> Oracle | None:
    """The oracle of an overload; `None` where CAST is the same thing and has its own proof."""
    if function in ("+", "-", "*"):
        return arithmetic(function, result)
    match function, types:
        case (("$coarse" | "$fine"), (Decimal(precision, scale),)):
            return _part_of_digits(function, precision - 28, scale)
        case "epoch_ms", (Scalar.BIGINT,):
            return ORACLES["to_timestamp_ms"]
        case "epoch_ms", _:
            return ORACLES["unix_millis"]
        case "add_months", (Scalar.DATE, _):
            return lambda day, count: (
                None if (us := add_time("month", count, day * DAY)) is None else us // DAY
            )
        case "add_months", _:
            return lambda us, count: add_time("month", count, us)
        case (("to_timestamp" | "date"), _):
            return None
        case _:
            return ORACLES[function]
