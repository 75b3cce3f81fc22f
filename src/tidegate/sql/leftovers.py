"""Parts of a query that sqlglot reads and nothing here gives a meaning to.

Its grammar is that of twenty systems: `LIMIT 3 BY k`, `CAST(x AS DATE FORMAT …)`, `UNION ALL BY NAME`. Passing over
such a part would answer another question than was asked, so each kind of node lists the parts that are understood, and
what goes beyond is refused. Kinds that are not listed are either understood whole or refused by the binder.
"""

from sqlglot import exp

from tidegate import errors
from tidegate.sql.places import span_of
from tidegate.sql.source import SourceText, Span

_UNDERSTOOD: dict[type[exp.Expression], frozenset[str]] = {
    kind: frozenset(parts.split())
    for kind, parts in (
        (exp.Anonymous, "this expressions"),
        (exp.Between, "this low high"),
        (exp.Case, "this ifs default"),
        (exp.Cast, "this to"),
        (exp.TryCast, "this to safe"),
        (exp.CTE, "this alias"),
        (exp.Column, "this table db catalog"),
        (exp.Distinct, "expressions on"),
        (exp.Extract, "this expression"),
        (exp.Filter, "this expression"),
        (exp.ILike, "this expression negate"),
        (exp.Is, "this expression"),
        (exp.Like, "this expression negate"),
        (exp.Limit, "expression"),
        (exp.Order, "this expressions"),
        (exp.Ordered, "this desc nulls_first"),
        (exp.Subquery, "this alias with_"),
        (exp.Table, "this db catalog alias sample pivots laterals match_recognize version when"),
        (exp.TableAlias, "this columns"),
        (exp.Union, "this expression distinct with_ order limit"),
        (exp.With, "expressions recursive"),
    )
}


def refuse_leftovers(tree: exp.Expression, source: SourceText, *, whole: Span) -> None:
    """Refuse the first part that would be passed over in silence."""
    for node in tree.walk():
        if not isinstance(node, exp.Expression) or type(node) not in _UNDERSTOOD:
            continue
        understood = _UNDERSTOOD[type(node)]
        for part, value in node.args.items():
            if value and part not in understood:
                at = source.location(span_of(node, source, otherwise=whole))
                what = f"{part.strip('_').replace('_', ' ').upper()} in {node.key.upper()}"
                raise errors.not_supported(
                    at, what=what, instead="leave it out, or say it in other words"
                )
