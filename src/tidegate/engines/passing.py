"""A stage without state: rows go through its SQL, and out."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tidegate.engines.executor import Executor
from tidegate.engines.sides import Circumstances, Describer, kind_of
from tidegate.engines.stage import Epoch, Fed, Made, rows_in
from tidegate.kernel.arrow import arrow_type, conform, numbers
from tidegate.kernel.changes import Broken, Emitted
from tidegate.kernel.operator import Bounds
from tidegate.model.policies import AGGREGATED, FILTERED
from tidegate.model.schema import schema_of
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US, NEVER_US
from tidegate.model.types import Scalar
from tidegate.plan.physical import Stage

_NO_BOUNDS = Bounds(
    watermark_us=NEVER_US, open_from_us=MIN_EVENT_TIME_US, latest_us=MAX_EVENT_TIME_US
)


class PassingStage:
    """Row SQL alone."""

    operator = None

    def __init__(
        self,
        stage: Stage,
        plan_id: str,
        executor: Executor,
        *,
        stream: str,
        tables: Mapping[str, pa.Table],
    ) -> None:
        self.stage, self.stream, self.plan_id = stage, stream, plan_id
        self._schema = schema_of(stage.output)
        self._branches = tuple(executor.rows(stage, branch, tables) for branch in stage.branches)
        self._describer = Describer.of(stage)

    def use_tables(self, tables: Mapping[str, pa.Table]) -> None:
        for rows in self._branches:
            rows.use_tables(tables)

    def step(self, fed: Sequence[Fed], epoch: Epoch) -> Made:
        counts: Counter[int] = Counter()
        passed = [self._empty]
        for rows, one in zip(self._branches, fed, strict=True):
            if not one.rows:
                continue
            for batch in rows.crossing(one.rows, _NO_BOUNDS, epoch.now_us):
                codes = numbers(conform(batch.column("$code"), Scalar.BIGINT)).values
                counts.update(Counter(codes.tolist()))
                passed.append(self._conformed(batch.filter(pa.array(codes == AGGREGATED))))
        rows_out = pa.concat_batches(passed)
        made = Made(
            emitted=_appended(rows_out),
            rows_by_code=counts,
            watermark_us=NEVER_US,
            behind_us=NEVER_US,
            rows_in=rows_in(self._branches, fed),
        )
        told = {c for c in counts if c > FILTERED and kind_of(c) in epoch.wanted}
        if told:
            self._tell(made, fed, epoch)
        return made

    def _tell(self, made: Made, fed: Sequence[Fed], epoch: Epoch) -> None:
        around = Circumstances(
            stream=self.stream,
            plan_id=self.plan_id,
            epoch=epoch.number,
            now_us=epoch.now_us,
            watermark_us=NEVER_US,
        )
        for place, (rows, one) in enumerate(zip(self._branches, fed, strict=True)):
            for batch in rows.diverted(one.rows, _NO_BOUNDS, epoch.now_us) if one.rows else ():
                made.payloads += self._describer.rows(
                    batch,
                    self.stage.branches[place],
                    around,
                    extents=[None] * batch.num_rows,
                    with_keys=[False] * batch.num_rows,
                )

    @property
    def _empty(self) -> pa.RecordBatch:
        arrays = [pa.array([], arrow_type(column.type)) for column in self._schema]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._schema.names))

    def _conformed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [conform(batch.column(column.name), column.type) for column in self._schema]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._schema.names))


def _appended(rows: pa.RecordBatch) -> Emitted:
    """Rows that are of no window."""
    edges = pa.nulls(rows.num_rows, pa.int64())
    units = pa.RecordBatch.from_arrays([edges, edges], names=["$window_start", "$window_end"])
    broken = Broken(units.slice(0, 0), np.zeros(0, np.int64), ())
    return Emitted(rows, units, None, broken)
