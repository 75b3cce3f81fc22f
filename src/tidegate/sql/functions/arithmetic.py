"""Arithmetic of numbers, TIMESTAMPs and INTERVALs. Integers compute in BIGINT, and what leaves it is `overflow`.

`/` is DOUBLE for all numbers (as in DuckDB), DIV and % are exact on integers; a zero divisor is `division_by_zero`
for every type. DataFusion wraps integers around in silence and Spark raises, so both get checked forms. DECIMALs
stay exact while the type of the result has at most 38 digits. INTERVALs stay within the distance of the years 1 and
9999.
"""

from collections.abc import Callable, Sequence

from tidegate.model.policies import Reason
from tidegate.model.time import MAX_DURATION_US, MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import MAX_PRECISION, DataType, Decimal, Scalar, as_decimal
from tidegate.sql.functions import decimals
from tidegate.sql.functions.signature import (
    BIGINT,
    DECIMAL,
    DOUBLE,
    EXACT,
    INTERVAL,
    TIMESTAMP,
    Engine,
    Function,
    Overload,
    Param,
    Template,
    entry,
    first,
    overload,
)
from tidegate.sql.functions.spelling import (
    instant_us,
    micros,
    per_engine,
    timestamp_micros,
    within,
    written,
)

_BIT64 = 9_223_372_036_854_775_807
LOWEST = f"(-{_BIT64} - 1)"
# Above this length an operand is written once only: text must not grow exponentially with nesting.
_SHORT = 120


def _sum_type(targets: Sequence[DataType]) -> DataType:
    one, other = as_decimal(targets[0]), as_decimal(targets[1])
    scale = max(one.scale, other.scale)
    precision = max(one.precision - one.scale, other.precision - other.scale) + scale + 1
    return Decimal(precision, scale) if precision <= MAX_PRECISION else Scalar.DOUBLE


def _product_type(targets: Sequence[DataType]) -> DataType:
    one, other = as_decimal(targets[0]), as_decimal(targets[1])
    precision, scale = one.precision + other.precision + 1, one.scale + other.scale
    return Decimal(precision, scale) if precision <= MAX_PRECISION else Scalar.DOUBLE


def _exact_or_double(symbol: str) -> Template:
    """Decimals are exact while the result fits 38 digits by its type; otherwise both sides become DOUBLE."""

    def text(args: Sequence[str], types: Sequence[DataType], result: DataType) -> str:
        if isinstance(result, Decimal):
            exact = [
                f"CAST({arg} AS {as_decimal(kind)})" for arg, kind in zip(args, types, strict=True)
            ]
            return f"CAST(({exact[0]} {symbol} {exact[1]}) AS {result})"
        return f"(CAST({args[0]} AS DOUBLE) {symbol} CAST({args[1]} AS DOUBLE))"

    return text


_ADD = (
    f"CASE WHEN ({{1}} > 0 AND {{0}} > {_BIT64} - {{1}}) OR ({{1}} < 0 AND {{0}} < {LOWEST} - {{1}}) "
    "THEN NULL ELSE {0} + {1} END"
)
_SUBTRACT = (
    f"CASE WHEN ({{1}} < 0 AND {{0}} > {_BIT64} + {{1}}) OR ({{1}} > 0 AND {{0}} < {LOWEST} + {{1}}) "
    "THEN NULL ELSE {0} - {1} END"
)
# A product that is far from the limit as a DOUBLE is inside it; only near the limit is it computed with 38 digits.
_MULTIPLY = (
    "CASE WHEN abs(CAST({0} AS DOUBLE) * CAST({1} AS DOUBLE)) < 9.2e18 THEN {0} * {1} "
    "ELSE TRY_CAST(CAST({0} AS DECIMAL(19, 0)) * CAST({1} AS DECIMAL(19, 0)) AS BIGINT) END"
)
# A divisor of -1 is a negation: the one quotient that leaves BIGINT.
_DIVIDE = f"CASE WHEN {{1}} = -1 THEN 0 - NULLIF({{0}}, {LOWEST}) ELSE {{0}} / NULLIF(NULLIF({{1}}, 0), -1) END"
_SPARK_DIVIDE = (
    "CASE WHEN {1} = -1 THEN try_subtract(0L, {0}) ELSE {0} DIV NULLIF(NULLIF({1}, 0L), -1L) END"
)


def _checked(symbol: str, short: str) -> Template:
    """DataFusion: comparisons where operands are short, else 38 digits, which names each operand once."""

    def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
        if sum(map(len, args)) <= _SHORT:
            return short.format(*args)
        wide = [f"CAST({arg} AS DECIMAL(19, 0))" for arg in args]
        return f"TRY_CAST({wide[0]} {symbol} {wide[1]} AS BIGINT)"

    return text


def _arithmetic(symbol: str, short: str, spark: str, wider: Overload) -> tuple[Overload, ...]:
    checked = _checked(symbol, short)
    return (
        overload(
            [BIGINT, BIGINT], Scalar.BIGINT, datafusion=checked, spark=spark, fails=Reason.OVERFLOW
        ),
        wider,
        overload([DOUBLE, DOUBLE], Scalar.DOUBLE, f"({{0}} {symbol} {{1}})"),
    )


def instant_within(sql: str, engine: Engine) -> str:
    """The instant of a BIGINT of microseconds, NULL outside the years 1 to 9999."""
    return timestamp_micros(within(sql, MIN_EVENT_TIME_US, MAX_EVENT_TIME_US), engine)


def _sum(left: str, right: str, symbol: str, engine: Engine) -> str:
    if engine is Engine.SPARK:
        return f"{'try_add' if symbol == '+' else 'try_subtract'}({left}, {right})"
    return f"({left} {symbol} {right})"


def _shifted(symbol: str, instant: int = 0) -> Callable[[Engine], str]:
    """TIMESTAMP plus or minus INTERVAL; `instant` is the place of the TIMESTAMP."""

    def text(engine: Engine) -> str:
        places = ["{0}", "{1}"]
        places[instant] = micros(places[instant], engine)
        return instant_within(_sum(places[0], places[1], symbol, engine), engine)

    return text


def _interval_sum(symbol: str) -> Callable[[Engine], str]:
    return lambda engine: within(
        _sum("{0}", "{1}", symbol, engine), -MAX_DURATION_US, MAX_DURATION_US
    )


def _interval_product(engine: Engine) -> str:
    product = "TRY_CAST(CAST({0} AS DECIMAL(19, 0)) * CAST({1} AS DECIMAL(19, 0)) AS BIGINT)"
    if engine is Engine.SPARK:
        product = "try_multiply({0}, {1})"
    return within(product, -MAX_DURATION_US, MAX_DURATION_US)


def _time(params: Sequence[Param], result: Scalar, text: Callable[[Engine], str]) -> Overload:
    return overload(params, result, fails=Reason.OVERFLOW, **per_engine(text))


def _elapsed(engine: Engine) -> str:
    return f"({instant_us('{0}', engine)} - {instant_us('{1}', engine)})"


_PLUS_TIMES = (
    _time([TIMESTAMP, INTERVAL], Scalar.TIMESTAMP, _shifted("+")),
    _time([INTERVAL, TIMESTAMP], Scalar.TIMESTAMP, _shifted("+", 1)),
    _time([INTERVAL, INTERVAL], Scalar.INTERVAL, _interval_sum("+")),
)
_MINUS_TIMES = (
    _time([TIMESTAMP, INTERVAL], Scalar.TIMESTAMP, _shifted("-")),
    overload([TIMESTAMP, TIMESTAMP], Scalar.INTERVAL, **per_engine(_elapsed)),
    _time([INTERVAL, INTERVAL], Scalar.INTERVAL, _interval_sum("-")),
)
_TIMES_INTERVALS = (
    _time([INTERVAL, BIGINT], Scalar.INTERVAL, _interval_product),
    _time([BIGINT, INTERVAL], Scalar.INTERVAL, _interval_product),
)


_SPELLED = {
    "neg": "- a",
    "not": "NOT a",
    "~": "~ a",
    "in": "a IN (b, c)",
    "is_null": "a IS NULL",
    "is_not_null": "a IS NOT NULL",
    "is_distinct": "a IS DISTINCT FROM b",
    "is_not_distinct": "a IS NOT DISTINCT FROM b",
}


def operator(name: str, doc: str, *overloads: Overload, aliases: tuple[str, ...] = ()) -> Function:
    """An entry that is written as an operator, not as a call."""
    example = _SPELLED.get(name, f"a {name.upper()} b")
    return entry("operators", name, doc, example, *overloads, aliases=aliases)


_NONZERO = "NULLIF({1} + 0.0e0, 0.0e0)"  # -0.0 is zero too

ARITHMETIC = (
    operator(
        "+",
        "Sum; also TIMESTAMP + INTERVAL. `overflow` where it leaves BIGINT, or the years 1 to 9999.",
        *_arithmetic(
            "+",
            _ADD,
            "try_add({0}, {1})",
            overload([EXACT, EXACT], _sum_type, _exact_or_double("+")),
        ),
        *_PLUS_TIMES,
    ),
    operator(
        "-",
        "Difference; also of TIMESTAMPs (an INTERVAL) and TIMESTAMP - INTERVAL. `overflow` as for +.",
        *_arithmetic(
            "-",
            _SUBTRACT,
            "try_subtract({0}, {1})",
            overload([EXACT, EXACT], _sum_type, _exact_or_double("-")),
        ),
        *_MINUS_TIMES,
    ),
    operator(
        "*",
        "Product; also of INTERVAL and an integer. `overflow` where it leaves BIGINT.",
        *_arithmetic(
            "*",
            _MULTIPLY,
            "try_multiply({0}, {1})",
            overload([EXACT, EXACT], _product_type, _exact_or_double("*")),
        ),
        *_TIMES_INTERVALS,
    ),
    operator(
        "/",
        "Quotient, always DOUBLE. `division_by_zero` for a zero divisor.",
        overload(
            [DOUBLE, DOUBLE],
            Scalar.DOUBLE,
            f"({{0}} / {_NONZERO})",
            spark="try_divide({0}, {1})",
            fails=Reason.DIVISION_BY_ZERO,
        ),
    ),
    operator(
        "div",
        "Integer quotient, toward zero. `division_by_zero` for a zero divisor and for the lowest BIGINT DIV -1.",
        overload(
            [BIGINT, BIGINT],
            Scalar.BIGINT,
            datafusion=_DIVIDE,
            spark=_SPARK_DIVIDE,
            fails=Reason.DIVISION_BY_ZERO,
        ),
    ),
    operator(
        "%",
        "Remainder, with the sign of the dividend. `division_by_zero` for a zero divisor.",
        overload(
            [BIGINT, BIGINT],
            Scalar.BIGINT,
            "({0} % NULLIF({1}, 0))",
            spark="try_mod({0}, {1})",
            fails=Reason.DIVISION_BY_ZERO,
        ),
        overload(
            [DOUBLE, DOUBLE],
            Scalar.DOUBLE,
            f"({{0}} % {_NONZERO})",
            spark="try_mod({0}, {1})",
            fails=Reason.DIVISION_BY_ZERO,
        ),
        aliases=("mod",),
    ),
    operator(
        "neg",
        "The opposite number, or INTERVAL. `overflow` for the smallest BIGINT.",
        overload(
            [BIGINT],
            Scalar.BIGINT,
            f"(0 - NULLIF({{0}}, {LOWEST}))",
            spark="try_subtract(0L, {0})",
            fails=Reason.OVERFLOW,
        ),
        overload([DECIMAL], first, **written(decimals.negated)),
        overload([DOUBLE], Scalar.DOUBLE, "(- {0})"),
        overload([INTERVAL], Scalar.INTERVAL, "(0 - {0})", spark="try_subtract(0L, {0})"),
    ),
)
