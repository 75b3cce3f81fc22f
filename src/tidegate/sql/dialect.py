"""Tidegate's dialect of sqlglot: its tokens, and its expression grammar.

Decided here: what sqlglot does for us, and what it must not. Its tokenizer and its SELECT and expression parsers are
used as they are; functions stay what the user wrote (`Anonymous`), so that our own catalogue decides what exists and
what arguments mean; nothing is a command that swallows the rest of the text; and whatever its parser lets through
without a meaning is refused before it sees it (`sql/lint.py`).
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import sqlglot
from sqlglot import Dialect, ErrorLevel, ParseError, TokenType, exp
from sqlglot.errors import SqlglotError, TokenError
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.sql import rounding
from tidegate.sql.intervals import as_calls
from tidegate.sql.leftovers import refuse_leftovers
from tidegate.sql.nesting import MAX_HEIGHT, deep_stack, refuse_high
from tidegate.sql.respelled import respell
from tidegate.sql.source import SourceText, Span

MAX_LENGTH = 4_000_000
MAX_DEPTH = 64
_SPECIAL_SYNTAX = ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "POSITION", "SUBSTRING", "OVERLAY")
_TEMPLATING = ("{", "%}", "}}", "+%", "-%", "+}", "-}", "/*+")
# Words of statements that do not exist here; without them a column may have such a name.
_ORDINARY_WORDS = frozenset(
    "ALTER ANALYZE CACHE COMMENT COMMIT COPY CREATE DELETE DROP EXECUTE FETCH GLOB GRANT INSERT KILL LOAD LOCK MERGE "
    "NOTNULL PARTITIONED_BY PRAGMA REFRESH RENAME REPLACE RETURNING REVOKE ROLLBACK SESSION SHOW TRUNCATE UNCACHE "
    "UPDATE USE XOR".split()
)


class Tidegate(Dialect):
    """Standard SQL tokens; identifiers in double quotes or backticks, kept in the case they are written in."""

    class Tokenizer(sqlglot.Tokenizer):
        IDENTIFIERS: ClassVar = ['"', "`"]
        QUOTES: ClassVar = ["'"]
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS: ClassVar = {
            word: kind
            for word, kind in sqlglot.Tokenizer.KEYWORDS.items()
            if not word.startswith(_TEMPLATING) and word not in _ORDINARY_WORDS
        }

    class Parser(sqlglot.Parser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS: ClassVar = {
            name: sqlglot.Parser.FUNCTION_PARSERS[name] for name in _SPECIAL_SYNTAX
        }
        NO_PAREN_FUNCTIONS: ClassVar = {}

        def _parse_user_defined_type(self, identifier: exp.Identifier) -> exp.DataType:
            """A type that nobody knows, with its place; sqlglot would tokenize its name a second time."""
            name, end = identifier.name, identifier.meta.get("end")
            while self._match(TokenType.DOT):
                self._advance_any()
                name, end = f"{name}.{self._prev.text}", self._prev.end
            unknown = exp.DataType(this=exp.DType.USERDEFINED, kind=name)
            unknown.meta.update(start=identifier.meta.get("start"), end=end)
            return unknown


_DIALECT = Tidegate()
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_LITERALS = {TokenType.STRING, TokenType.NUMBER}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_UNREADABLE = re.compile(r"[\x00\ufeff\ud800-\udfff]")
_WHAT_IT_IS = {"\x00": "a NUL byte", "\ufeff": "a byte order mark inside the text"}


def tokenize(source: SourceText) -> list[Token]:
    """Tokens with offsets into the text. A byte order mark at its start is skipped."""
    text = source.text
    if len(text) > MAX_LENGTH:
        raise errors.text_too_long(source.location(Span(0, 1)), size=len(text), limit=MAX_LENGTH)
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    if unreadable := _UNREADABLE.search(text):
        what = _WHAT_IT_IS.get(unreadable.group(), "half a surrogate pair")
        raise errors.unreadable_text(
            source.location(Span(*unreadable.span())), problem=f"{what} is not SQL"
        )
    try:
        tokens = _DIALECT.tokenize(text)
    except (TokenError, ValueError, OverflowError):
        raise _untokenizable(source, text) from None
    _refuse_depth(source, tokens)
    return _with_fractions(tokens)


def _with_fractions(tokens: list[Token]) -> list[Token]:
    """`.5` as the one token that it is; sqlglot reads it as two, and forgets where it stood."""
    made: list[Token] = []
    for token in tokens:
        point = made[-1] if made else None
        if (
            token.token_type is TokenType.NUMBER
            and point is not None
            and point.token_type is TokenType.DOT
            and point.end + 1 == token.start
            and (
                len(made) == 1 or made[-2].end + 1 < point.start or made[-2].token_type in _OPENING
            )
        ):
            made[-1] = Token(
                token.token_type, f"0.{token.text}", point.line, point.col, point.start, token.end
            )
        else:
            made.append(token)
    return made


_QUOTED = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|(?P<open>'|\"|`|/\*)",
    re.DOTALL,
)
_OPEN_NAMES = {"'": "string", '"': "quoted name", "`": "quoted name", "/*": "comment"}


def _untokenizable(source: SourceText, text: str) -> errors.TidegateError:
    """sqlglot does not say where a quote was opened; the first one that nothing closes is the place."""
    for match in _QUOTED.finditer(text):
        if opened := match.group("open"):
            problem = f"this {_OPEN_NAMES[opened]} is never closed"
            return errors.unreadable_text(
                source.location(Span(match.start(), match.end())), problem=problem
            )
    return errors.unreadable_text(
        source.location(Span(0, 1)), problem="the text cannot be read as SQL"
    )


def _refuse_depth(source: SourceText, tokens: Sequence[Token]) -> None:
    """The parser recurses on nesting and on runs of prefix operators; both are bounded before it starts."""
    depth = run = 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.token_type is TokenType.DOT:
            continue  # `window.end` is a field, not the END of a CASE
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        run = run + 1 if token.token_type in _PREFIXES else 0
        if depth + run > MAX_DEPTH:
            raise errors.nested_too_deep(source.location(span_of_token(token)), limit=MAX_DEPTH)
        if token.token_type is TokenType.SEMICOLON:
            depth = 0


def span_of_token(token: Token) -> Span:
    return Span(token.start, token.end + 1)


def parse_query(source: SourceText, tokens: Sequence[Token]) -> exp.Expression:
    """The syntax tree of a query; positions in it are offsets into the source."""
    return _parsed(source, tokens)


def parse_expression(source: SourceText, tokens: Sequence[Token]) -> exp.Expression:
    """The syntax tree of one scalar expression."""
    if not tokens:
        raise AssertionError("callers check that there is something to parse")
    if len(tokens) == 1 and tokens[0].token_type in _LITERALS:
        return _literal(tokens[0])  # the rows of an INSERT are thousands of these
    tree = _parsed(source, [Token(TokenType.SELECT, "SELECT"), *tokens])
    rest = [key for key, value in tree.args.items() if value and key not in ("expressions", "kind")]
    if (
        not isinstance(tree, exp.Select)
        or rest
        or len(tree.expressions) != 1
        or isinstance(tree.expressions[0], exp.Alias)
    ):
        span = span_of_token(tokens[0]).to(span_of_token(tokens[-1]))
        raise errors.query_syntax(source.location(span), problem="this is not one expression")
    expression: exp.Expression = tree.expressions[0]
    return expression


def _literal(token: Token) -> exp.Expression:
    literal = exp.Literal(this=token.text, is_string=token.token_type is TokenType.STRING)
    literal.meta.update(start=token.start, end=token.end)
    return literal


# What sqlglot raises where it did not foresee a text; the names of types, for one, it tokenizes a second time.
_CONFUSIONS = (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError)


def _parsed(source: SourceText, tokens: Sequence[Token]) -> exp.Expression:
    parser = _DIALECT.parser(error_level=ErrorLevel.IMMEDIATE)
    whole = span_of_token(tokens[-1])
    try:
        with deep_stack():
            trees = parser.parse(as_calls(rounding.as_calls(tokens)), source.text)
    except ParseError as refusal:
        raise _syntax_error(source, tokens, refusal, reached=_reached(parser, whole)) from None
    except RecursionError:
        at = source.location(_reached(parser, whole))
        raise errors.nested_too_deep(at, limit=MAX_DEPTH) from None
    except _CONFUSIONS as confusion:
        problem = "this cannot be understood as a query"
        at = source.location(_reached(parser, whole))
        raise errors.query_syntax(at, problem=problem) from confusion
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Expression):
        raise errors.query_syntax(source.location(whole), problem="this is not one query")
    if len(tokens) > MAX_HEIGHT:
        refuse_high(tree, source, whole=whole)
    respell(tree, source)
    refuse_leftovers(tree, source, whole=whole)
    return tree


def _reached(parser: object, whole: Span) -> Span:
    """The last token that the parser took before it gave up."""
    token = getattr(parser, "_prev", None) or getattr(parser, "_curr", None)
    return span_of_token(token) if token else whole


def _syntax_error(
    source: SourceText, tokens: Sequence[Token], refusal: ParseError, *, reached: Span
) -> errors.TidegateError:
    detail = refusal.errors[0] if refusal.errors else {}
    places: dict[object, Token] = {(token.line, token.col): token for token in tokens}
    at = places.get((detail.get("line"), detail.get("col")), tokens[-1])
    span = span_of_token(at)
    if source.text[span.start : span.end] != detail.get("highlight"):
        span = reached  # the refusal is of a text inside this one, such as a quoted type
    place = source.location(span)
    description = str(detail.get("description", refusal)).strip().rstrip(".")
    missing = re.match(
        r"Required keyword: '(\w+)' missing for <class '[\w.]*\.(\w+)'>", description
    )
    if missing:
        return errors.query_syntax(place, problem=f"something is missing after {at.text}")
    if description.startswith("Expecting "):
        return errors.unexpected_token(
            place, expected=description.removeprefix("Expecting "), got=at.text
        )
    return errors.query_syntax(place, problem=f"{at.text or 'this'} is unexpected here")
