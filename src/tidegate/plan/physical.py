"""The physical plan: what engines run.

A plan is a row of stages, inner queries first. A stage is one window operator with the row SQL that feeds it, one
branch per input (a UNION ALL has several). Rows stay in the engine's SQL up to the seam; behind it, per window, are the
kernel's columns. Choices that rules made stand in `decisions`, each with its reason. Names that begin with `$`:
`$k0` keys, `$x0` what aggregates and outputs need per row, `$p0` partial columns, `$a0` and `$o0` aggregates, `$ts` the
event time in microseconds, `$pane` the pane's number or minus the code of what became of the row.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from tidegate.model.calendar import PIECES_FROM_US, Ruler
from tidegate.model.expressions import Expr, Field, Named, SortKey
from tidegate.model.grid import Even
from tidegate.model.options import OptionValue
from tidegate.model.partials import FinishSpec, PartialSpec
from tidegate.model.policies import (
    Emit,
    MissingEventTime,
    PreEpoch,
    StreamKind,
    TimeMode,
    WatermarkOrigin,
)
from tidegate.model.schema import Schema
from tidegate.model.types import Scalar
from tidegate.model.windows import Sliding, Window
from tidegate.plan.logical import NamedAggregate, Rung

TS = Field("$ts", Scalar.BIGINT)
PANE = Field("$pane", Scalar.BIGINT)
CODE = Field("$code", Scalar.BIGINT)
SIDE = Field("$side", Scalar.BIGINT)


class InputKind(StrEnum):
    SOURCE = "source"
    STREAM = "stream"
    STAGE = "stage"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Where rows come from.

    `columns` pairs the name in the plan with the name in the input, for what is read of it; `originals` does so for all
    columns of `schema`.
    """

    kind: InputKind
    name: str
    columns: tuple[tuple[str, str], ...]
    originals: tuple[tuple[str, str], ...]
    schema: Schema
    predicate: Expr
    connector: str = ""

    @property
    def whole(self) -> "Input":
        """The same rows with all their columns."""
        return replace(self, columns=self.originals)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLookup:
    """A static table joined to the rows.

    `columns` are those of the table, in terms of its own; `matched` names the mark of a match.
    """

    table: Input
    columns: tuple[Named, ...]
    on: Expr
    outer: bool
    matched: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTime:
    """How rows of a branch get their event time, and what moves the branch's watermark.

    `partitioned`: each partition of the source moves it by itself (`$partition`).
    """

    mode: TimeMode
    ladder: tuple[tuple[Rung, Expr], ...]
    watermark: WatermarkOrigin
    lag_us: int
    on_missing: MissingEventTime
    pre_epoch: PreEpoch
    idle_timeout_us: int | None = None
    max_future_skew_us: int | None = None
    partitioned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One input of a stage, with everything that is computed per row of it.

    `columns` have the same names in every branch.
    """

    input: Input
    lookups: tuple[TableLookup, ...]
    predicate: Expr
    time: RowTime | None
    columns: tuple[Named, ...]


class StageKind(StrEnum):
    """What a stage keeps: nothing, groups, rows of windows, rows within reach of triggers, rows of two sides.

    Rows of two sides are of one window (`JOIN`), or within an interval of each other (`MEETING`).
    """

    STATELESS = "stateless"
    AGGREGATE = "aggregate"
    ROWS = "rows"
    SLIDING = "sliding"
    JOIN = "join"
    MEETING = "meeting"


class Routing(StrEnum):
    PARTIALS = "partials"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between ways that mean the same."""

    rule: str
    choice: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    """Pieces of the time axis that rows are aggregated in.

    `copies` is 1, or how many windows each row goes to directly; a pane then stands for the window that begins with it.
    """

    width_us: int
    offset_us: int
    copies: int = 1

    @property
    def marks(self) -> Even:
        return Even(width_us=self.width_us, offset_us=self.offset_us)

    def number(self, instant_us: int) -> int:
        """`$pane` of a row of that instant."""
        return self.marks.number(instant_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Pieces of the panes of a calendar: `$pane` is where one begins, in microseconds from `PIECES_FROM_US`.

    One begins at each of `cuts_us`, counted from every multiple of the width; they ascend, and are less than it.
    """

    copies: ClassVar[int] = 1
    width_us: int
    cuts_us: tuple[int, ...]
    marks: Ruler

    def number(self, instant_us: int) -> int:
        """`$pane` of a row of that instant, where a piece begins then."""
        return instant_us - PIECES_FROM_US


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSpec:
    """A frame of OVER in terms of row columns."""

    window: Sliding
    partition_by: tuple[str, ...]
    aggregates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSpec:
    """Which row columns are of which side of a join, and which sides' rows come out without a match, too.

    The row column `$side` is 0 in branches of the left side, and 1 in those of the right.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    keeps_left: bool
    keeps_right: bool
    manner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dedup:
    """Rows with equal keys less than that apart, or at that distance, are one; None: however far apart."""

    keys: tuple[Field, ...]
    within_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One window operator and what feeds it."""

    name: str
    kind: StageKind
    branches: tuple[Branch, ...]
    window: Window | None
    keys: tuple[Field, ...]
    partition_by: tuple[Field, ...]
    inherited: tuple[tuple[Field, str], ...]
    aggregates: tuple[NamedAggregate, ...]
    frames: tuple[FrameSpec, ...]
    having: Expr | None
    order: tuple[SortKey, ...]
    within: tuple[Expr, ...]
    limit: int | None
    output: tuple[Named, ...]
    emit: Emit
    stream_kind: StreamKind
    lateness_us: int
    options: tuple[tuple[str, OptionValue], ...]
    partials: tuple[PartialSpec, ...] = ()
    finishes: tuple[FinishSpec, ...] = ()
    panes: Panes | Pieces | None = None
    join: JoinSpec | None = None
    routing: Routing = Routing.PARTIALS
    fused: bool = False
    dedup: Dedup | None = None
    placement: str = "auto"
    decisions: tuple[Decision, ...] = ()

    def option(self, name: str) -> OptionValue | None:
        return dict(self.options).get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A query ready to run: stages, the last one of which makes the query's rows."""

    name: str
    stages: tuple[Stage, ...]
    output: Schema

    @property
    def last(self) -> Stage:
        return self.stages[-1]
