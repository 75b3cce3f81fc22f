"""Panes, and from when rows are taken, against the definitions of semantics §2 and §4 by brute force.

Small numbers stand for microseconds: an instant, a window and a watermark are tried in all combinations.
"""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.grid import (
    floor_us,
    open_from_us,
    pane_number,
    pane_shift_us,
    pane_start_us,
)
from tidegate.model.time import MAX_DURATION_US, MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.windows import (
    Cumulating,
    Hopping,
    Session,
    Sliding,
    TimeWindow,
    Tumbling,
)

INSTANTS = st.integers(MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)
WIDTHS = st.one_of(st.integers(1, 1000), st.integers(1, MAX_DURATION_US))
OFFSETS = st.one_of(st.integers(-1000, 1000), st.integers(-MAX_DURATION_US, MAX_DURATION_US))
EDGES = st.sampled_from([MIN_EVENT_TIME_US, MIN_EVENT_TIME_US + 1, -1, 0, 1, MAX_EVENT_TIME_US])


@given(INSTANTS | EDGES, WIDTHS, OFFSETS)
def test_an_instant_lies_in_its_pane(instant: int, width: int, offset: int) -> None:
    number = pane_number(instant, width, offset)
    start = pane_start_us(number, width, offset)
    assert start <= instant < start + width
    assert (start - offset) % width == 0
    assert start == floor_us(instant, width, offset)


@given(INSTANTS | EDGES, WIDTHS, OFFSETS)
def test_pane_numbers_are_not_negative_and_nothing_leaves_64_bits(
    instant: int, width: int, offset: int
) -> None:
    assert 0 <= instant + pane_shift_us(width, offset) < 2**63
    assert pane_number(instant, width, offset) >= 0


@given(INSTANTS, INSTANTS, WIDTHS, OFFSETS)
def test_panes_are_in_the_order_of_time(one: int, other: int, width: int, offset: int) -> None:
    earlier, later = sorted((one, other))
    assert pane_number(earlier, width, offset) <= pane_number(later, width, offset)


WINDOWS: list[Tumbling | Hopping | Cumulating] = [
    *(Tumbling(size_us=size, offset_us=offset) for size, offset in product((1, 4, 7), (-9, 0, 3))),
    *(
        Hopping(size_us=size, slide_us=slide, offset_us=offset)
        for size, slide, offset in product((1, 4, 7, 10), (1, 3, 4), (-5, 0, 2))
        if slide <= size
    ),
    *(
        Cumulating(size_us=size, step_us=step, offset_us=offset)
        for size, step, offset in product((4, 12), (1, 2, 4), (-7, 0, 1))
    ),
]


def ends(window: Tumbling | Hopping | Cumulating, ts: int) -> list[int]:
    """Ends of all windows that hold the instant, by looking at every window near it."""
    match window:
        case Tumbling(size_us=size, offset_us=offset):
            spans = [(start, start + size) for start in _grid(size, offset)]
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            spans = [(start, start + size) for start in _grid(slide, offset)]
        case Cumulating(size_us=size, step_us=step, offset_us=offset):
            grid = _grid(size, offset)
            spans = [
                (start, start + n * step) for start in grid for n in range(1, size // step + 1)
            ]
    return [end for start, end in spans if start <= ts < end]


def _grid(step: int, offset: int) -> list[int]:
    return [offset + place * step for place in range(-80 // step - 20, 80 // step + 20)]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("lateness", [0, 1, 6])
def test_a_row_is_taken_while_a_window_of_it_is_open(
    window: Tumbling | Hopping | Cumulating, lateness: int
) -> None:
    last_ends = {ts: max(ends(window, ts)) for ts in range(-30, 30)}
    for watermark in range(-25, 25):
        opened = open_from_us(window, watermark_us=watermark, lateness_us=lateness)
        for ts, end in last_ends.items():
            late = watermark >= end + lateness
            assert (ts < opened) is late, (ts, watermark)


@pytest.mark.parametrize(("lookahead", "lateness"), [(None, 0), (0, 0), (3, 0), (3, 2)])
def test_a_sliding_trigger_is_late_when_the_watermark_is_beyond_it(
    lookahead: int | None, lateness: int
) -> None:
    window = Sliding(lookback_us=5, lookahead_us=lookahead)
    for ts, watermark in product(range(-20, 20), repeat=2):
        late = ts + (lookahead or 0) + lateness < watermark
        opened = open_from_us(window, watermark_us=watermark, lateness_us=lateness)
        assert (ts < opened) is late


@given(INSTANTS | st.just(-(2**63)) | st.just(2**63 - 1), st.integers(0, MAX_DURATION_US))
def test_the_bound_stays_among_event_times(watermark: int, lateness: int) -> None:
    """Even at the watermark before anything and at the one after everything: then no row is taken."""
    windows: list[TimeWindow] = [*WINDOWS[:20:5], Session(gap_us=5)]
    for window in (*windows, Sliding(lookback_us=5, lookahead_us=7)):
        opened = open_from_us(window, watermark_us=watermark, lateness_us=lateness)
        assert MIN_EVENT_TIME_US <= opened <= MAX_EVENT_TIME_US + 1


def test_sessions_are_judged_by_the_kernel() -> None:
    """A row alone may be too old, and still join a session that is open."""
    opened = open_from_us(Session(gap_us=5), watermark_us=10**15, lateness_us=0)
    assert opened == MIN_EVENT_TIME_US
