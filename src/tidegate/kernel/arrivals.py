"""What a batch brings across the seam: partials to be merged, and an account of all its rows.

In: the batches that row SQL made of one input, any number of them. Out: `Arrived`. Decided here: how `$pane` is read
(negative: minus the code of what became of the rows), which rows move the watermark, and how rows that an input takes
back are told to a store: their counts, sums and moments have the other sign, and everything else is as if they came.

>>> batch = pa.record_batch({"$pane": [3, -1, -2], "$rows": [5, 2, 1], "$max_ts": [30, 70, 10]})
>>> arrived = read([batch])
>>> arrived.partials[0].num_rows, dict(arrived.rows_by_code), arrived.latest_us
(1, {0: 5, 1: 2, 2: 1}, 70)
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.kernel.arrow import Integers, conform, numbers
from tidegate.kernel.groups import MAX_TS, ROWS
from tidegate.kernel.panes import PANE
from tidegate.model.partials import Merge, PartialSpec
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar

ROWS_ONCE, STAMPED_ROWS = "$rows_once", "$stamped_rows"
WITHOUT_TIME = tuple(
    DISPOSITION[reason]
    for reason in (
        Reason.MISSING_EVENT_TIME,
        Reason.FUTURE_EVENT_TIME,
        Reason.PRE_EPOCH_EVENT_TIME,
    )
)
_SIGNED = (Merge.ADD,)


@dataclass(slots=True)
class Arrived:
    """`rows_by_code` counts every row under what became of it so far; `latest_us` None: no row tells the time."""

    partials: list[pa.RecordBatch] = field(default_factory=list)
    rows_by_code: Counter[int] = field(default_factory=Counter)
    stamped: int = 0
    latest_us: int | None = None

    @property
    def rows(self) -> int:
        return self.rows_by_code.total()

    def add(self, other: "Arrived", partials: Sequence[pa.RecordBatch]) -> None:
        """Count what another one counted, and merge these partials."""
        self.partials += partials
        self.rows_by_code.update(other.rows_by_code)
        self.stamped += other.stamped
        times = [time for time in (self.latest_us, other.latest_us) if time is not None]
        self.latest_us = max(times, default=None)


def read(batches: Iterable[pa.RecordBatch]) -> Arrived:
    """The account of some batches of one input."""
    arrived = Arrived()
    for batch in batches:
        if batch.num_rows:
            _read(batch, arrived)
    return arrived


def _read(batch: pa.RecordBatch, arrived: Arrived) -> None:
    panes = _integers(batch, PANE)
    names = batch.schema.names
    rows = _integers(batch, ROWS_ONCE if ROWS_ONCE in names else ROWS)
    good = panes >= 0
    every = bool(good.all())
    if every:
        arrived.rows_by_code[AGGREGATED] += int(rows.sum())
        arrived.partials.append(batch)
    else:
        codes = np.maximum(-panes, AGGREGATED)
        counts = np.bincount(codes, rows).astype(np.int64)
        arrived.rows_by_code.update({code: int(n) for code, n in enumerate(counts) if n})
        if good.any():
            arrived.partials.append(batch.filter(pa.array(good)))
    if MAX_TS in names:
        _see(batch, panes, arrived)
    if STAMPED_ROWS in names:
        arrived.stamped += int(_integers(batch, STAMPED_ROWS)[good].sum())


def _see(batch: pa.RecordBatch, panes: Integers, arrived: Arrived) -> None:
    """The latest time that counts; one outside of all years says nothing."""
    times = numbers(conform(batch.column(MAX_TS), Scalar.BIGINT))
    counts = ~np.isin(-panes, WITHOUT_TIME) if panes.min() < 0 else np.ones(len(panes), bool)
    if times.valid is not None:
        counts &= times.valid
    counts &= (times.values >= MIN_EVENT_TIME_US) & (times.values <= MAX_EVENT_TIME_US)
    if counts.any():
        latest = int(times.values[counts].max())
        arrived.latest_us = latest if arrived.latest_us is None else max(arrived.latest_us, latest)


def _integers(batch: pa.RecordBatch, name: str) -> Integers:
    values: Integers = numbers(conform(batch.column(name), Scalar.BIGINT)).values
    return values


def taken_back(batch: pa.RecordBatch, specs: Sequence[PartialSpec]) -> pa.RecordBatch:
    """The partials of rows that are taken back, so that merging them removes what the rows had added.

    Means stay, since the counts that they go by are negative; what cannot be taken back never gets here (TG-3018).
    """
    signed = [ROWS]
    for place, spec in enumerate(specs):
        is_product = spec.merge is Merge.MOMENTS and spec.op.value != "mean"
        if spec.merge in _SIGNED or is_product:
            signed.append(f"$p{place}")
    for name in signed:
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, name, pc.negate(batch.column(name)))
    return batch
