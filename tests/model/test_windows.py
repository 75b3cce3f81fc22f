"""A window that exists is a valid one."""

from collections.abc import Callable

import pytest

from tidegate.model.time import MAX_DURATION_US
from tidegate.model.windows import (
    Counting,
    Cumulating,
    Hopping,
    InvalidLength,
    Session,
    Sliding,
    Tumbling,
    Window,
)

HUGE = MAX_DURATION_US + 1


@pytest.mark.parametrize(
    ("make", "argument", "code", "facts"),
    [
        (lambda: Tumbling(size_us=0), "size", "TG-3006", "size tumbling 0s"),
        (lambda: Tumbling(size_us=-1), "size", "TG-3006", "size tumbling -1us"),
        (lambda: Tumbling(size_us=HUGE), "size", "TG-3010", ""),
        (lambda: Tumbling(size_us=1, offset_us=HUGE), "offset", "TG-3010", ""),
        (lambda: Tumbling(size_us=1, offset_us=-HUGE), "offset", "TG-3010", ""),
        (lambda: Hopping(size_us=0, slide_us=0), "size", "TG-3006", "size hopping 0s"),
        (lambda: Hopping(size_us=1, slide_us=0), "slide", "TG-3006", "slide hopping 0s"),
        (lambda: Hopping(size_us=1, slide_us=2), "slide", "TG-3008", "2us 1us"),
        (lambda: Hopping(size_us=2, slide_us=1, offset_us=HUGE), "offset", "TG-3010", ""),
        (lambda: Cumulating(step_us=0, size_us=1), "step", "TG-3006", "step cumulating 0s"),
        (lambda: Cumulating(step_us=1, size_us=0), "size", "TG-3006", "size cumulating 0s"),
        (lambda: Cumulating(step_us=2, size_us=3), "size", "TG-3009", "2us 3us"),
        (lambda: Cumulating(step_us=2, size_us=1), "size", "TG-3009", "2us 1us"),
        (lambda: Cumulating(step_us=1, size_us=1, offset_us=HUGE), "offset", "TG-3010", ""),
        (lambda: Session(gap_us=0), "gap", "TG-3006", "gap session 0s"),
        (lambda: Sliding(lookback_us=0), "lookback", "TG-3006", "lookback sliding 0s"),
        (
            lambda: Sliding(lookback_us=1, lookahead_us=-1),
            "lookahead",
            "TG-3007",
            "lookahead sliding -1us",
        ),
        (lambda: Sliding(lookback_us=1, lookahead_us=HUGE), "lookahead", "TG-3010", ""),
        (lambda: Counting(rows=0, step=1), "rows", "TG-3006", "rows counting 0"),
        (lambda: Counting(rows=1, step=0), "step", "TG-3006", "step counting 0"),
    ],
)
def test_a_wrong_length_names_its_argument(
    make: Callable[[], Window], argument: str, code: str, facts: str
) -> None:
    with pytest.raises(InvalidLength) as refusal:
        make()
    assert (refusal.value.argument, refusal.value.kind.code) == (argument, code)
    if facts:
        assert " ".join(refusal.value.facts.values()) == facts


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tumbling(size_us=1),
        lambda: Tumbling(size_us=MAX_DURATION_US, offset_us=-MAX_DURATION_US),
        lambda: Hopping(size_us=5, slide_us=5),
        lambda: Hopping(size_us=5, slide_us=3, offset_us=-7),
        lambda: Cumulating(step_us=2, size_us=2),
        lambda: Sliding(lookback_us=1, lookahead_us=0),
        lambda: Sliding(lookback_us=1, lookahead_us=MAX_DURATION_US),
        lambda: Counting(rows=1, step=5),
        lambda: Session(gap_us=1),
    ],
)
def test_lengths_at_their_limits(make: Callable[[], Window]) -> None:
    make()


def test_zero_lookahead_is_not_the_same_as_none() -> None:
    """With a lookahead of zero a trigger waits for all rows of its own instant."""
    assert Sliding(lookback_us=1) != Sliding(lookback_us=1, lookahead_us=0)
