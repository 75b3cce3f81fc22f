"""Queries that only pass rows on, around queries that window or aggregate.

`SELECT a, b FROM (SELECT … GROUP BY TUMBLE(…)) WHERE n > 5` has one window operator, not two: the outer filter is a
HAVING of the inner query and the outer columns are its output. So retractions, Top-N and identities stay right in every
EMIT mode. Decided here: what counts as passing on, and how the two queries become one.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import TRUE, Expr, Named, SortKey, all_of, conjuncts
from tidegate.plan.aggregates import UserAggregates, find_aggregate
from tidegate.plan.lineage import through
from tidegate.plan.logical import Emission, Having, Logical, Project, TopN
from tidegate.plan.over import has_over
from tidegate.plan.ranking import Ranking, is_bound, ranked, refuse_computed_rank, upper_bound
from tidegate.plan.surroundings import Surroundings
from tidegate.sql.functions.catalogue import find_function
from tidegate.sql.query import table_key


def passes_on(select: exp.Select, around: Surroundings) -> bool:
    """Whether the SELECT neither windows nor aggregates, seen from its syntax."""
    if (
        select.args.get("group")
        or select.args.get("distinct")
        or select.args.get("having")
        or has_over(select)
    ):
        return False
    clauses = around.clauses(select)
    if clauses.window is not None or windowed_tables(select, around) == 1:
        return False
    users = around.settings.aggregates
    return not any(aggregates(item, users) for item in select.expressions)


def windowed_tables(select: exp.Select, around: Surroundings) -> int:
    """How many windows stand around tables in FROM. One is that of the SELECT; of several, each is its table's."""
    return sum(table_key(item) in around.query.table_windows for item in _read(select))


def _read(select: exp.Select) -> list[exp.Expression]:
    clause = select.args.get("from_")
    return [
        part.this for part in ([clause] if clause else []) + list(select.args.get("joins") or ())
    ]


def aggregates(item: exp.Expression, users: UserAggregates) -> bool:
    for node in item.walk(prune=lambda part: isinstance(part, exp.Query)):
        if isinstance(node, exp.Anonymous):
            aggregate = find_aggregate(node.name, users)
            if aggregate is not None and find_function(node.name) is None:
                return True
        elif isinstance(node, (exp.Filter, exp.WithinGroup)):
            return True
    return False


def chosen_behind(inner: Emission, predicate: Expr) -> tuple[Expr, Expr]:
    """What of a condition says how many numbered rows there are, and what chooses among these rows afterwards."""
    assert isinstance(inner.input, Project)
    projection = inner.input
    if not isinstance(projection.input, TopN):
        return predicate, TRUE
    limits: list[Expr] = []
    others: list[Expr] = []
    for part in conjuncts(predicate):
        (limits if is_bound(through(projection.columns, part)) else others).append(part)
    return all_of(*limits), all_of(*others)


def pass_on(
    inner: Emission,
    *,
    columns: Sequence[Named],
    predicate: Expr,
    order: tuple[SortKey, ...],
    limit: int | None,
    ranking: Ranking | None,
    at: errors.Location,
) -> Emission:
    """The inner query with the outer filter, order and columns as its own."""
    assert isinstance(inner.input, Project)
    projection = inner.input
    rest: Logical = projection.input
    condition = through(projection.columns, predicate)
    if isinstance(rest, TopN):
        if limit is not None or ranking is not None:
            raise _over_top_n(at, "ORDER BY, LIMIT or ROW_NUMBER")
        rest = _bounded(rest, condition, at)
    elif predicate != TRUE:
        rest = Having(input=rest, predicate=condition)
    if ranking is not None:
        rest = ranked(rest, ranking.renamed(lambda expr: through(projection.columns, expr)))
    if limit is not None:
        keys = tuple(replace(key, expr=through(projection.columns, key.expr)) for key in order)
        rest = TopN(input=rest, order=keys, limit=limit)
    made = tuple(Named(named.name, through(projection.columns, named.expr)) for named in columns)
    refuse_computed_rank((named.expr for named in made), at)
    return replace(inner, input=Project(input=rest, columns=made))


def _bounded(top: TopN, condition: Expr, at: errors.Location) -> TopN:
    """`WHERE rn <= n` over rows that are numbered is their limit; nothing else is computed behind the numbers."""
    if condition == TRUE:
        return top
    bound = upper_bound(condition, at)
    return replace(top, limit=bound if top.limit is None else min(top.limit, bound))


def _over_top_n(at: errors.Location, what: str) -> errors.TidegateError:
    return errors.not_supported(
        at,
        what=f"{what} over a subquery with LIMIT or ROW_NUMBER",
        instead="put the condition into the inner query",
    )
