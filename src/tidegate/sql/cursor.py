"""A position in a statement's tokens: what our own statement grammar is written with.

Words are matched regardless of case, and only when they are not quoted; so no word is reserved.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.sql.dialect import span_of_token
from tidegate.sql.source import SourceText, Span

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
OPEN = {"(": ")", "[": "]", "{": "}"}
_NOT_NAMES = {
    TokenType.STRING, TokenType.NUMBER, TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DOT,
    TokenType.EQ, TokenType.STAR, TokenType.SEMICOLON, TokenType.L_BRACKET, TokenType.R_BRACKET,
}  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the user wrote it, and where."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


class Cursor:
    """Tokens of one statement, read from left to right."""

    def __init__(self, source: SourceText, tokens: Sequence[Token], *, position: int = 0) -> None:
        self.source = source
        self.tokens = tokens
        self.position = position

    def word(self, ahead: int = 0) -> str:
        """The token in upper case; quoted ones and the end give text that matches no word."""
        index = self.position + ahead
        if not 0 <= index < len(self.tokens):
            return ""
        token = self.tokens[index]
        return "'" if token.token_type in _QUOTED else " ".join(token.text.upper().split())

    def kind(self, ahead: int = 0) -> TokenType | None:
        index = self.position + ahead
        return self.tokens[index].token_type if 0 <= index < len(self.tokens) else None

    @property
    def done(self) -> bool:
        return self.position >= len(self.tokens)

    def sees(self, *words: str) -> bool:
        return all(self.word(ahead) == word for ahead, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        """Move past the words if all of them come next."""
        if not self.sees(*words):
            return False
        self.position += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.unexpected(word)

    def one_of(self, *words: str) -> str:
        if self.word() not in words:
            raise self.unexpected(
                " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words),
                hint="" if self.done else errors.nearest(self.word(), words),
            )
        self.position += 1
        return self.word(-1)

    def take(self) -> Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def name(self, what: str) -> Name:
        """An identifier, quoted or not. Keywords are fine as names wherever a name is all that can stand."""
        if self.done or self.kind() in _NOT_NAMES or not _is_name(self.tokens[self.position]):
            raise self.unexpected(what)
        token = self.take()
        return Name(token.text, span_of_token(token))

    def string(self, what: str) -> tuple[str, Span]:
        if self.kind() is not TokenType.STRING:
            raise self.unexpected(what)
        token = self.take()
        return token.text, span_of_token(token)

    def comma_separated(self, item: Callable[[], T]) -> list[T]:
        """`( item, item, … )`, at least one."""
        self.expect("(")
        items = [item()]
        while self.accept(","):
            items.append(item())
        self.expect(")")
        return items

    def balanced(self, stops: Callable[["Cursor"], bool]) -> list[Token]:
        """Tokens up to the first place outside parentheses where `stops` holds, a closing one, or the end."""
        start, depth = self.position, 0
        while not self.done:
            word = self.word()
            if depth == 0 and (word in (")", "]", "}") or stops(self)):
                break
            depth += (word in OPEN) - (word in OPEN.values())
            self.position += 1
        return list(self.tokens[start : self.position])

    def here(self) -> Span:
        """The place of the next token; behind the last one at the end."""
        if self.position < len(self.tokens):
            return span_of_token(self.tokens[self.position])
        if not self.tokens:
            return Span(len(self.source.text), len(self.source.text))
        end = self.tokens[-1].end + 1
        return Span(end, end)

    def since(self, start: Span) -> Span:
        """From `start` to the end of the last token read."""
        return start.to(span_of_token(self.tokens[self.position - 1])) if self.position else start

    def unexpected(self, expected: str, hint: str = "") -> errors.TidegateError:
        got = "the end" if self.done else self.tokens[self.position].text or "an empty string"
        return errors.unexpected_token(
            self.source.location(self.here()), expected=expected, got=_shortened(got), hint=hint
        )


def _is_name(token: Token) -> bool:
    first = token.text[:1]
    return token.token_type is TokenType.IDENTIFIER or first.isalpha() or first in ("_", "$")


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
