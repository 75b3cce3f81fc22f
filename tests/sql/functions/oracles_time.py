"""Functions of time, in plain Python. Instants are microseconds, dates are days."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from tidegate.model.time import DAY, MAX_EVENT_TIME_US, MIN_EVENT_TIME_US

Oracle = Callable[..., Any]
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def in_time(value: int) -> int | None:
    return value if MIN_EVENT_TIME_US <= value <= MAX_EVENT_TIME_US else None


def quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def moment(us: int) -> dt.datetime:
    return EPOCH + dt.timedelta(microseconds=us)


def micros(value: dt.datetime) -> int:
    return (value - EPOCH) // dt.timedelta(microseconds=1)


_LENGTHS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 10**6,
    "minute": 60 * 10**6,
    "hour": 3600 * 10**6,
    "day": DAY,
    "week": 7 * DAY,
}


_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _truncate_time(unit: str, us: int) -> int:
    unit = unit.lower()
    if unit in _MONTHS:
        when = moment(us)
        month = (when.month - 1) // _MONTHS[unit] * _MONTHS[unit] + 1
        return micros(dt.datetime(when.year, month, 1, tzinfo=dt.UTC))
    if unit == "week":
        day = us // DAY
        return (day - moment(us).weekday()) * DAY
    return us // _LENGTHS[unit] * _LENGTHS[unit]


def add_time(unit: str, count: int, us: int) -> int | None:
    unit = unit.lower()
    if unit not in _MONTHS:
        return in_time(us + count * _LENGTHS[unit])
    when = moment(us)
    months = when.year * 12 + when.month - 1 + count * _MONTHS[unit]
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        return None
    return micros(
        when.replace(year=year, month=month + 1, day=min(when.day, _days_in(year, month + 1)))
    )


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _difference(unit: str, one: int, other: int) -> int:
    unit = unit.lower()
    if unit not in _MONTHS:
        return quotient(other - one, _LENGTHS[unit])
    if other < one:
        return -_difference(unit, other, one)
    first, second = moment(one), moment(other)
    months = (second.year - first.year) * 12 + second.month - first.month
    before = (second.day, second.time()) < (first.day, first.time())
    return (months - before) // _MONTHS[unit]


def _number_to_time(us: int) -> Oracle:
    return lambda number: in_time(number * us)


def _last_day(us: int) -> int:
    when = moment(us)
    return us // DAY + _days_in(when.year, when.month) - when.day


_WRITTEN: dict[str, Callable[[dt.datetime], str]] = {
    "yyyy": lambda when: f"{when.year:04}",
    "MM": lambda when: f"{when.month:02}",
    "MMM": lambda when: when.strftime("%b"),
    "MMMM": lambda when: when.strftime("%B"),
    "dd": lambda when: f"{when.day:02}",
    "DDD": lambda when: f"{when.timetuple().tm_yday:03}",
    "EEE": lambda when: when.strftime("%a"),
    "EEEE": lambda when: when.strftime("%A"),
    "HH": lambda when: f"{when.hour:02}",
    "hh": lambda when: f"{(when.hour + 11) % 12 + 1:02}",
    "mm": lambda when: f"{when.minute:02}",
    "ss": lambda when: f"{when.second:02}",
    "SSS": lambda when: f"{when.microsecond // 1000:03}",
    "SSSSSS": lambda when: f"{when.microsecond:06}",
    "a": lambda when: "AM" if when.hour < 12 else "PM",
}


def _date_format(us: int, pattern: str) -> str:
    def part(found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith("'"):
            return "'" if token == "''" else token[1:-1].replace("''", "'")
        return _WRITTEN[token](moment(us))

    return re.sub(r"''|'(?:[^']|'')*'|([A-Za-z])\1*", part, pattern)


TIMES: dict[str, Oracle] = {
    "date_trunc": _truncate_time,
    "extract_year": lambda us: moment(us).year,
    "extract_quarter": lambda us: (moment(us).month + 2) // 3,
    "extract_month": lambda us: moment(us).month,
    "extract_week": lambda us: moment(us).isocalendar().week,
    "extract_isoyear": lambda us: moment(us).isocalendar().year,
    "extract_day": lambda us: moment(us).day,
    "extract_dow": lambda us: moment(us).isoweekday() % 7,
    "extract_isodow": lambda us: moment(us).isoweekday(),
    "extract_doy": lambda us: moment(us).timetuple().tm_yday,
    "extract_hour": lambda us: moment(us).hour,
    "extract_minute": lambda us: moment(us).minute,
    "extract_second": lambda us: moment(us).second,
    "extract_millisecond": lambda us: us // 1000 % 60_000,
    "extract_microsecond": lambda us: us % 60_000_000,
    "dayofweek": lambda us: moment(us).isoweekday() % 7 + 1,
    "unix_seconds": lambda us: us // 10**6,
    "unix_millis": lambda us: us // 1000,
    "unix_micros": lambda us: us,
    "last_day": _last_day,
    "to_timestamp_s": _number_to_time(10**6),
    "to_timestamp_ms": _number_to_time(1000),
    "to_timestamp_us": _number_to_time(1),
    "to_timestamp_ns": lambda number: number // 1000,
    "timestampdiff": _difference,
    "timestampadd": add_time,
    "date_format": _date_format,
}
