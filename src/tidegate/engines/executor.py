"""What an engine lends to a stage: its SQL.

A stage, its operator and its place in the dataflow are the same on every engine. What differs is who runs row SQL over
an input's rows, and what these rows are: Arrow batches in process, frames on Spark. `Rows` is opaque here; only the
executor that gets them knows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from tidegate.kernel.course import Course
from tidegate.kernel.finishing import Projection
from tidegate.kernel.operator import OperatorSpec
from tidegate.kernel.row_operator import RowWindowSpec
from tidegate.kernel.steps import Bounds, Outcome, State, Step
from tidegate.plan.physical import Branch, Stage
from tidegate.state import Entry

Rows: TypeAlias = Sequence[Any]
Spec: TypeAlias = OperatorSpec | RowWindowSpec


class BranchRows(Protocol):
    """Row SQL of one branch."""

    def count(self, rows: Rows) -> int | None:
        """How many rows will have to be accounted for; None where a join decides that."""

    def crossing(self, rows: Rows, bounds: Bounds, now_us: int) -> Sequence[pa.RecordBatch]:
        """What the kernel gets of the rows."""

    def diverted(self, rows: Rows, bounds: Bounds, now_us: int) -> Sequence[pa.RecordBatch]:
        """Whole rows that row SQL did not let through."""

    def taken(self, rows: Rows, bounds: Bounds, now_us: int) -> Sequence[pa.RecordBatch]:
        """Whole rows that it did, among which the kernel may have refused some."""

    def partitions(self, rows: Rows, bounds: Bounds, now_us: int) -> Mapping[int, int | None]:
        """The latest time of each partition that rows have come by; nothing where partitions do not count."""

    def use_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Join with these from now on."""


class StageOperator(Protocol):
    """What a stage asks of its operator: the kernel's own, or one that runs the kernel's elsewhere."""

    @property
    def course(self) -> Course: ...

    @property
    def bytes(self) -> int: ...

    @property
    def clock_us(self) -> int: ...

    @property
    def open_windows(self) -> int: ...

    def begin(self, now_us: int) -> tuple[Bounds, ...]: ...

    def step(self, step: Step, *, replayed: bool = False) -> Outcome: ...

    def snapshot(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Executor(Protocol):
    def operator(
        self, stage: Stage, spec: Spec, project: Projection | None, *, since_us: int
    ) -> StageOperator:
        """What keeps the stage's state."""
        ...

    def written(self, epoch: int) -> Sequence[Entry]:
        """What shards wrote of the epoch; the log is told by whoever commits it."""
        ...

    def wants_snapshot(self) -> bool:
        """Whether shards have come so far from the last one that they should write all they hold."""
        ...

    def snapshot(self, epoch: int) -> Sequence[Entry]:
        """All that shards hold after an epoch, written."""
        ...

    def rows(self, stage: Stage, branch: Branch, tables: Mapping[str, pa.Table]) -> BranchRows: ...

    def projection(self, stage: Stage, now_us: Callable[[], int]) -> Projection | None:
        """The stage's expressions over groups; None where there are none. `now_us` is the epoch's clock."""

    def table(self, rows: Rows) -> pa.Table | None:
        """Rows of a source whole, for a sink of their own; None if there are none."""
