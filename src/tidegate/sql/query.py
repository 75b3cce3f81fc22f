"""Queries: what streams is taken out of the tokens, the rest is sqlglot's.

In: the tokens of a query. Out: `Query`. One pass over the tokens finds, for every SELECT at any depth, its streaming
clauses and the window functions in its FROM; what is left is plain SQL, and keeps its offsets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.sql.clauses import begins_clause, read_clause
from tidegate.sql.cursor import Cursor
from tidegate.sql.dialect import parse_expression, parse_query, span_of_token
from tidegate.sql.lint import refuse_foreign, refuse_gaps
from tidegate.sql.places import own_span
from tidegate.sql.source import SourceText
from tidegate.sql.statements import Clauses, Query
from tidegate.sql.windows import SPELLINGS, TABLE_SPELLINGS, WindowSyntax, window_from_arguments

_AFTER_FROM = frozenset(
    {
        "WHERE",
        "GROUP BY",
        "HAVING",
        "ORDER BY",
        "LIMIT",
        "UNION",
        "QUALIFY",
        "WINDOW",
        "ON",
        "USING",
    }
)


@dataclass(slots=True)
class _Select:
    clauses: Clauses
    begun_from: bool = False
    in_from: bool = False


@dataclass(slots=True)
class _Separated:
    """Tokens left for sqlglot, and what was taken out of them."""

    tokens: list[Token] = field(default_factory=list)
    clauses: dict[int, Clauses] = field(default_factory=dict)
    table_windows: dict[int, WindowSyntax] = field(default_factory=dict)

    def absorb(self, inner: "_Separated") -> None:
        self.tokens.extend(inner.tokens)
        self.clauses.update(inner.clauses)
        self.table_windows.update(inner.table_windows)


def read_query(source: SourceText, tokens: Sequence[Token]) -> Query:
    """The query that the tokens are, all of them."""
    refuse_foreign(source, tokens)
    parts = _separate(Cursor(source, tokens))
    refuse_gaps(source, parts.tokens)
    tree = parse_query(source, parts.tokens)
    span = span_of_token(tokens[0]).to(span_of_token(tokens[-1]))
    return Query(tree=tree, clauses=parts.clauses, table_windows=parts.table_windows, span=span)


def select_key(select: exp.Expression) -> int:
    """The offset of a SELECT's keyword, which its clauses are kept by. `_separate` leaves it as the node's comment."""
    comments = [comment for comment in select.comments or () if comment.isdecimal()]
    return int(comments[0]) if comments else -1


def table_key(table: exp.Expression) -> int:
    """What a window function in FROM is kept by: the offset of the table's name, or of its subquery's SELECT."""
    if isinstance(table, exp.Subquery):
        inner = table.this
        while isinstance(inner, (exp.Subquery, exp.SetOperation)):
            inner = inner.this
        return select_key(inner)
    span = (
        own_span(table.this)
        if isinstance(table, exp.Table) and isinstance(table.this, exp.Expression)
        else None
    )
    return span.start if span else -1


def _separate(cursor: Cursor) -> _Separated:
    parts = _Separated()
    selects: dict[int, _Select] = {}
    depth = 0
    while not cursor.done:
        select = selects.get(depth)
        if select and select.begun_from and begins_clause(cursor):
            read_clause(cursor, select.clauses)
            select.in_from = False
            continue
        if select and select.in_from and _begins_table_window(cursor):
            _read_table_window(cursor, parts)
            continue
        word = cursor.word()
        if word == "SELECT":
            selects[depth] = _Select(_begin_select(cursor, parts))
            continue
        if select:
            _follow(select, word)
        depth += (word == "(") - (word == ")")
        if word == ")":
            selects = {level: kept for level, kept in selects.items() if level <= depth}
        named = word == "WINDOW" and (
            cursor.sees("WINDOW", "(") or cursor.word(-1) in ("GROUP BY", ",")
        )
        parts.tokens.append(_as_name(cursor.take()) if named else cursor.take())
    return parts


def _as_name(token: Token) -> Token:
    """Spark's `window(…)` or its name in GROUP BY, which sqlglot would take for a WINDOW clause."""
    return Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)


def _follow(select: _Select, word: str) -> None:
    if word == "FROM":
        select.begun_from = select.in_from = True
    elif word in ("JOIN", ","):
        select.in_from = select.begun_from and (select.in_from or word == "JOIN")
    elif word in _AFTER_FROM:
        select.in_from = False


def _begin_select(cursor: Cursor, parts: _Separated) -> Clauses:
    token = cursor.take()
    marked = Token(
        token.token_type,
        token.text,
        token.line,
        token.col,
        token.start,
        token.end,
        [str(token.start)],
    )
    parts.tokens.append(marked)
    parts.clauses[token.start] = Clauses()
    return parts.clauses[token.start]


def _begins_table_window(cursor: Cursor) -> bool:
    if cursor.word(-1) not in ("FROM", "JOIN", ","):
        return False
    return cursor.sees("TABLE", "(") or (cursor.word() in TABLE_SPELLINGS and cursor.word(1) == "(")


def _read_table_window(cursor: Cursor, parts: _Separated) -> None:
    """`[TABLE(] TUMBLE([DATA =>] [TABLE] t [PARTITION BY k], [DESCRIPTOR(]ts[)], size …) [)]`: leaves the table."""
    wrapped = cursor.accept("TABLE", "(")
    start = cursor.here()
    written = cursor.one_of(*TABLE_SPELLINGS)
    cursor.expect("(")
    if cursor.word(1) == "=>":
        cursor.expect("DATA", "=>")
    cursor.accept("TABLE")
    if cursor.word() in TABLE_SPELLINGS and cursor.word(1) == "(":
        at = cursor.source.location(cursor.here())
        raise errors.two_windows(at, first=written, second=cursor.word())
    key = _read_table(cursor, parts)
    partition_by = _read_partition(cursor, arguments=SPELLINGS[written.lower()].required)
    arguments = []
    while cursor.accept(","):
        arguments.append(_read_argument(cursor))
    cursor.expect(")")
    if wrapped:
        cursor.expect(")")
    window = window_from_arguments(
        SPELLINGS[written.lower()], arguments, source=cursor.source, span=start, written=written
    )
    parts.table_windows[key] = replace(window, partition_by=partition_by)


def _read_table(cursor: Cursor, parts: _Separated) -> int:
    if not cursor.sees("("):
        key = cursor.here().start
        cursor.name("the name of a stream")
        parts.tokens.append(cursor.tokens[cursor.position - 1])
        return key
    parts.tokens.append(cursor.take())
    start = cursor.position
    inner = _separate(Cursor(cursor.source, cursor.balanced(lambda _at: False)))
    if not inner.clauses:
        cursor.position = start
        raise cursor.unexpected("a query")
    parts.absorb(inner)
    if not cursor.sees(")"):
        raise cursor.unexpected(")")
    parts.tokens.append(cursor.take())
    return min(inner.clauses)


def _read_partition(cursor: Cursor, *, arguments: int) -> tuple[exp.Expression, ...]:
    """Keys go on to DESCRIPTOR, or until no more than the arguments of the window are left."""
    keys: list[exp.Expression] = []
    if cursor.accept("PARTITION BY"):
        keys.append(_read_argument(cursor))
        while not cursor.sees(",", "DESCRIPTOR") and _commas_ahead(cursor) > arguments:
            cursor.expect(",")
            keys.append(_read_argument(cursor))
    return tuple(key for written in keys for key in _in_parentheses(written))


def _in_parentheses(key: exp.Expression) -> list[exp.Expression]:
    """Flink's form of several keys is `PARTITION BY (a, b)`, too."""
    return list(key.expressions) if isinstance(key, exp.Tuple) else [key]


def _commas_ahead(cursor: Cursor) -> int:
    """How many commas there are before the closing parenthesis."""
    ahead = Cursor(cursor.source, cursor.tokens, position=cursor.position)
    count = 0
    while not ahead.done and ahead.word() != ")":
        ahead.balanced(lambda at: at.word() == ",")
        count += ahead.accept(",")
        if ahead.word() in ("]", "}"):
            break
    return count


def _read_argument(cursor: Cursor) -> exp.Expression:
    """One argument; DESCRIPTOR(ts) is ts."""
    start = cursor.here()
    name = None
    if cursor.word(1) == "=>":
        name = cursor.name("the name of an argument")
        cursor.expect("=>")
    if cursor.accept("DESCRIPTOR", "("):
        tokens = cursor.balanced(lambda _at: False)
        value = _expression(cursor, tokens)
        cursor.expect(")")
    else:
        value = _expression(cursor, cursor.balanced(lambda at: at.word() == ","))
    if name is None:
        return value
    label = exp.to_identifier(name.text)
    label.meta.update(start=start.start, end=name.span.end - 1)
    return exp.Kwarg(this=label, expression=value)


def _expression(cursor: Cursor, tokens: list[Token]) -> exp.Expression:
    if not tokens:
        raise cursor.unexpected("an argument")
    refuse_gaps(cursor.source, tokens)
    return parse_expression(cursor.source, tokens)
