"""INTERVAL literals as ordinary calls.

sqlglot takes any word for a unit, and forgets where an interval stood. So, before its parser runs, the tokens of
`INTERVAL '5' SECOND` become those of the call `$interval('5', 'SECOND')`, with their places kept; what the text and the
unit mean is decided in `lengths.py` alone.
"""

import re
from collections.abc import Sequence

from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

FUNCTION = "$interval"
_NUMERIC = re.compile(r"[\s0-9:.+-]+")
_NOT_UNITS = frozenset(
    "PRECEDING FOLLOWING AND OR AS FROM THEN ELSE END ASC DESC WHEN NOT IN IS BETWEEN".split()
)


def as_calls(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with every INTERVAL literal as a call."""
    made: list[Token] = []
    place = 0
    while place < len(tokens):
        length = _literal_length(tokens, place)
        made.extend(_call(tokens[place : place + length]) if length else [tokens[place]])
        place += length or 1
    return made


def is_interval(node: exp.Expression) -> bool:
    return isinstance(node, exp.Anonymous) and node.name == FUNCTION


def _literal_length(tokens: Sequence[Token], place: int) -> int:
    """How many tokens the INTERVAL literal has that begins here; 0 where none does."""
    if tokens[place].token_type is not TokenType.INTERVAL or place + 1 >= len(tokens):
        return 0
    signed = 1 if tokens[place + 1].token_type is TokenType.DASH else 0
    value = tokens[place + 1 + signed] if place + 1 + signed < len(tokens) else None
    if value is None or value.token_type not in (TokenType.STRING, TokenType.NUMBER):
        return 0
    length = 2 + signed
    bare = _NUMERIC.fullmatch(value.text) or not any(map(str.isdigit, value.text))
    if not bare or not _is_unit(tokens, place + length):
        return length
    spans = _text(tokens, place + length + 1) == "TO" and _is_unit(tokens, place + length + 2)
    return length + (3 if spans else 1)


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text.upper() if place < len(tokens) else ""


def _is_unit(tokens: Sequence[Token], place: int) -> bool:
    word = _text(tokens, place)
    return (
        word.isalpha()
        and word not in _NOT_UNITS
        and tokens[place].token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
    )


def _call(literal: Sequence[Token]) -> list[Token]:
    head, *rest = literal
    signed = rest[0].token_type is TokenType.DASH
    value, *unit = rest[1:] if signed else rest
    text = ("-" if signed else "") + value.text
    last = literal[-1]
    return [
        moved(head, TokenType.VAR, FUNCTION),
        moved(value, TokenType.L_PAREN, "("),
        moved(value, TokenType.STRING, text),
        moved(value, TokenType.COMMA, ","),
        moved(unit[0] if unit else value, TokenType.STRING, " ".join(token.text for token in unit)),
        moved(last, TokenType.R_PAREN, ")"),
    ]


def moved(token: Token, kind: TokenType, text: str) -> Token:
    """Another token in the place of one."""
    return Token(kind, text, token.line, token.col, token.start, token.end)
