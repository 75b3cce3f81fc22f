"""What engines for whole tables do with the same rows: one query over all of them at once, on the same cores."""

import os
from collections.abc import Callable, Sequence

import datafusion
import duckdb
import pyarrow as pa

from benchmarks.case import in_turn

_CORES = len(os.sched_getaffinity(0))
_FIVE = "sum(price * qty), count(*), avg(price), min(price), max(price)"
_PANE = "CAST(ts AS BIGINT) / {width_us}"
_DUCKDB_PANE = "epoch_us(ts) // {width_us}"
_SESSIONS = """
WITH marked AS (
    SELECT *, CASE WHEN epoch_us(ts) - lag(epoch_us(ts)) OVER (PARTITION BY key ORDER BY ts) < {gap_us}
        THEN 0 ELSE 1 END AS begins FROM events
), numbered AS (
    SELECT *, sum(begins) OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS number FROM marked
)
SELECT key, min(ts), max(ts), {five} FROM numbered GROUP BY key, number
"""
Rows = Sequence[pa.RecordBatch]


def datafusion_group_by(batches: Rows, *, width_us: int) -> Callable[[], int]:
    """GROUP BY key and window, planned and run; gives the number of groups."""
    context = _datafusion()
    parts = [part for start in range(_CORES) if (part := [*batches[start::_CORES]])]
    context.register_record_batches("events", parts)
    pane = _PANE.format(width_us=width_us)
    return lambda: _rows(context, f"SELECT key, {pane}, {_FIVE} FROM events GROUP BY 1, 2")


def _datafusion() -> datafusion.SessionContext:
    settings = {
        "datafusion.execution.target_partitions": str(_CORES),
        "datafusion.execution.batch_size": "32768",  # a tenth faster than its default
    }
    return datafusion.SessionContext(datafusion.SessionConfig(settings))


def _rows(context: datafusion.SessionContext, sql: str) -> int:
    return sum(batch.num_rows for batch in context.sql(sql).collect())


def duckdb_group_by(batches: Rows, *, width_us: int) -> Callable[[], int]:
    pane = _DUCKDB_PANE.format(width_us=width_us)
    return _duckdb(batches, f"SELECT key, {pane}, {_FIVE} FROM events GROUP BY 1, 2")


def duckdb_sessions(batches: Rows, *, gap_us: int) -> Callable[[], int]:
    """Gaps and islands."""
    return _duckdb(batches, _SESSIONS.format(gap_us=gap_us, five=_FIVE))


def duckdb_over(batches: Rows, sql: str) -> Callable[[], int]:
    """Aggregates over frames."""
    return _duckdb(batches, sql)


def _duckdb(batches: Rows, sql: str) -> Callable[[], int]:
    connection = duckdb.connect(config={"threads": _CORES})
    connection.register("events", pa.Table.from_batches(batches))

    def run() -> int:
        rows: int = connection.sql(sql).to_arrow_table().num_rows
        return rows

    return run


def fastest(
    ours: Callable[[], float], theirs: dict[str, Callable[[], float]], repeats: int
) -> tuple[float, str, float]:
    """The medians of ours and of whichever of the others takes the least."""
    found = in_turn({"": ours, **theirs}, repeats)
    best = min(theirs, key=lambda name: found[name])
    return found[""], best, found[best]
