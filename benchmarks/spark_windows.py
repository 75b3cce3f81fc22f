"""Windows on Spark: ours beside Structured Streaming's own, in one run, over the same files; `on_spark.py` says how."""

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn
from benchmarks.events import FIVE, ROWS
from benchmarks.on_spark import FILE_ROWS, NATIVE, Shape, batch_query, files, five, native, ours

_KEYS, _PER_SECOND = 10_000, 100_000
_SESSIONS_PER_SECOND = (
    6_000  # a key is quiet for more than five seconds after every twentieth row or so
)
_BATCH = 1_000_000
_MOST_REPEATS = 3  # a run takes seconds, and Structured Streaming's hops a minute
_SELECT = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, "
_TUMBLE = f"{_SELECT} TUMBLE(ts, INTERVAL '10' SECOND)"
_HOP = f"{_SELECT} HOP(ts, INTERVAL '10' SECOND, INTERVAL '60' SECOND)"
_SESSION = f"{_SELECT} SESSION(ts, INTERVAL '5' SECOND)"


def _tumbling() -> list[object]:
    from pyspark.sql import functions as f

    return [f.window("ts", "10 seconds")]


def _hopping() -> list[object]:
    from pyspark.sql import functions as f

    return [f.window("ts", "60 seconds", "10 seconds")]


def _sessions() -> list[object]:
    from pyspark.sql import functions as f

    return [f.session_window("ts", "5 seconds")]


def _compare(
    scale: Scale,
    sql: str,
    shape: Shape,
    *,
    batch: int = _BATCH,
    per_second: float = _PER_SECOND,
    keys: int = _KEYS,
    state: str = "driver",
) -> Measured:
    rows = scale.of(ROWS)
    place = files(rows=rows, keys=keys, per_second=per_second)
    found = in_turn(
        {
            "ours": lambda: ours(sql, place, batch_rows=batch, state=state),
            "theirs": lambda: native(shape, place, files_per_batch=-(-batch // FILE_ROWS)),
        },
        min(scale.repeats, _MOST_REPEATS),
    )
    rates = {name: rows / taken / 1e6 for name, taken in found.items()}
    return Measured(ours=rates["ours"], baseline=NATIVE, baseline_value=rates["theirs"])


_OVER = """
SELECT key, ts, SUM(qty) OVER w AS total, COUNT(*) OVER w AS n, MAX(price) OVER w AS high
FROM events WINDOW w AS (
    PARTITION BY key ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW
)
"""


def _sliding(scale: Scale) -> Measured:
    """Ours in micro-batches, beside Spark's OVER over all rows at once: it has none for streams."""
    rows = scale.of(ROWS)
    place = files(rows=rows, keys=_KEYS, per_second=_PER_SECOND)
    found = in_turn(
        {
            "ours": lambda: ours(_OVER, place, batch_rows=_BATCH),
            "theirs": lambda: batch_query(_OVER, place),
        },
        min(scale.repeats, _MOST_REPEATS),
    )
    rates = {name: rows / taken / 1e6 for name, taken in found.items()}
    baseline = "Spark, OVER RANGE in one batch"
    return Measured(ours=rates["ours"], baseline=baseline, baseline_value=rates["theirs"])


CASES = (
    Case(
        name="spark_tumble",
        about="on Spark: tumble 10 s, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 2.5, 4),
        measure=lambda scale: _compare(scale, _TUMBLE, five(_tumbling)),
    ),
    Case(
        name="spark_whole",
        about="on Spark: tumble 10 s, 10 K keys, the whole input in one batch",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 4, 8),
        measure=lambda scale: _compare(scale, _TUMBLE, five(_tumbling), batch=ROWS),
    ),
    Case(
        name="spark_hop",
        about="on Spark: hop 60 s by 10 s, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 6, 15),
        measure=lambda scale: _compare(scale, _HOP, five(_hopping)),
    ),
    Case(
        name="spark_session",
        about="on Spark: session gap 5 s, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 2, 5),
        measure=lambda scale: _compare(
            scale, _SESSION, five(_sessions), per_second=_SESSIONS_PER_SECOND
        ),
    ),
    Case(
        name="spark_million_keys",
        about="on Spark: tumble 10 s, 1 M keys, batches of 1 M rows, state on executors",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 2, 4),
        measure=lambda scale: _compare(
            scale, _TUMBLE, five(_tumbling), keys=1_000_000, state="executors"
        ),
    ),
    Case(
        name="spark_sliding",
        about="on Spark: the last 10 s for every row, 10 K keys, batches of 1 M rows",
        unit="M rows/s",
        target=Target(Bound.AT_LEAST_TIMES, 1, 2),
        measure=_sliding,
    ),
)
