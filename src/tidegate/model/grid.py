"""Window arithmetic on the time axis: panes, windows over them, and from when rows are still taken.

Decided here once, for planning (`plan/row_sql.py` writes the same arithmetic as expressions) and for the kernel: panes
are numbered from the first instant there is, so that a pane's number is never negative and flooring is one integer
division; instants before 1970 need no case of their own. Where windows go by a calendar, a `Ruler` (`calendar.py`) has
the numbers.
"""

from dataclasses import dataclass

from tidegate.model.calendar import Ruler, whole
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.windows import (
    AlignedWindow,
    Calendar,
    Cumulating,
    Hopping,
    Inherited,
    Session,
    Sliding,
    TimeWindow,
    Tumbling,
)

NO_PANES = 0  # the pane of every row where a query has no window


def pane_shift_us(width_us: int, offset_us: int) -> int:
    """What is added to an instant so that dividing by the width gives its pane's number.

    >>> (MIN_EVENT_TIME_US + pane_shift_us(10, 3)) // 10 >= 0, (pane_shift_us(10, 3) + 3) % 10
    (True, 0)
    """
    steps = -((MIN_EVENT_TIME_US - abs(offset_us) - width_us) // width_us)
    return steps * width_us - offset_us


def pane_number(instant_us: int, width_us: int, offset_us: int) -> int:
    return (instant_us + pane_shift_us(width_us, offset_us)) // width_us


def pane_start_us(number: int, width_us: int, offset_us: int) -> int:
    """Where the pane with the number begins.

    >>> pane_start_us(pane_number(-1, 10, 0), 10, 0), pane_start_us(pane_number(3, 10, 3), 10, 3)
    (-10, 3)
    """
    return number * width_us - pane_shift_us(width_us, offset_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Even:
    """A `Ruler` without a calendar: panes of one width."""

    width_us: int = 1
    offset_us: int = 0

    @property
    def origin(self) -> int:
        """The pane that begins at the offset."""
        return (pane_shift_us(self.width_us, self.offset_us) + self.offset_us) // self.width_us

    def number(self, instant_us: int) -> int:
        return pane_number(instant_us, self.width_us, self.offset_us)

    def start_us(self, number: int) -> int:
        return pane_start_us(number, self.width_us, self.offset_us)

    def standing(self, number: int) -> int:
        return number


Marks = Even | Ruler
EVERY_INSTANT = Even()


def floor_us(instant_us: int, width_us: int, offset_us: int) -> int:
    """The last grid point at or before the instant."""
    return (instant_us - offset_us) // width_us * width_us + offset_us


def latest_window_us(window: TimeWindow | Inherited, instant_us: int) -> tuple[int | None, int]:
    """Where the last of the windows over an instant begins and ends; of a session, as if it had one row.

    >>> latest_window_us(Hopping(size_us=15, slide_us=5), 12)
    (10, 25)
    """
    match window:
        case Tumbling(size_us=size, offset_us=offset) | Cumulating(size_us=size, offset_us=offset):
            start = floor_us(instant_us, size, offset)
            return start, start + size
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            start = floor_us(instant_us, slide, offset)
            return start, start + size
        case Calendar():
            return _latest_of_calendar(window, instant_us)
        case Session(gap_us=gap):
            return instant_us, instant_us + gap
        case Sliding(lookback_us=back, lookahead_us=ahead):
            return instant_us - back, instant_us + (ahead or 0)
        case Inherited():
            return None, instant_us + 1


def open_from_us(
    window: TimeWindow | Inherited,
    *,
    watermark_us: int,
    lateness_us: int,
) -> int:
    """The earliest event time that some window is still open for.

    A window with end E is closed when the watermark has reached E + lateness; a sliding trigger has passed only when
    the watermark is beyond it. An inherited window ends one microsecond after the instant of its rows. For sessions
    there is no bound: whether a row joins a session that is still open, the kernel sees.

    >>> open_from_us(Tumbling(size_us=10), watermark_us=20, lateness_us=0)
    20
    >>> open_from_us(Tumbling(size_us=10), watermark_us=19, lateness_us=0)
    10
    >>> open_from_us(Hopping(size_us=15, slide_us=5), watermark_us=20, lateness_us=0)
    10
    """
    horizon = watermark_us - lateness_us
    match window:
        case Tumbling(size_us=size, offset_us=offset):
            edge = floor_us(horizon - size, size, offset) + size
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            edge = floor_us(horizon - size, slide, offset) + slide
        case Cumulating(size_us=size, offset_us=offset):
            edge = floor_us(horizon - size, size, offset) + size
        case Calendar():
            edge = _open_from_of_calendar(window, horizon)
        case Session():
            edge = MIN_EVENT_TIME_US
        case Sliding(lookahead_us=lookahead):
            edge = horizon - (lookahead or 0)
        case Inherited():
            edge = horizon
    return min(max(edge, MIN_EVENT_TIME_US), MAX_EVENT_TIME_US + 1)


def _latest_of_calendar(window: Calendar, instant_us: int) -> tuple[int, int]:
    if window.kind != "hopping":
        number = window.bounds.number(instant_us)
        return window.bounds.start_us(number), window.bounds.start_us(number + 1)
    marks, panes, slide = window.marks, *_in_panes(window)
    first = marks.number(instant_us)
    first -= (first - marks.origin) % slide
    return marks.start_us(first), marks.start_us(first + panes)


def _open_from_of_calendar(window: Calendar, horizon_us: int) -> int:
    """Where the first window begins that ends later than the horizon."""
    if window.kind != "hopping":
        return window.bounds.start_us(window.bounds.number(horizon_us))
    marks, panes, slide = window.marks, *_in_panes(window)
    first = marks.number(horizon_us) + 1 - panes
    first += (marks.origin - first) % slide
    return marks.start_us(first)


def _in_panes(window: Calendar) -> tuple[int, int]:
    """Size and slide."""
    return whole(window.size, window.pane), whole(window.step, window.pane)


def windows_at(window: AlignedWindow, instant_us: int) -> list[tuple[int, int]]:
    """All windows that an instant is in, the earliest first.

    >>> windows_at(Hopping(size_us=15, slide_us=5), 12), windows_at(Cumulating(step_us=5, size_us=15), 7)
    ([(0, 15), (5, 20), (10, 25)], [(0, 10), (0, 15)])
    """
    match window:
        case Tumbling(size_us=size, offset_us=offset):
            start = floor_us(instant_us, size, offset)
            return [(start, start + size)]
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            last = floor_us(instant_us, slide, offset)
            starts = range(last, instant_us - size, -slide)
            return [(start, start + size) for start in reversed(starts)]
        case Cumulating(step_us=step, size_us=size, offset_us=offset):
            start = floor_us(instant_us, size, offset)
            ends = range(start + step, start + size + 1, step)
            return [(start, end) for end in ends if end > instant_us]
        case Calendar():
            return _windows_of_calendar(window, instant_us)


def _windows_of_calendar(window: Calendar, instant_us: int) -> list[tuple[int, int]]:
    marks, pane = window.marks, window.marks.number(instant_us)
    if window.kind == "hopping":
        panes, slide = _in_panes(window)
        last = pane - (pane - marks.origin) % slide
        firsts = reversed(range(last, pane - panes, -slide))
        return [(marks.start_us(first), marks.start_us(first + panes)) for first in firsts]
    start_us, end_us = _latest_of_calendar(window, instant_us)
    ends = [end_us]
    while window.kind == "cumulating" and (between := marks.start_us(pane + 1)) < end_us:
        pane += 1
        ends.insert(-1, between)
    return [(start_us, end) for end in ends]
