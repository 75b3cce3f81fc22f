"""Places: lines and columns count from 1, columns in characters."""

import pytest

from tidegate.errors import Location
from tidegate.sql.source import SourceText, Span

TEXT = "SELECT 1\nFROM é.x\r\n\nWHERE"


@pytest.mark.parametrize(
    ("start", "end", "line", "column", "line_text", "width"),
    [
        (0, 6, 1, 1, "SELECT 1", 6),
        (7, 8, 1, 8, "SELECT 1", 1),
        (8, 9, 1, 9, "SELECT 1", 1),  # the line break itself
        (9, 13, 2, 1, "FROM é.x", 4),
        (16, 17, 2, 8, "FROM é.x", 1),
        (9, 40, 2, 1, "FROM é.x", 8),  # never wider than its line
        (19, 19, 3, 1, "", 1),
        (20, 25, 4, 1, "WHERE", 5),
        (25, 25, 4, 6, "WHERE", 1),  # behind the last character
        (99, 99, 4, 6, "WHERE", 1),
        (-5, -1, 1, 1, "SELECT 1", 1),
    ],
)
def test_location(start: int, end: int, line: int, column: int, line_text: str, width: int) -> None:
    located = SourceText(TEXT, "q.sql").location(Span(start, end))
    assert located == Location("q.sql", line, column, line_text, width)


def test_an_empty_text_has_a_place() -> None:
    assert SourceText("").location(Span(0, 0)) == Location("<string>", 1, 1, "", 1)


def test_spans_join() -> None:
    assert Span(3, 5).to(Span(7, 9)) == Span(3, 9)
    assert Span(3, 9).to(Span(4, 5)) == Span(3, 9)
