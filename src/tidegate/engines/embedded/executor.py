"""DataFusion's part of a stage."""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from tidegate.engines.embedded.groups import projection_of
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.embedded.rows import EmbeddedRows
from tidegate.engines.executor import Spec, StageOperator
from tidegate.kernel.finishing import Projection
from tidegate.plan.physical import Branch, Stage
from tidegate.state import Entry


class EmbeddedExecutor:
    """An `Executor` for rows that are Arrow batches."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def operator(
        self, stage: Stage, spec: Spec, project: Projection | None, *, since_us: int
    ) -> StageOperator:
        return spec.build(project, since_us=since_us)

    def written(self, epoch: int) -> Sequence[Entry]:
        return ()

    def wants_snapshot(self) -> bool:
        return False

    def snapshot(self, epoch: int) -> Sequence[Entry]:
        return ()

    def rows(self, stage: Stage, branch: Branch, tables: Mapping[str, pa.Table]) -> EmbeddedRows:
        return EmbeddedRows(stage, branch, self._workers, tables=tables)

    def projection(self, stage: Stage, now_us: Callable[[], int]) -> Projection | None:
        return projection_of(stage, self._workers, now_us)

    def table(self, rows: Sequence[pa.RecordBatch]) -> pa.Table | None:
        return pa.Table.from_batches(rows) if rows else None
