"""The rows that cases are about: (ts, key, price, qty), a hundredth of them up to two seconds out of order."""

from functools import lru_cache

import numpy as np
import pyarrow as pa

ROWS = 10_000_000
SOURCE = """
CREATE SOURCE events (
    ts TIMESTAMP, key BIGINT, price DOUBLE, qty BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
);
"""
FIVE = """
SUM(price * qty) AS total, COUNT(*) AS n, AVG(price) AS mean, MIN(price) AS low, MAX(price) AS high
"""
_BEGIN_US = 1_700_000_000_000_000
_LATE_SHARE, _MOST_LATE_US = 0.01, 2_000_000
_SCHEMA = pa.schema(
    {"ts": pa.timestamp("us"), "key": pa.int64(), "price": pa.float64(), "qty": pa.int64()}
)


@lru_cache(maxsize=1)
def events(*, rows: int, keys: int, per_second: float, seed: int = 1) -> pa.RecordBatch:
    """Rows in the order of their arrival; keys are uniform."""
    draw = np.random.default_rng(seed)
    ts = _BEGIN_US + (np.arange(rows) * (1_000_000 / per_second)).astype(np.int64)
    late = np.flatnonzero(draw.random(rows) < _LATE_SHARE)
    ts[late] -= draw.integers(0, _MOST_LATE_US, len(late))
    columns = (
        ts,
        draw.integers(0, keys, rows),
        draw.uniform(1, 100, rows),
        draw.integers(1, 100, rows),
    )
    arrays = [pa.array(values, kind) for values, kind in zip(columns, _SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def cut(batch: pa.RecordBatch, size: int) -> list[pa.RecordBatch]:
    """Batches of so many rows."""
    return [batch.slice(start, size) for start in range(0, batch.num_rows, size)]
