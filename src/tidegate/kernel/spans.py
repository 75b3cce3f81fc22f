"""Which windows lie over which panes.

Decided here: a window is a `Span` of pane numbers, and everything about it (its instants, when it closes, which rows
it holds) follows from them. Two grids: where each pane is a window of its own, and where windows share panes, with an
end on every step. Numbers of panes are those of `model/grid.py`, so row SQL and kernel cannot disagree.
Panes of a calendar may be empty: where a clock leaves an hour out, no time passes between the two marks. Of marks that
stand at one instant a span names the last, so that there is one span for each pair of instants.

>>> hops = shared(Hopping(size_us=15, slide_us=5), Even(width_us=5))
>>> pane = pane_number(12, 5, 0)
>>> [(hops.start_us(span), hops.end_us(span)) for span in hops.over(pane)]
[(0, 15), (5, 20), (10, 25)]
>>> [hops.end_us(span) for span in hops.closing([pane, pane + 100], after_us=15, upto_us=10_000)]
[20, 25, 515, 520, 525]
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidegate.model.calendar import Ruler, whole
from tidegate.model.grid import Even, Marks, pane_number
from tidegate.model.time import DAY, FOREVER_US
from tidegate.model.windows import Calendar, Cumulating, Hopping

__all__ = ["DirectGrid", "Grid", "SharedGrid", "Span", "on_calendar", "pane_number", "shared"]

_LONGEST_MONTH = 31


class Span(NamedTuple):
    """Panes from `first` to before `end`."""

    first: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectGrid:
    """Each pane is a window: it begins with the pane and is `size_us` long; None: it never ends.

    `started`: whether where it begins means anything.
    """

    marks: Even
    size_us: int | None
    started: bool = True

    def over(self, pane: int) -> Sequence[Span]:
        return (Span(pane, pane + 1),)

    def start_us(self, span: Span) -> int | None:
        return self.marks.start_us(span.first) if self.started else None

    def end_us(self, span: Span) -> int:
        if self.size_us is None:
            return FOREVER_US + 1
        return self.marks.start_us(span.first) + self.size_us

    def closing(self, panes: Sequence[int], *, after_us: int, upto_us: int) -> Iterator[Span]:
        """Windows over the panes that end in (after, upto], by their ends. `panes` ascend."""
        for pane in panes:
            span = Span(pane, pane + 1)
            if self.end_us(span) > upto_us:
                return
            if self.end_us(span) > after_us:
                yield span

    def is_done(self, pane: int, upto_us: int) -> bool:
        """Whether every window over the pane has ended by then."""
        return self.end_us(Span(pane, pane + 1)) <= upto_us


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGrid:
    """Windows end on every `step` panes, counted from pane `origin`, and hold up to `panes` of them.

    `anchored`: they begin where the multiples of `panes` do (cumulating), or, with `bounds`, where its marks stand;
    otherwise all hold equally many panes (hopping).
    """

    marks: Marks
    panes: int
    step: int
    origin: int
    anchored: bool
    bounds: Ruler | None = None

    def over(self, pane: int) -> Sequence[Span]:
        last = self._last_end(pane)
        ends = range(self._next_end(pane + 1), last + 1, self.step)
        spans = dict.fromkeys(self._ending(end) for end in ends)
        return [span for span in spans if span.first < span.end]

    def start_us(self, span: Span) -> int:
        return self.marks.start_us(span.first)

    def end_us(self, span: Span) -> int:
        return self.marks.start_us(span.end)

    def closing(self, panes: Sequence[int], *, after_us: int, upto_us: int) -> Iterator[Span]:
        """As for the other grid. Stretches without panes are stepped over."""
        if not panes:
            return
        latest = min(self.marks.number(upto_us), panes[-1] + self.panes)
        end = self._next_end(max(self.marks.number(after_us), panes[0]) + 1)
        previous = None
        while end <= latest:
            span = self._ending(end)
            place = bisect_left(panes, span.first)
            if place == len(panes):
                return
            if panes[place] < end:
                if span != previous:
                    yield span
                previous = span
                end += self.step
            else:
                end = self._next_end(panes[place] + 1)

    def is_done(self, pane: int, upto_us: int) -> bool:
        return self.marks.start_us(self._last_end(pane)) <= upto_us

    def _next_end(self, at_least: int) -> int:
        """The first end of a window there or later. Whole windows end where the grid of steps does, too."""
        return at_least + (self._phase - at_least) % self.step

    @property
    def _phase(self) -> int:
        return self.origin + self.panes

    def _ending(self, end: int) -> Span:
        first = self._bucket(end - 1) if self.anchored else end - self.panes
        return Span(self.marks.standing(first), self.marks.standing(end))

    def _last_end(self, pane: int) -> int:
        if self.bounds is not None:
            return self._bound(pane, 1)
        if self.anchored:
            return self._bucket(pane) + self.panes
        return pane + self.panes - (pane + self.panes - self._phase) % self.step

    def _bucket(self, pane: int) -> int:
        if self.bounds is not None:
            return self._bound(pane, 0)
        return pane - (pane - self.origin) % self.panes

    def _bound(self, pane: int, later: int) -> int:
        assert self.bounds is not None
        number = self.bounds.number(self.marks.start_us(pane))
        return self.marks.number(self.bounds.start_us(number + later))


Grid = DirectGrid | SharedGrid


def shared(window: Hopping | Cumulating, marks: Even) -> SharedGrid:
    """The grid of windows that are made of panes of this width."""
    step_us = window.slide_us if isinstance(window, Hopping) else window.step_us
    return SharedGrid(
        marks=marks,
        panes=window.size_us // marks.width_us,
        step=step_us // marks.width_us,
        origin=marks.origin,
        anchored=isinstance(window, Cumulating),
    )


def on_calendar(window: Calendar) -> SharedGrid:
    """The grid of windows of a calendar; a month has up to so many panes."""
    marks = window.marks
    panes = whole(window.size, window.pane)
    uneven = panes == 0
    if uneven:
        panes = window.size.months * _LONGEST_MONTH * (DAY // window.pane.us)
    return SharedGrid(
        marks=marks,
        panes=panes,
        step=whole(window.step, window.pane),
        origin=marks.origin,
        anchored=window.kind == "cumulating",
        bounds=window.bounds if uneven else None,
    )
