"""From a watermark to the rows of the windows that it closes: a whole epoch, log in memory.

The first case is compared with an epoch whose watermark closes nothing, the second with what there would be to do if
a window kept its rows: one GROUP BY over them, on DataFusion.
"""

from functools import partial
from statistics import median
from time import perf_counter

import pyarrow as pa

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn, seconds
from benchmarks.events import FIVE, cut, events
from benchmarks.one_query import datafusion_group_by
from benchmarks.running import engine
from tidegate.engines.stage import Made

_ROWS, _KEYS = 100_000, 10_000
_SIZE_US = 10_000_000
_WINDOWS = 20
_SQL = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '10' SECOND)"


def _close(batches: list[pa.RecordBatch], *, groups: int) -> tuple[float, float]:
    """Milliseconds that an epoch takes which closes a window, and one that closes none."""
    emitted: list[int] = []

    def watch(_stage: str, made: Made) -> None:
        emitted.append(made.emitted.rows.num_rows)

    running = engine(_SQL, watch=watch)
    closing: list[float] = []
    idle: list[float] = []
    for number in range(_WINDOWS):
        for batch in batches:
            running.insert("events", [_later(batch, number * _SIZE_US)])
        end_us = _end_us(batches) + number * _SIZE_US
        for times, at_us in ((idle, end_us - 1), (closing, end_us)):
            begun = perf_counter()
            running.watermark("events", at_us)
            times.append(perf_counter() - begun)
        assert emitted[-2:] == [0, groups], (emitted[-2:], groups)
    return median(closing) * 1_000, median(idle) * 1_000


def _later(batch: pa.RecordBatch, by_us: int) -> pa.RecordBatch:
    times = batch.column("ts").cast(pa.int64()).to_numpy() + by_us
    return batch.set_column(0, "ts", pa.array(times).cast(pa.timestamp("us")))


def _end_us(batches: list[pa.RecordBatch]) -> int:
    first: int = batches[0].column("ts").cast(pa.int64())[0].as_py()
    return first - first % _SIZE_US + _SIZE_US


def _one_window(rows: int, keys: int) -> list[pa.RecordBatch]:
    """Batches of a tenth of the rows, all in one window."""
    whole = events(rows=rows, keys=keys, per_second=rows / 4)
    times = pa.array(whole.column("ts").cast(pa.int64()).to_numpy() + 3_000_000)
    return cut(whole.set_column(0, "ts", times.cast(pa.timestamp("us"))), max(1, rows // 10))


def _groups(batches: list[pa.RecordBatch]) -> int:
    return len(pa.Table.from_batches(batches).column("key").unique())


def _closing(scale: Scale) -> Measured:
    batches = _one_window(_ROWS, _KEYS)
    close = partial(_close, batches, groups=_groups(batches))
    rounds = [close() for _ in range(scale.repeats)]
    ours, idle = (median(values) for values in zip(*rounds, strict=True))
    return Measured(ours=ours, baseline="an epoch that closes nothing", baseline_value=idle)


def _incremental(scale: Scale) -> Measured:
    batches = _one_window(_ROWS, _KEYS)
    again = seconds(datafusion_group_by(batches, width_us=_SIZE_US))
    groups = _groups(batches)
    found = in_turn(
        {
            "ours": lambda: _close(batches, groups=groups)[0] / 1_000,
            "theirs": lambda: median(again() for _ in range(_WINDOWS)),
        },
        scale.repeats,
    )
    rates = {name: 1 / taken for name, taken in found.items()}
    return Measured(
        ours=rates["ours"],
        baseline="DataFusion, GROUP BY over the window's rows",
        baseline_value=rates["theirs"],
    )


CASES = (
    Case(
        name="closing",
        about="closing a window of 10 K groups, from the watermark to Arrow rows",
        unit="ms",
        target=Target(Bound.AT_MOST, 1, 0.2),
        measure=_closing,
    ),
    Case(
        name="incremental",
        about="closing after 100 K events, against aggregating the window's rows again",
        unit="windows/s",
        target=Target(Bound.AT_LEAST_TIMES, 10, 30),
        measure=_incremental,
    ),
)
