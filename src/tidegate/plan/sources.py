"""CREATE SOURCE and CREATE TABLE: columns, computed columns, the declared watermark, the connector."""

from collections.abc import Sequence

from tidegate import errors
from tidegate.model.connectors import ConnectorSpec
from tidegate.model.expressions import Call, Expr, Field, Literal, Named
from tidegate.model.options import OptionValue, Scope
from tidegate.model.schema import Column, Schema, schema_of
from tidegate.model.types import Scalar
from tidegate.plan.calls import CallRules
from tidegate.plan.catalog import Declared, SourceDef, TableDef
from tidegate.plan.coercion import coerce
from tidegate.plan.diagnostics import Diagnostics
from tidegate.plan.expressions import CLOCK, Context, bind
from tidegate.plan.scope import Scope as NameScope
from tidegate.plan.scope import ScopeInput
from tidegate.plan.settings import Settings, read_connector
from tidegate.plan.types import bind_type
from tidegate.sql.functions.casts import can_cast
from tidegate.sql.source import SourceText
from tidegate.sql.statements import ColumnDef, CreateSource, CreateTable, WatermarkDef


def bind_source(statement: CreateSource, diagnostics: Diagnostics, settings: Settings) -> SourceDef:
    """The source that the statement defines."""
    physical, columns = _bind_columns(statement.columns, statement, diagnostics)
    connector, options = _connector(statement, Scope.SOURCE, diagnostics)
    watermark, metadata = None, {}
    if statement.watermark is not None:
        with diagnostics.catching():
            watermark = _bind_watermark(statement.watermark, physical, columns, statement.source)
    if connector is not None:
        with diagnostics.catching():
            _refuse_unknown_columns(options, physical, statement)
        with diagnostics.catching():
            metadata = _bind_metadata(statement, physical, connector)
    diagnostics.raise_first()
    assert connector is not None
    return SourceDef(
        name=statement.name.text,
        physical=physical,
        columns=columns,
        not_null=frozenset(column.name.text for column in statement.columns if not column.nullable),
        watermark=watermark,
        connector=connector.name,
        options=options,
        metadata=metadata,
        text=statement.source.text[statement.span.start : statement.span.end],
    )


def bind_table(statement: CreateTable, diagnostics: Diagnostics) -> TableDef:
    physical, columns = _bind_columns(statement.columns, statement, diagnostics)
    connector, options = _connector(statement, Scope.TABLE, diagnostics)
    for definition in statement.columns:
        if definition.metadata is not None:
            at = statement.source.location(definition.span)
            problem = "records of a table have none"
            raise errors.bad_metadata(at, key=definition.metadata, problem=problem)
    diagnostics.raise_first()
    assert connector is not None
    return TableDef(
        name=statement.name.text,
        physical=physical,
        columns=columns,
        connector=connector.name,
        options=options,
        text=statement.source.text[statement.span.start : statement.span.end],
    )


def _connector(
    statement: CreateSource | CreateTable, scope: Scope, diagnostics: Diagnostics
) -> tuple[ConnectorSpec | None, dict[str, OptionValue]]:
    place = statement.source.location(statement.name.span)
    found: tuple[ConnectorSpec | None, dict[str, OptionValue]] = (None, {})
    with diagnostics.catching():
        found = read_connector(statement.options, scope=scope, source=statement.source, place=place)
    return found


def _bind_metadata(
    statement: CreateSource, physical: Schema, connector: ConnectorSpec
) -> dict[str, str]:
    """By what keys columns come beside records, where the connector has such a thing of that type."""
    found: dict[str, str] = {}
    for definition in statement.columns:
        key = definition.metadata
        if key is None:
            continue
        at = statement.source.location(definition.span)
        types = connector.metadata.get(key)
        if types is None:
            known = ", ".join(connector.metadata) or "none"
            hint = errors.nearest(key, connector.metadata, otherwise=f"there is {known}")
            problem = f"connector {connector.name} has no such metadata"
            raise errors.bad_metadata(at, key=key, problem=problem, hint=hint)
        column = physical.find(definition.name.text)
        if column is not None and column.type not in types:
            wanted = " or ".join(map(str, types))
            problem = f"it is {wanted}, {column.name} is {column.type}"
            raise errors.bad_metadata(at, key=key, problem=problem)
        found[definition.name.text] = key
    return found


def _refuse_unknown_columns(
    options: dict[str, OptionValue], physical: Schema, statement: CreateSource
) -> None:
    """`event_time_field` and `dedup_key` name columns."""
    for option in statement.options:
        name = option.key.text.lower()
        if name not in ("event_time_field", "dedup_key"):
            continue
        for column in str(options.get(name, "")).split(","):
            if physical.find(column.strip()) is None:
                at = statement.source.location(option.span)
                hint = errors.nearest(
                    column.strip(),
                    physical.names,
                    otherwise=f"columns are {', '.join(physical.names)}",
                )
                raise errors.unknown_column(at, name=column.strip(), hint=hint)


def _bind_columns(
    definitions: Sequence[ColumnDef],
    statement: CreateSource | CreateTable,
    diagnostics: Diagnostics,
) -> tuple[Schema, tuple[Named, ...]]:
    source = statement.source
    with diagnostics.catching():
        _refuse_names(definitions, source)
    physical = []
    for definition in definitions:
        with diagnostics.catching():
            if definition.type is not None and definition.expr is None:
                kind = bind_type(definition.type, source, otherwise=definition.span)
                physical.append(Column(definition.name.text, kind, definition.nullable))
    diagnostics.raise_first()
    schema = Schema(tuple(physical))
    if not physical and not any(definition.expr for definition in definitions):
        raise errors.unexpected_token(
            source.location(statement.span), expected="at least one column", got="none"
        )
    columns = []
    for definition in definitions:
        with diagnostics.catching():
            columns.append(_bind_column(definition, schema, source))
    diagnostics.raise_first()
    return schema, tuple(columns)


def _refuse_names(definitions: Sequence[ColumnDef], source: SourceText) -> None:
    seen: set[str] = set()
    for definition in definitions:
        name = definition.name
        if name.text.startswith("$"):
            raise errors.reserved_name(source.location(name.span), name=name)
        if name.text.lower() in seen:
            raise errors.duplicate_name(source.location(name.span), what="column", name=name)
        seen.add(name.text.lower())


def _bind_column(definition: ColumnDef, physical: Schema, source: SourceText) -> Named:
    if definition.expr is None:
        column = physical.find(definition.name.text)
        assert column is not None
        return Named(definition.name.text, Field(column.name, column.type))
    scope = NameScope(source=source, inputs=(ScopeInput("", physical),))
    context = Context(
        scope=scope, clause="a computed column", call=CallRules().bind, within=definition.span
    )
    expr = bind(definition.expr, context)
    if expr.type is Scalar.INTERVAL:
        raise errors.interval_column(context.at(definition.expr))
    if definition.type is not None:
        kind = bind_type(definition.type, source, otherwise=definition.span)
        if expr.type != kind and not can_cast(expr.type, kind):
            raise errors.impossible_cast(context.at(definition.expr), source=expr.type, target=kind)
        expr = coerce(expr, kind)
    return Named(definition.name.text, expr)


def _bind_watermark(
    definition: WatermarkDef, physical: Schema, columns: tuple[Named, ...], source: SourceText
) -> Declared:
    """`WATERMARK FOR ts [AS ts - INTERVAL …]`: a column of type TIMESTAMP, and how far the watermark stays behind."""
    name = definition.column
    visible = schema_of(columns)
    column = visible.find(name.text)
    at = source.location(name.span)
    if column is None:
        hint = errors.nearest(
            name.text, visible.names, otherwise=f"columns are {', '.join(visible.names)}"
        )
        raise errors.unknown_column(at, name=name, hint=hint)
    if column.type is not Scalar.TIMESTAMP:
        raise errors.watermark_target(
            at,
            name=name,
            problem=f"it is {column.type}, and must be TIMESTAMP",
            hint=_as_timestamp(name.text, column),
        )
    made = {named.name: named.expr for named in columns}
    expr = made[column.name]
    if expr == CLOCK:
        raise errors.watermark_target(
            at, name=name, problem="a PROCTIME() column has the clock for its watermark"
        )
    if definition.expr is None:
        return Declared(expr=expr, column=column.name, lag_us=None)
    scope = NameScope(source=source, inputs=(ScopeInput("", visible),))
    context = Context(
        scope=scope, clause="WATERMARK", call=CallRules().bind, within=definition.span
    )
    lag_us = _lag_us(bind(definition.expr, context), Field(column.name, column.type))
    if lag_us is None or lag_us < 0:
        problem = (
            "it must be the column minus a literal INTERVAL"
            if lag_us is None
            else "its lag must not be negative"
        )
        raise errors.watermark_target(context.at(definition.expr), name=name, problem=problem)
    return Declared(expr=expr, column=column.name, lag_us=lag_us)


def _as_timestamp(name: str, column: Column) -> str:
    if column.type is Scalar.BIGINT:
        return (
            f"compute one: event_time AS TO_TIMESTAMP_MS({name}), "
            "and WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND"
        )
    return f"compute one: event_time AS CAST({name} AS TIMESTAMP)"


def _lag_us(expr: Expr, column: Field) -> int | None:
    if expr == column:
        return 0
    match expr:
        case Call(
            function="-", args=(Field(name=name), Literal(value=int(lag), type=Scalar.INTERVAL))
        ) if name == column.name:
            return lag
        case Call(
            function="+", args=(Field(name=name), Literal(value=int(lag), type=Scalar.INTERVAL))
        ) if name == column.name:
            return -lag
        case _:
            return None
