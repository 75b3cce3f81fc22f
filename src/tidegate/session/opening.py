"""From a program to an engine that runs it: tables read, sinks and routes opened, the log found.

Decided here: in which order things are opened, and that whatever was opened is closed again if the next one refuses,
for a checkpoint that stays locked would refuse the next try, too.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from os import PathLike

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.callback import Callback, CallbackSink
from tidegate.connectors.protocols import SinkWriter
from tidegate.connectors.registry import open_sink, read_table
from tidegate.connectors.side import SideSink, open_side_sink
from tidegate.engines.clock import Clock, WallClock
from tidegate.engines.engine import Engine, Surroundings, identity_of
from tidegate.engines.epochs import Listener
from tidegate.engines.routes import routes_of
from tidegate.engines.subject import Build
from tidegate.kernel.arrow import arrow_type
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef, SourceDef, StreamDef, TableDef
from tidegate.plan.script import Program
from tidegate.state import Log, open_log
from tidegate.state.forgetful import ForgetfulLog

BY_HAND = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How programs are run. `build` makes the engine, `build_bounded` one that reads what is there now and ends.

    `callbacks` are functions by the name of their sink, `tables` rows of tables that no connector reads, by lower-case
    name. `printer` makes sinks for queries without a name; `anonymous`:
    such queries are part of what a checkpoint belongs to.
    """

    build: Build
    build_bounded: Build | None = None
    clock: Clock = field(default_factory=WallClock)
    checkpoint: str | PathLike[str] | None = None
    reset: bool = False
    anonymous: bool = True
    callbacks: Mapping[str, Callback] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    printer: Callable[[str, Schema, StreamKind], SinkWriter] | None = None


@dataclass(slots=True)
class Opened:
    """What stays open while programs come and go: writers by the name of their sink."""

    writers: dict[str, SinkWriter] = field(default_factory=dict)
    around: Surroundings | None = None

    def close(self) -> None:
        for writer in self.writers.values():
            writer.close()


def start(program: Program, way: Way, listener: Listener) -> tuple[Engine, Opened]:
    """The engine, at its last epoch if there is a checkpoint."""
    opened = Opened()
    with ExitStack() as undo:
        log = _open_log(program, way)
        undo.callback(log.close)
        undo.callback(opened.close)
        around = Surroundings(clock=way.clock, log=log, listener=listener, tables=way.tables)
        opened.around = _surroundings(program, way, around, opened)
        if opened.around.routes is not None:
            undo.callback(opened.around.routes.close)
        engine = way.build(program, opened.around)
        undo.pop_all()
    return engine, opened


def change(engine: Engine, program: Program, way: Way, opened: Opened) -> None:
    """The engine runs another program from now on."""
    assert opened.around is not None
    before = opened.around.routes
    around = _surroundings(program, way, opened.around, opened)
    engine.adopt(program, around)
    opened.around = around
    if before is not None:
        before.close()
    kept = {sink.name.lower() for sink in _sinks(program)} | {*_printed(program, way)}
    for name in opened.writers.keys() - kept:
        opened.writers.pop(name).close()


def _open_log(program: Program, way: Way) -> Log:
    identity = identity_of(program, anonymous=way.anonymous)
    if way.checkpoint is None:
        return ForgetfulLog(identity)
    return open_log(way.checkpoint, identity=identity, reset=way.reset)


def _surroundings(program: Program, way: Way, before: Surroundings, opened: Opened) -> Surroundings:
    tables = {
        each.name.lower(): rows_of_table(each, before.tables.get(each.name.lower()))
        for each in program.catalog.all_of("table")
        if isinstance(each, TableDef)
    }
    sinks = _open_sinks(program, way, opened)
    routes = routes_of(program, lambda name: _open_side(name, program))
    return replace(before, tables=tables, sinks=sinks, routes=routes)


def rows_of_table(table: TableDef, known: pa.Table | None) -> pa.Table:
    """A table is read once."""
    if known is not None:
        return known
    if table.connector != BY_HAND:
        return read_table(table)
    return empty_table(table)


def empty_table(table: TableDef) -> pa.Table:
    columns = [(column.name, arrow_type(column.type)) for column in table.physical]
    return pa.schema(columns).empty_table()


# Sinks


def _sinks(program: Program) -> list[SinkDef]:
    """Those that take rows of a stream or source."""
    every = program.catalog.all_of("sink")
    return [sink for sink in every if isinstance(sink, SinkDef) and sink.stream is not None]


def _printed(program: Program, way: Way) -> list[str]:
    return [query.name for query in program.queries if query.anonymous and way.printer]


def _open_sinks(program: Program, way: Way, opened: Opened) -> dict[str, Sequence[SinkWriter]]:
    sinks: dict[str, list[SinkWriter]] = {}
    for sink in _sinks(program):
        assert sink.stream is not None
        schema, kind = _emitted(program, sink.stream)
        writer = opened.writers.get(sink.name.lower()) or _open_sink(sink, schema, kind, way)
        opened.writers[sink.name.lower()] = writer
        sinks.setdefault(sink.stream.lower(), []).append(writer)
    for query in program.queries:
        if query.anonymous and way.printer:
            made = way.printer(query.name, query.logical.schema, query.logical.kind)
            writer = opened.writers.setdefault(query.name, made)
            sinks.setdefault(query.name.lower(), []).append(writer)
    return {name: tuple(writers) for name, writers in sinks.items()}


def _open_sink(sink: SinkDef, schema: Schema, kind: StreamKind, way: Way) -> SinkWriter:
    function = way.callbacks.get(sink.name)
    if sink.connector == "callback" and function is not None:
        return CallbackSink(function)
    return open_sink(sink, schema, kind)


def _emitted(program: Program, name: str) -> tuple[Schema, StreamKind]:
    match program.catalog.find(name):
        case StreamDef() as stream:
            return stream.output, stream.stream_kind
        case SourceDef() as source:
            return source.physical, StreamKind.APPEND
        case other:
            raise AssertionError(other)


# Routes


def _open_side(name: str, program: Program) -> SideSink | None:
    definition = program.catalog.find(name) or program.settings.sinks.get(name)
    if definition is None:
        return None
    if not isinstance(definition, SinkDef) or definition.stream is not None:
        takes = getattr(definition, "stream", None)
        problem = f"it takes rows of {takes}" if takes else f"it is a {definition.kind}"
        raise errors.no_side_sink(name=definition.name, problem=problem)
    return open_side_sink(definition)
