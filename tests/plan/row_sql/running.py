"""Runs the row SQL of a stage's branch on an engine, and reads what comes back as plain values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import datafusion
import pyarrow as pa
from pyspark.sql import SparkSession

from tests.plan.row_sql import streams
from tests.plan.row_sql.oracle import Answer, judge
from tidegate.model.schema import Column, Schema
from tidegate.plan.lower import Lowering
from tidegate.plan.physical import Branch, InputKind, Stage
from tidegate.plan.row_sql import row_queries
from tidegate.plan.rules import apply_rules
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.functions.signature import Engine
from tidegate.sql.parser import parse_script
from tidegate.sql.relations import render_relation
from tidegate.sql.source import SourceText

Row = dict[str, Any]
Run = Callable[[str, Mapping[str, pa.Table]], pa.Table]


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[Row]
    schema: pa.Schema


@dataclass(frozen=True, slots=True)
class Planned:
    """The last stage of a query, as lowering made it and as the rules left it."""

    program: Program
    plain: Stage
    ruled: Stage


def plan(sql: str, settings: Settings | None = None) -> Planned:
    script = parse_script(SourceText(streams.PRELUDE + sql))
    program = plan_script(script, settings or Settings())
    assert program.errors == [], [str(error) for error in program.errors]
    query = program.queries[-1]
    lowering = Lowering(
        catalog=program.catalog, name=query.name, defaults=program.settings.defaults
    )
    stage = lowering.query(query.logical)[-1]
    return Planned(program, stage, apply_rules(stage, program.settings.spark))


@dataclass(frozen=True, slots=True)
class Case:
    """A batch for one branch of a planned query, with everything that the engine would supply."""

    planned: Planned
    place: int
    rows: list[Row]
    parameters: Mapping[str, int]

    @property
    def branch(self) -> Branch:
        return self.planned.ruled.branches[self.place]

    @property
    def schema(self) -> Schema:
        """The input's physical columns, with the times that come beside them."""
        input = self.planned.plain.branches[self.place].input
        if input.kind is not InputKind.SOURCE:
            return Schema(
                tuple(
                    Column(physical, column.type)
                    for (_, physical), column in zip(input.originals, input.schema, strict=True)
                )
            )
        extra = (column for column in input.schema if column.name.startswith("$"))
        return Schema((*streams.schema_of(self.planned.program, input.name), *extra))

    def expected(self) -> Answer:
        plain = self.planned.plain
        return judge(plain, plain.branches[self.place], self.rows, streams.TABLES, self.parameters)

    def run(self, run: Run, engine: Engine) -> tuple["Result", "Result"]:
        """What crosses the seam, and the diverted rows."""
        main, diverted = map(_result, self.tables(run, engine))
        return main, diverted

    def tables(self, run: Run, engine: Engine) -> tuple[pa.Table, pa.Table]:
        """The same as the engine gives it."""
        queries = row_queries(self.planned.ruled, self.branch)
        zone = "UTC" if engine is Engine.SPARK else None
        tables = {"$batch": streams.table_of(self.schema, self.rows, zone=zone)}
        for lookup in self.branch.lookups:
            name = lookup.table.name
            schema = streams.schema_of(self.planned.program, name)
            tables[name] = streams.table_of(schema, streams.TABLES[name], zone=zone)
        main, diverted = (
            run(render_relation(relation, engine, self.parameters), tables)
            for relation in (queries.main, queries.diverted)
        )
        return main, diverted


def rows_for(planned: Planned, place: int, *, seed: int, count: int) -> list[Row]:
    blank = Case(planned, place, [], {})
    return streams.rows_of(blank.schema, seed=seed, count=count)


def on_datafusion(sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
    """In two partitions of small batches, so that DataFusion has to merge partials of its own."""
    config = datafusion.SessionConfig(
        {
            "datafusion.sql_parser.recursion_limit": "1000",
            "datafusion.execution.target_partitions": "2",
        }
    )
    context = datafusion.SessionContext(config)
    for name, table in tables.items():
        batches = table.to_batches(max_chunksize=7)
        blank = pa.RecordBatch.from_pylist([], schema=table.schema)
        context.register_record_batches(name, [[*batches[::2], blank], [*batches[1::2], blank]])
    frame = context.sql(sql)
    collected = frame.collect()
    return pa.Table.from_batches(collected, schema=None if collected else frame.schema())


def on_spark(spark: SparkSession) -> Run:
    def run(sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        for name, table in tables.items():
            spark.createDataFrame(table).createOrReplaceTempView(f"`{name}`")
        return spark.sql(sql).toArrow()

    return run


def _result(table: pa.Table) -> Result:
    return Result(values_of(table), table.schema)


def values_of(table: pa.Table) -> list[Row]:
    """Instants and days as integers, since Python's are narrower than ours."""
    columns = {name: _plain(table.column(name)) for name in table.column_names}
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _plain(column: pa.ChunkedArray) -> Sequence[Any]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        assert kind.unit == "us", kind
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_nested(value) for value in column]
    values: list[Any] = column.to_pylist()
    return values


def _nested(value: pa.ListScalar) -> Any:
    if not value.is_valid:
        return None
    items = pa.chunked_array([value.values])
    if not pa.types.is_struct(items.type):
        return list(_plain(items))
    flat = value.values.flatten()
    return list(zip(*(_plain(pa.chunked_array([part])) for part in flat), strict=True))
