"""The batch twin: SQL over static DataFrames, with the rows that a stream would have emitted in the end.

Decided here: what is read FROM is an input, and what is joined to it is a table. All rows of all inputs are one epoch,
so that none is late; then the input ends and everything closes. Of rows that replace each other the last ones are the
answer, as `table()` would show them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from tidegate import errors
from tidegate.connectors.memory import stream_schema
from tidegate.engines.clock import Clock
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import sources_of
from tidegate.engines.spark.build import frame_build
from tidegate.engines.spark.handed import FrameEngine
from tidegate.engines.stage import Made
from tidegate.engines.views import CurrentRows
from tidegate.model.policies import StreamKind
from tidegate.plan.catalog import Catalog
from tidegate.plan.script import NamedQuery, Program
from tidegate.plan.settings import Settings
from tidegate.session.opening import Way, start
from tidegate.session.script import execute
from tidegate.spark.definitions import Registered
from tidegate.spark.refusals import refuse_measuring
from tidegate.spark.rows import frame_of_rows
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.sql.statements import CreateStream, Select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ALL_ROWS = 1 << 62


def answer(
    spark: "SparkSession",
    text: str,
    frames: Mapping[str, Registered],
    settings: Settings,
    stream: str | None,
    clock: Clock,
) -> "DataFrame":
    """What the stream has emitted when all is over; the last query's rows if none is named."""
    source = SourceText(text, "<batch>")
    tables = {name: one for name, one in frames.items() if name in _joined(source)}
    inputs = {name: one for name, one in frames.items() if name not in tables}
    before = Program(catalog=Catalog(), settings=settings)
    for one in frames.values():
        is_table = one.name.lower() in tables
        before.catalog.add(one.table() if is_table else one.bounded_source())
    heard = execute(source, before, measure=refuse_measuring)
    if heard.inserts:
        raise errors.cannot_run(what="INSERT in a Spark job", instead="register() a DataFrame")
    wanted = _wanted(heard.program, stream)
    rows = _run(heard.program, wanted, spark, inputs, tables, clock)
    return frame_of_rows(spark, rows)


def _joined(source: SourceText) -> frozenset[str]:
    """Names that stand behind a JOIN."""
    queries = (
        one.query
        for one in parse_script(source).statements
        if isinstance(one, (CreateStream, Select))
    )
    joins = (join.this for query in queries for join in query.tree.find_all(exp.Join))
    return frozenset(item.name.lower() for item in joins if isinstance(item, exp.Table))


def _wanted(program: Program, stream: str | None) -> NamedQuery:
    if stream is None:
        if not program.queries:
            raise errors.no_result()
        return program.queries[-1]
    found = program.query(stream)
    if found is None:
        hint = program.catalog.suggestion(stream)
        raise errors.unknown_relation(name=stream, hint=hint)
    return found


def _run(
    program: Program,
    wanted: NamedQuery,
    spark: "SparkSession",
    inputs: Mapping[str, Registered],
    tables: Mapping[str, Registered],
    clock: Clock,
) -> pa.Table:
    kept: list[CurrentRows] = []

    def made(stage: str, done: Made) -> None:
        if stage == wanted.name:
            kept.extend([] if kept else [CurrentRows(done.emitted.rows.schema, most=_ALL_ROWS)])
            kept[0].add(done.emitted)

    read = {one.name.lower() for one in sources_of(program)}
    used = {name: one for name, one in inputs.items() if name in read}
    build = frame_build(spark, {name: one.handed for name, one in used.items()})
    way = Way(build=build, clock=clock, tables={name: one.rows() for name, one in tables.items()})
    engine, _ = start(program, way, Listener(made=made, wanted=frozenset()))
    assert isinstance(engine, FrameEngine)
    try:
        engine.insert_frames({name: one.data for name, one in used.items()})
        engine.end()
    finally:
        engine.close()
    empty = stream_schema(wanted.logical.schema, StreamKind.APPEND).empty_table()
    return kept[0].table() if kept else empty
