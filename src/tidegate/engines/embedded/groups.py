"""Group SQL on DataFusion: HAVING, sort keys and output of finished groups."""

from collections.abc import Callable

import pyarrow as pa

from tidegate.engines.embedded.queries import Query, Workers, as_sql, sql_schema
from tidegate.kernel.finishing import Projection
from tidegate.model.schema import Column, Schema
from tidegate.plan.group_sql import GROUPS, group_query
from tidegate.plan.physical import Stage
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation


def projection_of(stage: Stage, workers: Workers, now_us: Callable[[], int]) -> Projection | None:
    """The kernel's way to the stage's expressions; None where there are none. `now_us` is the clock of the epoch."""
    query = group_query(stage)
    if query.plain is not None:
        return None
    reads_clock = ":clock_us" in render_relation(query.relation, Engine.DATAFUSION)
    schema = sql_schema(Schema(tuple(Column(one.name, one.type) for one in query.columns)))
    runner = Query(GROUPS, schema, workers)

    def project(groups: pa.RecordBatch) -> pa.RecordBatch:
        values = {"clock_us": now_us()} if reads_clock else {}
        made = runner.run(
            as_sql([groups], schema),
            tuple(values.values()),
            lambda: render_relation(query.relation, Engine.DATAFUSION, values),
        )
        table = pa.Table.from_batches(made).combine_chunks()
        (batch,) = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        return batch

    return project
