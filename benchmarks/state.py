"""Bytes of state per (pane, group): a million groups, five aggregates, one BIGINT key.

Counted is what Python and numpy (tracemalloc) and Arrow's pool hold more after the rows than before, divided by the
groups; room that the tables have taken and not used yet is counted, the log is not. Compared with the same partials
as an Arrow table, which nothing could be found in.
"""

import gc
import tracemalloc

import pyarrow as pa

from benchmarks.case import Bound, Case, Measured, Scale, Target
from benchmarks.events import FIVE, cut, events
from benchmarks.running import NOBODY, engine
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.stage import WindowStage
from tidegate.state.forgetful import ForgetfulLog

_KEYS = 1_000_000
_SQL = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '1' HOUR)"


def _measure(scale: Scale) -> Measured:
    keys = scale.of(_KEYS)
    batches = cut(events(rows=5 * keys, keys=keys, per_second=100_000), 1_000_000)
    engine(_SQL, log=ForgetfulLog(NOBODY)).insert("events", batches[:1])  # what is loaded lazily
    before = _held_before()
    running = engine(_SQL, log=ForgetfulLog(NOBODY))
    for batch in batches:
        running.insert("events", [batch])
    held = _held() - before
    tracemalloc.stop()
    partials = _partials(running)
    return Measured(
        ours=held / partials.num_rows,
        baseline="the same partials as an Arrow table",
        baseline_value=partials.nbytes / partials.num_rows,
    )


def _held_before() -> int:
    gc.collect()
    tracemalloc.start()
    return _held()


def _held() -> int:
    gc.collect()
    in_arrow: int = pa.total_allocated_bytes()
    return tracemalloc.get_traced_memory()[0] + in_arrow


def _partials(running: LocalEngine) -> pa.RecordBatch:
    (stage,) = running.dataflow.stages
    assert isinstance(stage, WindowStage)
    return stage.snapshot().parts["groups"]


CASES = (
    Case(
        name="state",
        about="bytes of state per (pane, group), 1 M groups",
        unit="bytes",
        target=Target(Bound.AT_MOST, 150, 80),
        measure=_measure,
    ),
)
