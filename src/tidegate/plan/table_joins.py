"""The items of FROM, joined from left to right: a stream with static tables, and with streams (`window_join.py`).

Decided here: which joins with tables there are (inner and left), and that every column then goes by `alias.column`, so
that equal names stay apart.
"""

from dataclasses import replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import TRUE, Expr, Field, Named, all_of
from tidegate.plan.calls import CallRules
from tidegate.plan.expressions import Context, bind_condition, operator
from tidegate.plan.from_items import FromItem
from tidegate.plan.logical import Logical, Project, Source, StaticTable, StreamRef, TableJoin
from tidegate.plan.scope import Scope, ScopeInput
from tidegate.plan.surroundings import Surroundings
from tidegate.plan.window_join import StreamJoin, join_streams
from tidegate.sql.places import span_of
from tidegate.sql.source import Span


def _prefixed(item: FromItem) -> FromItem:
    """Every column as `alias.column`, so that equal names of several items stay apart."""
    prefix = f"{item.alias}."
    if isinstance(item.node, (Source, StaticTable, StreamRef)):
        node: Logical = replace(item.node, prefix=prefix)
    else:
        columns = tuple(
            Named(prefix + column.name, Field(column.name, column.type)) for column in item.columns
        )
        node = Project(input=item.node, columns=columns)
    return replace(item, node=node)


def join_items(
    items: list[FromItem],
    joins: list[exp.Join],
    around: Surroundings,
    *,
    where: exp.Expression | None,
) -> tuple[Logical, tuple[ScopeInput, ...]]:
    """The items joined from left to right, and what their columns are called then.

    What streams are joined on may stand in `where`, too.
    """
    items = [_prefixed(item) for item in items]
    if items[0].static:
        items, joins = _stream_first(items, joins, around)
    joined: Logical = items[0].node
    visible = [_scope_input(items[0])]
    for item, join in zip(items[1:], joins, strict=True):
        outer = item.static and _is_outer(join, item, around)
        visible.append(_scope_input(item))
        scope = Scope(
            source=around.source, inputs=tuple(visible), aggregates=around.settings.aggregates
        )
        condition = _condition(join, item, scope, around)
        if item.static:
            joined = TableJoin(input=joined, table=item.node, on=condition, outer=outer)
        else:
            span = _join_place(join, item, around)
            holds: Expr = TRUE
            if where is not None and item is items[-1] and _side(join) in ("", "INNER", "CROSS"):
                context = Context(scope=scope, clause="WHERE", call=CallRules().bind, within=span)
                holds = bind_condition(where, context)
            written = StreamJoin(
                left=joined, right=item.node, join=join, on=condition, where=holds, span=span
            )
            joined = join_streams(written, around)
        using = frozenset(column.name.lower() for column in join.args.get("using") or ())
        visible[-1] = replace(visible[-1], merged=using)
    return joined, tuple(visible)


def _scope_input(item: FromItem) -> ScopeInput:
    return ScopeInput(item.alias, item.columns, prefix=f"{item.alias}.")


def _stream_first(
    items: list[FromItem], joins: list[exp.Join], around: Surroundings
) -> tuple[list[FromItem], list[exp.Join]]:
    """`FROM table JOIN stream`: an inner join reads the same with the stream first."""
    if len(items) != 2 or items[1].static or _side(joins[0]) not in ("", "INNER", "RIGHT"):
        instead = "name the stream first: FROM trades JOIN symbols ON …"
        raise errors.join_not_supported(
            around.source.location(items[0].span),
            what="a join that begins with a table",
            instead=instead,
        )
    swapped = joins[0].copy()
    if _side(joins[0]) == "RIGHT":
        swapped.set("side", "LEFT")
    return [items[1], items[0]], [swapped]


def _side(join: exp.Join) -> str:
    return (join.side or join.kind or "").upper()


def _is_outer(join: exp.Join, item: FromItem, around: Surroundings) -> bool:
    kind = (join.kind or "").upper()
    words = [word for word in (join.method, join.side, join.kind) if word]
    if not join.method and not join.side and kind in ("", "INNER", "CROSS"):
        return False
    if not join.method and _side(join) == "LEFT" and kind in ("", "OUTER"):
        return True
    what = f"a {' '.join(words).upper()} join with a table"
    instead = "a stream can be joined to a table with JOIN or LEFT JOIN"
    raise errors.join_not_supported(around.source.location(item.span), what=what, instead=instead)


def _join_place(join: exp.Join, item: FromItem, around: Surroundings) -> Span:
    """The word JOIN before the item; the item itself after a comma."""
    before = around.source.text[: item.span.start]
    found = before.upper().rfind("JOIN")
    explicit = join.args.get("on") or join.args.get("using") or join.side or join.kind
    written = span_of(join.this, around.source, otherwise=item.span)
    return Span(found, found + 4) if explicit and found >= 0 else written


def _condition(join: exp.Join, item: FromItem, scope: Scope, around: Surroundings) -> Expr:
    context = Context(scope=scope, clause="ON", call=CallRules().bind, within=item.span)
    using = join.args.get("using")
    if using:
        return _using(using, item, scope, context)
    condition = join.args.get("on")
    if condition is None and _side(join) in ("", "INNER", "CROSS"):
        return TRUE  # `FROM trades t, symbols s WHERE …`: a rule makes the condition of the WHERE
    if condition is None:
        instead = "add ON, for example ON t.symbol = s.symbol"
        raise errors.join_not_supported(
            around.source.location(item.span), what="a join without a condition", instead=instead
        )
    return bind_condition(condition, context)


def _using(using: list[exp.Expression], item: FromItem, scope: Scope, context: Context) -> Expr:
    """Equality of the named columns of what was joined so far and of the item."""
    before = Scope(source=scope.source, inputs=scope.inputs[:-1])
    conditions = []
    for column in using:
        place = span_of(column, scope.source, otherwise=item.span)
        before.resolve([column.name], place)
        owner = next(given.alias for given in before.inputs if given.columns.find(column.name))
        pair = (exp.column(column.name, table=owner), exp.column(column.name, table=item.alias))
        conditions.append(operator("=", column, pair, replace(context, within=place)))
    return all_of(*conditions)
