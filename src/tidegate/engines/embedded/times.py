"""The event times of rows, by themselves: for questions about a source that no window is asked."""

import numpy as np
import pyarrow as pa

from tidegate.engines.embedded.queries import Query, Workers, as_sql, sql_schema
from tidegate.engines.embedded.rows import fed_schema
from tidegate.kernel.arrow import Integers, conform, numbers
from tidegate.model.expressions import Named, call
from tidegate.model.policies import MissingEventTime
from tidegate.model.relations import Derive, Scan
from tidegate.model.time import NEVER_US
from tidegate.model.types import Scalar
from tidegate.plan.physical import TS, Branch
from tidegate.plan.row_sql import BATCH
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation


def event_times(branch: Branch, rows: pa.Table, workers: Workers) -> Integers:
    """One for each row, in order; NEVER where a row has none."""
    assert branch.time is not None
    rungs = [expr for _, expr in branch.time.ladder]
    if branch.time.on_missing is not MissingEventTime.FALLBACK:
        rungs = rungs[:1]
    time = rungs[0] if len(rungs) == 1 else call("coalesce", *rungs, type=Scalar.TIMESTAMP)
    stamped = Named(TS.name, call("unix_micros", time, type=Scalar.BIGINT))
    text = render_relation(
        Derive(Scan(BATCH, branch.input.originals), (stamped,)), Engine.DATAFUSION, {}
    )
    schema = sql_schema(fed_schema(branch.input))
    query = Query(BATCH, schema, workers)
    found = query.run(as_sql(rows.to_batches(), schema), None, lambda: text)
    columns = [numbers(conform(batch.column(TS.name), Scalar.BIGINT)) for batch in found]
    if not columns:
        return np.zeros(0, np.int64)
    return np.concatenate([column.filled(NEVER_US) for column in columns])
