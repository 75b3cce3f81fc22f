"""What sqlglot's parser would let through although something is missing.

It reads `SELECT a, FROM t`, `GROUP BY` with nothing behind it and the like without a word. These gaps show in
neighbouring tokens, so they are refused before parsing, at the token where something else was due.
"""

from collections.abc import Sequence

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.model.time import UNITS
from tidegate.sql.dialect import span_of_token
from tidegate.sql.source import SourceText, Span

_NEEDS_MORE = {
    TokenType.COMMA, TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING,
    TokenType.ORDER_BY, TokenType.PARTITION_BY, TokenType.LIMIT, TokenType.AND, TokenType.OR, TokenType.NOT,
    TokenType.EXCEPT, TokenType.BETWEEN, TokenType.LIKE, TokenType.IN, TokenType.JOIN, TokenType.ON, TokenType.UNION,
    TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.PLUS, TokenType.SLASH, TokenType.EQ, TokenType.NEQ,
    TokenType.LT, TokenType.LTE, TokenType.GTE,
}  # fmt: skip
_ENDS = {
    TokenType.COMMA, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY,
    TokenType.LIMIT, TokenType.UNION, TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.JOIN, TokenType.ON,
    TokenType.AND, TokenType.OR, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.END, TokenType.EQ,
}  # fmt: skip
_PAIRS = {
    TokenType.L_PAREN: TokenType.R_PAREN,
    TokenType.L_BRACKET: TokenType.R_BRACKET,
    TokenType.L_BRACE: TokenType.R_BRACE,
}


_FOREIGN: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("OVER", "(", "WHEN"), "OVER (WHEN …)", "write FILTER (WHERE …) behind the aggregate"),
    (("MATCH_RECOGNIZE", "("), "MATCH_RECOGNIZE", "it is not supported"),
    (
        ("SESSION", "WITH", "GAP"),
        "SESSION WITH GAP",
        "write GROUP BY SESSION(ts, INTERVAL '5' MINUTE)",
    ),
    (
        ("MATCH_CONDITION", "("),
        "an ASOF join (MATCH_CONDITION)",
        "it is not supported: join a stream with a table",
    ),
    (("STEP", "("), "STEP(… BY …)", "write GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"),
)


def refuse_foreign(source: SourceText, tokens: Sequence[Token]) -> None:
    """Refuse well-known phrases of other systems, and say what to write instead."""
    words = [
        token.text.upper() if token.token_type is not TokenType.STRING else "" for token in tokens
    ]
    for place in range(len(words)):
        for phrase, clause, instead in _FOREIGN:
            if tuple(words[place : place + len(phrase)]) == phrase:
                at = source.location(span_of_token(tokens[place]))
                raise errors.foreign_clause(at, clause=clause, instead=instead)


def _refuse_bare_length(source: SourceText, number: Token, unit: Token | None) -> None:
    """Timeplus' `5s`: a number with a unit right behind it."""
    if unit is None or unit.start != number.end + 1 or unit.text.lower() not in UNITS:
        return
    at = source.location(span_of_token(number).to(span_of_token(unit)))
    raise errors.bad_interval(at, text=number.text + unit.text, problem=": it has no quotes")


def refuse_gaps(source: SourceText, tokens: Sequence[Token]) -> None:
    """Refuse keywords and operators with nothing behind them, and parentheses that do not match."""
    _refuse_unbalanced(source, tokens)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token_type is TokenType.NUMBER:
            _refuse_bare_length(source, token, following)
        if token.token_type not in _NEEDS_MORE:
            continue
        if following is None or following.token_type in _ENDS:
            raise _gap(source, token, following)


def _gap(source: SourceText, token: Token, following: Token | None) -> errors.TidegateError:
    span = span_of_token(following) if following else Span(token.end + 1, token.end + 1)
    got = following.text if following else "the end"
    what = (
        "a source or stream"
        if token.token_type in (TokenType.FROM, TokenType.JOIN)
        else "an expression"
    )
    return errors.unexpected_token(
        source.location(span), expected=f"{what} after {_named(token)}", got=got
    )


def _named(token: Token) -> str:
    """A comma reads as one of the sentence's own."""
    return "a comma" if token.token_type is TokenType.COMMA else token.text


def _refuse_unbalanced(source: SourceText, tokens: Sequence[Token]) -> None:
    expected: list[tuple[TokenType, Token]] = []
    for token in tokens:
        if token.token_type in _PAIRS:
            expected.append((_PAIRS[token.token_type], token))
        elif token.token_type in _PAIRS.values() and (
            not expected or expected.pop()[0] is not token.token_type
        ):
            raise errors.query_syntax(
                source.location(span_of_token(token)), problem=f"this {token.text} closes nothing"
            )
    if expected:
        opened = expected[-1][1]
        raise errors.query_syntax(
            source.location(span_of_token(opened)), problem=f"this {opened.text} is never closed"
        )
