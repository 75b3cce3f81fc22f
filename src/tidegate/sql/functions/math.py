"""Numbers. Rounding has a file of its own.

Outside its domain a function gives NULL (`sqrt(-1)`, `ln(0)`, `power(0, -1)`), NaN gives NaN, and what is too large
is infinite. Results are DOUBLE unless said otherwise; the last digits may differ between engines.
"""

from collections.abc import Sequence
from functools import partial

from tidegate.model.policies import Reason
from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions import decimals
from tidegate.sql.functions.arithmetic import LOWEST
from tidegate.sql.functions.ordering import datafusion_order_key
from tidegate.sql.functions.rounding import INTEGRAL
from tidegate.sql.functions.signature import (
    BIGINT,
    DECIMAL,
    DOUBLE,
    Engine,
    Function,
    entry,
    first,
    overload,
)
from tidegate.sql.functions.spelling import written

_function = partial(entry, "math")
_SINES = "abs({0}) <= 1e0 OR isnan({0})"
_INFINITY = "CAST('Infinity' AS DOUBLE)"


def _of_double(name: str, doc: str, *, spark: str = "", aliases: tuple[str, ...] = ()) -> Function:
    text = overload(
        [DOUBLE], Scalar.DOUBLE, f"{name}({{0}})", **({"spark": spark} if spark else {})
    )
    return _function(name, doc, f"{name}(x)", text, aliases=aliases)


def _positive(sql: str) -> str:
    """DataFusion: a DOUBLE greater than zero (or NaN), else NULL; it names its operand once."""
    return f"NULLIF(greatest({datafusion_order_key(sql, Scalar.DOUBLE)}, 0.0e0), 0.0e0)"


def _logarithm(name: str, doc: str) -> Function:
    text = overload(
        [DOUBLE], Scalar.DOUBLE, datafusion=f"{name}({_positive('{0}')})", spark=f"{name}({{0}})"
    )
    return _function(name, doc, f"{name}(x)", text)


def _inside(name: str, doc: str, inside: str) -> Function:
    """A function of one DOUBLE that exists where a condition on {0} holds."""

    def datafusion(args: Sequence[str], types: Sequence[DataType], _result: DataType) -> str:
        condition = inside.format(datafusion_order_key(args[0], types[0]))
        return f"{name}(CASE WHEN {condition} THEN {args[0]} END)"

    spark = f"{name}(CASE WHEN {inside} THEN {{0}} END)"
    text = overload([DOUBLE], Scalar.DOUBLE, datafusion=datafusion, spark=spark)
    return _function(name, doc, f"{name}(x)", text)


def _power(args: Sequence[str], types: Sequence[DataType], engine: Engine) -> str:
    """A zero base takes no negative exponent, a negative one whole exponents only; 1 is always 1 (not in Java)."""
    base, exponent = args
    key = datafusion_order_key(base, types[0]) if engine is Engine.DATAFUSION else base
    zero = f"{key} = 0e0 AND {exponent} < 0e0"
    broken = f"{key} < 0e0 AND abs({exponent}) < {INTEGRAL} AND {exponent} % 1e0 <> 0e0"
    defined = f"power(CASE WHEN ({zero}) OR ({broken}) THEN NULL ELSE {base} END, {exponent})"
    if engine is Engine.DATAFUSION:
        return defined
    one = f"{base} = 1e0 OR ({base} = -1e0 AND abs({exponent}) = {_INFINITY})"
    return f"CASE WHEN ({one}) AND {exponent} IS NOT NULL THEN 1e0 ELSE {defined} END"


MATH = (
    _function(
        "abs",
        "The absolute value. `overflow` for the smallest BIGINT.",
        "abs(delta)",
        overload(
            [BIGINT],
            Scalar.BIGINT,
            f"abs(NULLIF({{0}}, {LOWEST}))",
            spark="abs(NULLIF({0}, -9223372036854775808L))",
            fails=Reason.OVERFLOW,
        ),
        overload([DECIMAL], first, **written(decimals.absolute)),
        overload([DOUBLE], Scalar.DOUBLE, "abs({0})"),
    ),
    _function(
        "sign",
        "-1, 0 or 1.",
        "sign(delta)",
        overload([BIGINT], Scalar.BIGINT, "CAST(signum(CAST({0} AS DOUBLE)) AS BIGINT)"),
        overload([DOUBLE], Scalar.DOUBLE, "(signum({0}) + 0.0e0)"),
        aliases=("signum",),
    ),
    _inside("sqrt", "The square root; NULL for negative numbers.", "{0} >= 0e0"),
    _of_double("cbrt", "The cube root."),
    _of_double("exp", "The exponential."),
    _logarithm("ln", "The natural logarithm; NULL for zero or less."),
    _logarithm("log10", "The logarithm to base 10; NULL for zero or less."),
    _logarithm("log2", "The logarithm to base 2; NULL for zero or less."),
    _function(
        "log",
        "The logarithm to a base: log(base, x). NULL for zero or less, and for base 1.",
        "log(2, x)",
        overload(
            [DOUBLE, DOUBLE],
            Scalar.DOUBLE,
            datafusion=f"(ln({_positive('{1}')}) / NULLIF(ln({_positive('{0}')}), 0.0e0))",
            spark="try_divide(ln({1}), ln({0}))",
        ),
    ),
    _function(
        "power",
        "The first to the power of the second; NULL where that is no number.",
        "power(x, 2)",
        overload([DOUBLE, DOUBLE], Scalar.DOUBLE, **written(_power)),
        aliases=("pow",),
    ),
    *(
        _of_double(name, f"The {word} (of radians).")
        for name, word in (("sin", "sine"), ("cos", "cosine"), ("tan", "tangent"))
    ),
    _inside("asin", "The arc sine, in radians; NULL outside -1 to 1.", _SINES),
    _inside("acos", "The arc cosine, in radians; NULL outside -1 to 1.", _SINES),
    _of_double("atan", "The arc tangent, in radians."),
    _function(
        "atan2",
        "The angle of the point (x, y), in radians: atan2(y, x).",
        "atan2(y, x)",
        overload([DOUBLE, DOUBLE], Scalar.DOUBLE, "atan2({0} + 0.0e0, {1} + 0.0e0)"),
    ),
    *(
        _of_double(name, f"The hyperbolic {word}.")
        for name, word in (("sinh", "sine"), ("cosh", "cosine"), ("tanh", "tangent"))
    ),
    _of_double("degrees", "Radians in degrees."),
    _of_double("radians", "Degrees in radians."),
    _function("pi", "The number pi.", "pi()", overload([], Scalar.DOUBLE, "pi()")),
    _function(
        "isnan",
        "Whether a DOUBLE is NaN.",
        "isnan(ratio)",
        overload([DOUBLE], Scalar.BOOLEAN, "isnan({0})", spark="({0} = CAST('NaN' AS DOUBLE))"),
    ),
    _function(
        "isinf",
        "Whether a DOUBLE is infinite.",
        "isinf(ratio)",
        overload([DOUBLE], Scalar.BOOLEAN, f"(abs({{0}}) = {_INFINITY})"),
    ),
    _function(
        "isfinite",
        "Whether a DOUBLE is neither infinite nor NaN.",
        "isfinite(ratio)",
        overload([DOUBLE], Scalar.BOOLEAN, f"(abs({{0}}) < {_INFINITY})"),
    ),
)
