"""The rules of time zones, read from the machine's IANA database (or the package tzdata) as data.

Decided here: what a time zone may be called (an IANA name, or an offset such as `+05:30`), and where its rules come
from: Python's `zoneinfo`, once, while a query is planned. Row SQL and kernel work with what was read then, so that no
other library's edition of the database has a say, on whatever machine.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from tidegate import errors
from tidegate.model.time import DAY, EPOCH, HOUR, MINUTE, SECOND, WEEK
from tidegate.model.zones import CYCLE_US, REPEATS_FROM_US, UTC_ZONE, Zone, zone_of

_OFFSET = re.compile(r"([+-])([01]?[0-9]):?([0-5][0-9])?")
_FIRST_PROBED_US = (datetime(1800, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
_LAST_PROBED_US = REPEATS_FROM_US + CYCLE_US
_ZULU = frozenset({"UTC", "Z", "ETC/UTC"})


def find_zone(name: str) -> Zone | None:
    """The zone of that name, in whatever case."""
    if name.upper() in _ZULU:
        return UTC_ZONE
    if offset := _OFFSET.fullmatch(name):
        return _fixed(offset)
    known = {zone.lower(): zone for zone in _names()}
    found = known.get(name.lower())
    return None if found is None else _read(found)


def named_zone(name: str, at: errors.Location) -> Zone:
    """The zone of that name, which was written there."""
    found = find_zone(name)
    if found is None:
        names = _names()
        otherwise = "write an IANA name such as 'Europe/Berlin', or an offset such as '+05:30'"
        if not names:
            otherwise = "this machine has no time zones: pip install tzdata"
        hint = errors.nearest(name, names, otherwise=otherwise)
        raise errors.unknown_time_zone(at, name=f"'{name}'", hint=hint)
    return found


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(sorted(available_timezones()))


def _fixed(offset: re.Match[str]) -> Zone:
    sign, hours, minutes = offset.groups(default="0")
    ahead_us = int(hours) * HOUR + int(minutes) * MINUTE
    name = f"{sign}{int(hours):02}:{int(minutes):02}"
    return zone_of(name, [], [-ahead_us if sign == "-" else ahead_us])


@lru_cache(maxsize=64)
def _read(name: str) -> Zone | None:
    try:
        info = ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return None
    changes = list(_changes(info))
    return zone_of(
        name, changes, [_offset_us(info, at_us) for at_us in (_FIRST_PROBED_US, *changes)]
    )


def _changes(info: ZoneInfo) -> Iterator[int]:
    """When the offset changes. Up to 2100 none that holds for four days is missed; later, rules hold for months."""
    at_us = _FIRST_PROBED_US
    offset_us = _offset_us(info, at_us)
    while at_us < _LAST_PROBED_US:
        next_us = at_us + (4 * DAY if at_us < REPEATS_FROM_US else 8 * WEEK)
        while (change_us := _first_change(info, at_us, next_us, offset_us)) is not None:
            yield change_us
            at_us, offset_us = change_us, _offset_us(info, change_us)
        at_us = next_us


def _first_change(info: ZoneInfo, from_us: int, to_us: int, offset_us: int) -> int | None:
    """To the second: an instant within (from, to] at which the offset has just changed, if it has by the end."""
    if _offset_us(info, to_us) == offset_us:
        return None
    while to_us - from_us > SECOND:
        middle_us = from_us + (to_us - from_us) // SECOND // 2 * SECOND
        if _offset_us(info, middle_us) == offset_us:
            from_us = middle_us
        else:
            to_us = middle_us
    return to_us


def _offset_us(info: ZoneInfo, at_us: int) -> int:
    offset = (EPOCH + timedelta(microseconds=at_us)).astimezone(info).utcoffset()
    assert offset is not None
    return offset // timedelta(microseconds=1)
