"""Row SQL of one branch on Spark: one job per epoch makes what crosses the seam.

In: frames of a source. Out: Arrow batches of partials (or of whole rows, where a window needs them).

Decided here: when a statement can be used unchanged. Spark compiles Java code for every statement whose constants it
has not seen, which takes longer than an epoch of a thousand rows; and bounds and clock of an epoch are such constants.
So the usual statement takes rows of any time, and its partials tell afterwards which of them are late: a pane is open
or closed as a whole. Where that is not enough (rows that go to several windows, rows whose expressions fail, which are
late before they are anything else, rows from the future, rows that got the clock's time), the careful statement runs
with the epoch's own constants, and from then on the branch is careful.

And that few rows are one task's: an exchange costs more than it spreads.
"""

from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tidegate.engines.embedded.rows import latest_of
from tidegate.engines.spark.frames import Frame, lookup_frame, name_frame, prepare
from tidegate.engines.spark.shards import PlacedOperator
from tidegate.kernel.arrivals import STAMPED_ROWS
from tidegate.kernel.arrow import array_of, conform, numbers
from tidegate.kernel.groups import MAX_TS
from tidegate.kernel.operator import Bounds
from tidegate.kernel.panes import PANE
from tidegate.model.expressions import Expr, parameters_of
from tidegate.model.grid import pane_number
from tidegate.model.policies import DISPOSITION, FILTERED, Reason
from tidegate.model.relations import Relation
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar
from tidegate.plan.expressions import CLOCK
from tidegate.plan.physical import Branch, Routing, Stage, StageKind
from tidegate.plan.row_sql import BATCH, row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LATE = DISPOSITION[Reason.ALLOWED_LATENESS_EXCEEDED]
# What a row is found to be before anybody asks whether it is late.
_BEFORE_LATE = (
    FILTERED,
    _LATE,
    *(
        DISPOSITION[reason]
        for reason in (
            Reason.MISSING_EVENT_TIME,
            Reason.FUTURE_EVENT_TIME,
            Reason.PRE_EPOCH_EVENT_TIME,
        )
    ),
)
_FEW_ROWS = 20_000
_ANY_TIME = {"open_from_us": MIN_EVENT_TIME_US, "latest_us": MAX_EVENT_TIME_US, "clock_us": 0}


class SparkRows:
    """The row SQL of a branch over `tables`, which stay."""

    def __init__(
        self,
        stage: Stage,
        branch: Branch,
        *,
        tables: Mapping[str, pa.Table],
        operator: PlacedOperator | None,
    ) -> None:
        self._operator, self._place = operator, stage.branches.index(branch)
        queries = row_queries(stage, branch)
        self._main, self._diverted, self._taken = queries.main, queries.diverted, queries.taken
        self._partitions = queries.partitions
        self._lookups = tuple(lookup.table.name for lookup in branch.lookups)
        self._panes = stage.panes
        self._careful = not _tells_afterwards(stage, branch)
        self.use_tables(tables)

    def use_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Join with these from now on."""
        self._tables = {name: tables[name.lower()] for name in self._lookups}
        self._edition = token_hex(4)

    def count(self, rows: Sequence[Frame]) -> int | None:
        if self._lookups or any(frame.count is None for frame in rows):
            return None
        return sum(frame.count or 0 for frame in rows)

    def crossing(self, rows: Sequence[Frame], bounds: Bounds, now_us: int) -> list[pa.RecordBatch]:
        """What the kernel gets of the rows; nothing passes here if the kernel is elsewhere."""
        if self._operator is not None and self._operator.is_away:
            frames = self._frames(self._main, rows, _constants(bounds, now_us))
            self._operator.bring(self._place, list(frames))
            return []
        if not self._careful:
            made = [self._judged(it, bounds) for it in self._run(self._main, rows, _ANY_TIME)]
            judged = [batch for batch in made if batch is not None]
            if len(judged) == len(made):
                return judged
            self._careful = True
        return self._run(self._main, rows, _constants(bounds, now_us))

    def diverted(self, rows: Sequence[Frame], bounds: Bounds, now_us: int) -> list[pa.RecordBatch]:
        return self._run(self._diverted, rows, _constants(bounds, now_us))

    def taken(self, rows: Sequence[Frame], bounds: Bounds, now_us: int) -> list[pa.RecordBatch]:
        return self._run(self._taken, rows, _constants(bounds, now_us))

    def partitions(
        self, rows: Sequence[Frame], bounds: Bounds, now_us: int
    ) -> Mapping[int, int | None]:
        if self._partitions is None:
            return {}
        return latest_of(self._run(self._partitions, rows, _constants(bounds, now_us)))

    def _run(
        self, relation: Relation, rows: Sequence[Frame], values: Mapping[str, int]
    ) -> list[pa.RecordBatch]:
        made: list[pa.RecordBatch] = []
        for frame in self._frames(relation, rows, values):
            made += frame.toArrow().combine_chunks().to_batches()
        return made

    def _frames(
        self, relation: Relation, rows: Sequence[Frame], values: Mapping[str, int]
    ) -> Iterator["DataFrame"]:
        text = render_relation(relation, Engine.SPARK, values)
        for frame in rows:
            session = frame.data.sparkSession
            prepare(session)
            self._name_tables(session)
            name_frame(_in_tasks(frame), BATCH)
            yield session.sql(text)

    def _name_tables(self, session: "SparkSession") -> None:
        """Once per session and edition; a setting of the session remembers it."""
        for name, rows in self._tables.items():
            mark = f"spark.tidegate.table.{name}"
            if session.conf.get(mark, None) != self._edition:
                name_frame(lookup_frame(session, rows), name)
                session.conf.set(mark, self._edition)

    # What partials tell

    def _judged(self, batch: pa.RecordBatch, bounds: Bounds) -> pa.RecordBatch | None:
        """The partials as the bounds would have made them; None if these cannot tell."""
        if STAMPED_ROWS in batch.schema.names and _integers(batch, STAMPED_ROWS).any():
            return None
        if MAX_TS in batch.schema.names and _latest(batch) > bounds.latest_us:
            return None
        if self._panes is None or bounds.open_from_us <= MIN_EVENT_TIME_US:
            return batch
        panes = _integers(batch, PANE)
        if not np.isin(-panes[panes < 0], _BEFORE_LATE).all():
            return None
        first = pane_number(bounds.open_from_us, self._panes.width_us, self._panes.offset_us)
        late = (panes >= 0) & (panes < first)
        if not late.any():
            return batch
        made = array_of(np.where(late, -_LATE, panes), None, pa.int64())
        return batch.set_column(batch.schema.get_field_index(PANE), PANE, made)


def _in_tasks(frame: Frame) -> "DataFrame":
    """The rows, spread as far as it is worth it."""
    few = frame.count is not None and frame.count <= _FEW_ROWS
    return frame.data.coalesce(1) if few else frame.data


def _tells_afterwards(stage: Stage, branch: Branch) -> bool:
    """Whether the branch's partials say which of its rows were late."""
    partials = stage.kind is StageKind.AGGREGATE and stage.routing is Routing.PARTIALS
    once = stage.panes is None or stage.panes.copies == 1
    return partials and once and not _reads_clock(branch)


def _reads_clock(branch: Branch) -> bool:
    exprs: list[Expr] = [branch.predicate, branch.input.predicate]
    exprs += [named.expr for named in branch.columns]
    for lookup in branch.lookups:
        exprs += [lookup.on, *(named.expr for named in lookup.columns)]
    if branch.time is not None:
        exprs += [expr for _, expr in branch.time.ladder]
    return CLOCK.name in parameters_of(*exprs)


def _constants(bounds: Bounds, now_us: int) -> Mapping[str, int]:
    return {
        "open_from_us": bounds.open_from_us,
        "latest_us": bounds.latest_us,
        "clock_us": now_us,
    }


def _integers(batch: pa.RecordBatch, name: str) -> np.ndarray:
    return numbers(conform(batch.column(name), Scalar.BIGINT)).values


def _latest(batch: pa.RecordBatch) -> int:
    times = numbers(conform(batch.column(MAX_TS), Scalar.BIGINT)).filled(MIN_EVENT_TIME_US)
    return int(times.max(initial=MIN_EVENT_TIME_US))
