"""One item of FROM: a source, a table, a stream or a subquery, with the name that it goes by.

A stream without window and aggregates is read through, like a view.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Field, Named
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SourceDef, StreamDef, TableDef
from tidegate.plan.lineage import own_window_column
from tidegate.plan.logical import Logical, Project, Source, StaticTable, StreamRef
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
_AS_IT_IS = "leave it out: JOIN … ON looks each row up in the table as it is"
_INSTEAD = {"version": _AS_IT_IS, "when": _AS_IT_IS}


@dataclass(frozen=True, slots=True, kw_only=True)
class FromItem:
    """One item of FROM before it is joined. `static`: a table, whose rows are all there from the start."""

    alias: str
    node: Logical
    columns: Schema
    static: bool
    window: WindowSyntax | None
    span: Span


def bind_item(node: exp.Expression, around: Surroundings) -> FromItem:
    span = span_of(node, around.source, otherwise=around.query.span)
    for part, what in _REFUSED_PARTS.items():
        if refused := node.args.get(part):
            if isinstance(refused, exp.Expression):
                span = span_of(refused, around.source, otherwise=span)
            raise errors.not_supported(
                around.source.location(span), what=what, instead=_INSTEAD.get(part, "")
            )
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


def rows_of_windows(node: exp.Expression, around: Surroundings) -> FromItem:
    """The same; a table with a window around it is the rows of its windows, as `(SELECT * FROM TABLE(TUMBLE(…)))`."""
    item = bind_item(node, around)
    if item.window is None:
        return item
    rows = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node))
    inner = around.bind_query(rows, around.inside(around.source.location(item.span)))
    return replace(item, node=inner, columns=inner.schema, window=None)


def _with_alias(item: FromItem, node: exp.Expression, around: Surroundings) -> FromItem:
    alias = node.args.get("alias")
    if alias is None:
        return item
    name = alias.this
    if name is not None and not isinstance(name, exp.Identifier):
        at = around.source.location(item.span)
        raise errors.not_supported(at, what="this alias", instead="an alias is a name")
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
        item if name is None else replace(item, alias=name.name, span=own_span(name) or item.span)
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
