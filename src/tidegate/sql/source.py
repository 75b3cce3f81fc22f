"""SQL text with a name, and places in it.

Decided here: lines and columns count from 1, columns in characters. Everywhere else a place is a span of offsets; it
becomes a `Location` only in errors, without secrets (`secrets.py`).
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from tidegate.errors import Location
from tidegate.sql.secrets import masked


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of offsets."""

    start: int
    end: int

    def to(self, other: "Span") -> "Span":
        return Span(self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text and the name people know it by (a file's path, `<shell>`, `<string>`)."""

    text: str
    name: str = "<string>"

    def location(self, span: Span) -> Location:
        """Where a span begins, with the line it is on. A span at the very end points behind the last character.

        >>> SourceText("SELECT 1\\nFROM x").location(Span(14, 15))
        Location(file='<string>', line=2, column=6, line_text='FROM x', width=1)
        """
        lines, begins = _lines(self.text)
        start = min(max(span.start, begins[0]), len(self.text))
        line = bisect_right(begins, start)
        begin, line_text = begins[line - 1], lines[line - 1]
        start = min(start, begin + len(line_text))
        width = max(1, min(span.end, begin + len(line_text)) - start)
        return Location(self.name, line, start - begin + 1, masked(line_text), width)


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[list[str], list[int]]:
    """Lines without their ends, and where they begin; errors share them, however many and long they are.

    A byte order mark is no part of the first line: editors do not show it, and do not count it.
    """
    mark = int(text.startswith("\ufeff"))
    split = text[mark:].split("\n")
    begins = accumulate((len(line) + 1 for line in split[:-1]), initial=mark)
    return [line.removesuffix("\r") for line in split], list(begins)
