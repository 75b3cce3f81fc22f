"""A static table from files: all their rows, read once.

Decided here: a table of which a part is missing gives wrong joins in silence, so a record that is no row refuses the
whole table, and is named.
"""

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.source import file_source
from tidegate.connectors.protocols import Offset
from tidegate.kernel.arrow import arrow_type
from tidegate.plan.catalog import TableDef

_ROWS = 1_000_000


def read_file_table(definition: TableDef) -> pa.Table:
    """The physical columns, in the kernel's Arrow types."""
    columns = [(column.name, arrow_type(column.type)) for column in definition.physical]
    tables = [pa.schema(columns).empty_table()]
    reader = file_source(definition.physical, definition.options, bounded=True)
    at: Offset | None = None
    try:
        while (until := reader.latest(at, max_rows=_ROWS, now_us=0)) is not None:
            delivery = reader.read(at, until)
            for record in delivery.malformed:
                raise errors.bad_table_record(
                    name=definition.name, record=record.text, problem=record.detail
                )
            tables.append(delivery.rows.select(definition.physical.names))
            at = until
    finally:
        reader.close()
    return pa.concat_tables(tables).combine_chunks()
