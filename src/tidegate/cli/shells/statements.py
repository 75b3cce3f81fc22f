r"""Where a statement ends: at a semicolon that is in no string, name or comment. A line that begins with \ is one, too.

>>> Typed.of("SELECT ';' -- ;\nFROM s; \\timing\nSHOW")
Typed(done=(Piece(text="SELECT ';' -- ;\nFROM s;", line=1, column=0), Piece(text='\\timing', line=2, column=8)),
    rest=Piece(text='SHOW', line=3, column=0))
"""

import re
from dataclasses import dataclass

_SKIPPED = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|(?P<open>'|\"|`|/\*)|(?P<end>;)",
    re.DOTALL,
)
_NOTHING = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/|;)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement or a command, and where it begins."""

    text: str
    line: int
    column: int

    @classmethod
    def at(cls, whole: str, start: int, end: int | None = None) -> "Piece":
        line = whole.count("\n", 0, start) + 1
        return cls(whole[start:end].rstrip(), line, start - whole.rfind("\n", 0, start) - 1)

    @property
    def in_place(self) -> str:
        """The text with as much before it as there was, so that messages name its place."""
        return "\n" * (self.line - 1) + " " * self.column + self.text


@dataclass(frozen=True, slots=True)
class Typed:
    """What is complete, and what is still being typed."""

    done: tuple[Piece, ...]
    rest: Piece

    @classmethod
    def of(cls, text: str) -> "Typed":
        done: list[Piece] = []
        at = 0
        while True:
            skipped = _NOTHING.match(text, at)
            at = skipped.end() if skipped else at
            end = _end(text, at)
            if end is None:
                return cls(tuple(done), Piece.at(text, at))
            done.append(Piece.at(text, at, end))
            at = end

    @property
    def is_complete(self) -> bool:
        return not self.rest.text


def _end(text: str, at: int) -> int | None:
    """Behind the end of what begins there; None if it has not ended yet."""
    if at >= len(text):
        return None
    if text[at] == "\\":
        end = text.find("\n", at)
        return len(text) if end < 0 else end + 1
    for found in _SKIPPED.finditer(text, at):
        if found["end"]:
            return found.end()
        if found["open"]:
            return None
    return None
