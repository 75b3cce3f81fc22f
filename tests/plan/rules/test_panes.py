"""What rows are aggregated into: as few pieces as possible, and never more pieces than windows."""

from dataclasses import replace
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan.rules.stages import choice, lowered
from tidegate.model.time import MILLISECOND, SECOND
from tidegate.model.windows import AlignedWindow, Cumulating, Hopping, Inherited, Session, Tumbling
from tidegate.plan.physical import Panes, Routing, Stage
from tidegate.plan.rules.panes import RULE, choose_panes

BY_TEN = lowered("SELECT COUNT(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)")


def chosen(window: AlignedWindow | Session | Inherited) -> Stage:
    return choose_panes(replace(BY_TEN, window=window), {})


@pytest.mark.parametrize(
    ("window", "panes", "said"),
    [
        (Tumbling(size_us=10 * SECOND), Panes(width_us=10 * SECOND, offset_us=0), "panes of 10s"),
        (
            Tumbling(size_us=SECOND, offset_us=-5),
            Panes(width_us=SECOND, offset_us=-5),
            "panes of 1s",
        ),
        (
            Hopping(size_us=15 * SECOND, slide_us=5 * SECOND),
            Panes(width_us=5 * SECOND, offset_us=0),
            "panes of 5s",
        ),
        (
            Hopping(size_us=10 * SECOND, slide_us=4 * SECOND, offset_us=1),
            Panes(width_us=2 * SECOND, offset_us=1),
            "panes of 2s",
        ),
        (
            Hopping(size_us=3 * SECOND, slide_us=2 * SECOND),
            Panes(width_us=SECOND, offset_us=0),
            "panes of 1s",
        ),
        (
            Hopping(size_us=1001 * MILLISECOND, slide_us=SECOND),
            Panes(width_us=SECOND, offset_us=0, copies=2),
            "2 windows per row",
        ),
        (
            Cumulating(size_us=12 * SECOND, step_us=3 * SECOND, offset_us=7),
            Panes(width_us=3 * SECOND, offset_us=7),
            "panes of 3s",
        ),
    ],
    ids=str,
)
def test_the_choice(window: AlignedWindow, panes: Panes, said: str) -> None:
    stage = chosen(window)
    assert stage.panes == panes
    assert choice(stage, RULE) == said


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_cheaper_way_is_taken(size: int, slide: int) -> None:
    """Pieces that a slide adds to state, against windows that a row goes to."""
    if slide > size:
        return
    panes = chosen(Hopping(size_us=size, slide_us=slide)).panes
    assert panes is not None
    in_panes, in_windows = slide // gcd(size, slide), -(-size // slide)
    if in_panes <= in_windows:
        assert (panes.width_us, panes.copies) == (gcd(size, slide), 1)
    else:
        assert (panes.width_us, panes.copies) == (slide, in_windows)


@pytest.mark.parametrize(("inclusive", "width_us"), [(False, 10), (True, 11)])
def test_a_pane_is_as_wide_as_what_a_session_certainly_joins(
    inclusive: bool, width_us: int
) -> None:
    panes = chosen(Session(gap_us=10, inclusive=inclusive)).panes
    assert panes == Panes(width_us=width_us, offset_us=0)


def test_a_window_brought_along_is_the_pane_of_its_last_instant() -> None:
    assert chosen(Inherited()).panes == Panes(width_us=1, offset_us=0)


def test_rows_that_cross_whole_have_no_panes() -> None:
    rows = replace(BY_TEN, routing=Routing.ROWS)
    assert choose_panes(rows, {}) == rows
