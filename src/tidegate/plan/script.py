"""A whole script: statements bound in order, each seeing what those before it defined.

In: parsed statements. Out: `Program`: the catalogue, the queries to run, and every refusal there was. A refused
statement does not stop the others; what depends on it stays silent.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate import errors
from tidegate.errors import TidegateError
from tidegate.model.options import OPTIONS, Scope
from tidegate.plan.catalog import BrokenName, Catalog, SinkDef, SourceDef, StreamDef, TableDef
from tidegate.plan.diagnostics import Diagnostics, Refused
from tidegate.plan.emission import refuse_sink
from tidegate.plan.inserts import InsertedRows, bind_insert
from tidegate.plan.limits import refuse_outgrown
from tidegate.plan.logical import Emission
from tidegate.plan.queries import BoundQuery, bind_query, bind_top
from tidegate.plan.settings import Settings, read_connector, read_option, read_options
from tidegate.plan.sources import bind_source, bind_table
from tidegate.plan.surroundings import Surroundings
from tidegate.sql.cursor import Name
from tidegate.sql.nesting import deep_stack
from tidegate.sql.parser import Script
from tidegate.sql.statements import (
    Create,
    CreateSink,
    CreateSource,
    CreateStream,
    CreateTable,
    Describe,
    Drop,
    Explain,
    Insert,
    Option,
    Query,
    Select,
    SetOption,
    Show,
    ShowCreate,
    Statement,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedQuery:
    """A query of the script, with the name of its stream; anonymous ones are `select_1` and so on."""

    name: str
    logical: Emission
    anonymous: bool


@dataclass(slots=True)
class Program:
    """What a script means. `settings` includes its SETs."""

    catalog: Catalog
    settings: Settings
    queries: list[NamedQuery] = field(default_factory=list)
    inserts: list[InsertedRows] = field(default_factory=list)
    errors: list[TidegateError] = field(default_factory=list)
    selects: int = 0

    def copy(self) -> "Program":
        """The same program, which can be changed without the other."""
        return Program(
            catalog=self.catalog.copy(),
            settings=self.settings,
            queries=[*self.queries],
            selects=self.selects,
        )

    def query(self, name: str) -> NamedQuery | None:
        return next((query for query in self.queries if query.name.lower() == name.lower()), None)


def plan_script(script: Script, settings: Settings) -> Program:
    """All statements, in order."""
    program = Program(catalog=Catalog(script.broken), settings=settings, errors=list(script.errors))
    for statement in script.statements:
        apply(statement, program)
    program.errors.sort(key=lambda refusal: (refusal.line or 0, refusal.column or 0))
    return program


def apply(statement: Statement, program: Program) -> None:
    """One statement; what it refuses goes to `program.errors`."""
    before = len(program.errors)
    try:
        with deep_stack():
            _BINDERS[type(statement)](statement, program)
    except Refused as refused:
        program.errors.extend(refused.errors)
    except TidegateError as refusal:
        program.errors.append(refusal.located(statement.source.location(statement.span)))
    except BrokenName:
        _mark_broken(statement, program)
    except RecursionError:
        at = statement.source.location(statement.span)
        program.errors.append(errors.nested_too_deep(at, limit="several hundred"))
    if len(program.errors) > before:
        _mark_broken(statement, program)


def _mark_broken(statement: Statement, program: Program) -> None:
    if isinstance(statement, Create) and not _exists(statement.name.text, program):
        program.catalog.broken.add(statement.name.text.lower())


def _exists(name: str, program: Program) -> bool:
    try:
        return program.catalog.find(name) is not None
    except BrokenName:
        return False


def _already_there(statement: Create, program: Program) -> bool:
    """Whether nothing is to be done; refuses a name that is taken."""
    if statement.name.text.startswith("$"):
        raise errors.reserved_name(
            statement.source.location(statement.name.span), name=statement.name
        )
    if not _exists(statement.name.text, program):
        return False
    definition = program.catalog.find(statement.name.text)
    assert definition is not None
    if statement.or_replace and definition.kind == _KINDS[type(statement)]:
        return False
    if statement.if_not_exists:
        return True
    at = statement.source.location(statement.name.span)
    hint = f"DROP {definition.kind.upper()} {definition.name} first" if statement.or_replace else ""
    raise errors.name_in_use(at, kind=definition.kind, name=definition.name, hint=hint)


_KINDS: dict[type[Statement], str] = {
    CreateSource: "source",
    CreateTable: "table",
    CreateStream: "stream",
    CreateSink: "sink",
}


def _define(
    definition: SourceDef | TableDef | StreamDef, statement: Create, program: Program
) -> None:
    """Add or replace; what others read may only be replaced by something that they read in the same way."""
    readers = program.catalog.readers(definition.name)
    if readers and _as_read(program.catalog.find(definition.name)) != _as_read(definition):
        at = statement.source.location(statement.name.span)
        raise errors.in_use(at, name=definition.name, readers=", ".join(readers))
    program.catalog.add(definition)


def _as_read(definition: object) -> tuple[object, ...]:
    """What a query that reads the definition is bound to."""
    match definition:
        case SourceDef():
            return (
                definition.physical,
                definition.columns,
                definition.watermark,
                definition.connector,
            )
        case TableDef():
            return definition.physical, definition.columns, definition.connector
        case StreamDef(stateless=True):
            return (definition.logical,)
        case StreamDef():
            return definition.output, definition.stream_kind
        case _:
            return ()


def _create_source(statement: Statement, program: Program) -> None:
    assert isinstance(statement, CreateSource)
    if not _already_there(statement, program):
        _define(bind_source(statement, Diagnostics(), program.settings), statement, program)


def _create_table(statement: Statement, program: Program) -> None:
    assert isinstance(statement, CreateTable)
    if not _already_there(statement, program):
        _define(bind_table(statement, Diagnostics()), statement, program)


def _create_stream(statement: Statement, program: Program) -> None:
    assert isinstance(statement, CreateStream)
    if _already_there(statement, program):
        return
    name = statement.name.text
    bound, around = _bind(statement.query, statement, program, name=name, options=statement.options)
    if path := program.catalog.path(around.reads, name):
        at = statement.source.location(statement.name.span)
        raise errors.circular(at, name=name, path=" → ".join((name, *path)))
    definition = StreamDef(
        name=name,
        logical=bound.logical.input if bound.stateless else bound.logical,
        output=bound.logical.schema,
        stream_kind=bound.logical.kind,
        emission=str(bound.logical.emit),
        stateless=bound.stateless,
        reads=frozenset(around.reads),
        options=dict(bound.logical.options),
        text=statement.source.text[statement.span.start : statement.span.end],
    )
    _define(definition, statement, program)
    _add_query(NamedQuery(name=name, logical=bound.logical, anonymous=False), program)


def _add_query(query: NamedQuery, program: Program) -> None:
    """Behind all that it reads: one that is replaced may read streams that came after it, and others may read it."""
    left = [one for one in program.queries if one.name.lower() != query.name.lower()]
    left.append(query)
    ordered: list[NamedQuery] = []
    while left:
        waiting = {one.name.lower() for one in left}
        ready = next(one for one in left if not _reads(one, program) & waiting)
        left.remove(ready)
        ordered.append(ready)
    program.queries = ordered


def _reads(query: NamedQuery, program: Program) -> frozenset[str]:
    definition = program.catalog.find(query.name)
    return definition.reads if isinstance(definition, StreamDef) else frozenset()


def _bind(
    query: Query,
    statement: Statement,
    program: Program,
    *,
    name: str,
    options: tuple[Option, ...] = (),
) -> tuple[BoundQuery, Surroundings]:
    diagnostics = Diagnostics()
    around = Surroundings(
        catalog=program.catalog,
        settings=program.settings,
        source=statement.source,
        query=query,
        diagnostics=diagnostics,
        stream=name,
        options=read_options(options, scope=Scope.STREAM, source=statement.source),
        bind_query=bind_query,
    )
    try:
        bound = bind_top(query.tree, around)
    except TidegateError as refusal:
        diagnostics.errors.append(refusal.located(statement.source.location(query.span)))
        raise Refused(diagnostics.errors) from None
    diagnostics.raise_first()
    refuse_outgrown(bound.logical, statement.source.location(query.span))
    return bound, around


def _create_sink(statement: Statement, program: Program) -> None:
    assert isinstance(statement, CreateSink)
    if _already_there(statement, program):
        return
    source = statement.source
    stream = None if statement.stream is None else _sunk(statement, statement.stream, program)
    place = source.location(statement.name.span)
    connector, options = read_connector(
        statement.options, scope=Scope.SINK, source=source, place=place
    )
    if isinstance(stream, StreamDef) and statement.stream is not None:
        refuse_sink(
            connector.name,
            stream=stream.name,
            kind=stream.stream_kind,
            emission=stream.emission,
            at=source.location(statement.stream.span),
        )
    text = source.text[statement.span.start : statement.span.end]
    program.catalog.add(
        SinkDef(
            name=statement.name.text,
            stream=stream.name if stream else None,
            connector=connector.name,
            options=options,
            text=text,
        )
    )


def _sunk(statement: Statement, name: Name, program: Program) -> StreamDef | SourceDef:
    """What a sink takes rows from."""
    stream = program.catalog.find(name.text)
    at = statement.source.location(name.span)
    if stream is None:
        hint = program.catalog.suggestion(name.text)
        raise errors.unknown_relation(at, name=name, hint=hint)
    if not isinstance(stream, (StreamDef, SourceDef)):
        raise errors.wrong_kind_of_relation(
            at, name=stream.name, kind=stream.kind, statement="CREATE SINK", expected="stream"
        )
    return stream


def _select(statement: Statement, program: Program) -> None:
    assert isinstance(statement, Select)
    name = f"select_{program.selects + 1}"
    bound, _ = _bind(statement.query, statement, program, name=name)
    program.queries.append(NamedQuery(name=name, logical=bound.logical, anonymous=True))
    program.selects += 1


def _insert(statement: Statement, program: Program) -> None:
    assert isinstance(statement, Insert)
    target = _named(statement.target, program, statement, "source", SourceDef, TableDef)
    assert isinstance(target, (SourceDef, TableDef))
    program.inserts.append(bind_insert(statement, target))


def _named(
    name: Name, program: Program, statement: Statement, expected: str, *kinds: type
) -> object:
    definition = program.catalog.find(name.text)
    at = statement.source.location(name.span)
    if definition is None:
        raise errors.unknown_relation(at, name=name, hint=program.catalog.suggestion(name.text))
    if kinds and not isinstance(definition, kinds):
        verb = type(statement).__name__.upper()
        raise errors.wrong_kind_of_relation(
            at, name=definition.name, kind=definition.kind, statement=verb, expected=expected
        )
    return definition


def _drop(statement: Statement, program: Program) -> None:
    assert isinstance(statement, Drop)
    if statement.if_exists and not _exists(statement.name.text, program):
        return
    definition = _named(statement.name, program, statement, statement.kind)
    assert isinstance(definition, (SourceDef, TableDef, StreamDef, SinkDef))
    at = statement.source.location(statement.name.span)
    if definition.kind != statement.kind:
        raise errors.wrong_kind_of_relation(
            at,
            name=definition.name,
            kind=definition.kind,
            statement=f"DROP {statement.kind.upper()}",
            expected=statement.kind,
            hint=f"write DROP {definition.kind.upper()} {definition.name}",
        )
    readers = program.catalog.readers(definition.name)
    if readers:
        raise errors.in_use(at, name=definition.name, readers=", ".join(readers))
    program.catalog.remove(definition.name)
    program.queries = [
        query for query in program.queries if query.name.lower() != definition.name.lower()
    ]


def _look_up(statement: Statement, program: Program) -> None:
    assert isinstance(statement, (Describe, ShowCreate))
    _named(statement.name, program, statement, "definition")


def _explain(statement: Statement, program: Program) -> None:
    assert isinstance(statement, Explain)
    explained(statement, program)


def explained(statement: Explain, program: Program) -> NamedQuery:
    """The query that EXPLAIN is about, its own or that of a stream."""
    if isinstance(statement.target, Query):
        bound, _ = _bind(statement.target, statement, program, name="explained")
        return NamedQuery(name="explained", logical=bound.logical, anonymous=True)
    stream = _named(statement.target, program, statement, "stream", StreamDef)
    assert isinstance(stream, StreamDef)
    query = program.query(stream.name)
    assert query is not None
    return query


def _set(statement: Statement, program: Program) -> None:
    assert isinstance(statement, SetOption)
    name, value = read_option(statement.option, scope=Scope.SESSION, source=statement.source)
    assert name in OPTIONS
    program.settings = program.settings.with_session(name, value)


def _nothing(_statement: Statement, _program: Program) -> None:
    """SHOW SOURCES and its like look at the catalogue, and define nothing."""


_BINDERS: dict[type[Statement], Callable[[Statement, Program], None]] = {
    CreateSource: _create_source,
    CreateTable: _create_table,
    CreateStream: _create_stream,
    CreateSink: _create_sink,
    Select: _select,
    Insert: _insert,
    Drop: _drop,
    Describe: _look_up,
    ShowCreate: _look_up,
    Explain: _explain,
    SetOption: _set,
    Show: _nothing,
}
