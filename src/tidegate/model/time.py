"""Instants and durations, both signed 64-bit microseconds; names of such integers end in `_us`.

Decided here: which event times exist at all (years 1 to 9999, what Spark, ISO 8601 and Arrow share), how long
a duration may be, and how both are written. With instants inside `EVENT_TIME_RANGE_US` and durations up to
`MAX_DURATION_US`, no sum of one instant and a few durations leaves 64 bits, so nobody checks for it again.
"""

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MIN_EVENT_TIME_US = -62_135_596_800_000_000  # 0001-01-01T00:00:00Z
MAX_EVENT_TIME_US = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z
MAX_DURATION_US = MAX_EVENT_TIME_US - MIN_EVENT_TIME_US
# Watermarks before there is one, and at the end of input: far enough from 64 bits for a few durations more.
NEVER_US = -(1 << 62)
FOREVER_US = 1 << 62

MICROSECOND = 1
MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

_NAMES = {
    MICROSECOND: ("us", "µs", "\u03bcs", "microsecond"),  # the sign, and the Greek letter
    MILLISECOND: ("ms", "millisecond"),
    SECOND: ("s", "ss", "sec", "second"),
    MINUTE: ("m", "mi", "min", "minute"),
    HOUR: ("h", "hh", "hour"),
    DAY: ("d", "dd", "day"),
    WEEK: ("w", "week"),
}
UNITS: dict[str, int] = {
    spelling: unit_us
    for unit_us, names in _NAMES.items()
    for name in names
    for spelling in ((name, name + "s") if len(name) > 2 else (name,))
}
CALENDAR_UNITS = {
    **dict.fromkeys(("month", "months", "mon", "mons"), 1),
    **dict.fromkeys(("quarter", "quarters"), 3),
    **dict.fromkeys(("year", "years", "y"), 12),
}
_SHORT = (
    (DAY, "d"),
    (HOUR, "h"),
    (MINUTE, "m"),
    (SECOND, "s"),
    (MILLISECOND, "ms"),
    (MICROSECOND, "us"),
)

_TERM = re.compile(r"\s*([+-]?)\s*([0-9]+)(?:\.([0-9]+))?\s*([^\W\d_]+)\s*,?", re.UNICODE)
_CLOCK = re.compile(r"([+-]?)([0-9]+):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{1,6}))?)?")

_MOST_DIGITS = 100  # far beyond any duration, and few enough to compute with


class DurationError(ValueError):
    """The text is no duration. `unit` is set when only its unit is unknown, `calendar` when it has no fixed length."""

    def __init__(
        self, text: str, *, unit: str | None = None, calendar: bool = False, too_large: bool = False
    ) -> None:
        super().__init__(text)
        self.unit = unit
        self.calendar = calendar
        self.too_large = too_large


def parse_duration(text: str) -> int:
    """Microseconds of a duration such as `5s`, `1 hour 30 minutes`, `1.5 min`, `00:01:30` or `-2h`.

    >>> parse_duration("1 hour 30 minutes") == 90 * MINUTE
    True
    >>> parse_duration("1.5s"), parse_duration("-250ms"), parse_duration("00:00:02.5")
    (1500000, -250000, 2500000)
    """
    stripped = text.strip()
    if clock := _CLOCK.fullmatch(stripped):
        return _clock_us(clock)
    total, position = 0, 0
    while position < len(stripped):
        term = _TERM.match(stripped, position)
        if term is None:
            raise DurationError(text)
        total += _term_us(text, term)
        position = term.end()
    if position == 0 or abs(total) > MAX_DURATION_US:
        raise DurationError(text, too_large=position > 0)
    return total


def _clock_us(clock: re.Match[str]) -> int:
    sign, hours, minutes, seconds, fraction = clock.groups(default="0")
    if len(hours) > _MOST_DIGITS:
        raise DurationError(clock.string, too_large=True)
    magnitude = (
        int(hours) * HOUR
        + int(minutes) * MINUTE
        + int(seconds) * SECOND
        + int(fraction.ljust(6, "0"))
    )
    return -magnitude if sign == "-" else magnitude


def _term_us(text: str, term: re.Match[str]) -> int:
    sign, whole, fraction, unit = term.groups()
    unit_us = unit_length_us(unit, text=text)
    if max(len(whole), len(fraction or "")) > _MOST_DIGITS:
        raise DurationError(text, too_large=True)
    magnitude = int(whole) * unit_us
    if fraction:
        part, rest = divmod(int(fraction) * unit_us, 10 ** len(fraction))
        if rest:
            raise DurationError(text)
        magnitude += part
    return -magnitude if sign == "-" else magnitude


def unit_length_us(unit: str, *, text: str = "") -> int:
    """Length of a named unit; months and years have none, and say so."""
    lowered = unit.lower()
    if lowered not in UNITS:
        raise DurationError(text or unit, unit=unit, calendar=lowered in CALENDAR_UNITS)
    return UNITS[lowered]


def format_duration(duration_us: int) -> str:
    """The shortest text that `parse_duration` reads back.

    >>> format_duration(90 * MINUTE), format_duration(0), format_duration(-1_500_000)
    ('1h30m', '0s', '-1s-500ms')
    """
    if duration_us == 0:
        return "0s"
    sign, rest, parts = ("-" if duration_us < 0 else ""), abs(duration_us), []
    for unit_us, name in _SHORT:
        count, rest = divmod(rest, unit_us)
        if count:
            parts.append(f"{sign}{count}{name}")
    return "".join(parts)


def format_instant(instant_us: int) -> str:
    """RFC 3339 in UTC, with the fraction only where there is one.

    >>> format_instant(1_500_000), format_instant(-1)
    ('1970-01-01T00:00:01.500000Z', '1969-12-31T23:59:59.999999Z')
    """
    return (EPOCH + timedelta(microseconds=instant_us)).isoformat().replace("+00:00", "Z")


def parse_instant(text: str) -> int:
    """Microseconds of an ISO 8601 date or date and time; without an offset it is UTC.

    >>> parse_instant("1970-01-01 00:00:01.5"), parse_instant("1969-12-31"), parse_instant("1970-01-01T01:00:00+01:00")
    (1500000, -86400000000, 0)
    """
    moment = datetime.fromisoformat(text.strip())
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (aware - EPOCH) // timedelta(microseconds=1)
