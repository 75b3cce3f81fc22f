"""Windows of a calendar, as a person would find them: with Python's own dates and zones, mark by mark.

A mark is a local time. It stands at the first instant at which the clock reads it, or, where the clock jumps over it,
at the jump. Of all windows around an instant those are taken that hold it; two that begin and end alike are one.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from tidegate.model.calendar import Period
from tidegate.model.windows import Calendar

Edges = tuple[int, int]
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - what a clock reads has no zone
_US = timedelta(microseconds=1)
_CYCLE_US = (
    timedelta(days=146_097) // _US
)  # the calendar, and every zone before 1800 and after 2100, comes around
_AROUND = 3  # so many marks more on both sides: a clock is turned by less


def calendar_windows(window: Calendar, t_us: int) -> list[Edges]:
    """The windows over an instant."""
    zone = _zone(window.zone.name)
    found = {(_stands(first, zone), _stands(end, zone)) for first, end in _near(window, zone, t_us)}
    return sorted((start, end) for start, end in found if start <= t_us < end)


def _near(window: Calendar, zone: tzinfo, t_us: int) -> Iterator[tuple[int, int]]:
    """Local times between which there are windows, more than enough of them; in microseconds, as if of UTC."""
    utc, shift_us = _date(t_us)
    local = utc.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    local_us = (local - _EPOCH) // _US - shift_us
    size, step, offset = window.size, window.step, window.offset
    match window.kind:
        case "tumbling":
            last = _count(local_us, size, offset)
            for number in range(last - _AROUND, last + _AROUND):
                yield _mark(number, size, offset), _mark(number + 1, size, offset)
        case "hopping":
            last = _count(local_us, step, offset)
            for number in range(last - _windows(size, step) - _AROUND, last + _AROUND):
                first = _mark(number, step, offset)
                yield first, _after(first, size, offset)
        case "cumulating":
            last = _count(local_us, size, offset)
            for number in range(last - _AROUND, last + _AROUND):
                first, end = _mark(number, size, offset), _mark(number + 1, size, offset)
                step_end = first
                while step_end < end:
                    step_end = _after(step_end, step, offset)
                    yield first, step_end


def _windows(size: Period, step: Period) -> int:
    return size.months // step.months if size.months else size.us // step.us


def _count(local_us: int, period: Period, offset: Period) -> int:
    """How many periods after 1970 the last mark is that the clock has come to."""
    if period.months:
        return (_months(local_us - offset.us) - offset.months) // period.months
    return (local_us - offset.us) // period.us


def _mark(number: int, period: Period, offset: Period) -> int:
    if not period.months:
        return number * period.us + offset.us
    return _month(number * period.months + offset.months) + offset.us


def _after(mark_us: int, period: Period, offset: Period) -> int:
    if not period.months:
        return mark_us + period.us
    return _month(_months(mark_us - offset.us) + period.months) + offset.us


def _month(number: int) -> int:
    """Where the month begins that is so many after January 1970."""
    cycles = number // 4800
    of_cycle = number % 4800
    first = _EPOCH.replace(year=1970 + of_cycle // 12, month=of_cycle % 12 + 1)
    return (first - _EPOCH) // _US + cycles * _CYCLE_US


def _months(local_us: int) -> int:
    date, shift_us = _date(local_us)
    return (date.year - 1970) * 12 + date.month - 1 - shift_us // _CYCLE_US * 4800


def _date(time_us: int) -> tuple[datetime, int]:
    """The date, by whole cycles nearer to us where it is outside of what Python has; and by how much."""
    shift_us = 0
    while time_us + shift_us < -(4 * _CYCLE_US):
        shift_us += _CYCLE_US
    while time_us + shift_us > 10 * _CYCLE_US:
        shift_us -= _CYCLE_US
    return _EPOCH + (time_us + shift_us) * _US, shift_us


@lru_cache(maxsize=100_000)
def _stands(mark_us: int, zone: tzinfo) -> int:
    """The first instant at which the clock reads that, or has jumped over it."""
    mark, shift_us = _date(mark_us)
    instant = mark.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) != mark:
        instant = _first_after(mark, instant, zone)
    return (instant.replace(tzinfo=None) - _EPOCH) // _US - shift_us


def _first_after(mark: datetime, near: datetime, zone: tzinfo) -> datetime:
    before, after = near - timedelta(days=2), near + timedelta(days=2)
    while after - before > _US:
        middle = before + (after - before) / 2
        if middle.astimezone(zone).replace(tzinfo=None) >= mark:
            after = middle
        else:
            before = middle
    return after


@lru_cache(maxsize=1000)
def _zone(name: str) -> tzinfo:
    if name[0] in "+-":
        sign, hours, minutes = -1 if name[0] == "-" else 1, int(name[1:3]), int(name[4:6])
        return timezone(sign * timedelta(hours=hours, minutes=minutes))
    return ZoneInfo(name)
