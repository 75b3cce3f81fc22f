"""Aggregate calls of other systems that are short for ours, or for an expression over them."""

from sqlglot import exp

from tidegate.sql.respelled.building import (
    TEXTS,
    Arguments,
    Respelling,
    Rewrite,
    call,
    constant_count,
    made,
    number,
    only_if,
    slice_of,
    string,
    there,
)
from tidegate.sql.respelled.regression import REGRESSION
from tidegate.sql.source import SourceText


def _distinct(*values: exp.Expression) -> exp.Distinct:
    return exp.Distinct(expressions=list(values))


def _by(value: exp.Expression, key: exp.Expression, *, descending: bool) -> exp.Order:
    """`value ORDER BY key`, as it stands inside a call."""
    item = exp.Ordered(this=key, desc=descending, nulls_first=False)
    return exp.Order(this=value, expressions=[item])


# COUNT of several values


def _count(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """Rows in which no value is NULL, and different combinations of such values."""
    if len(given) == 1 and isinstance(given[0], exp.Column) and isinstance(given[0].this, exp.Star):
        return call("count", exp.Star())
    if len(given) == 1 and isinstance(given[0], exp.Distinct):
        values = given[0].expressions
        if len(values) < 2:
            return None
        return call("count", _distinct(only_if(there(*_copies(values)), _combination(values))))
    return call("count", only_if(there(*given), number(1))) if len(given) > 1 else None


def _copies(values: Arguments) -> Arguments:
    return [value.copy() for value in values]


def _combination(values: Arguments) -> exp.Expression:
    """One text for several values, different for different ones: each after its length."""
    texts = [exp.Cast(this=value, to=exp.DataType.build("varchar")) for value in values]
    parts: Arguments = []
    for text in texts:
        length = exp.Cast(this=call("length", text), to=exp.DataType.build("varchar"))
        parts += [length, string(":"), text.copy()]
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=part)
    return whole


# The first of several


def _edge(one: str, *, last: bool) -> Rewrite:
    """FIRST and LAST: without NULLs in any case; so many; or by another order than time."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        if len(given) == 2 and isinstance(given[1], exp.Boolean) and given[1].this:
            return call(one, given[0])
        if len(given) == 2 and (count := constant_count(given[1])):
            every = call("array_agg", given[0])
            return _last_of(every, count) if last else slice_of(every, count)
        ordered = given[0] if len(given) == 1 else None
        if isinstance(ordered, exp.Order) and len(ordered.expressions) == 1:
            key = ordered.expressions[0]
            latest = bool(key.args.get("desc")) != last
            return call("max_by" if latest else "min_by", ordered.this, key.this)
        return None

    return rewrite


def _last_of(array: exp.Expression, count: int) -> exp.Expression:
    size = call("cardinality", array.copy())
    start = call("greatest", exp.Sub(this=size, expression=number(count - 1)), number(1))
    return call("slice", array, start, number(count))


def _most(*, largest: bool, distinct: bool = False) -> Rewrite:
    """`MAX(x, n)` and TOPK: the n largest values, as an array."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        count = constant_count(given[1]) if len(given) == 2 else None
        if not count:
            return None
        value: exp.Expression = given[0]
        if distinct:
            order = _by(value, value.copy(), descending=largest)
            every = call("array_agg", _distinct(order))
        else:
            every = call("array_agg", _by(value, value.copy(), descending=largest))
        return slice_of(every, count)

    return rewrite


def _most_by(*, largest: bool) -> Rewrite:
    """`MAX_BY(x, y, n)`: x of the n rows with the largest y; rows where one of them is NULL do not count."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        count = constant_count(given[2]) if len(given) == 3 else None
        if not count:
            return None
        value, key = given[0], given[1]
        every = call("array_agg", _by(value, key, descending=largest))
        with_key = exp.Where(this=there(key.copy()))
        return slice_of(exp.Filter(this=every, expression=with_key), count)

    return rewrite


# Forms


def _joined(name: str) -> Rewrite:
    """The separator is a comma if there is none."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        order = given[0] if len(given) == 1 and isinstance(given[0], exp.Order) else None
        values: Arguments = [order.this] if order is not None else given
        if len(values) != 1 or (
            isinstance(values[0], exp.Distinct) and len(values[0].expressions) > 1
        ):
            return None
        if isinstance(values[0], exp.Distinct):
            values = [_distinct(*values[0].expressions, string(","))]
        else:
            values = [values[0], string(",")]
        if order is not None:
            values[-1] = exp.Order(this=values[-1], expressions=order.expressions)
        return call(name, *values)

    return rewrite


def _without_accuracy(name: str, count: int) -> Rewrite:
    """How exact an approximate answer has to be: ours are as exact whatever is asked for."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        exact = len(given) == count + 1 and isinstance(given[count], exp.Literal)
        return call(name, *given[:count]) if exact else None

    return rewrite


def _quantile(name: str) -> Rewrite:
    """Several quantiles at once are an array of them."""
    without = _without_accuracy(name, 2)

    def rewrite(given: Arguments, source: SourceText) -> exp.Expression | None:
        if len(given) in (2, 3) and isinstance(given[1], exp.Array) and given[1].expressions:
            each = [call(name, given[0].copy(), part) for part in given[1].expressions]
            some = exp.GT(this=call("count", given[0].copy()), expression=number(0))
            return only_if(some, call("make_array", *each))
        return without(given, source) if name.startswith("approx") else None

    return rewrite


def _where(name: str) -> Rewrite:
    """ClickHouse's and Timeplus' `sumIf(x, c)`."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        if len(given) != 2:
            return None
        return exp.Filter(this=call(name, given[0]), expression=exp.Where(this=given[1]))

    return rewrite


# The table


def _entry(names: str, form: str, means: str, rewrite: Rewrite) -> Respelling:
    return Respelling(
        names=tuple(names.split()), form=form, means=means, rewrite=rewrite, aggregate=True
    )


def _set(value: exp.Expression) -> exp.Expression:
    return call("array_agg", _distinct(value))


def _counted_if(condition: exp.Expression) -> exp.Expression:
    return call("count", only_if(condition, number(1)))


def _different(value: exp.Expression) -> exp.Expression:
    return call("count", _distinct(value))


def _sum_or_zero(value: exp.Expression) -> exp.Expression:
    return call("coalesce", call("sum", value), number(0))


def _geometric_mean(value: exp.Expression) -> exp.Expression:
    return call("exp", call("avg", call("ln", value)))


_NULLS = "which leaves NULLs out anyway"
_QUANTILES = (
    "percentile_cont quantile_cont percentile quantile percentile_disc quantile_disc "
    "approx_percentile approx_quantile approx_percentile_cont percentile_approx"
).split()

AGGREGATES = (
    _entry(
        "collect_set group_uniq_array", "collect_set(x)", "ARRAY_AGG(DISTINCT x)", made(1, _set)
    ),
    _entry(
        "count_if countif",
        "count_if(condition)",
        "COUNT(CASE WHEN condition THEN 1 END)",
        made(1, _counted_if),
    ),
    _entry(
        "count",
        "count(x, y)",
        "the rows in which neither is NULL; COUNT(DISTINCT x, y): different such pairs",
        _count,
    ),
    _entry(
        "count_distinct uniq uniq_exact",
        "count_distinct(x)",
        "COUNT(DISTINCT x)",
        made(1, _different),
    ),
    _entry(
        "first first_value any_value earliest earliest_by_offset",
        "first(x, true)",
        f"FIRST(x), {_NULLS}; (x, n): the first n, an ARRAY; (x ORDER BY y): MIN_BY(x, y)",
        _edge("first_value", last=False),
    ),
    _entry(
        "last last_value latest latest_by_offset",
        "last(x, true)",
        f"LAST(x), {_NULLS}; (x, n): the last n, an ARRAY; (x ORDER BY y): MAX_BY(x, y)",
        _edge("last_value", last=True),
    ),
    _entry("max", "max(x, n)", "the n largest values, an ARRAY", _most(largest=True)),
    _entry("min", "min(x, n)", "the n smallest values, an ARRAY", _most(largest=False)),
    _entry("topk", "topk(x, n)", "MAX(x, n)", _most(largest=True)),
    _entry(
        "topkdistinct",
        "topkdistinct(x, n)",
        "the n largest different values, an ARRAY",
        _most(largest=True, distinct=True),
    ),
    _entry(
        "max_by arg_max argmax",
        "max_by(x, y, n)",
        "x of the n rows with the largest y, an ARRAY",
        _most_by(largest=True),
    ),
    _entry(
        "min_by arg_min argmin",
        "min_by(x, y, n)",
        "x of the n rows with the smallest y, an ARRAY",
        _most_by(largest=False),
    ),
    *(_entry(name, f"{name}(x)", f"{name.upper()}(x, ',')", _joined(name)) for name in TEXTS),
    *(
        _entry(
            name,
            f"{name}(x, ARRAY[p, q])",
            "an ARRAY of one value for each; NULL where there are none",
            _quantile(name),
        )
        for name in _QUANTILES
    ),
    _entry(
        "approx_count_distinct",
        "approx_count_distinct(x, error)",
        "APPROX_COUNT_DISTINCT(x)",
        _without_accuracy("approx_count_distinct", 1),
    ),
    *(
        _entry(
            f"{name}_if {name}if",
            f"{name}_if(x, condition)",
            f"{name.upper()}(x) FILTER (WHERE condition)",
            _where(name),
        )
        for name in ("sum", "avg", "min", "max", "any_value")
    ),
    _entry("sum0", "sum0(x)", "COALESCE(SUM(x), 0)", made(1, _sum_or_zero)),
    _entry("geomean geometric_mean", "geomean(x)", "EXP(AVG(LN(x)))", made(1, _geometric_mean)),
    *REGRESSION,
)
