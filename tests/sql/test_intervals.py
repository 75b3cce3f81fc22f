"""INTERVAL literals become calls before sqlglot parses; everything else stays what it was."""

import pytest

from tidegate.sql.dialect import tokenize
from tidegate.sql.intervals import FUNCTION, as_calls
from tidegate.sql.source import SourceText

CALL = f"{FUNCTION} ( {{}} , {{}} )"


def rewritten(text: str) -> str:
    return " ".join(token.text for token in as_calls(tokenize(SourceText(text))))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("INTERVAL '5' SECOND", "5", "SECOND"),
        ("INTERVAL 5 days", "5", "days"),
        ("INTERVAL -5 SECOND", "-5", "SECOND"),
        ("INTERVAL '1 2' DAY TO HOUR", "1 2", "DAY TO HOUR"),
        ("INTERVAL '5s'", "5s", ""),
        ("INTERVAL 'five' SECOND", "five", "SECOND"),
        ("INTERVAL '5' parsecs", "5", "parsecs"),
    ],
)
def test_literals_become_calls(text: str, value: str, unit: str) -> None:
    assert rewritten(text) == CALL.format(value, unit)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("INTERVAL '5' PRECEDING", "PRECEDING"),
        ("INTERVAL '5s' PRECEDING", "PRECEDING"),
        ("INTERVAL '5s' FOLLOWING", "FOLLOWING"),
        ("INTERVAL '5s' AND", "AND"),
        ("INTERVAL '1 day' d", "d"),  # an alias: the text has its unit
        ("INTERVAL '5s' AS", "AS"),
        ("INTERVAL '5' 'SECOND'", "SECOND"),
        ("INTERVAL '5' \"SECOND\"", "SECOND"),
        ("INTERVAL '5' )", ")"),
    ],
)
def test_what_follows_and_is_no_unit(text: str, rest: str) -> None:
    value = text.split("'")[1]
    assert rewritten(text) == f"{CALL.format(value, '')} {rest}"


@pytest.mark.parametrize(
    "text", ["interval + 1", "INTERVAL", "INTERVAL -", "INTERVAL - x", "INTERVAL ( 5 )"]
)
def test_other_uses_of_the_word_are_left_alone(text: str) -> None:
    assert rewritten(text) == text


def test_a_unit_of_two_words_needs_both() -> None:
    assert rewritten("INTERVAL '1 2' DAY TO 5") == f"{CALL.format('1 2', 'DAY')} TO 5"


def test_places_are_kept() -> None:
    tokens = as_calls(tokenize(SourceText("x + INTERVAL - 5 SECOND")))
    places = {token.text: (token.start, token.end) for token in tokens}
    assert places[FUNCTION] == (4, 11)
    assert places["-5"] == (15, 15)
    assert places["SECOND"] == (17, 22)
    assert tokens[-1].end == 22
