"""Calcite's `FLOOR(ts TO HOUR)` as an ordinary call.

sqlglot's grammar has no TO inside a call. So, before its parser runs, the tokens become those of `FLOOR(ts, 'HOUR')`,
with their places kept.
"""

from collections.abc import Sequence

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from tidegate.sql.intervals import moved

_FUNCTIONS = ("FLOOR", "CEIL", "CEILING")


def as_calls(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with every rounding of an instant as a call."""
    made: list[Token] | None = None
    for place in range(len(tokens)):
        behind = _unit_of(tokens, place)
        if behind is not None:
            made = list(tokens) if made is None else made
            to, unit = tokens[behind - 1], tokens[behind]
            made[behind - 1] = moved(to, TokenType.COMMA, ",")
            made[behind] = moved(unit, TokenType.STRING, unit.text)
    return tokens if made is None else made


def _unit_of(tokens: Sequence[Token], place: int) -> int | None:
    """Where the unit stands of a rounding that begins here."""
    if tokens[place].text.upper() not in _FUNCTIONS or _kind(tokens, place + 1) is not _OPEN:
        return None
    depth = 0
    for inside in range(place + 1, len(tokens)):
        kind = tokens[inside].token_type
        depth += (kind is _OPEN) - (kind is _CLOSE)
        if depth == 0:
            return None
        ends = _kind(tokens, inside + 2) is _CLOSE
        if depth == 1 and tokens[inside].text.upper() == "TO" and ends:
            return inside + 1 if tokens[inside + 1].text.isalpha() else None
    return None


_OPEN, _CLOSE = TokenType.L_PAREN, TokenType.R_PAREN


def _kind(tokens: Sequence[Token], place: int) -> TokenType | None:
    return tokens[place].token_type if place < len(tokens) else None
