"""Statements that look: SHOW, SHOW CREATE, DESCRIBE, EXPLAIN; each as rows.

Columns are called as DuckDB and Flink call them, where these agree on anything.
"""

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from tidegate.model.schema import Schema
from tidegate.plan.catalog import Definition, SinkDef, SourceDef, StreamDef, TableDef
from tidegate.plan.explain.json import as_object
from tidegate.plan.explain.logical import logical_tree
from tidegate.plan.explain.physical import physical_tree
from tidegate.plan.explain.text import as_text
from tidegate.plan.explain.tree import Node, facts
from tidegate.plan.planner import plan_query
from tidegate.plan.script import NamedQuery, Program
from tidegate.session.accounts import Account, StageAccount
from tidegate.session.answers import Result
from tidegate.sql.secrets import masked, masked_value


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Result:
    schema = pa.schema([(name, pa.string()) for name in columns])
    return Result(
        pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema=schema)
    )


def done(what: str) -> Result:
    """A statement that defines something."""
    return Result(pa.table({"status": [what]}), is_status=True)


def text(told: str) -> Result:
    """An answer in sentences."""
    return Result(pa.table({"text": [told]}), text=told)


_COLUMNS: Mapping[str, Sequence[str]] = {
    "sources": ("name", "connector"),
    "tables": ("name", "connector"),
    "streams": ("name", "kind", "emit"),
    "sinks": ("name", "stream", "connector"),
}


def show(kind: str, program: Program) -> Result:
    """SHOW SOURCES and its like; `kind` is in the plural."""
    found = program.catalog.all_of(kind.removesuffix("s"))
    return _rows(_COLUMNS[kind], [_facts(definition) for definition in found])


def _facts(definition: Definition) -> Sequence[str | None]:
    match definition:
        case SourceDef() | TableDef():
            return definition.name, definition.connector
        case StreamDef():
            return definition.name, definition.stream_kind.value, definition.emission
        case SinkDef():
            return definition.name, definition.stream, definition.connector


def show_create(definition: Definition) -> Result:
    text = f"{masked(definition.text.rstrip())};"
    return Result(pa.table({"name": [definition.name], "sql": [text]}), text=text)


def describe(definition: Definition) -> Result:
    """Columns with their types; of a sink, its options."""
    if isinstance(definition, SinkDef):
        options = {"connector": definition.connector, **definition.options}
        return _rows(
            ["option", "value"],
            [[name, masked_value(name, str(value))] for name, value in options.items()],
        )
    columns = ["column_name", "column_type", "null", "extra"]
    return _rows(columns, list(_described(definition)))


def _described(definition: SourceDef | TableDef | StreamDef) -> list[Sequence[str | None]]:
    if isinstance(definition, StreamDef):
        return [_column(name, kind) for name, kind in _columns(definition.output)]
    rows: list[Sequence[str | None]] = []
    stored = {name.lower() for name, _ in _columns(definition.physical)}
    watermark = definition.watermark if isinstance(definition, SourceDef) else None
    not_null = definition.not_null if isinstance(definition, SourceDef) else frozenset()
    for named in definition.columns:
        extra = [] if named.name.lower() in stored else ["computed"]
        if watermark is not None and watermark.column.lower() == named.name.lower():
            extra.append("watermark")
        null = "NO" if named.name in not_null else "YES"
        rows.append(_column(named.name, str(named.expr.type), null, ", ".join(extra) or None))
    return rows


def _columns(schema: Schema) -> list[tuple[str, str]]:
    return [(column.name, str(column.type)) for column in schema]


def _column(
    name: str, kind: str, null: str = "YES", extra: str | None = None
) -> Sequence[str | None]:
    return name, kind, null, extra


# EXPLAIN


def explain(
    query: NamedQuery, program: Program, *, level: str, form: str, measured: Account | None = None
) -> Result:
    """The plan, and what was `measured` of it."""
    tree = _tree(query, program, level, measured)
    text = (
        json.dumps(as_object(tree), indent=2, ensure_ascii=False)
        if form == "json"
        else as_text(tree)
    )
    return Result(pa.table({"plan": [text]}), text=text)


def _tree(query: NamedQuery, program: Program, level: str, measured: Account | None) -> Node:
    if level == "logical":
        return logical_tree(query.logical)
    plan = physical_tree(plan_query(query, program))
    if measured is None:
        return plan
    stages = measured.stages_of(query.name)
    return Node("Analyze", (("stages", tuple(map(_measured, stages))),), (plan,))


def _measured(stage: StageAccount) -> str:
    shown = facts(
        rows=stage.rows,
        aggregated=stage.aggregated,
        filtered=stage.filtered,
        diverted=stage.diverted,
        emitted=stage.emitted,
        ms=f"{stage.seconds * 1_000:.3f}",
        open_windows=stage.open_windows,
        state_bytes=stage.state_bytes,
    )
    return " ".join([f"{stage.name}:", *(f"{name}={value}" for name, value in shown)])
