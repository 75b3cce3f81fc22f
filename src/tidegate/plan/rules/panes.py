"""What a row is aggregated into: a pane that windows share, or, where that is cheaper, each of its windows.

Sessions have panes too. Two rows of one key in the same pane as wide as the gap are less than a gap apart (at most a
gap, where that still joins), so they share a session, and sessions are put together from panes as windows are. Nothing
is sorted per row for it: it is the same GROUP BY.

Panes of a calendar come in pieces, which need nothing but divisions; the kernel puts them together as they come in.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import gcd

from tidegate.model.options import OptionValue
from tidegate.model.time import format_duration
from tidegate.model.windows import (
    AlignedWindow,
    Calendar,
    Cumulating,
    FixedWindow,
    Hopping,
    Inherited,
    Session,
    Tumbling,
)
from tidegate.plan.physical import Decision, Panes, Pieces, Routing, Stage
from tidegate.plan.quotas import QUOTAS

RULE = "panes"


def choose_panes(stage: Stage, _options: Mapping[str, OptionValue]) -> Stage:
    """Panes of windows that time decides; others have none."""
    if stage.routing is not Routing.PARTIALS or not isinstance(
        stage.window, (Tumbling, Hopping, Cumulating, Calendar, Session, Inherited)
    ):
        return stage
    if isinstance(stage.window, Calendar):
        return _on_calendar(stage, stage.window)
    panes, reason = _choose(stage.window)
    if isinstance(stage.window, Hopping) and panes.copies > 1 and _has_quotas(stage):
        panes = _shared_panes(stage.window)
        reason = "quotas let a row into all of its windows at once"
    shape = f"panes of {format_duration(panes.width_us)}"
    choice = shape if panes.copies == 1 else f"{panes.copies} windows per row"
    return replace(stage, panes=panes, decisions=(*stage.decisions, Decision(RULE, choice, reason)))


def _on_calendar(stage: Stage, window: Calendar) -> Stage:
    pieces = _pieces(window)
    width, cuts = format_duration(pieces.width_us), len(pieces.cuts_us)
    choice = f"pieces of {width}" if cuts == 1 else f"{cuts} pieces per {width}"
    reason = f"wherever a pane of {window.pane} begins, one of them does"
    made = Decision(RULE, choice, reason)
    return replace(stage, panes=pieces, decisions=(*stage.decisions, made))


def _pieces(window: Calendar) -> Pieces:
    marks = window.marks
    return Pieces(width_us=marks.grid_us, cuts_us=marks.cuts_us(), marks=marks)


def widest_panes(window: AlignedWindow | Session | Inherited) -> Panes | Pieces:
    """The widest panes that every window consists of."""
    if isinstance(window, Calendar):
        return _pieces(window)
    return _shared_panes(window) if isinstance(window, Hopping) else _choose(window)[0]


def _shared_panes(window: Hopping) -> Panes:
    width = gcd(window.size_us, window.slide_us)
    return Panes(width_us=width, offset_us=window.offset_us)


def _has_quotas(stage: Stage) -> bool:
    return any(stage.option(name) is not None for name in QUOTAS)


def _choose(window: FixedWindow | Session | Inherited) -> tuple[Panes, str]:
    match window:
        case Tumbling(size_us=size, offset_us=offset):
            return Panes(width_us=size, offset_us=offset), "a window is one pane"
        case Cumulating(step_us=step, size_us=size, offset_us=offset):
            return Panes(
                width_us=step, offset_us=offset
            ), f"a window is up to {size // step} panes, each row is in one"
        case Hopping():
            return _choose_hopping(window)
        case Session():
            return _choose_session(window)
        case Inherited():
            reason = "a window brought along ends with the instant that its rows have"
            return Panes(width_us=1, offset_us=0), reason


def _choose_hopping(window: Hopping) -> tuple[Panes, str]:
    """Panes are the greatest common divisor; where slides hold more panes than a row has windows, windows are fewer."""
    width = gcd(window.size_us, window.slide_us)
    per_slide = window.slide_us // width
    per_row = -(-window.size_us // window.slide_us)
    if per_slide > per_row:
        panes = f"{per_slide} panes of {format_duration(width)}"
        reason = f"a slide would hold {panes}, and a row is in {per_row} windows only"
        return Panes(width_us=window.slide_us, offset_us=window.offset_us, copies=per_row), reason
    reason = f"a window is {window.size_us // width} panes, each row is in one instead of in {per_row} windows"
    return Panes(width_us=width, offset_us=window.offset_us), reason


def _choose_session(window: Session) -> tuple[Panes, str]:
    """As wide as the largest distance that joins, and one more, since a pane's end is no part of it."""
    width = window.gap_us + 1 if window.inclusive else window.gap_us
    distance = "at most" if window.inclusive else "less than"
    reason = f"rows in one pane are {distance} a gap apart, and so in one session"
    return Panes(width_us=width, offset_us=0), reason
