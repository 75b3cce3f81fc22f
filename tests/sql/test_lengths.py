"""INTERVAL literals and lengths of clauses: what they may look like, and where a wrong one is pointed at."""

import pytest

from tests.planning import bound, cases, check_refusal, logical, written
from tidegate.model.time import DAY, HOUR, MILLISECOND, MINUTE, SECOND, format_duration
from tidegate.sql.cursor import Cursor
from tidegate.sql.dialect import tokenize
from tidegate.sql.lengths import read_length
from tidegate.sql.source import SourceText, Span


@pytest.mark.parametrize(
    ("literal", "length_us"),
    [
        ("'5' SECOND", 5 * SECOND),
        ("'5' seconds", 5 * SECOND),
        ("5 SECOND", 5 * SECOND),
        ("-5 SECOND", -5 * SECOND),
        ("'-5' SECOND", -5 * SECOND),
        ("-'5' SECOND", -5 * SECOND),
        ("' 1.5 ' MINUTE", 90 * SECOND),
        ("'250' MILLISECOND", 250 * MILLISECOND),
        ("'1' WEEK", 7 * DAY),
        ("'5s'", 5 * SECOND),
        ("'1 hour 30 minutes'", 90 * MINUTE),
        ("'00:01:30'", 90 * SECOND),
        ("'1 2' DAY TO HOUR", DAY + 2 * HOUR),
        ("'1 02:03:04' DAY TO SECOND", DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND),
        ("'2:03' HOUR TO MINUTE", 2 * HOUR + 3 * MINUTE),
        ("'-2:03' hour to minute", -2 * HOUR - 3 * MINUTE),
        ("'3:04.5' MINUTE TO SECOND", 3 * MINUTE + 4500 * MILLISECOND),
        ("'0' SECOND", 0),
    ],
)
def test_interval_literals(literal: str, length_us: int) -> None:
    assert written(bound(f"ts + INTERVAL {literal}")) == f"(ts + {format_duration(length_us)})"


@pytest.mark.parametrize(
    ("months", "shift"),
    [
        ("'1' MONTH", 1),
        ("'2' QUARTERS", 6),
        ("'3' YEAR", 36),
        ("'-1' MONTH", -1),
        ("'2 months'", 2),
    ],
)
def test_months_move_a_timestamp(months: str, shift: int) -> None:
    assert written(bound(f"ts + INTERVAL {months}")) == f"add_months(ts, {shift})"
    assert written(bound(f"ts - INTERVAL {months}")) == f"add_months(ts, {-shift})"


@cases(
    (
        "SELECT ts + «INTERVAL '5'» AS x FROM trades",
        "TG-1010",
        "'5' is not an interval: it has no unit",
    ),
    (
        "SELECT ts + «INTERVAL 'five' SECOND» AS x FROM trades",
        "TG-1010",
        "'five' is not an interval",
    ),
    ("SELECT ts + «INTERVAL ''» AS x FROM trades", "TG-1010", "'' is not an interval"),
    (
        "SELECT ts + «INTERVAL '1:2:3' SECOND» AS x FROM trades",
        "TG-1010",
        "'1:2:3' is not an interval",
    ),
    ("SELECT ts + «INTERVAL '1:2:3' HOUR» TO MINUTE AS x FROM trades", "TG-1010", "'1:2:3'"),
    (
        "SELECT ts + INTERVAL '5' «SECUND» AS x FROM trades",
        "TG-1011",
        "SECUND",
        "did you mean second?",
    ),
    (
        "SELECT ts + INTERVAL '5 «secunds»' AS x FROM trades",
        "TG-1011",
        "secunds",
        "did you mean second?",
    ),
    (
        "SELECT ts + INTERVAL '5 «xyz»' AS x FROM trades",
        "TG-1011",
        "xyz",
        "SECOND, MINUTE, HOUR, DAY, WEEK",
    ),
    ("SELECT ts + INTERVAL '1 2' «HOUR» TO DAY AS x FROM trades", "TG-1011", "HOUR TO DAY"),
    ("SELECT ts + INTERVAL '1 2' «HOUR» TO HOUR AS x FROM trades", "TG-1011", "HOUR TO HOUR"),
    ("SELECT ts + INTERVAL '1 2' «WEEK» TO DAY AS x FROM trades", "TG-1011", "WEEK TO DAY"),
    (
        "SELECT ts + «INTERVAL '4000000' DAY» AS x FROM trades",
        "TG-3010",
        "the limit is 3652058d23h59m59s999ms999us",
    ),
    (
        "SELECT symbol FROM trades WHERE ts > ts + «INTERVAL '1' MONTH» * 2",
        "TG-2018",
        "calendar length (MONTH)",
        "TIMESTAMP",
    ),
)
def test_wrong_intervals(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


@pytest.mark.parametrize(
    ("text", "length_us", "rest"),
    [
        ("INTERVAL '5' SECOND", 5 * SECOND, ""),
        ("INTERVAL 5 SECOND", 5 * SECOND, ""),
        ("INTERVAL - 5 SECOND", -5 * SECOND, ""),
        ("INTERVAL -'5' SECOND", -5 * SECOND, ""),
        ("INTERVAL '5s'", 5 * SECOND, ""),
        ("INTERVAL '1 2' DAY TO HOUR", DAY + 2 * HOUR, ""),
        ("'5s'", 5 * SECOND, ""),
        ("5 SECONDS", 5 * SECOND, ""),
        ("5s", 5 * SECOND, ""),
        ("-5 SECONDS", -5 * SECOND, ""),
        ("'5s' ON", 5 * SECOND, "ON"),
        ("'5s' EMIT", 5 * SECOND, "EMIT"),
        ("INTERVAL '5s' SLIDE", 5 * SECOND, "SLIDE"),
        ("INTERVAL '5s' GRACE", 5 * SECOND, "GRACE"),
        ("INTERVAL '5s' WITH", 5 * SECOND, "WITH"),
        ("INTERVAL '5' SECOND,", 5 * SECOND, ","),
    ],
)
def test_lengths_in_clauses(text: str, length_us: int, rest: str) -> None:
    source = SourceText(text)
    cursor = Cursor(source, tokenize(source))
    length = read_length(cursor)
    assert length.value_us == length_us
    assert length.span == Span(0, len(text) - len(rest) - (" " in text and rest not in ("", ",")))
    assert cursor.word() == rest


def test_places_of_clause_lengths() -> None:
    grouped = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    for wrong, code in (
        ("EMIT EVERY «INTERVAL '1' MONTH»", "TG-3011"),
        ("EMIT EVERY INTERVAL '1' «FORTNIGHT»", "TG-1011"),
        ("EMIT EVERY «5»", "TG-1001"),
        ("EMIT EVERY «x»", "TG-1001"),
        ("EMIT EVERY -«'5s'»", "TG-1001"),
        ("EMIT EVERY «INTERVAL '5'»", "TG-1010"),
        ("EMIT EVERY INTERVAL '1 2' HOUR TO «5»", "TG-1001"),
    ):
        check_refusal(f"{grouped} {wrong}", code)
    assert logical(f"{grouped} EMIT EVERY '10 s'").emit.interval_us == 10 * SECOND
