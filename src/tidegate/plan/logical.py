"""The logical plan: what a query means, operator by operator.

A closed union of frozen nodes; `schema` says what comes out of each. EXPLAIN LOGICAL prints exactly this tree.
Names that begin with `$` are made by the planner: `$a0` is an aggregate, `$window_start` and its like belong to the
window of the query.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tidegate.model.expressions import Expr, Field, Named, SortKey
from tidegate.model.options import OptionValue
from tidegate.model.policies import Emit, StreamKind, TimeMode, WatermarkOrigin
from tidegate.model.schema import Column, Schema, schema_of
from tidegate.model.types import DataType, Scalar
from tidegate.model.windows import Interval, Sliding, Window
from tidegate.plan.decompositions import AggregateCall


class Rung(StrEnum):
    """Where an event time comes from; the ladder is climbed down per row."""

    QUERY = "query"
    OPTION = "option"
    DECLARED = "declared"
    UPSTREAM = "upstream"
    METADATA = "metadata"
    PROCESSING = "processing"


@dataclass(frozen=True, slots=True)
class TimeStep:
    rung: Rung
    expr: Expr | None


WINDOW_COLUMNS: dict[str, DataType] = {
    "window_start": Scalar.TIMESTAMP,
    "window_end": Scalar.TIMESTAMP,
    "window_time": Scalar.TIMESTAMP,
    "window_id": Scalar.VARCHAR,
}


def window_field(name: str) -> Field:
    """The column of the query's own window with this name."""
    return Field(f"${name}", WINDOW_COLUMNS[name])


RANK = Field("$rank", Scalar.BIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Rows of a source. `prefix` goes before every name where several inputs are read."""

    name: str
    columns: Schema
    connector: str
    prefix: str = ""

    @property
    def schema(self) -> Schema:
        return prefixed(self.columns, self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticTable:
    name: str
    columns: Schema
    connector: str
    prefix: str = ""

    @property
    def schema(self) -> Schema:
        return prefixed(self.columns, self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRef:
    """The emitted rows of another stream; `window_columns` are those of them that mean an edge of its window."""

    name: str
    columns: Schema
    kind: StreamKind
    window_columns: tuple[tuple[str, str], ...] = ()
    prefix: str = ""

    @property
    def schema(self) -> Schema:
        return prefixed(self.columns, self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    input: "Logical"
    columns: tuple[Named, ...]

    @property
    def schema(self) -> Schema:
        return schema_of(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    input: "Logical"
    predicate: Expr

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class TableJoin:
    """Rows of a stream joined with a static table; `outer` keeps rows without a match."""

    input: "Logical"
    table: "Logical"
    on: Expr
    outer: bool

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, *self.table.schema))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowJoin:
    """Rows of two windowed streams that are of one window and equal in `keys`, given as pairs.

    `edges` pairs the columns that say which window a row is of, with what they mean; `keeps_left` and `keeps_right` say
    which side's rows come out beside NULLs where the other has none for them.
    """

    left: "Logical"
    right: "Logical"
    keys: tuple[tuple[Expr, Expr], ...]
    edges: tuple[tuple[Expr, Expr, str], ...]
    keeps_left: bool
    keeps_right: bool

    @property
    def schema(self) -> Schema:
        return Schema((*self.left.schema, *self.right.schema))

    @property
    def manner(self) -> str:
        return manner_of(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalJoin:
    """Rows of two streams that are equal in `keys`, given as pairs, and not too far apart in time."""

    left: "Logical"
    right: "Logical"
    keys: tuple[tuple[Expr, Expr], ...]
    interval: Interval
    keeps_left: bool
    keeps_right: bool
    edges: ClassVar[tuple[tuple[Expr, Expr, str], ...]] = ()

    @property
    def schema(self) -> Schema:
        return Schema((*self.left.schema, *self.right.schema))

    @property
    def manner(self) -> str:
        return manner_of(self)


def manner_of(join: WindowJoin | IntervalJoin) -> str:
    """What SQL calls it."""
    names = {(False, False): "inner", (True, False): "left", (False, True): "right"}
    return names.get((join.keeps_left, join.keeps_right), "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionAll:
    inputs: "tuple[Logical, ...]"

    @property
    def schema(self) -> Schema:
        return self.inputs[0].schema


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """Gives each row its time, and says what moves the watermark. Below every filter: removed rows advance it too."""

    input: "Logical"
    mode: TimeMode
    ladder: tuple[TimeStep, ...]
    watermark: WatermarkOrigin
    lag_us: int

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """Assigns rows to windows.

    `partition_by` is set only where a window kind is kept per key without grouping by it; `inherited` are the input's
    columns that say which window a row already belongs to.
    """

    input: "Logical"
    window: Window
    partition_by: tuple[Expr, ...] = ()
    inherited: tuple[tuple[Expr, str], ...] = ()

    @property
    def schema(self) -> Schema:
        own = tuple(Column(f"${name}", kind) for name, kind in WINDOW_COLUMNS.items())
        return Schema((*self.input.schema, *own))


@dataclass(frozen=True, slots=True)
class NamedAggregate:
    name: str
    call: AggregateCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One row per group (and window): keys as `$k0` …, aggregates as `$a0` …."""

    input: "Logical"
    keys: tuple[Named, ...]
    aggregates: tuple[NamedAggregate, ...]

    @property
    def schema(self) -> Schema:
        own = tuple(column for column in self.input.schema if column.name[1:] in WINDOW_COLUMNS)
        keys = schema_of(self.keys)
        return Schema(
            (*keys, *(Column(named.name, named.call.type) for named in self.aggregates), *own)
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows that one OVER clause means: a sliding window of the rows with the same keys."""

    window: Sliding
    partition_by: tuple[Expr, ...]
    aggregates: tuple[NamedAggregate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverAggregate:
    """`agg OVER (…)`: each row, with the aggregates of its own frames."""

    input: "Logical"
    frames: tuple[Frame, ...]

    @property
    def schema(self) -> Schema:
        made = (named for frame in self.frames for named in frame.aggregates)
        return Schema(
            (*self.input.schema, *(Column(named.name, named.call.type) for named in made))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Having:
    input: "Logical"
    predicate: Expr

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class TopN:
    """Within each window (and emission) and equal values of `within`: the first `limit` rows by the order, numbered."""

    input: "Logical"
    order: tuple[SortKey, ...]
    limit: int | None
    within: tuple[Expr, ...] = ()

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, Column(RANK.name, RANK.type)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """The top of every query, and of every windowed or grouped subquery. `options` are those it sets itself."""

    input: "Logical"
    emit: Emit
    kind: StreamKind
    lateness_us: int
    options: tuple[tuple[str, OptionValue], ...] = ()

    @property
    def schema(self) -> Schema:
        return self.input.schema


Logical = (
    Source | StaticTable | StreamRef | Project | Filter | TableJoin | WindowJoin | IntervalJoin | UnionAll | EventTime
    | Windowed | Aggregate | OverAggregate | Having | TopN | Emission
)  # fmt: skip


def prefixed(schema: Schema, prefix: str) -> Schema:
    return (
        Schema(
            tuple(Column(prefix + column.name, column.type, column.nullable) for column in schema)
        )
        if prefix
        else schema
    )


def inputs(node: Logical) -> tuple[Logical, ...]:
    match node:
        case Source() | StaticTable() | StreamRef():
            return ()
        case TableJoin(input=input, table=table):
            return (input, table)
        case WindowJoin(left=left, right=right) | IntervalJoin(left=left, right=right):
            return (left, right)
        case UnionAll(inputs=parts):
            return parts
        case _:
            return (node.input,)


def walk(node: Logical) -> Iterator[Logical]:
    """The node and all below it, top first."""
    yield node
    for part in inputs(node):
        yield from walk(part)
