"""SQL text with a name, and places in it.

Decided here: lines and columns count from 1, columns in characters. Everywhere else a place is a span of offsets; it
becomes a `Location` only in errors.
"""

from dataclasses import dataclass

from tidegate.errors import Location


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
        start = min(max(span.start, 0), len(self.text))
        begin = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", start)
        line_text = self.text[begin : end if end >= 0 else len(self.text)].rstrip("\r")
        width = max(1, min(span.end, begin + len(line_text)) - start)
        return Location(
            self.name, self.text.count("\n", 0, start) + 1, start - begin + 1, line_text, width
        )
