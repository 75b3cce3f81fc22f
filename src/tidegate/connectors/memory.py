"""Rows that stay in this process: what tests and interactive sessions read back.

Only the sink is here. Rows of memory sources and tables come by INSERT, which is the engine's business.
"""

import pyarrow as pa

from tidegate.connectors.registry import Connector
from tidegate.kernel.arrow import arrow_type
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef


def stream_schema(schema: Schema, kind: StreamKind) -> pa.Schema:
    """The columns that a sink is handed: `_op` in front unless rows only append."""
    fields = [(column.name, arrow_type(column.type)) for column in schema]
    operation = [] if kind is StreamKind.APPEND else [("_op", pa.string())]
    return pa.schema([*operation, *fields])


class MemorySink:
    """Keeps the rows of each epoch; an epoch that comes again replaces what it brought before.

    >>> from tidegate.model.schema import Column
    >>> from tidegate.model.types import Scalar
    >>> sink = MemorySink(stream_schema(Schema((Column("n", Scalar.BIGINT),)), StreamKind.APPEND))
    >>> sink.write(0, pa.table({"n": [1, 2]}))
    >>> sink.write(1, pa.table({"n": [3]}))
    >>> sink.write(1, pa.table({"n": [4]}))
    >>> sink.rows().column("n").to_pylist()
    [1, 2, 4]
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.epochs: dict[int, pa.Table] = {}

    def write(self, epoch: int, rows: pa.Table) -> None:
        if rows.num_rows:
            self.epochs[epoch] = rows
        else:
            self.epochs.pop(epoch, None)

    def rows(self) -> pa.Table:
        """All rows so far, by epoch."""
        kept = [self.epochs[epoch] for epoch in sorted(self.epochs)]
        return pa.concat_tables(kept) if kept else self.schema.empty_table()

    def close(self) -> None:
        """The rows stay."""


def _open(definition: SinkDef, schema: Schema, kind: StreamKind) -> MemorySink:
    return MemorySink(stream_schema(schema, kind))


CONNECTOR = Connector(sink=_open)
