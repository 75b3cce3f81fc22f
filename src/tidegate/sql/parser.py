"""Statements: our own grammar over the tokens; queries and expressions inside are handed on.

In: a text. Out: `Script`: the statements that could be read, in order, and an error for each that could not. A broken
statement ends at its semicolon and does not hide the errors of the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.errors import TidegateError
from tidegate.sql.columns import read_columns
from tidegate.sql.cursor import Cursor, Name
from tidegate.sql.dialect import parse_expression, span_of_token, tokenize
from tidegate.sql.lint import refuse_gaps
from tidegate.sql.options import read_option, read_options
from tidegate.sql.query import read_query
from tidegate.sql.source import SourceText, Span
from tidegate.sql.statements import (
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

KINDS = ("SOURCE", "TABLE", "STREAM", "SINK")
_PLURALS = ("SOURCES", "STREAMS", "SINKS", "TABLES")


@dataclass(frozen=True, slots=True)
class Script:
    """`broken` are the names that a refused CREATE would have defined: nobody needs to hear that they are missing."""

    statements: tuple[Statement, ...]
    errors: tuple[TidegateError, ...]
    broken: frozenset[str] = frozenset()


def parse_script(source: SourceText) -> Script:
    """All statements of a text; where it cannot be read to its end, those before that place."""
    refusals: list[TidegateError] = []
    try:
        tokens = tokenize(source)
    except TidegateError as refusal:
        refusals.append(refusal)
        tokens = _tokens_before(source, refusal)
    statements: list[Statement] = []
    broken: set[str] = set()
    for part in _split(tokens):
        try:
            statements.append(_read_statement(Cursor(source, part)))
        except TidegateError as refusal:
            refusals.append(refusal)
            broken.update(_defined_name(part))
    return Script(tuple(statements), tuple(refusals), frozenset(broken))


def _tokens_before(source: SourceText, refusal: TidegateError) -> list[Token]:
    """Tokens of the whole statements in front of what could not be read."""
    assert refusal.location is not None
    lines = source.text.split("\n")[: refusal.location.line]
    lines[-1] = lines[-1][: refusal.location.column - 1]
    readable, semicolon, _ = "\n".join(lines).rpartition(";")
    try:
        return tokenize(SourceText(readable + semicolon, source.name))
    except TidegateError:
        return []  # that semicolon stands in a string or comment


def parse_statement(source: SourceText) -> Statement:
    """The one statement that the text is."""
    script = parse_script(source)
    if script.errors:
        raise script.errors[0]
    if len(script.statements) != 1:
        at = source.location(Span(len(source.text), len(source.text)))
        raise errors.unexpected_token(
            at, expected="one statement", got=f"{len(script.statements)} statements"
        )
    return script.statements[0]


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _defined_name(tokens: Sequence[Token]) -> list[str]:
    words = [token.text.upper() for token in tokens[:8]]
    if words[0] != "CREATE":
        return []
    places = [index for index, word in enumerate(words) if word in (*KINDS, "VIEW")]
    place = places[0] + 1 if places else len(words)
    place += 3 if words[place : place + 3] == ["IF", "NOT", "EXISTS"] else 0
    return [tokens[place].text.lower()] if place < len(words) else []


def _read_statement(cursor: Cursor) -> Statement:
    if (
        cursor.sees("SELECT")
        or cursor.sees("(")
        or (cursor.sees("WITH") and not cursor.sees("WITH", "("))
    ):
        query = _read_rest_as_query(cursor)
        return Select(query=query, span=query.span, source=cursor.source)
    reader = _READERS.get(cursor.word())
    if reader is None:
        first = cursor.tokens[0]
        hint = _FOREIGN.get(first.text.upper()) or errors.nearest(first.text, ("SELECT", *_READERS))
        raise errors.unknown_statement(
            cursor.source.location(span_of_token(first)), got=first.text[:40], hint=hint
        )
    start = cursor.here()
    cursor.take()
    statement = reader(cursor, start)
    if not cursor.done:
        raise cursor.unexpected("the end of the statement")
    return statement


def _read_rest_as_query(cursor: Cursor, *, behind: Sequence[Token] = ()) -> Query:
    """What is left; `behind` are clauses of the query that stood elsewhere (RisingWave's EMIT in front of AS)."""
    if not (cursor.sees("SELECT") or cursor.sees("WITH") or cursor.sees("(")):
        raise cursor.unexpected("SELECT")
    tokens = [*cursor.tokens[cursor.position :], *behind]
    cursor.position = len(cursor.tokens)
    return read_query(cursor.source, tokens)


@dataclass(frozen=True, slots=True)
class _Head:
    """What all CREATE statements begin with."""

    name: Name
    or_replace: bool
    if_not_exists: bool


def _read_create(cursor: Cursor, start: Span) -> Statement:
    or_replace = cursor.accept("OR", "REPLACE")
    if cursor.accept("MATERIALIZED", "VIEW") or cursor.accept("VIEW"):
        kind = "STREAM"
    elif cursor.word() in KINDS:
        kind = cursor.take().text.upper()
    else:
        hint = errors.nearest(cursor.word(), KINDS)
        got = cursor.tokens[cursor.position].text if not cursor.done else "the end"
        at = cursor.source.location(cursor.here())
        raise errors.unexpected_token(
            at, expected="SOURCE, TABLE, STREAM or SINK", got=got[:40], hint=hint
        )
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    head = _Head(cursor.name(f"the name of the {kind.lower()}"), or_replace, if_not_exists)
    return _CREATORS[kind](cursor, head, start)


def _read_create_source(cursor: Cursor, head: _Head, start: Span) -> Statement:
    columns, watermark = read_columns(cursor, watermark_allowed=True)
    options = _read_trailing_options(cursor)
    return CreateSource(
        name=head.name,
        or_replace=head.or_replace,
        if_not_exists=head.if_not_exists,
        options=options,
        columns=columns,
        watermark=watermark,
        span=cursor.since(start),
        source=cursor.source,
    )


def _read_create_table(cursor: Cursor, head: _Head, start: Span) -> Statement:
    if cursor.sees("AS"):
        at = cursor.source.location(Span(start.start, head.name.span.start))
        instead = "write CREATE STREAM … AS SELECT: what a query makes is a stream"
        raise errors.foreign_clause(at, clause="CREATE TABLE … AS", instead=instead)
    columns, _ = read_columns(cursor, watermark_allowed=False)
    options = _read_trailing_options(cursor)
    return CreateTable(
        name=head.name,
        or_replace=head.or_replace,
        if_not_exists=head.if_not_exists,
        options=options,
        columns=columns,
        span=cursor.since(start),
        source=cursor.source,
    )


def _read_create_stream(cursor: Cursor, head: _Head, start: Span) -> Statement:
    options = _read_trailing_options(cursor)
    emit = cursor.balanced(lambda at: at.sees("AS")) if cursor.sees("EMIT") else []
    cursor.expect("AS")
    query = _read_rest_as_query(cursor, behind=emit)
    return CreateStream(
        name=head.name,
        or_replace=head.or_replace,
        if_not_exists=head.if_not_exists,
        options=options,
        query=query,
        span=cursor.since(start),
        source=cursor.source,
    )


def _read_create_sink(cursor: Cursor, head: _Head, start: Span) -> Statement:
    stream = None
    if not cursor.sees("WITH"):
        cursor.expect("FROM")
        stream = cursor.name("the name of a stream")
    options = _read_trailing_options(cursor)
    return CreateSink(
        name=head.name,
        or_replace=head.or_replace,
        if_not_exists=head.if_not_exists,
        options=options,
        stream=stream,
        span=cursor.since(start),
        source=cursor.source,
    )


def _read_trailing_options(cursor: Cursor) -> tuple[Option, ...]:
    return read_options(cursor) if cursor.sees("WITH") else ()


_CREATORS: dict[str, Callable[[Cursor, _Head, Span], Statement]] = {
    "SOURCE": _read_create_source,
    "TABLE": _read_create_table,
    "STREAM": _read_create_stream,
    "SINK": _read_create_sink,
}


def _read_insert(cursor: Cursor, start: Span) -> Statement:
    cursor.expect("INTO")
    target = cursor.name("the name of a source")
    columns = cursor.comma_separated(lambda: cursor.name("a column")) if cursor.sees("(") else []
    if cursor.sees("SELECT") or cursor.sees("WITH"):
        instead = "write CREATE STREAM … AS SELECT …, and CREATE SINK … FROM it"
        raise errors.foreign_clause(
            cursor.source.location(cursor.here()), clause="INSERT INTO … SELECT", instead=instead
        )
    cursor.expect("VALUES")
    rows = [_read_row(cursor)]
    while cursor.accept(","):
        rows.append(_read_row(cursor))
    return Insert(
        target=target,
        columns=tuple(columns),
        rows=tuple(rows),
        span=cursor.since(start),
        source=cursor.source,
    )


def _read_row(cursor: Cursor) -> tuple[exp.Expression, ...]:
    return tuple(cursor.comma_separated(lambda: _read_value(cursor)))


def _read_value(cursor: Cursor) -> exp.Expression:
    tokens = cursor.balanced(lambda at: at.word() == ",")
    if not tokens:
        raise cursor.unexpected("a value")
    refuse_gaps(cursor.source, tokens)
    return parse_expression(cursor.source, tokens)


def _read_drop(cursor: Cursor, start: Span) -> Statement:
    kind = (
        "STREAM"
        if cursor.accept("MATERIALIZED", "VIEW") or cursor.accept("VIEW")
        else cursor.one_of(*KINDS)
    )
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name(f"the name of a {kind.lower()}")
    return Drop(
        kind=kind.lower(),
        name=name,
        if_exists=if_exists,
        span=cursor.since(start),
        source=cursor.source,
    )


def _read_show(cursor: Cursor, start: Span) -> Statement:
    if cursor.accept("CREATE"):
        if cursor.word() in KINDS and len(cursor.tokens) > cursor.position + 1:
            cursor.take()
        return ShowCreate(
            name=cursor.name("a name"), span=cursor.since(start), source=cursor.source
        )
    return Show(
        kind=cursor.one_of(*_PLURALS).lower(), span=cursor.since(start), source=cursor.source
    )


def _read_describe(cursor: Cursor, start: Span) -> Statement:
    return Describe(name=cursor.name("a name"), span=cursor.since(start), source=cursor.source)


def _read_explain(cursor: Cursor, start: Span) -> Statement:
    level = cursor.one_of(*_LEVELS).lower() if cursor.word() in _LEVELS else "physical"
    form = "text"
    if cursor.sees("FORMAT", "TEXT") or cursor.sees("FORMAT", "JSON"):
        cursor.expect("FORMAT")
        form = cursor.one_of("TEXT", "JSON").lower()
    if cursor.sees("SELECT") or cursor.sees("WITH") or cursor.sees("("):
        target: Name | Query = _read_rest_as_query(cursor)
    else:
        target = cursor.name("SELECT, or the name of a stream")
    return Explain(
        level=level, format=form, target=target, span=cursor.since(start), source=cursor.source
    )


_LEVELS = ("LOGICAL", "PHYSICAL", "ANALYZE", "WHY")


def _read_set(cursor: Cursor, start: Span) -> Statement:
    return SetOption(option=read_option(cursor), span=cursor.since(start), source=cursor.source)


_NO_CHANGES = "rows of a stream are not changed; CREATE STREAM … AS SELECT … WHERE leaves some out"
_FOREIGN = {
    "DELETE": _NO_CHANGES,
    "UPDATE": _NO_CHANGES,
    "MERGE": _NO_CHANGES,
    "TRUNCATE": _NO_CHANGES,
    "ALTER": "write the definition anew: CREATE OR REPLACE …",
    "USE": "there is one namespace, with all that the statements before have defined",
}
"""Statements of other dialects, and what to write instead."""

_READERS: dict[str, Callable[[Cursor, Span], Statement]] = {
    "CREATE": _read_create,
    "INSERT": _read_insert,
    "DROP": _read_drop,
    "SHOW": _read_show,
    "DESCRIBE": _read_describe,
    "DESC": _read_describe,
    "EXPLAIN": _read_explain,
    "SET": _read_set,
}
