"""Linear regression over the rows that have both values: y comes first.

All of it is an expression over means, (co)variances and counts, so it keeps what those keep, and merges as they do.
"""

from collections.abc import Callable

from sqlglot import exp

from tidegate.sql.respelled.building import Respelling, call, made, number, only_if, there


def _pair(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    """x of the rows that have both."""
    return only_if(there(y.copy()), x.copy())


def _spread(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    return call("var_pop", _pair(y, x))


def _slope(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    return exp.Div(
        this=call("covar_pop", y.copy(), x.copy()),
        expression=call("nullif", _spread(y, x), number(0)),
    )


def _intercept(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    rise = exp.Mul(this=exp.Paren(this=_slope(y, x)), expression=call("avg", _pair(y, x)))
    return exp.Sub(this=call("avg", _pair(x, y)), expression=rise)


def _r2(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    """1 where y does not vary, NULL where x does not."""
    level = exp.If(this=exp.EQ(this=_spread(x, y), expression=number(0)), true=number(1))
    none = exp.If(this=exp.EQ(this=_spread(y, x), expression=number(0)), true=exp.Null())
    return exp.Case(
        ifs=[none, level], default=call("power", call("corr", y.copy(), x.copy()), number(2))
    )


def _pairs(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    return call("count", only_if(there(y.copy(), x.copy()), number(1)))


def _of_pairs(name: str, means: str, build: Callable[..., exp.Expression]) -> Respelling:
    return Respelling(
        names=(name,), form=f"{name}(y, x)", means=means, rewrite=made(2, build), aggregate=True
    )


REGRESSION = (
    _of_pairs("regr_count", "rows that have both values", _pairs),
    _of_pairs("regr_avgx", "the mean of x over rows that have both", lambda y, x: call("avg", _pair(y, x))),
    _of_pairs("regr_avgy", "the mean of y over rows that have both", lambda y, x: call("avg", _pair(x, y))),
    _of_pairs("regr_slope", "COVAR_POP(y, x) / VAR_POP(x)", _slope),
    _of_pairs("regr_intercept", "REGR_AVGY(y, x) - REGR_SLOPE(y, x) * REGR_AVGX(y, x)", _intercept),
    _of_pairs("regr_r2", "the square of CORR(y, x)", _r2),
    _of_pairs(
        "regr_sxx", "REGR_COUNT(y, x) * VAR_POP(x)",
        lambda y, x: exp.Mul(this=_pairs(y, x), expression=_spread(y, x)),
    ),
    _of_pairs(
        "regr_syy", "REGR_COUNT(y, x) * VAR_POP(y)",
        lambda y, x: exp.Mul(this=_pairs(y, x), expression=_spread(x, y)),
    ),
    _of_pairs(
        "regr_sxy", "REGR_COUNT(y, x) * COVAR_POP(y, x)",
        lambda y, x: exp.Mul(this=_pairs(y, x), expression=call("covar_pop", y, x)),
    ),
)  # fmt: skip
