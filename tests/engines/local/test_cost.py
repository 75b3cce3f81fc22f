"""What a batch costs grows with the groups that it touches, and not with all that there are.

CPU time is compared, of the same small batches on few and on many groups; the factor that is allowed is far above what
is measured (about 1.5), and far below what looking at all groups costs (50 and more).
"""

import time

import numpy as np
import pyarrow as pa
import pytest

from tests.engines.local.ways import on_lanes
from tests.planning import planned
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Surroundings
from tidegate.state.forgetful import ForgetfulLog
from tidegate.state.records import Identity

pytestmark = pytest.mark.thorough

SECOND = 1_000_000
FEW, MANY, TOUCHED = 1_000, 100_000, 50
WINDOWS = {
    "none": "",
    "tumbling": ", TUMBLE(ts, INTERVAL '1000' SECOND)",
    "hopping": ", HOP(ts, INTERVAL '500' SECOND, INTERVAL '1000' SECOND)",
    "session": ", SESSION(ts, INTERVAL '1000' SECOND)",
}
SQL = (
    "CREATE SOURCE ev (k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND);"
    "CREATE STREAM out AS SELECT k, SUM(v) AS s, COUNT(*) AS n FROM ev GROUP BY k{window} EMIT {mode}{limit};"
)


def rows(keys: np.ndarray, second: int) -> pa.RecordBatch:
    stamps = np.full(len(keys), second * SECOND) + keys % SECOND
    values = pa.array(np.ones(len(keys), np.int64))
    return pa.record_batch(
        {"k": pa.array(keys), "v": values, "ts": pa.array(stamps, pa.timestamp("us", "UTC"))}
    )


def cost_s(sql: str, groups: int) -> float:
    """The median CPU time of a small batch, behind one that opens all groups."""
    around = Surroundings(clock=ManualClock(), log=ForgetfulLog(Identity(plans={})))
    engine = on_lanes(1)(planned(sql, prelude=""), around)
    try:
        engine.insert("ev", [rows(np.arange(groups), 100)])
        spent = []
        for number in range(9):
            batch = rows(np.arange(TOUCHED) * 7 + number, 101 + number)
            began = time.process_time()
            engine.insert("ev", [batch])
            spent.append(time.process_time() - began)
        return float(np.median(spent))
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("window", "mode", "limit"),
    [
        ("none", "ON UPDATE", ""),
        ("none", "EVERY INTERVAL '1' HOUR", ""),
        ("tumbling", "ON WINDOW CLOSE", " WITH (max_groups = 1000000)"),
        ("tumbling", "AFTER WATERMARK", ""),
        ("tumbling", "EVERY INTERVAL '1' HOUR", ""),
        ("hopping", "ON UPDATE", " WITH (max_open_windows = 100)"),
        ("hopping", "CHANGES", ""),
        ("session", "ON WINDOW CLOSE", ""),
        ("session", "CHANGES", ""),
        ("session", "EVERY INTERVAL '1' HOUR", ""),
    ],
)
def test_small_batches_cost_little(window: str, mode: str, limit: str) -> None:
    sql = SQL.format(window=WINDOWS[window], mode=mode, limit=limit)
    few, many = cost_s(sql, FEW), cost_s(sql, MANY)
    assert many < 5 * few + 0.004, (few, many)
