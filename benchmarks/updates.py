"""Batches that touch few of many groups, and as many of few groups: what a batch costs grows with what it touches.

Other modes and windows than ON UPDATE without a window have a tenth of the groups. Log in memory.
"""

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa

from benchmarks.case import Bound, Case, Measured, Scale, Target
from benchmarks.events import FIVE
from benchmarks.running import engine

_MANY, _FEW, _TOUCHED = 1_000_000, 10_000, 1_000
_BATCHES = 100
_SELECT = f"SELECT key, {FIVE} FROM events GROUP BY key"
_OTHERS = {
    "every": " EMIT EVERY INTERVAL '1' HOUR",
    "hop_changes": ", HOP(ts, INTERVAL '500' SECOND, INTERVAL '1000' SECOND) EMIT CHANGES",
    "session_changes": ", SESSION(ts, INTERVAL '1000' SECOND) EMIT CHANGES",
    "session_every": ", SESSION(ts, INTERVAL '1000' SECOND) EMIT EVERY INTERVAL '1' HOUR",
}


def _measure(scale: Scale, rest: str = " EMIT ON UPDATE", *, share: int = 1) -> Measured:
    draw = np.random.default_rng(1)
    large, small = (
        _updating(_SELECT + rest, scale.of(groups // share), draw) for groups in (_MANY, _FEW)
    )
    many, few = [], []
    for number in range(scale.repeats * _BATCHES):
        taken = large(), small()
        if number >= _BATCHES // 4:
            many.append(taken[0])
            few.append(taken[1])
    return Measured(
        ours=median(many) * 1_000,
        baseline=f"the same with {_FEW // share // 1_000} K groups",
        baseline_value=median(few) * 1_000,
    )


def _updating(sql: str, groups: int, draw: np.random.Generator) -> Callable[[], float]:
    """An engine that has seen so many groups; a call is a batch, and gives its seconds."""
    running = engine(sql)
    running.insert("events", [_rows(np.arange(groups), draw)])

    def one() -> float:
        batch = _rows(draw.choice(groups, min(_TOUCHED, groups), replace=False), draw)
        begun = perf_counter()
        running.insert("events", [batch])
        return perf_counter() - begun

    return one


def _rows(
    keys: "np.ndarray[tuple[int], np.dtype[np.int64]]", draw: np.random.Generator
) -> pa.RecordBatch:
    count = len(keys)
    return pa.record_batch(
        {
            "ts": pa.array(np.arange(count)).cast(pa.timestamp("us")),
            "key": keys,
            "price": draw.uniform(1, 100, count),
            "qty": draw.integers(1, 100, count),
        }
    )


CASES = (
    Case(
        name="on_update",
        about="ON UPDATE, 1 M groups of state, batches touching 1 K",
        unit="ms",
        target=Target(Bound.AT_MOST_TIMES, 2, 1.2),
        measure=_measure,
    ),
    *(
        Case(
            name=name,
            about=f"100 K groups of state, batches touching 1 K:{rest.lower()}",
            unit="ms",
            target=Target(Bound.AT_MOST_TIMES, 2, 1.2),
            measure=partial(_measure, rest=rest, share=10),
        )
        for name, rest in _OTHERS.items()
    ),
)
