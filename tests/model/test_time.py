"""Durations and instants: what is read, what is refused, and that writing is the inverse of reading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.time import (
    DAY,
    HOUR,
    MAX_DURATION_US,
    MAX_EVENT_TIME_US,
    MICROSECOND,
    MILLISECOND,
    MIN_EVENT_TIME_US,
    MINUTE,
    SECOND,
    UNITS,
    WEEK,
    DurationError,
    format_duration,
    format_instant,
    parse_duration,
    parse_instant,
    unit_length_us,
)


def test_units_are_in_microseconds() -> None:
    assert (MICROSECOND, MILLISECOND, SECOND) == (1, 1_000, 1_000_000)
    assert (MINUTE, HOUR, DAY, WEEK) == (60_000_000, 3_600_000_000, 86_400_000_000, 604_800_000_000)


@pytest.mark.parametrize(
    ("unit_us", "spellings"),
    [
        (MICROSECOND, "us µs \u03bcs microsecond microseconds"),
        (MILLISECOND, "ms millisecond milliseconds"),
        (SECOND, "s ss sec secs second seconds"),
        (MINUTE, "m mi min mins minute minutes"),
        (HOUR, "h hh hour hours"),
        (DAY, "d dd day days"),
        (WEEK, "w week weeks"),
    ],
)
def test_spellings_of_a_unit(unit_us: int, spellings: str) -> None:
    assert {name for name, length_us in UNITS.items() if length_us == unit_us} == set(
        spellings.split()
    )
    for name in spellings.split():
        assert unit_length_us(name.upper()) == unit_us


@pytest.mark.parametrize(
    ("text", "duration_us"),
    [
        ("5s", 5 * SECOND),
        (" 5 s ", 5 * SECOND),
        ("5 Seconds", 5 * SECOND),
        ("0s", 0),
        ("-2h", -2 * HOUR),
        ("- 2 h", -2 * HOUR),
        ("+2h", 2 * HOUR),
        ("1h30m", 90 * MINUTE),
        ("1 hour, 30 minutes", 90 * MINUTE),
        ("1 day -1 hour", 23 * HOUR),
        ("1.5 min", 90 * SECOND),
        ("0.000001s", 1),
        ("1.25ms", 1250),
        ("7 µs", 7),
        ("00:01:30", 90 * SECOND),
        ("-00:01:30", -90 * SECOND),
        ("+01:30", 90 * MINUTE),
        ("25:00:00", 25 * HOUR),
        ("00:00:00.5", SECOND // 2),
        ("00:00:00.000001", 1),
        ("3652058d", 3652058 * DAY),
    ],
)
def test_reading_a_duration(text: str, duration_us: int) -> None:
    assert parse_duration(text) == duration_us


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "s",
        "5",
        "five seconds",
        "5s x",
        "1.s",
        ".5s",
        "5s;",
        "1:2:3:4",
        "0.0000001s",
        "00:00:00.0000001",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(DurationError) as refusal:
        parse_duration(text)
    assert (refusal.value.unit, refusal.value.calendar, refusal.value.too_large) == (
        None,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("text", "unit", "calendar"),
    [
        ("5 fortnights", "fortnights", False),
        ("1 month", "month", True),
        ("2y", "y", True),
        ("1 Quarter", "Quarter", True),
    ],
)
def test_units_that_have_no_length(text: str, unit: str, calendar: bool) -> None:
    with pytest.raises(DurationError) as refusal:
        parse_duration(text)
    assert (refusal.value.unit, refusal.value.calendar) == (unit, calendar)


def test_the_longest_duration_spans_all_event_times() -> None:
    assert MAX_DURATION_US == MAX_EVENT_TIME_US - MIN_EVENT_TIME_US
    assert parse_duration(f"{MAX_DURATION_US}us") == MAX_DURATION_US
    for text in (f"{MAX_DURATION_US + 1}us", f"-{MAX_DURATION_US + 1}us"):
        with pytest.raises(DurationError) as refusal:
            parse_duration(text)
        assert refusal.value.too_large


@pytest.mark.parametrize(
    ("duration_us", "text"),
    [
        (0, "0s"),
        (90 * MINUTE, "1h30m"),
        (WEEK, "7d"),
        (DAY + HOUR + MINUTE + SECOND + MILLISECOND + 1, "1d1h1m1s1ms1us"),
        (-1_500_000, "-1s-500ms"),
    ],
)
def test_writing_a_duration(duration_us: int, text: str) -> None:
    assert format_duration(duration_us) == text


@given(st.integers(-MAX_DURATION_US, MAX_DURATION_US))
def test_a_written_duration_reads_back(duration_us: int) -> None:
    assert parse_duration(format_duration(duration_us)) == duration_us


@pytest.mark.parametrize(
    ("instant_us", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (MIN_EVENT_TIME_US, "0001-01-01T00:00:00Z"),
        (MAX_EVENT_TIME_US, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_writing_an_instant(instant_us: int, text: str) -> None:
    assert format_instant(instant_us) == text
    assert parse_instant(text) == instant_us


@pytest.mark.parametrize(
    ("text", "instant_us"),
    [
        ("1970-01-02", DAY),
        (" 1970-01-01 00:00:01 ", SECOND),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00-00:30", 30 * MINUTE),
    ],
)
def test_reading_an_instant(text: str, instant_us: int) -> None:
    assert parse_instant(text) == instant_us


@given(st.integers(MIN_EVENT_TIME_US, MAX_EVENT_TIME_US))
def test_a_written_instant_reads_back(instant_us: int) -> None:
    assert parse_instant(format_instant(instant_us)) == instant_us
