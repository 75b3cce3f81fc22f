"""Rows that cross the seam whole: which are taken in, and an account of all of them.

In: the batches of row SQL, with `$code`, `$ts` and columns. Out: the rows to be taken, in the kernel's types and in the
order of arrival, each with its number; and what `arrivals.py` counts of partials.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrivals import WITHOUT_TIME, Arrived
from tidegate.kernel.arrow import Column, Integers, Mask, array_of, arrow_type, conform, numbers
from tidegate.kernel.finishing import ARRIVAL, TS
from tidegate.kernel.rows import CODE, MOVES, STAMPED, holds
from tidegate.model.expressions import Field
from tidegate.model.policies import AGGREGATED
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar

OWN = (Field(TS, Scalar.BIGINT), Field(ARRIVAL, Scalar.BIGINT))


def no_rows(columns: Sequence[Field]) -> pa.RecordBatch:
    """None, of the kind that `taken` gives."""
    arrays = [pa.array([], arrow_type(column.type)) for column in (*OWN, *columns)]
    names = [column.name for column in (*OWN, *columns)]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def taken(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[Field],
    *,
    first_number: int,
) -> tuple[pa.RecordBatch, Arrived]:
    """The rows, numbered from there on, and the account of all."""
    arrived, parts = Arrived(), [no_rows(columns)]
    for batch in batches:
        if batch.num_rows == 0:
            continue
        codes = numbers(conform(batch.column(CODE), Scalar.BIGINT)).values
        times = _times(batch)
        good = _account(batch, codes, arrived)
        _see(codes, times, batch, arrived)
        if not good:
            continue
        rest = [conform(batch.column(column.name), column.type) for column in columns]
        if good < batch.num_rows:
            there = np.flatnonzero(codes == AGGREGATED)
            times = _picked(times, there)
            rest = [array.take(pa.array(there)) for array in rest]
        arrival = np.arange(first_number, first_number + good)
        first_number += good
        own = [
            array_of(times.values, times.valid, pa.int64()),
            array_of(arrival, None, pa.int64()),
        ]
        parts.append(pa.RecordBatch.from_arrays([*own, *rest], names=parts[0].schema.names))
    return (parts[-1] if len(parts) < 3 else pa.concat_batches(parts)), arrived


def _picked(times: Column, rows: Integers) -> Column:
    return Column(times.values[rows], None if times.valid is None else times.valid[rows])


def _times(batch: pa.RecordBatch) -> Column:
    if TS not in batch.schema.names:
        return Column(np.zeros(batch.num_rows, np.int64), np.zeros(batch.num_rows, bool))
    return numbers(conform(batch.column(TS), Scalar.BIGINT))


def _account(batch: pa.RecordBatch, codes: Integers, arrived: Arrived) -> int:
    """Count the rows under their codes; how many are to be taken."""
    counts = np.bincount(codes)
    arrived.rows_by_code.update(Counter({code: int(n) for code, n in enumerate(counts) if n}))
    if STAMPED in batch.schema.names:
        stamped = holds(batch, STAMPED, otherwise=False)
        arrived.stamped += int((stamped & (codes == AGGREGATED)).sum())
    return int(counts[AGGREGATED])


def _see(codes: Integers, times: Column, batch: pa.RecordBatch, arrived: Arrived) -> None:
    """The latest time that counts."""
    tells: Mask = (times.values >= MIN_EVENT_TIME_US) & (times.values <= MAX_EVENT_TIME_US)
    if times.valid is not None:
        tells &= times.valid
    if codes.any():
        tells &= ~np.isin(codes, WITHOUT_TIME)
    if MOVES in batch.schema.names:
        tells &= holds(batch, MOVES, otherwise=True)
    if tells.any():
        latest = int(times.values[tells].max())
        known = arrived.latest_us
        arrived.latest_us = latest if known is None else max(known, latest)
