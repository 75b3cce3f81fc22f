"""Marks on the local clock of a zone: months, days, hours, numbered, and where in time they stand.

Decided here, once, for planning and for the kernel: what the windows of a calendar are. A `Ruler` has a mark every
`period` of local time, counted from 1970-01-01 00:00 plus the offset; a month begins on its first day. A mark stands at
the first instant at which the clock has come to it (`zones.py`), so a day has 23 or 25 hours where the clock is turned,
and a mark that is skipped stands where the next one does: nothing lies between the two.

>>> quarters = Ruler(period=Period(months=3))
>>> number = quarters.number(1_000_000 * 86_400 * 50)  # 1970-02-20
>>> quarters.start_us(number), quarters.start_us(number + 1) // DAY
(0, 90)
"""

from dataclasses import dataclass
from math import gcd

from tidegate.model.time import DAY, MIN_EVENT_TIME_US, format_duration
from tidegate.model.zones import UTC_ZONE, Zone

_FURTHEST_LOCAL_US = 2 * DAY  # how far local times lie from UTC at most
_MONTHS_BEFORE_1970 = 12 * 1971
PIECES_FROM_US = MIN_EVENT_TIME_US - 10 * DAY  # at midnight


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """So many months, so much time, or both."""

    months: int = 0
    us: int = 0

    def __str__(self) -> str:
        if not self.months:
            return format_duration(self.us)
        count, unit = (self.months, "month") if self.months % 12 else (self.months // 12, "year")
        months = f"{count} {unit}{'' if abs(count) == 1 else 's'}"
        return f"{months} {format_duration(self.us)}" if self.us else months

    @property
    def is_calendar(self) -> bool:
        return self.months != 0

    def __neg__(self) -> "Period":
        return Period(months=-self.months, us=-self.us)


NO_PERIOD = Period()


def whole(size: Period, part: Period) -> int:
    """How many parts the size has; 0 if it is not a whole number of them."""
    if size.is_calendar != part.is_calendar:
        return 0
    length, piece = (size.months, part.months) if size.is_calendar else (size.us, part.us)
    return 0 if length % piece else length // piece


def shared_part(one: Period, other: Period) -> Period:
    """The longest period that both are whole numbers of; both are of months, or both are not."""
    return Period(months=gcd(one.months, other.months), us=gcd(one.us, other.us))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """`number` of an instant is that of the last mark at or before it; none is negative in the years 1 to 9999."""

    period: Period
    offset: Period = NO_PERIOD
    zone: Zone = UTC_ZONE

    @property
    def origin(self) -> int:
        """The number of the mark from which the others are counted."""
        if self.period.is_calendar:
            return (_MONTHS_BEFORE_1970 + abs(self.offset.months)) // self.period.months + 1
        furthest_us = MIN_EVENT_TIME_US - abs(self.offset.us) - _FURTHEST_LOCAL_US
        return -furthest_us // self.period.us + 1

    def number(self, instant_us: int) -> int:
        local_us = self.zone.local_us(instant_us) - self.offset.us
        if not self.period.is_calendar:
            return local_us // self.period.us + self.origin
        months = month_of(local_us // DAY) - self.offset.months
        return months // self.period.months + self.origin

    def start_us(self, number: int) -> int:
        count = number - self.origin
        if self.period.is_calendar:
            local_us = first_day_of(count * self.period.months + self.offset.months) * DAY
        else:
            local_us = count * self.period.us
        return self.zone.instant_us(local_us + self.offset.us)

    def standing(self, number: int) -> int:
        """Of the marks that stand at one instant, the last."""
        return self.number(self.start_us(number))

    # Pieces: what row SQL cuts rows into, with nothing but a division

    @property
    def grid_us(self) -> int:
        """The local times of all marks are a whole number of these, and so many µs more, apart."""
        return DAY if self.period.is_calendar else gcd(self.period.us, DAY)

    def cuts_us(self) -> tuple[int, ...]:
        """Where within each `grid_us` of UTC a mark may stand, at whatever time."""
        cuts = {(self.offset.us - offset_us) % self.grid_us for offset_us in self.zone.offsets_us}
        for at_us, first_us, after_us in self.zone.jumps():
            mark_us = first_us + (self.offset.us - first_us) % self.grid_us
            if mark_us < after_us:  # it is skipped, and stands where the clock jumps
                cuts.add(at_us % self.grid_us)
        return tuple(sorted(cuts))


def month_of(day: int) -> int:
    """Months from January 1970 to the day with that number, by the Gregorian calendar.

    A year is taken to begin in March, so that what is irregular is its end (H. Hinnant, chrono-compatible low-level
    date algorithms).

    >>> month_of(0), month_of(31), month_of(-1), month_of(-719_162), month_of(2_932_896)
    (0, 1, -1, -23628, 96359)
    """
    cycle, day_of_cycle = divmod(day + 719_468, 146_097)
    year_of_cycle = (
        day_of_cycle - day_of_cycle // 1_460 + day_of_cycle // 36_524 - day_of_cycle // 146_096
    ) // 365
    day_of_year = day_of_cycle - _days_before(year_of_cycle)
    month = (5 * day_of_year + 2) // 153 + 2  # from January of the year in which it began
    return (400 * cycle + year_of_cycle - 1970) * 12 + month


def first_day_of(month: int) -> int:
    """The day that a month begins with.

    >>> [first_day_of(month) for month in (0, 1, -1, -23628)]
    [0, 31, -31, -719162]
    """
    year, of_year = divmod(month - 2, 12)
    cycle, year_of_cycle = divmod(year + 1970, 400)
    return cycle * 146_097 + _days_before(year_of_cycle) + (153 * of_year + 2) // 5 - 719_468


def _days_before(year_of_cycle: int) -> int:
    return 365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100
