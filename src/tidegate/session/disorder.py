"""How far out of order the rows of a source are, and what waiting for them would cost.

In: a program whose sources can be read. Out: per stream and source a table: how long to wait, how many rows would still
be late, and how long after its end a window comes. Decided here: rows are taken one by one in the order in which the
source gives them, which is the hardest case; batches are judged by what was known before them, so a run loses at most
these. Waiting is what lag and lateness do together: a row is late once the watermark has passed the end of its window
by the lateness, so moving a second from one to the other loses the same rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidegate.kernel.arrow import Integers
from tidegate.model.policies import WatermarkOrigin
from tidegate.model.time import DAY, HOUR, MILLISECOND, MINUTE, NEVER_US, SECOND
from tidegate.model.windows import (
    Conditional,
    Counting,
    Cumulating,
    Hopping,
    Session,
    Sliding,
    Tumbling,
    Window,
)
from tidegate.plan.physical import Branch, InputKind, Stage
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.session.feeding import everything

_ROUND = [count * unit for unit, counts in (
    (MILLISECOND, (100, 200, 500)),
    (SECOND, (1, 2, 5, 10, 15, 20, 30)),
    (MINUTE, (1, 2, 5, 10, 15, 20, 30)),
    (HOUR, (1, 2, 6, 12)),
    (DAY, (1, 2, 7, 30)),
) for count in counts]  # fmt: skip
_ENOUGH = 0.001
_ROWS_OF_TABLE = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """`late` rows are lost although windows wait for `wait_us`; `behind` rows are older than the watermark then."""

    wait_us: int
    late: int
    behind: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disorder:
    """Of one source as one stream reads it. `largest_us` is how far the oldest row lay behind the newest before it."""

    stream: str
    source: str
    rows: int
    untimed: int
    out_of_order: int
    largest_us: int
    lag_us: int
    lateness_us: int
    declared: Wait
    waits: tuple[Wait, ...]
    advised: Wait

    def share(self, wait: Wait) -> float:
        return wait.late / max(self.rows - self.untimed, 1)


def disorder(program: Program, *, now_us: int) -> Iterator[Disorder]:
    """Of every source that a windowed stream reads by event time. Rows of the future are none, where that is asked."""
    from tidegate.engines.embedded.times import event_times
    from tidegate.engines.local.build import shared_workers

    given = everything(program)
    for query in program.queries:
        for stage in plan_query(query, program).stages:
            for branch in stage.branches:
                if _has_watermark(stage, branch):
                    rows = given.sources[branch.input.name.lower()]
                    times = event_times(branch, rows, shared_workers())
                    skew_us = branch.time.max_future_skew_us if branch.time else None
                    if skew_us is not None:
                        times = np.where(times > now_us + skew_us, NEVER_US, times)
                    yield of_times(times, stage, branch, stream=query.name)


def _has_watermark(stage: Stage, branch: Branch) -> bool:
    windowed = stage.window is not None and not isinstance(stage.window, (Counting, Conditional))
    by_rows = branch.time is not None and branch.time.watermark is WatermarkOrigin.ROWS
    return windowed and by_rows and branch.input.kind is InputKind.SOURCE


def of_times(times: Integers, stage: Stage, branch: Branch, *, stream: str) -> Disorder:
    """The table of a source, from the times of its rows in order."""
    assert branch.time is not None
    assert stage.window is not None
    timed = times[times > NEVER_US]
    newest = np.maximum.accumulate(timed) if len(timed) else timed
    before = np.concatenate([timed[:1], newest[:-1]])
    behind = before - timed
    late_by = before - _ends(stage.window, timed)  # what waiting must exceed for the row to count
    declared_us = branch.time.lag_us + stage.lateness_us

    def wait(wait_us: int) -> Wait:
        return Wait(
            wait_us=wait_us,
            late=int((late_by >= wait_us).sum()),
            behind=int((behind > wait_us).sum()),
        )

    largest_us = int(behind.max(initial=0))
    every = [wait(at_us) for at_us in _candidates(late_by, declared_us)]
    enough = _ENOUGH * len(timed)
    advised = next(one for one in every if one.late <= enough)
    waits = [
        one
        for before_it, one in zip([None, *every], every, strict=False)
        if before_it is None
        or before_it.late != one.late
        or one.wait_us in (declared_us, advised.wait_us)
    ]
    return Disorder(
        stream=stream,
        source=branch.input.name,
        rows=len(times),
        untimed=len(times) - len(timed),
        out_of_order=int((behind > 0).sum()),
        largest_us=largest_us,
        lag_us=branch.time.lag_us,
        lateness_us=stage.lateness_us,
        declared=wait(declared_us),
        waits=tuple(waits),
        advised=advised,
    )


def _ends(window: Window, times: Integers) -> Integers:
    """When the last window of each row ends; a sliding row is late once its own trigger has passed."""
    ends: Integers
    match window:
        case Tumbling(size_us=size, offset_us=offset) | Cumulating(size_us=size, offset_us=offset):
            ends = (times - offset) // size * size + offset + size
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            ends = (times - offset) // slide * slide + offset + size
        case Session(gap_us=gap):
            ends = times + gap
        case Sliding(lookahead_us=ahead):
            ends = times + (ahead or 0) + 1
        case _:
            ends = times + 1
    return ends


def _candidates(late_by: Integers, declared_us: int) -> list[int]:
    """Round lengths up to the one that loses nothing, and what is declared."""
    late = late_by[late_by >= 0]
    most_us = int(late.max()) + 1 if len(late) else 0
    reach = [wait_us for wait_us in _ROUND if wait_us < most_us]
    near = {_rounded(int(at)) for at in np.quantile(late, [0.5, 0.9, 0.99])} if len(late) else set()
    within = sorted({*reach, *(wait_us for wait_us in near if wait_us < most_us)})
    chosen = [0, *_thinned(within, _ROWS_OF_TABLE), _rounded(most_us)]
    return sorted({*chosen, declared_us})


def _rounded(wait_us: int) -> int:
    """Up to whole seconds, or to whole milliseconds below one."""
    unit = SECOND if wait_us >= SECOND else MILLISECOND
    return -(-wait_us // unit) * unit


def _thinned(values: Sequence[int], most: int) -> list[int]:
    if len(values) <= most:
        return [*values]
    places = np.linspace(0, len(values) - 1, most).round().astype(int)
    return [values[place] for place in dict.fromkeys(places.tolist())]
