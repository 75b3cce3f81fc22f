"""Values of INSERT … VALUES: constant expressions, computed by the engine as any other.

Decided here: all rows or none. What has no value (a number its column cannot hold, a division by zero) is refused,
naming the row; and rows arrive in the order in which they are written.
"""

from collections.abc import Sequence

import datafusion
import pyarrow as pa

from tidegate import errors
from tidegate.engines.embedded.queries import sql_type
from tidegate.engines.sides import REASON
from tidegate.kernel.arrow import arrow_type, conform
from tidegate.model.expressions import Expr
from tidegate.model.schema import Schema
from tidegate.plan.inserts import InsertedRows
from tidegate.plan.row_errors import error_of
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import render


def constant_rows(inserted: InsertedRows, schema: Schema) -> pa.RecordBatch:
    """The rows with all columns of the schema; those that are not named are NULL."""
    selects = [_select(row, place) for place, row in enumerate(inserted.rows)]
    # The parts of a union come back in any order.
    union = f"SELECT * FROM ({' UNION ALL '.join(selects)}) ORDER BY place"
    rows = pa.Table.from_batches(datafusion.SessionContext().sql(union).collect()).combine_chunks()
    _refuse_failed(rows, inserted)
    given = {name.lower(): rows.column(f"c{n}") for n, name in enumerate(inserted.columns)}
    columns = []
    for column in schema:
        kind = arrow_type(column.type)
        found = given.get(column.name.lower())
        if found is None:
            columns.append(pa.nulls(rows.num_rows, kind))
        else:
            columns.append(conform(found.cast(sql_type(kind)), column.type))
    return pa.RecordBatch.from_arrays(columns, names=list(schema.names))


def _select(row: Sequence[Expr], place: int) -> str:
    items = [f"{place} AS place"]
    for n, value in enumerate(row):
        items.append(f"{render(value, Engine.DATAFUSION)} AS c{n}")
        items.append(f"{render(error_of(value), Engine.DATAFUSION)} AS e{n}")
    return f"SELECT {', '.join(items)}"


def _refuse_failed(rows: pa.Table, inserted: InsertedRows) -> None:
    for n, name in enumerate(inserted.columns):
        for place, code in enumerate(rows.column(f"e{n}").to_pylist(), 1):
            if code:
                problem = f"row {place}: {name} has no value: {REASON[code]}"
                raise errors.bad_rows(source=inserted.source, problem=problem)
