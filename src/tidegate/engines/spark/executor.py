"""Spark's part of a stage.

Decided here: rows of sources are Spark's, everything else is not worth a job. What one stage hands to the next and
expressions over finished groups are Arrow batches on the driver, and their SQL runs where they are. Operators belong to
their stages: when a stage goes, so do its operator and its block of shards. One that is replaced comes to the driver
first, where the next one may take over what it holds.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from weakref import WeakValueDictionary

import pyarrow as pa

from tidegate import errors
from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.executor import BranchRows, Spec, StageOperator
from tidegate.engines.spark.frames import Frame
from tidegate.engines.spark.rows import SparkRows
from tidegate.engines.spark.shards import PlacedOperator, Placement
from tidegate.kernel.finishing import Projection
from tidegate.plan.physical import Branch, InputKind, Stage
from tidegate.plan.rules.placement import EXECUTORS
from tidegate.state import Entry


class SparkExecutor:
    """An `Executor` for rows that are frames."""

    def __init__(self, workers: Workers, placement: Placement) -> None:
        self._embedded, self._placement = EmbeddedExecutor(workers), placement
        self._of_stages: WeakValueDictionary[str, PlacedOperator] = WeakValueDictionary()
        self._in_blocks: WeakValueDictionary[int, PlacedOperator] = WeakValueDictionary()

    def operator(
        self, stage: Stage, spec: Spec, project: Projection | None, *, since_us: int
    ) -> StageOperator:
        if stage.placement == EXECUTORS and self._placement.files is None:
            raise errors.state_needs_checkpoint(name=stage.name)
        if (before := self._of_stages.get(stage.name)) is not None:
            before.come_home()
        block = next(number for number in count() if number not in self._in_blocks)
        made = self._in_blocks[block] = self._of_stages[stage.name] = PlacedOperator(
            stage,
            spec,
            project,
            since_us=since_us,
            first_shard=1 + self._placement.count * block,
            placement=self._placement,
        )
        return made

    def written(self, epoch: int) -> Sequence[Entry]:
        return [entry for one in self._in_blocks.values() for entry in one.written(epoch)]

    def wants_snapshot(self) -> bool:
        return any(one.wants_snapshot for one in self._in_blocks.values())

    def snapshot(self, epoch: int) -> Sequence[Entry]:
        return [entry for one in self._in_blocks.values() for entry in one.write_snapshot(epoch)]

    def rows(self, stage: Stage, branch: Branch, tables: Mapping[str, pa.Table]) -> BranchRows:
        if branch.input.kind is InputKind.SOURCE:
            operator = self._of_stages.get(stage.name)
            return SparkRows(stage, branch, tables=tables, operator=operator)
        return self._embedded.rows(stage, branch, tables)

    def projection(self, stage: Stage, now_us: Callable[[], int]) -> Projection | None:
        return self._embedded.projection(stage, now_us)

    def table(self, rows: Sequence[Frame]) -> pa.Table | None:
        return pa.concat_tables(frame.data.toArrow() for frame in rows) if rows else None
