"""Rows per second through tumbling and hopping windows, end to end, log in memory.

Compared with one GROUP BY over all rows at once, by whichever of DataFusion and DuckDB is faster: it has no batches,
no state, no watermark, and so it is what nobody who answers while rows arrive can reach. A hop is compared with the
same query over tumbling windows. A batch of a million rows is ten seconds of events.
"""

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn, seconds
from benchmarks.events import FIVE, ROWS, cut, events
from benchmarks.one_query import datafusion_group_by, duckdb_group_by, fastest
from benchmarks.running import engine, feed

_PER_SECOND = 100_000
_SIZE_US = 10_000_000
_TUMBLE = (
    f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '10' SECOND)"
)
_HOP = (
    f"SELECT key, window_end, {FIVE} FROM events "
    "GROUP BY key, HOP(ts, INTERVAL '10' SECOND, INTERVAL '60' SECOND)"
)


def _tumble(scale: Scale, *, keys: int, batch: int) -> Measured:
    rows = scale.of(ROWS)
    whole = events(rows=rows, keys=keys, per_second=_PER_SECOND)
    batches, large = cut(whole, batch), cut(whole, 1_000_000)
    ours, name, theirs = fastest(
        lambda: feed(engine(_TUMBLE), batches),
        {
            "DataFusion, one GROUP BY": seconds(datafusion_group_by(large, width_us=_SIZE_US)),
            "DuckDB, one GROUP BY": seconds(duckdb_group_by(large, width_us=_SIZE_US)),
        },
        scale.repeats,
    )
    return Measured(ours=rows / ours / 1e6, baseline=name, baseline_value=rows / theirs / 1e6)


def _hop(scale: Scale) -> Measured:
    rows = scale.of(ROWS)
    batches = cut(events(rows=rows, keys=10_000, per_second=_PER_SECOND), 1_000_000)
    found = in_turn(
        {
            "hop": lambda: feed(engine(_HOP), batches),
            "tumble": lambda: feed(engine(_TUMBLE), batches),
        },
        scale.repeats,
    )
    rates = {name: rows / taken / 1e6 for name, taken in found.items()}
    return Measured(ours=rates["hop"], baseline="our tumble", baseline_value=rates["tumble"])


CASES = (
    Case(
        name="tumble",
        about="tumble 10 s, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 0.5, 0.8),
        measure=lambda scale: _tumble(scale, keys=10_000, batch=1_000_000),
    ),
    Case(
        name="tumble_100k",
        about="tumble 10 s, 10 K keys, batches of 100 K rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 0.22, 0.45),
        measure=lambda scale: _tumble(scale, keys=10_000, batch=100_000),
    ),
    Case(
        name="hop",
        about="hop 60 s by 10 s, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 0.6, 0.9),
        measure=_hop,
    ),
    Case(
        name="million_keys",
        about="tumble 10 s, 1 M keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 0.35, 0.7),
        measure=lambda scale: _tumble(scale, keys=1_000_000, batch=1_000_000),
    ),
)
