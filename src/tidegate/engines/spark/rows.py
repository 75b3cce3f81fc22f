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

import pyarrow as pa

from tidegate.engines.embedded.rows import latest_of
from tidegate.engines.spark.afterwards import Judge
from tidegate.engines.spark.by_task import by_task
from tidegate.engines.spark.frames import Frame, lookup_frame, name_frame, prepare
from tidegate.engines.spark.shards import Coming, MadeBy, PlacedOperator
from tidegate.kernel.operator import Bounds
from tidegate.model.expressions import Expr, parameters_of
from tidegate.model.relations import Relation
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.plan.expressions import CLOCK
from tidegate.plan.physical import Branch, Routing, Stage, StageKind
from tidegate.plan.row_sql import BATCH, row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
        self._by_task = by_task(queries.main)
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
            self._operator.bring(self._place, self._coming(rows, bounds, now_us))
            return []
        if not self._careful:
            judged = self._judge(bounds).all(self._partials(rows, _ANY_TIME))
            if judged is not None:
                return judged
            self._careful = True
        return self._partials(rows, _constants(bounds, now_us))

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

    def _partials(self, rows: Sequence[Frame], values: Mapping[str, int]) -> list[pa.RecordBatch]:
        made: list[pa.RecordBatch] = []
        for frame in self._frames(self._main, rows, values):
            crossed = None if self._by_task is None else self._by_task.partials(frame)
            made += _in_one(frame) if crossed is None else crossed
        return made

    def _run(
        self, relation: Relation, rows: Sequence[Frame], values: Mapping[str, int]
    ) -> list[pa.RecordBatch]:
        made: list[pa.RecordBatch] = []
        for frame in self._frames(relation, rows, values):
            made += _in_one(frame)
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

    # For shards

    def _judge(self, bounds: Bounds) -> Judge:
        return Judge(bounds=bounds, panes=self._panes)

    def _coming(self, rows: Sequence[Frame], bounds: Bounds, now_us: int) -> Coming:
        """What shards get, and how to do without their judgement."""

        def with_care() -> MadeBy:
            self._careful = True
            return self._made_by(rows, _constants(bounds, now_us))

        if self._careful:
            return Coming(partials=with_care())
        partials = self._made_by(rows, _ANY_TIME)
        return Coming(partials=partials, judge=self._judge(bounds), with_care=with_care)

    def _made_by(self, rows: Sequence[Frame], values: Mapping[str, int]) -> MadeBy:
        frames = [*self._frames(self._main, rows, values)]
        if self._by_task is not None:
            cut = [made for made in map(self._by_task.cut, frames) if made is not None]
            if len(cut) == len(frames):
                return MadeBy(frames=cut, columns=self._by_task.columns, by_task=True)
        return MadeBy(frames=frames, columns={name: name for name in frames[0].columns})


def _in_one(frame: "DataFrame") -> list[pa.RecordBatch]:
    made: list[pa.RecordBatch] = frame.toArrow().combine_chunks().to_batches()
    return made


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
