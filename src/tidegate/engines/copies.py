"""Which of some whole rows the kernel has found to be duplicates.

In: rows that row SQL took, and the times and keys of duplicates. Out: the rows apart. Decided here: that rows are
matched by time and key, not by their place, since an engine may give them in another order than those that crossed. Of
rows with equal times and keys the first is the one that stays, if one does, as in the kernel.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import conform
from tidegate.kernel.hashing import Lanes, hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.model.types import Scalar

_TS = "$ts"


def apart(
    batches: Sequence[pa.RecordBatch], duplicates: pa.RecordBatch, columns: Mapping[str, str]
) -> tuple[list[pa.RecordBatch], list[pa.RecordBatch]]:
    """The rows that are none, and those that are; `columns` says what the keys of duplicates are called in rows."""
    index = KeyIndex()
    slots, _ = index.slots(_lanes(duplicates, duplicates, {name: name for name in columns}))
    gone = np.bincount(slots, minlength=len(index))
    found = [index.find(_lanes(batch, duplicates, columns)) for batch in batches]
    there = np.concatenate([*found, np.zeros(0, np.int64)])
    known = np.flatnonzero(there >= 0)
    come = np.bincount(there[known], minlength=len(index))
    order = known[np.argsort(there[known], kind="stable")]
    starts = np.cumsum(come) - come
    rank = np.arange(len(order)) - np.repeat(starts, come)
    is_copy = np.zeros(len(there), bool)
    is_copy[order] = rank >= np.repeat(come - gone, come)
    kept, copies, start = [], [], 0
    for batch in batches:
        own = is_copy[start : start + batch.num_rows]
        start += batch.num_rows
        kept.append(batch.filter(pa.array(~own)))
        copies.append(batch.filter(pa.array(own)))
    return kept, copies


def _lanes(rows: pa.RecordBatch, like: pa.RecordBatch, columns: Mapping[str, str]) -> Lanes:
    times = conform(rows.column(_TS), Scalar.BIGINT)
    keys = [rows.column(name).cast(like.schema.field(key).type) for key, name in columns.items()]
    return hash_rows([times, *keys], rows.num_rows)
