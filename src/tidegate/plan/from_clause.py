"""FROM: what a query reads.

In: the FROM and joins of a SELECT. Out: `FromClause`: the plan below everything else, the names its columns go by,
and the window functions that were applied to tables. A stream may be joined with static tables, and with streams of the
same windows. A stream without window and aggregates is read through, like a view.
"""

from dataclasses import dataclass

from sqlglot import exp

from tidegate import errors
from tidegate.plan.from_items import FromItem, bind_item, rows_of_windows
from tidegate.plan.limits import MAX_JOINS
from tidegate.plan.logical import Logical
from tidegate.plan.passing import windowed_tables
from tidegate.plan.scope import ScopeInput
from tidegate.plan.surroundings import Surroundings
from tidegate.plan.table_joins import join_items
from tidegate.sql.places import span_of
from tidegate.sql.source import Span
from tidegate.sql.windows import WindowSyntax


@dataclass(frozen=True, slots=True, kw_only=True)
class FromClause:
    """What a query reads, and the names its columns go by; `windows` are those that were put around tables."""

    node: Logical
    scope_inputs: tuple[ScopeInput, ...]
    windows: tuple[WindowSyntax, ...]
    span: Span


def bind_from(select: exp.Select, around: Surroundings) -> FromClause:
    """What the SELECT reads, joined."""
    clause = select.args.get("from_")
    if clause is None:
        instead = "name what to read: SELECT … FROM trades"
        raise errors.no_stream(around.source.location(around.span(select)), instead=instead)
    joins: list[exp.Join] = list(select.args.get("joins") or ())
    if len(joins) > MAX_JOINS:
        at = around.source.location(span_of(joins[MAX_JOINS].this, around.source))
        what = f"a query with more than {MAX_JOINS} joins"
        raise errors.join_not_supported(at, what=what, instead="put some of them into a subquery")
    bound = rows_of_windows if windowed_tables(select, around) > 1 else bind_item
    items = [bound(item, around) for item in (clause.this, *(join.this for join in joins))]
    _refuse_duplicates(items, around)
    if len(items) == 1:
        only = items[0]
        if only.static:
            instead = "a table is joined to a stream; it does not stream itself"
            raise errors.no_stream(around.source.location(only.span), instead=instead)
        node = only.node
        scope_inputs: tuple[ScopeInput, ...] = (ScopeInput(only.alias, only.columns),)
    else:
        where: exp.Where | None = select.args.get("where")
        condition = None if where is None else where.this
        node, scope_inputs = join_items(items, joins, around, where=condition)
    windows = tuple(item.window for item in items if item.window)
    return FromClause(node=node, scope_inputs=scope_inputs, windows=windows, span=items[0].span)


def _refuse_duplicates(items: list[FromItem], around: Surroundings) -> None:
    seen: set[str] = set()
    for item in items:
        if item.alias.lower() in seen:
            raise errors.duplicate_name(
                around.source.location(item.span),
                what="table name",
                name=item.alias,
                hint="give each an alias",
            )
        seen.add(item.alias.lower())
