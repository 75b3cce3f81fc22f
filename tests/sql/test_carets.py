"""Where the caret stands. The line and the caret are drawn below one another, as on a terminal."""

import pytest

from tidegate import errors
from tidegate.errors import Location, TidegateError
from tidegate.sql.carets import describe
from tidegate.sql.source import SourceText, Span


def error_at(text: str, token: str, *, occurrence: int = 0) -> TidegateError:
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(token, start + 1)
    place = SourceText(text, "q.sql").location(Span(start, start + len(token)))
    return errors.unknown_column(place, name=token, hint="did you mean it?")


def drawn(text: str, token: str, *, occurrence: int = 0) -> tuple[str, str]:
    """The line and the caret under it."""
    lines = describe(error_at(text, token, occurrence=occurrence)).split("\n")
    assert lines[-1] == "hint: did you mean it?"
    assert len(lines) == 4
    return lines[1], lines[2]


def test_all_parts_in_their_order() -> None:
    assert describe(error_at("SELECT a\nFROM nowhere;\n", "nowhere")) == (
        "q.sql:2:6: TG-2002: there is no column named nowhere\n"
        "  FROM nowhere;\n"
        "       ^^^^^^^\n"
        "hint: did you mean it?"
    )


def test_without_a_place_and_without_a_hint() -> None:
    assert describe(errors.no_pyspark()).startswith("TG-4902: PySpark is not installed\nhint: ")
    place = Location("q.sql", 1, 1, "x")
    assert (
        describe(errors.duplicate_name(place, what="column", name="x"))
        == "q.sql:1:1: TG-2015: column x is defined twice\n  x\n  ^"
    )


@pytest.mark.parametrize(
    ("text", "token", "line", "caret"),
    [
        pytest.param("SELECT bad", "bad",
                     "  SELECT bad",
                     "         ^^^", id="plain, at the very end"),
        pytest.param("\tSELECT\t\tbad", "bad",
                     "   SELECT  bad",
                     "           ^^^", id="tabs are one column"),
        pytest.param("SELECT '日本', bad", "bad",
                     "  SELECT '日本', bad",
                     "                 ^^^", id="wide characters before"),
        pytest.param("SELECT 日本, x", "日本",
                     "  SELECT 日本, x",
                     "         ^^^^", id="a wide token"),
        pytest.param("SELECT 'e\u0301', bad", "bad",
                     "  SELECT 'e\u0301', bad",
                     "              ^^^", id="combining marks take no column"),
        pytest.param("SELECT '👩\u200d', bad", "bad",
                     "  SELECT '👩\u200d', bad",
                     "               ^^^", id="an emoji with a joiner"),
        pytest.param("SELECT 'ｶﾅ', bad", "bad",
                     "  SELECT 'ｶﾅ', bad",
                     "               ^^^", id="halfwidth"),
        pytest.param("SELECT bad\r\nFROM t\r\n", "bad",
                     "  SELECT bad",
                     "         ^^^", id="CRLF"),
        pytest.param("FROM t\r\nWHERE bad\r\n", "bad",
                     "  WHERE bad",
                     "        ^^^", id="CRLF, second line"),
        pytest.param("\ufeffSELECT bad", "bad",
                     "  SELECT bad",
                     "         ^^^", id="byte order mark"),
        pytest.param("SELECT '\x1b[31m', bad", "bad",
                     "  SELECT ' [31m', bad",
                     "                  ^^^", id="control characters"),
        pytest.param("SELECT 'a\u2028b', bad", "bad",
                     "  SELECT 'a b', bad",
                     "                ^^^", id="a line separator"),
    ],
)  # fmt: skip
def test_the_caret_stands_under_the_token(text: str, token: str, line: str, caret: str) -> None:
    assert drawn(text, token) == (line, caret)


def test_behind_the_last_character() -> None:
    place = SourceText("SELECT").location(Span(6, 6))
    lines = describe(errors.query_syntax(place, problem="it ends")).split("\n")
    assert lines[1:] == ["  SELECT", "        ^"]


def test_an_empty_text() -> None:
    place = SourceText("").location(Span(0, 0))
    assert describe(errors.query_syntax(place, problem="it ends")).split("\n")[1:] == ["  ", "  ^"]


def test_a_token_over_several_lines_is_marked_on_its_first() -> None:
    line, caret = drawn("SELECT 'one\ntwo' FROM t", "'one\ntwo'")
    assert (line, caret) == ("  SELECT 'one", "         ^^^^")


LONG = "SELECT " + ", ".join(f"column_{number:03}" for number in range(300)) + " FROM t"


@pytest.mark.parametrize("number", [0, 3, 150, 298, 299])
def test_long_lines_are_cut_around_the_caret(number: int) -> None:
    token = f"column_{number:03}"
    line, caret = drawn(LONG, token)
    assert len(line) <= 2 + 100 + 2
    assert line[caret.index("^") : caret.rindex("^") + 1] == token
    assert line.startswith("  …") is (number > 3)
    assert line.endswith("…") is (number < 298)


def test_a_very_long_token_is_cut_too() -> None:
    line, caret = drawn("SELECT " + "x" * 5_000, "x" * 5_000)
    assert len(line) == len("  ") + 100 + len("…")
    assert caret == "  " + " " * 7 + "^" * 93


def test_messages_cannot_command_the_terminal() -> None:
    shown = describe(errors.unknown_column(None, name="\x1b[2J\x9b", hint="or \x07"))
    assert shown == "TG-2002: there is no column named  [2J \nhint: or  "


def test_parts_are_painted_by_their_roles() -> None:
    shown = describe(error_at("SELECT a", "a"), lambda text, role: f"<{role}>{text}</>")
    assert shown == (
        "q.sql:1:8: <code>TG-2002</>: <message>there is no column named a</>\n"
        "  SELECT a\n"
        "         <caret>^</>\n"
        "<hint>hint</>: did you mean it?"
    )
