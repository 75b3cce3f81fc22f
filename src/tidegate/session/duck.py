"""DuckDB, the judge: one SELECT over all rows there are. The only module that knows it.

Decided here: what DuckDB sees are the rows that sources give, as they give them; instants lose their zone, which is
always UTC, so that no time zone of a machine can have a say.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from tidegate.kernel.arrow import Integers, numbers
from tidegate.model.expressions import Expr
from tidegate.plan.batch.scalars import quote, scalar
from tidegate.plan.physical import Branch


@dataclass(frozen=True, slots=True)
class Judge:
    """Tables by the name that SQL calls them by."""

    tables: Mapping[str, pa.Table]

    def answer(self, sql: str) -> pa.Table:
        import duckdb

        with duckdb.connect(config={"threads": 2}) as connection:
            for name, table in self.tables.items():
                connection.register(name, _without_zones(table))
            return connection.sql(sql).to_arrow_table()

    def times(self, branch: Branch, rungs: tuple[Expr, ...]) -> Integers:
        """The event time of each row of a branch's source, in order; NEVER where there is none."""
        columns = ", ".join(
            f"{quote(own)} AS {quote(called)}" for called, own in branch.input.originals
        )
        found = ", ".join(map(scalar, rungs))
        sql = (
            f'SELECT coalesce(epoch_us(coalesce({found})), -9223372036854775808) AS "$ts" '
            f"FROM (SELECT {columns} FROM {quote(branch.input.name)})"
        )
        return numbers(self.answer(sql).combine_chunks().column(0).combine_chunks()).values


def version() -> str:
    import duckdb

    return str(duckdb.__version__)


def _without_zones(table: pa.Table) -> pa.Table:
    fields = [
        field.with_type(pa.timestamp("us")) if pa.types.is_timestamp(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
