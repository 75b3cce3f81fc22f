"""Values of INSERT … VALUES: constant expressions, computed by the engine as any other."""

import datafusion
import pyarrow as pa

from tidegate.engines.embedded.queries import sql_type
from tidegate.kernel.arrow import arrow_type, conform
from tidegate.model.schema import Schema
from tidegate.plan.inserts import InsertedRows
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import render


def constant_rows(inserted: InsertedRows, schema: Schema) -> pa.RecordBatch:
    """The rows with all columns of the schema; those that are not named are NULL."""
    selects = [
        f"SELECT {', '.join(f'{render(value, Engine.DATAFUSION)} AS c{n}' for n, value in enumerate(row))}"
        for row in inserted.rows
    ]
    frame = datafusion.SessionContext().sql(" UNION ALL ".join(selects))
    rows = pa.Table.from_batches(frame.collect()).combine_chunks()
    given = {name.lower(): rows.column(place) for place, name in enumerate(inserted.columns)}
    columns = []
    for column in schema:
        kind = arrow_type(column.type)
        found = given.get(column.name.lower())
        if found is None:
            columns.append(pa.nulls(rows.num_rows, kind))
        else:
            columns.append(conform(found.cast(sql_type(kind)), column.type))
    return pa.RecordBatch.from_arrays(columns, names=list(schema.names))
