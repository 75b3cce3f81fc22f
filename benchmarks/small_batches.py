"""A batch of a thousand rows end to end, with a durable checkpoint on disk: the 99th percentile of its time.

Every epoch is durable when it ends: what it will read, what crossed the seam, and the manifest are synced to the disk
one after the other. Compared with DataFusion's GROUP BY over such a batch, which keeps nothing.
"""

import tempfile
from time import perf_counter

import numpy as np

from benchmarks.case import Bound, Case, Measured, Scale, Target
from benchmarks.events import FIVE, cut, events
from benchmarks.one_query import datafusion_group_by
from benchmarks.running import NOBODY, engine
from tidegate.state import open_log

_BATCHES, _WARM = 3_000, 100
_SQL = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '10' SECOND)"


def _measure(scale: Scale) -> Measured:
    count = scale.of(_BATCHES) + _WARM
    batches = cut(events(rows=count * 1_000, keys=10_000, per_second=100_000), 1_000)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="tidegate-") as place:
        running = engine(_SQL, log=open_log(place, identity=NOBODY))
        for batch in batches:
            begun = perf_counter()
            running.insert("events", [batch])
            ours.append(perf_counter() - begun)
            again = datafusion_group_by([batch], width_us=10_000_000)
            begun = perf_counter()
            again()
            theirs.append(perf_counter() - begun)
        running.close()
    return Measured(
        ours=_p99_ms(ours),
        baseline="DataFusion, GROUP BY over the batch, nothing kept",
        baseline_value=_p99_ms(theirs),
    )


def _p99_ms(times: list[float]) -> float:
    return float(np.percentile(times[_WARM:], 99)) * 1_000


CASES = (
    Case(
        name="small_batches",
        about="batches of 1 000 rows, end to end, durable: p99",
        unit="ms",
        target=Target(Bound.AT_MOST, 6, 3),
        measure=_measure,
    ),
)
