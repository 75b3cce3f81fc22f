"""`-k EXPR`: which scenarios are meant.

Words are looked for in names and paths, whatever their case; neighbours are one text, so `-k "late row"` needs no
quotes of its own. `and`, `or`, `not` and parentheses combine them.

>>> selection("hop and not (late or session)")("hopping, one row")
True
>>> selection("late row")("hopping, one late row")
True
"""

import re
from collections.abc import Callable, Iterator

import click

Chosen = Callable[[str], bool]
_TOKEN = re.compile(r"[()]|[^\s()]+")
_OPERATORS = ("and", "or", "not", "(", ")")


def selection(text: str) -> Chosen:
    """Tells of a scenario's name and path, in one text, whether it is meant."""
    reader = _Reader(_tokens(text))
    chosen = reader.either()
    if reader.at:
        raise _bad(text)
    return chosen


def _bad(text: str) -> click.UsageError:
    return click.UsageError(
        f"-k {text!r} is no expression: combine words with and, or, not and parentheses"
    )


def _tokens(text: str) -> list[str]:
    return list(_joined(_TOKEN.findall(text)))


def _joined(words: list[str]) -> Iterator[str]:
    """Words that stand side by side, as one."""
    phrase: list[str] = []
    for word in words:
        if word.lower() not in _OPERATORS:
            phrase.append(word)
            continue
        if phrase:
            yield " ".join(phrase)
            phrase = []
        yield word.lower()
    if phrase:
        yield " ".join(phrase)


class _Reader:
    """Recursive descent: or, and, not, atoms."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._next = tokens, 0

    @property
    def at(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _takes(self, word: str) -> bool:
        found = self.at == word
        self._next += found
        return found

    def either(self) -> Chosen:
        parts = [self._both()]
        while self._takes("or"):
            parts.append(self._both())
        return lambda text: any(part(text) for part in parts)

    def _both(self) -> Chosen:
        parts = [self._one()]
        while self._takes("and"):
            parts.append(self._one())
        return lambda text: all(part(text) for part in parts)

    def _one(self) -> Chosen:
        if self._takes("not"):
            inner = self._one()
            return lambda text: not inner(text)
        if self._takes("("):
            within = self.either()
            if not self._takes(")"):
                raise _bad(" ".join(self._tokens))
            return within
        word = self.at.lower()
        if word in ("", *_OPERATORS):
            raise _bad(" ".join(self._tokens))
        self._next += 1
        return lambda text: word in text.lower()
