"""Which windows lie over which panes.

Decided here: a window is a `Span` of pane numbers, and everything about it (its instants, when it closes, which rows
it holds) follows from them. Two grids: where each pane is a window of its own, and where windows share panes, with an
end on every step. Numbers of panes are those of `model/grid.py`, so row SQL and kernel cannot disagree.

>>> hops = shared(Hopping(size_us=15, slide_us=5), width_us=5, offset_us=0)
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

from tidegate.model.grid import pane_number, pane_shift_us, pane_start_us
from tidegate.model.time import FOREVER_US
from tidegate.model.windows import Cumulating, Hopping

__all__ = ["DirectGrid", "Grid", "SharedGrid", "Span", "pane_number", "shared"]


class Span(NamedTuple):
    """Panes from `first` to before `end`."""

    first: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectGrid:
    """Each pane is a window: it begins with the pane and is `size_us` long; None: it never ends.

    `started`: whether where it begins means anything.
    """

    width_us: int
    offset_us: int
    size_us: int | None
    started: bool = True

    def over(self, pane: int) -> Sequence[Span]:
        return (Span(pane, pane + 1),)

    def start_us(self, span: Span) -> int | None:
        return pane_start_us(span.first, self.width_us, self.offset_us) if self.started else None

    def end_us(self, span: Span) -> int:
        if self.size_us is None:
            return FOREVER_US + 1
        return pane_start_us(span.first, self.width_us, self.offset_us) + self.size_us

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

    `anchored`: they begin where the multiples of `panes` do (cumulating); otherwise all are equally long (hopping).
    """

    width_us: int
    offset_us: int
    panes: int
    step: int
    origin: int
    anchored: bool

    def over(self, pane: int) -> Sequence[Span]:
        last = self._last_end(pane)
        return [self._ending(end) for end in range(self._next_end(pane + 1), last + 1, self.step)]

    def start_us(self, span: Span) -> int:
        return pane_start_us(span.first, self.width_us, self.offset_us)

    def end_us(self, span: Span) -> int:
        return pane_start_us(span.end, self.width_us, self.offset_us)

    def closing(self, panes: Sequence[int], *, after_us: int, upto_us: int) -> Iterator[Span]:
        """As for the other grid. Stretches without panes are stepped over."""
        if not panes:
            return
        shift = pane_shift_us(self.width_us, self.offset_us)
        latest = min((upto_us + shift) // self.width_us, panes[-1] + self.panes)
        end = self._next_end(max((after_us + shift) // self.width_us, panes[0]) + 1)
        while end <= latest:
            span = self._ending(end)
            place = bisect_left(panes, span.first)
            if place == len(panes):
                return
            if panes[place] < end:
                yield span
                end += self.step
            else:
                end = self._next_end(panes[place] + 1)

    def is_done(self, pane: int, upto_us: int) -> bool:
        end = self._last_end(pane)
        return pane_start_us(end, self.width_us, self.offset_us) <= upto_us

    def _next_end(self, at_least: int) -> int:
        """The first end of a window there or later. Whole windows end where the grid of steps does, too."""
        return at_least + (self._phase - at_least) % self.step

    @property
    def _phase(self) -> int:
        return self.origin + self.panes

    def _ending(self, end: int) -> Span:
        return Span(self._bucket(end - 1) if self.anchored else end - self.panes, end)

    def _last_end(self, pane: int) -> int:
        if self.anchored:
            return self._bucket(pane) + self.panes
        return pane + self.panes - (pane + self.panes - self._phase) % self.step

    def _bucket(self, pane: int) -> int:
        return pane - (pane - self.origin) % self.panes


Grid = DirectGrid | SharedGrid


def shared(window: Hopping | Cumulating, *, width_us: int, offset_us: int) -> SharedGrid:
    """The grid of windows that are made of panes of this width."""
    origin = (pane_shift_us(width_us, offset_us) + offset_us) // width_us
    step_us = window.slide_us if isinstance(window, Hopping) else window.step_us
    return SharedGrid(
        width_us=width_us,
        offset_us=offset_us,
        panes=window.size_us // width_us,
        step=step_us // width_us,
        origin=origin,
        anchored=isinstance(window, Cumulating),
    )
