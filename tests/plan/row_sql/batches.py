"""Batches to run queries on, with the numbers that the kernel would supply."""

import random

from tests.plan.row_sql.running import Case, Planned, Row, rows_for
from tests.plan.row_sql.streams import CLOCK_US
from tidegate.model.grid import open_from_us
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US, SECOND
from tidegate.model.windows import Cumulating, Hopping, Session, Sliding, Tumbling

_LATEST = (MAX_EVENT_TIME_US, CLOCK_US, 12 * SECOND, 9_999_999)
_WATERMARKS = (MIN_EVENT_TIME_US, -25 * SECOND, 0, 10 * SECOND, 86_400 * SECOND, MAX_EVENT_TIME_US)


def parameters(planned: Planned, *, seed: int) -> dict[str, int]:
    """As after some watermark, and with or without a limit on the future."""
    draw = random.Random(seed)
    window = planned.ruled.window
    opened = MIN_EVENT_TIME_US
    if isinstance(window, (Tumbling, Hopping, Cumulating, Session, Sliding)) and seed:
        watermark_us, lateness_us = draw.choice(_WATERMARKS), draw.choice((0, 3 * SECOND))
        opened = open_from_us(window, watermark_us=watermark_us, lateness_us=lateness_us)
    latest = draw.choice(_LATEST) if seed else MAX_EVENT_TIME_US
    return {"open_from_us": opened, "latest_us": latest, "clock_us": CLOCK_US}


def case_of(planned: Planned, place: int, *, seed: int, count: int) -> Case:
    rows = rows_for(planned, place, seed=seed, count=count)
    return Case(planned, place, rows, parameters(planned, seed=seed))


def empty(planned: Planned, place: int) -> Case:
    return Case(planned, place, [], parameters(planned, seed=0))


def nothing_but_nulls(planned: Planned, place: int) -> Case:
    names = Case(planned, place, [], {}).schema.names
    rows: list[Row] = [dict.fromkeys(names) for _ in range(3)]
    return Case(planned, place, rows, parameters(planned, seed=0))


def cases(planned: Planned, *, seeds: tuple[int, ...] = (0, 1, 2), count: int = 30) -> list[Case]:
    """For every branch: random batches, one without rows, and one of NULLs."""
    made = []
    for place in range(len(planned.ruled.branches)):
        made += [case_of(planned, place, seed=seed, count=count) for seed in seeds]
        made += [empty(planned, place), nothing_but_nulls(planned, place)]
    return made
