"""Spark's part of a stage.

Decided here: rows of sources are Spark's, everything else is not worth a job. What one stage hands to the next and
expressions over finished groups are Arrow batches on the driver, and their SQL runs where they are.
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.executor import BranchRows
from tidegate.engines.spark.frames import Frame
from tidegate.engines.spark.rows import SparkRows
from tidegate.kernel.finishing import Projection
from tidegate.plan.physical import Branch, InputKind, Stage


class SparkExecutor:
    """An `Executor` for rows that are frames."""

    def __init__(self, workers: Workers) -> None:
        self._embedded = EmbeddedExecutor(workers)

    def rows(self, stage: Stage, branch: Branch, tables: Mapping[str, pa.Table]) -> BranchRows:
        if branch.input.kind is InputKind.SOURCE:
            return SparkRows(stage, branch, tables=tables)
        return self._embedded.rows(stage, branch, tables)

    def projection(self, stage: Stage, now_us: Callable[[], int]) -> Projection | None:
        return self._embedded.projection(stage, now_us)

    def table(self, rows: Sequence[Frame]) -> pa.Table | None:
        return pa.concat_tables(frame.data.toArrow() for frame in rows) if rows else None
