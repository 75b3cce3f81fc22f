"""Clauses behind an aggregate: WITHIN GROUP, IGNORE NULLS, FILTER and OVER."""

from sqlglot import exp

from tidegate.sql.respelled.building import TEXTS, WRITTEN, call, string


def within_group(node: exp.WithinGroup) -> exp.Expression | None:
    """`LISTAGG(x, ',') WITHIN GROUP (ORDER BY y)` is LISTAGG(x, ',' ORDER BY y); MODE() has the value there."""
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.Anonymous) or not isinstance(order, exp.Order):
        return None
    name, given = inner.name.lower(), inner.expressions
    if name == "mode" and not given and len(order.expressions) == 1:
        return call("mode", order.expressions[0].this)
    if name in TEXTS and len(given) == 1 and isinstance(given[0], exp.Distinct):
        value, *others = given[0].expressions
        last = exp.Order(this=others[0] if others else string(","), expressions=order.expressions)
        return call(name, exp.Distinct(expressions=[value, last]))
    if name in TEXTS and len(given) in (1, 2):
        separator = given[1] if len(given) == 2 else string(",")
        return call(name, given[0], exp.Order(this=separator, expressions=order.expressions))
    if name in ("array_agg", "collect_list", "list") and len(given) == 1:
        return call(name, exp.Order(this=given[0], expressions=order.expressions))
    return None


def ignoring_nulls(node: exp.IgnoreNulls) -> exp.Expression | None:
    """All aggregates leave NULLs out, so saying it changes nothing."""
    whole: exp.Expression = node.this
    return whole


_WRAPPED = ("slice", "coalesce", "exp", "make_array", "power")
_INNER = frozenset(
    "array_agg avg corr count covar_pop sum var_pop percentile_cont quantile_cont percentile quantile percentile_disc "
    "quantile_disc approx_percentile approx_quantile approx_percentile_cont percentile_approx".split()
)


def distributed(node: exp.Filter | exp.Window) -> exp.Expression | None:
    """FILTER and OVER behind what has become an expression over aggregates go to each of them."""
    whole: exp.Expression = node.this
    single = isinstance(whole, exp.Anonymous) and whole.name.lower() not in _WRAPPED
    if single or WRITTEN not in whole.meta:
        return None
    for part in list(whole.walk()):
        if isinstance(part, exp.Anonymous) and part.name.lower() in _INNER:
            _put_around(node, part)
    return whole


def _put_around(clause: exp.Filter | exp.Window, aggregate: exp.Anonymous) -> None:
    above = aggregate.parent
    if isinstance(clause, exp.Filter) and isinstance(above, exp.Filter):
        both = exp.And(this=above.expression.this.copy(), expression=clause.expression.this.copy())
        above.set("expression", exp.Where(this=both))
        return
    inner = above if isinstance(above, exp.Filter) else aggregate
    around = clause.copy()
    around.set("this", inner.copy())
    inner.replace(around)
