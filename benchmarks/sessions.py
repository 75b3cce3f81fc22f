"""Sessions, end to end, log in memory; compared with DuckDB's gaps and islands over all rows at once.

At 6 K rows per second a key of ten thousand is quiet for more than five seconds after every twentieth row or so.
"""

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn, seconds
from benchmarks.events import FIVE, ROWS, cut, events
from benchmarks.one_query import duckdb_sessions
from benchmarks.running import engine, feed

_GAP_US = 5_000_000
_SQL = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, SESSION(ts, INTERVAL '5' SECOND)"


def _measure(scale: Scale) -> Measured:
    rows = scale.of(ROWS)
    whole = events(rows=rows, keys=10_000, per_second=6_000)
    batches = cut(whole, 1_000_000)
    found = in_turn(
        {
            "ours": lambda: feed(engine(_SQL), batches),
            "theirs": seconds(duckdb_sessions(batches, gap_us=_GAP_US)),
        },
        scale.repeats,
    )
    rates = {name: rows / taken / 1e6 for name, taken in found.items()}
    baseline = "DuckDB, gaps and islands"
    return Measured(ours=rates["ours"], baseline=baseline, baseline_value=rates["theirs"])


CASES = (
    Case(
        name="sessions",
        about="session gap 5 s, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 1, 3),
        measure=_measure,
    ),
)
