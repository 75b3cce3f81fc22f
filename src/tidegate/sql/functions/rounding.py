"""Whole numbers and digits. Rounding is half away from zero; integers and DECIMALs stay exact.

A DOUBLE is rounded to digits by scaling it, making it whole and scaling it back, which is the same on both engines;
Spark's own way (by shortest digits) is not to be had elsewhere.
"""

from collections.abc import Callable, Sequence
from functools import partial

from tidegate.model.expressions import LiteralValue
from tidegate.model.policies import Reason
from tidegate.model.types import MAX_PRECISION, DataType, Decimal, Scalar
from tidegate.sql.functions.signature import (
    BIGINT,
    DECIMAL,
    DOUBLE,
    Engine,
    Overload,
    Template,
    constant,
    entry,
    first,
    overload,
)
from tidegate.sql.functions.spelling import bigint_literal

# From here on a DOUBLE has no fraction.
INTEGRAL = "4503599627370496e0"


def _digits_problem(low: int, high: int) -> Callable[[LiteralValue], str]:
    def problem(value: LiteralValue) -> str:
        fits = value is None or (isinstance(value, int) and low <= value <= high)
        return "" if fits else f"it must be between {low} and {high}"

    return problem


_DOUBLE_DIGITS = constant("a number of digits", BIGINT, _digits_problem(-18, 18))


_DECIMAL_DIGITS = constant("a number of digits", BIGINT, _digits_problem(0, MAX_PRECISION))


def _whole_type(targets: Sequence[DataType]) -> DataType:
    kind = targets[0]
    assert isinstance(kind, Decimal)
    return kind if kind.scale == 0 else Decimal(kind.precision - kind.scale + 1, 0)


def _carried_type(targets: Sequence[DataType]) -> DataType:
    """Rounding 9.99 to one digit needs one digit more in front."""
    kind = targets[0]
    assert isinstance(kind, Decimal)
    return Decimal(min(kind.precision + 1, MAX_PRECISION), kind.scale)


def _whole(function: str, engine: Engine) -> str:
    """floor, ceil, round, trunc of a DOUBLE; Spark's give BIGINT, so large values must go round them."""
    if engine is Engine.DATAFUSION or function == "round":
        return f"({function}({{0}}) + 0.0e0)"
    whole = "{0}" if function == "trunc" else f"{function}({{0}})"
    return f"CASE WHEN abs({{0}}) < {INTEGRAL} THEN CAST(TRY_CAST({whole} AS BIGINT) AS DOUBLE) ELSE {{0}} END"


def _to_digits(function: str, engine: Engine) -> Template:
    """To a literal number of digits: scaled, made whole, scaled back; a value without a fraction stays as it is."""

    def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
        digits = bigint_literal(args[1])
        if digits is None:
            return "CAST(NULL AS DOUBLE)"
        power = f"1e{abs(digits)}"
        there, back = ("*", "/") if digits >= 0 else ("/", "*")
        scaled = f"({args[0]} {there} {power})"
        whole = _whole(function, engine).format(scaled)
        return (
            f"CASE WHEN abs({scaled}) < {INTEGRAL} THEN {whole} {back} {power} ELSE {args[0]} END"
        )

    return text


def _decimal_round(args: Sequence[str], types: Sequence[DataType], result: DataType) -> str:
    kind, digits = types[0], bigint_literal(args[1]) if len(args) > 1 else 0
    assert isinstance(kind, Decimal)
    if digits is None:
        return f"CAST(NULL AS {result})"
    if digits >= kind.scale:
        return f"CAST({args[0]} AS {result})"
    rounded = Decimal(kind.precision - kind.scale + 1 + digits, digits)
    return f"TRY_CAST(CAST({args[0]} AS {rounded}) AS {result})"


def _decimal_truncate(args: Sequence[str], types: Sequence[DataType], result: DataType) -> str:
    kind, digits = types[0], bigint_literal(args[1]) if len(args) > 1 else 0
    assert isinstance(kind, Decimal)
    if digits is None:
        return f"CAST(NULL AS {result})"
    if digits >= kind.scale:
        return f"CAST({args[0]} AS {result})"
    return f"CAST({args[0]} - {_decimal_rest(args[0], kind, digits)} AS {result})"


def _decimal_rest(sql: str, kind: Decimal, digits: int) -> str:
    """What is cut off, with its sign."""
    unit = f"0.{'1'.zfill(digits)}" if digits else "1"
    return f"CAST({sql} % CAST('{unit}' AS DECIMAL({digits + 1}, {digits})) AS {kind})"


def _decimal_edge(symbol: str, compare: str) -> Template:
    """floor and ceil: the truncated number, one further where something on that side was cut off."""

    def text(args: Sequence[str], types: Sequence[DataType], result: DataType) -> str:
        kind = types[0]
        assert isinstance(kind, Decimal)
        if kind.scale == 0:
            return args[0]
        rest = _decimal_rest(args[0], kind, 0)
        step = f"CASE WHEN {rest} {compare} CAST('0' AS {kind}) THEN 1 ELSE 0 END"
        return f"CAST(CAST({args[0]} - {rest} AS {result}) {symbol} CAST({step} AS DECIMAL(1, 0)) AS {result})"

    return text


def _rounding(function: str, decimal: Template) -> tuple[Overload, Overload, Overload]:
    """The three ways of making a number whole."""
    texts = {engine.value: _whole(function, engine) for engine in Engine}
    return (
        overload([BIGINT], Scalar.BIGINT, "{0}"),
        overload([DECIMAL], _whole_type, decimal),
        overload([DOUBLE], Scalar.DOUBLE, **texts),
    )


def _with_digits(
    function: str, decimal: Template, returns: Callable[[Sequence[DataType]], DataType]
) -> tuple[Overload, Overload]:
    texts = {engine.value: _to_digits(function, engine) for engine in Engine}
    return (
        overload([DECIMAL, _DECIMAL_DIGITS], returns, decimal, fails=Reason.OVERFLOW),
        overload([DOUBLE, _DOUBLE_DIGITS], Scalar.DOUBLE, **texts),
    )


_rounding_function = partial(entry, "math")

ROUNDING = (
    _rounding_function(
        "ceil",
        "The next whole number upward, in the type of the argument.",
        "ceil(2.1)",
        *_rounding("ceil", _decimal_edge("+", ">")),
        aliases=("ceiling",),
    ),
    _rounding_function(
        "floor",
        "The next whole number downward, in the type of the argument.",
        "floor(2.9)",
        *_rounding("floor", _decimal_edge("-", "<")),
    ),
    _rounding_function(
        "round",
        "The nearest whole number, or the nearest with a literal number of digits; halves go away from zero.",
        "round(price, 2)",
        *_rounding("round", _decimal_round),
        *_with_digits("round", _decimal_round, _carried_type),
    ),
    _rounding_function(
        "truncate",
        "The number without its fraction, or with a literal number of digits.",
        "truncate(price, 2)",
        *_rounding("trunc", _decimal_truncate),
        *_with_digits("trunc", _decimal_truncate, first),
        aliases=("trunc",),
    ),
)
