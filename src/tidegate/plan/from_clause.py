"""FROM: what a query reads.

In: the FROM and joins of a SELECT. Out: `FromClause`: the plan below everything else, the names its columns go by,
and the window functions that were applied to tables. A stream may be joined with static tables; joins of streams are
refused. A stream without window and aggregates is read through, like a view.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import TRUE, Expr, Field, Named, all_of
from tidegate.model.schema import Schema
from tidegate.plan.calls import CallRules
from tidegate.plan.catalog import SourceDef, StreamDef, TableDef
from tidegate.plan.expressions import Context, bind_condition, operator
from tidegate.plan.limits import MAX_JOINS
from tidegate.plan.lineage import own_window_column
from tidegate.plan.logical import Logical, Project, Source, StaticTable, StreamRef, TableJoin
from tidegate.plan.scope import Scope, ScopeInput
from tidegate.plan.surroundings import Surroundings
from tidegate.sql.places import own_span, span_of
from tidegate.sql.query import table_key
from tidegate.sql.source import Span
from tidegate.sql.windows import WindowSyntax

_REFUSED_PARTS = {
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "laterals": "LATERAL",
    "match_recognize": "MATCH_RECOGNIZE",
    "version": "FOR SYSTEM_TIME AS OF",
    "when": "FOR SYSTEM_TIME AS OF",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FromItem:
    """One item of FROM before it is joined. `static`: a table, whose rows are all there from the start."""

    alias: str
    node: Logical
    columns: Schema
    static: bool
    window: WindowSyntax | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class FromClause:
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
    items = [_bind_item(clause.this, around), *(_bind_item(join.this, around) for join in joins)]
    _refuse_duplicates(items, around)
    if len(items) == 1:
        only = items[0]
        if only.static:
            instead = "a table is joined to a stream; it does not stream itself"
            raise errors.no_stream(around.source.location(only.span), instead=instead)
        return FromClause(
            node=only.node,
            scope_inputs=(ScopeInput(only.alias, only.columns),),
            windows=(only.window,) if only.window else (),
            span=only.span,
        )
    return _joined([_prefixed(item) for item in items], joins, around)


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


def _bind_item(node: exp.Expression, around: Surroundings) -> FromItem:
    span = span_of(node, around.source, otherwise=around.query.span)
    for part, what in _REFUSED_PARTS.items():
        if refused := node.args.get(part):
            if isinstance(refused, exp.Expression):
                span = span_of(refused, around.source, otherwise=span)
            raise errors.not_supported(around.source.location(span), what=what, instead="")
    match node:
        case exp.Table():
            item = _bind_table(node, span, around)
        case exp.Subquery():
            item = _bind_subquery(node, node.this, span, around, names_in=around)
        case exp.Unnest() | exp.Lateral() | exp.Values():
            raise errors.not_supported(
                around.source.location(span), what=f"{node.key.upper()} in FROM", instead=""
            )
        case _:
            raise errors.not_supported(
                around.source.location(span),
                what="this item of FROM",
                instead="name a source, table or stream",
            )
    return _with_alias(item, node, around)


def _with_alias(item: FromItem, node: exp.Expression, around: Surroundings) -> FromItem:
    alias = node.args.get("alias")
    if alias is None:
        return item
    names = [column.name for column in alias.args.get("columns") or ()]
    if names and len(names) != len(item.columns):
        at = around.source.location(item.span)
        raise errors.columns_differ(
            at, what=f"{alias.name} and its column names", left=len(item.columns), right=len(names)
        )
    if names:
        columns = tuple(
            Named(name, Field(column.name, column.type))
            for name, column in zip(names, item.columns, strict=True)
        )
        renamed = Project(input=item.node, columns=columns)
        item = replace(item, node=renamed, columns=renamed.schema)
    return (
        replace(item, alias=alias.name, span=own_span(alias.this) or item.span)
        if alias.name
        else item
    )


def _bind_table(node: exp.Table, span: Span, around: Surroundings) -> FromItem:
    if not isinstance(node.this, exp.Identifier):
        name = node.this.name if node.this is not None else "this"
        hint = "functions in FROM are TUMBLE, HOP, CUMULATE and SESSION"
        head = (own_span(node.this) if node.this is not None else None) or span
        raise errors.unknown_function(around.source.location(head), name=name.upper(), hint=hint)
    name = ".".join(part.name for part in node.parts)
    place = own_span(node.this) or span
    window = around.query.table_windows.get(table_key(node))
    if name.lower() in around.names:
        named = around.names[name.lower()]
        inner = replace(around, names=named.names)
        item = _bind_subquery(node, named.tree, place, inner, names_in=around)
        return replace(item, alias=name, window=window)
    definition = around.catalog.find(name)
    around.reads.add(name.lower())
    match definition:
        case SourceDef():
            return _source_item(definition, window, place)
        case TableDef():
            return _table_item(definition, window, place, around)
        case StreamDef():
            if definition.stateless:
                around.budget.spend_plan(definition.logical, around.source.location(place))
            return _stream_item(definition, window, place)
        case None:
            hint = around.catalog.suggestion(name)
            raise errors.unknown_relation(around.source.location(place), name=name, hint=hint)
        case _:
            at = around.source.location(place)
            raise errors.wrong_kind_of_relation(
                at, name=name, kind="sink", statement="FROM", expected="source or stream"
            )


def _computed(physical: Schema, columns: tuple[Named, ...], node: Logical) -> Logical:
    plain = all(
        isinstance(named.expr, Field) and named.expr.name == named.name for named in columns
    )
    return node if plain and len(columns) == len(physical) else Project(input=node, columns=columns)


def _source_item(definition: SourceDef, window: WindowSyntax | None, span: Span) -> FromItem:
    base = Source(name=definition.name, columns=definition.physical, connector=definition.connector)
    node = _computed(definition.physical, definition.columns, base)
    return FromItem(
        alias=definition.name,
        node=node,
        columns=node.schema,
        static=False,
        window=window,
        span=span,
    )


def _table_item(
    definition: TableDef, window: WindowSyntax | None, span: Span, around: Surroundings
) -> FromItem:
    if window is not None:
        what = f"{window.spelling} over the static table {definition.name}"
        raise errors.not_supported(
            around.source.location(window.span), what=what, instead="windows need a stream"
        )
    base = StaticTable(
        name=definition.name, columns=definition.physical, connector=definition.connector
    )
    node = _computed(definition.physical, definition.columns, base)
    return FromItem(
        alias=definition.name, node=node, columns=node.schema, static=True, window=None, span=span
    )


def _stream_item(definition: StreamDef, window: WindowSyntax | None, span: Span) -> FromItem:
    if definition.stateless:
        node = definition.logical
        return FromItem(
            alias=definition.name,
            node=node,
            columns=definition.output,
            static=False,
            window=window,
            span=span,
        )
    known = (
        (column.name, own_window_column(definition.logical, Field(column.name, column.type)))
        for column in definition.output
    )
    reference = StreamRef(
        name=definition.name,
        columns=definition.output,
        kind=definition.stream_kind,
        window_columns=tuple((name, meaning) for name, meaning in known if meaning),
    )
    return FromItem(
        alias=definition.name,
        node=reference,
        columns=definition.output,
        static=False,
        window=window,
        span=span,
    )


def _bind_subquery(
    node: exp.Expression,
    tree: exp.Expression,
    span: Span,
    around: Surroundings,
    *,
    names_in: Surroundings,
) -> FromItem:
    inner = around.bind_query(tree, around.inside(around.source.location(span)))
    window = (
        names_in.query.table_windows.get(table_key(node))
        if isinstance(node, exp.Subquery)
        else None
    )
    return FromItem(
        alias="", node=inner, columns=inner.schema, static=False, window=window, span=span
    )


# Joins


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


def _joined(items: list[FromItem], joins: list[exp.Join], around: Surroundings) -> FromClause:
    first = items[0]
    if first.static:
        items, joins = _stream_first(items, joins, around)
    joined = items[0].node
    visible = [_scope_input(items[0])]
    for item, join in zip(items[1:], joins, strict=True):
        if not item.static:
            raise _refused_join(item, join, around)
        outer = _is_outer(join, item, around)
        visible.append(_scope_input(item))
        scope = Scope(source=around.source, inputs=tuple(visible))
        condition = _condition(join, item, scope, around)
        joined = TableJoin(input=joined, table=item.node, on=condition, outer=outer)
    windows = tuple(item.window for item in items if item.window)
    return FromClause(
        node=joined,
        scope_inputs=tuple(_scope_input(item) for item in items),
        windows=windows,
        span=items[0].span,
    )


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
    side = _side(join)
    if side in ("", "INNER", "CROSS"):
        return False
    if side == "LEFT" and (join.kind or "").upper() in ("", "OUTER"):
        return True
    what = f"a {side} {(join.kind or '').upper()} join with a table".replace("  ", " ")
    instead = "a stream can be joined to a table with JOIN or LEFT JOIN"
    raise errors.join_not_supported(around.source.location(item.span), what=what, instead=instead)


def _refused_join(item: FromItem, join: exp.Join, around: Surroundings) -> errors.TidegateError:
    instead = "join a stream with a table (CREATE TABLE), or union the streams and aggregate"
    what = "an outer join of two streams" if join.side else "a join of two streams"
    return errors.join_not_supported(
        around.source.location(_join_place(join, item, around)), what=what, instead=instead
    )


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
