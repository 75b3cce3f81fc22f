"""Sliding windows per key, end to end, log in memory: SUM, COUNT and MAX of the last ten seconds, for every row.

Compared with DuckDB's OVER … RANGE over all rows at once: it has no batches and no watermark. A hundred thousand rows
arrive in a second, so a frame holds a hundred rows of ten thousand keys, or ten thousand rows of a hundred keys. How
much longer frames cost is compared with ours at ten seconds; the longest hold all rows of their key.
"""

from collections.abc import Callable

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn, seconds
from benchmarks.events import ROWS, cut, events
from benchmarks.one_query import duckdb_over
from benchmarks.running import engine, feed

_PER_SECOND = 100_000
_BATCH = 1_000_000
_OVER = """
SELECT key, ts, SUM(qty) OVER w AS total, COUNT(*) OVER w AS n, MAX(price) OVER w AS high
FROM events WINDOW w AS (
    PARTITION BY key ORDER BY ts RANGE BETWEEN INTERVAL '{seconds}' SECOND PRECEDING AND CURRENT ROW
)
"""


def _rate(rows: int, *, keys: int, frame: int) -> Callable[[], float]:
    batches = cut(events(rows=rows, keys=keys, per_second=_PER_SECOND), _BATCH)
    return lambda: rows / feed(engine(_OVER.format(seconds=frame)), batches) / 1e6


def _beside_duckdb(scale: Scale, *, keys: int) -> Measured:
    rows = scale.of(ROWS)
    whole = events(rows=rows, keys=keys, per_second=_PER_SECOND)
    theirs = seconds(duckdb_over([whole], _OVER.format(seconds=10)))
    found = in_turn(
        {
            "ours": _rate(rows, keys=keys, frame=10),
            "theirs": lambda: rows / theirs() / 1e6,
        },
        scale.repeats,
    )
    baseline = "DuckDB, OVER RANGE"
    return Measured(ours=found["ours"], baseline=baseline, baseline_value=found["theirs"])


def _frames(scale: Scale) -> Measured:
    rows = scale.of(ROWS)
    found = in_turn(
        {str(frame): _rate(rows, keys=10_000, frame=frame) for frame in (10, 1_000)},
        scale.repeats,
    )
    baseline = "ours, frames of 10 s"
    return Measured(ours=1 / found["1000"], baseline=baseline, baseline_value=1 / found["10"])


CASES = (
    Case(
        name="sliding",
        about="the last 10 s for every row, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 2, 3),
        measure=lambda scale: _beside_duckdb(scale, keys=10_000),
    ),
    Case(
        name="sliding_100",
        about="the last 10 s for every row, 100 keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 2, 4),
        measure=lambda scale: _beside_duckdb(scale, keys=100),
    ),
    Case(
        name="sliding_frames",
        about="frames of 1000 s, 10 K keys, against frames of 10 s",
        unit="µs per row",
        target=Target(Bound.AT_MOST_TIMES, 1.5, 1),
        measure=_frames,
    ),
)
