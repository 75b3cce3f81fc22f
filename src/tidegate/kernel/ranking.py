"""The first rows of each window, by ORDER BY.

Decided here: order of values in Top-N. NaN is larger than every number, -0.0 equals 0.0, NULLs come last unless asked
for first; rows that are equal in all sort keys are told apart by the rest of what identifies them, so that the answer
does not depend on how rows arrived.

>>> values = pa.array([2.0, None, float("nan"), -1.0])
>>> ranks(values, descending=True, nulls_first=False).tolist()
[1, 3, 0, 2]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.kernel.arrow import Integers, has_numbers, numbers, validity


@dataclass(frozen=True, slots=True)
class Direction:
    descending: bool = False
    nulls_first: bool = False


def places(
    owners: Integers, keys: Sequence[tuple[pa.Array, Direction]], ties: Sequence[pa.Array]
) -> Integers:
    """Each row's place among those of its owner, from 1."""
    orders = [
        ranks(array, descending=way.descending, nulls_first=way.nulls_first) for array, way in keys
    ]
    orders += [ranks(array, descending=False, nulls_first=False) for array in ties if _sorts(array)]
    order = np.lexsort([*reversed(orders), owners])
    owner = owners[order]
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]][: len(owner)])
    lengths = np.diff(np.r_[starts, len(owner)])
    numbered = np.empty(len(owners), np.int64)
    numbered[order] = np.arange(1, len(owner) + 1) - np.repeat(starts, lengths)
    return numbered


def parted(owners: Integers, by: Sequence[pa.Array]) -> Integers:
    """A number for each owner and values of it: owners cut into parts."""
    for array in by:
        values = ranks(array, descending=False, nulls_first=False)
        _, owners = np.unique(owners * (len(values) + 1) + values, return_inverse=True)
    return owners.astype(np.int64)


def ranks(array: pa.Array, *, descending: bool, nulls_first: bool) -> Integers:
    """Dense ranks; equal values have equal ones."""
    if has_numbers(array):
        _, rank = np.unique(numbers(array).values, return_inverse=True)
        rank = rank.astype(np.int64)
    else:
        dense = pc.rank(array, sort_keys="ascending", tiebreaker="dense")
        rank = dense.to_numpy(zero_copy_only=False).astype(np.int64)
    if descending:
        rank = -rank
    valid = validity(array)
    if valid is not None:
        rank[~valid] = -(1 << 62) if nulls_first else 1 << 62
    _, dense_rank = np.unique(rank, return_inverse=True)
    return dense_rank.astype(np.int64)


def _sorts(array: pa.Array) -> bool:
    return not pa.types.is_nested(array.type) and array.type != pa.null()
