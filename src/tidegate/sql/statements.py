"""The syntax tree of statements. Expressions inside are sqlglot trees; everything that streams is ours.

In: parser.py builds these. Next: `plan/` binds them. Every node knows its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from tidegate.model.policies import EmitMode
from tidegate.sql.cursor import Name
from tidegate.sql.lengths import Length
from tidegate.sql.source import SourceText, Span
from tidegate.sql.windows import WindowSyntax

OptionValue = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One `key = value` of WITH (…) or SET."""

    key: Name
    value: OptionValue
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitClause:
    mode: EmitMode
    every: Length | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkClause:
    """ADR-0001's `WATERMARK(lag [, lateness])`."""

    lag: Length
    lateness: Length | None
    span: Span


@dataclass(slots=True, kw_only=True)
class Clauses:
    """The streaming clauses of one SELECT; filled while its tokens are read."""

    window: WindowSyntax | None = None
    watermark: WatermarkClause | None = None
    lateness: Length | None = None
    lateness_span: Span | None = None
    late_to: Name | None = None
    late_to_span: Span | None = None
    emit: EmitClause | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query: sqlglot's tree of it without the streaming parts, and these by where they stand.

    `clauses` is keyed by the offset of the SELECT keyword, `table_windows` (window functions in FROM) by the offset
    of the table name, or of the SELECT of a subquery, that they wrap.
    """

    tree: exp.Expression
    clauses: Mapping[int, Clauses]
    table_windows: Mapping[int, WindowSyntax]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDef:
    """A column of CREATE SOURCE or TABLE: typed, computed (`expr`), or both.

    `metadata`: the key of what comes beside the record; None for a column of the record itself.
    """

    name: Name
    type: exp.DataType | None
    expr: exp.Expression | None
    nullable: bool
    span: Span
    metadata: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkDef:
    """`WATERMARK FOR column [AS expr]`; without `expr` the source moves the watermark."""

    column: Name
    expr: exp.Expression | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    span: Span
    source: SourceText = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Statement):
    name: Name
    or_replace: bool
    if_not_exists: bool
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSource(Create):
    columns: tuple[ColumnDef, ...]
    watermark: WatermarkDef | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(Create):
    columns: tuple[ColumnDef, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateStream(Create):
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSink(Create):
    """Without a stream it is a sink for side outputs."""

    stream: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Statement):
    target: Name
    columns: tuple[Name, ...]
    rows: tuple[tuple[exp.Expression, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Statement):
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Statement):
    kind: str
    name: Name
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Show(Statement):
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCreate(Statement):
    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Statement):
    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Statement):
    level: str
    format: str
    target: Name | Query


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(Statement):
    option: Option
