"""A table of PostgreSQL as a static table: read whole, once, when a run begins.

Decided here: PostgreSQL converts to the declared types, so that its own rules say what fits.
"""

import pyarrow as pa

from tidegate.connectors.postgres.client import Database, library, quoted, table_name, type_name
from tidegate.connectors.settings import Settings
from tidegate.kernel.arrow import arrow_type
from tidegate.plan.catalog import TableDef


def read_postgres_table(definition: TableDef) -> pa.Table:
    """All rows: the declared columns, in the kernel's Arrow types."""
    settings = Settings("postgres", definition.options)
    database, table = Database(settings), table_name(settings)
    columns = [f"{quoted(it.name)}::{type_name(it.type)}" for it in definition.physical]
    connection = database.connect()
    try:
        rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
    except library().Error as problem:
        raise database.refused(problem) from None
    finally:
        connection.close()
    schema = pa.schema([(it.name, arrow_type(it.type)) for it in definition.physical])
    values = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
