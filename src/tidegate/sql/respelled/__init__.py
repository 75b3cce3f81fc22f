"""What people write who know another system, in words that are known here: before anything is bound.

In: a syntax tree as it was parsed. Out: the same query in the dialect's own functions and conditions. Decided here:
what is only another way of saying something is rewritten in one pass over the tree, so that no later step knows two
spellings of one meaning; what only has another name is an alias in the catalogues instead. A rewritten call keeps its
place in the text, where messages point, and the name that its column has by default.
"""

from collections.abc import Callable

from sqlglot import exp

from tidegate.sql.respelled import conditions
from tidegate.sql.respelled.aggregates import AGGREGATES
from tidegate.sql.respelled.building import WRITTEN, Respelling, by_name
from tidegate.sql.respelled.clauses import distributed, ignoring_nulls, within_group
from tidegate.sql.respelled.scalars import SCALARS, overlay, struct
from tidegate.sql.respelled.times import TIMES
from tidegate.sql.source import SourceText

__all__ = ["RESPELLED", "WRITTEN", "Respelling", "form_of", "respell", "respelled_names"]

RESPELLED: tuple[Respelling, ...] = (*AGGREGATES, *SCALARS, *TIMES)
_CALLS = by_name(RESPELLED)
_Rewrite = Callable[[exp.Expression, SourceText], exp.Expression | None]


def _call(node: exp.Expression, source: SourceText) -> exp.Expression | None:
    entry = _CALLS.get(node.name.lower())
    meant = None if entry is None else entry.rewrite(list(node.expressions), source)
    if meant is not None:
        meant.meta.update(node.meta)
        meant.meta[WRITTEN] = node.meta.get(WRITTEN, node.name.lower())
    return meant


_REWRITES: dict[type[exp.Expression], _Rewrite] = {
    exp.Anonymous: _call,
    exp.Filter: lambda node, _source: distributed(node),  # type: ignore[arg-type]
    exp.Window: lambda node, _source: distributed(node),  # type: ignore[arg-type]
    exp.WithinGroup: lambda node, _source: within_group(node),  # type: ignore[arg-type]
    exp.IgnoreNulls: lambda node, _source: ignoring_nulls(node),  # type: ignore[arg-type]
    exp.Struct: struct,  # type: ignore[dict-item]
    exp.Overlay: lambda node, _source: overlay(node),  # type: ignore[arg-type]
    exp.Escape: conditions.escaped,  # type: ignore[dict-item]
    exp.SimilarTo: conditions.similar,  # type: ignore[dict-item]
    exp.Between: lambda node, _source: conditions.between(node),  # type: ignore[arg-type]
    exp.EQ: lambda node, _source: conditions.of_rows(node),  # type: ignore[arg-type]
    exp.NEQ: lambda node, _source: conditions.of_rows(node),  # type: ignore[arg-type]
    exp.In: lambda node, _source: conditions.row_in(node),  # type: ignore[arg-type]
    exp.Like: lambda node, _source: conditions.like_any(node),  # type: ignore[arg-type]
    exp.ILike: lambda node, _source: conditions.like_any(node),  # type: ignore[arg-type]
}


def respell(tree: exp.Expression, source: SourceText) -> None:
    """Rewrites what is in the tree, innermost first. The root is a query, which stays."""
    for node in reversed(list(tree.walk(bfs=False))):
        rewrite = _REWRITES.get(type(node)) if isinstance(node, exp.Expression) else None
        meant = (
            rewrite(node, source)
            if rewrite is not None and isinstance(node, exp.Expression)
            else None
        )
        if meant is not None:
            node.replace(meant)


def respelled_names() -> tuple[str, ...]:
    return tuple(_CALLS)


def form_of(name: str) -> str:
    """How the call is written that has this name; empty where there is none."""
    entry = _CALLS.get(name.lower())
    return "" if entry is None else entry.form
