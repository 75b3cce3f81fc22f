"""Order of values, the same for all representations: NaN is equal to itself and larger than every number.

Decided here: which of two rows wins where a merge chooses one. What is compared with NULL is undefined; callers know
what is there.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.kernel.arrow import Column, Integers, Mask, bits, validity
from tidegate.kernel.columns import Comparable

_FITS = 2**62
_SPARSE = 64


def less(one: Comparable, other: Comparable) -> Mask:
    """Where the value is smaller than the other one."""
    if isinstance(one, Column) and isinstance(other, Column):
        smaller: Mask = one.values < other.values
        if one.values.dtype.kind == "f":
            smaller |= np.isnan(other.values) & ~np.isnan(one.values)
        return smaller
    return _mask(pc.less(one, other))


def equal(one: Comparable, other: Comparable) -> Mask:
    if isinstance(one, Column) and isinstance(other, Column):
        same: Mask = one.values == other.values
        if one.values.dtype.kind == "f":
            same |= np.isnan(other.values) & np.isnan(one.values)
        return same
    return _mask(pc.equal(one, other))


def present(values: Comparable) -> Mask:
    valid = values.valid if isinstance(values, Column) else validity(values)
    size = len(values.values) if isinstance(values, Column) else len(values)
    return np.ones(size, bool) if valid is None else valid


def rows_of(values: Comparable, rows: Any) -> Comparable:
    """Those rows alone."""
    if isinstance(values, Column):
        return Column(values.values[rows], None if values.valid is None else values.valid[rows])
    return values.take(pa.array(rows))


def lexical(major: Integers, minor: Integers) -> Integers:
    """The order by one number and then another; rows that are equal in both are in any order.

    Where both fit into one word, they are sorted as one, which takes a fifth of the time of `np.lexsort`.

    >>> lexical(np.array([1, 0, 1, 0]), np.array([5, 7, 4, 6])).tolist()
    [3, 1, 2, 0]
    """
    if len(major) == 0:
        return np.zeros(0, np.int64)
    low, span = int(minor.min()), int(minor.max()) - int(minor.min()) + 1
    first, groups = int(major.min()), int(major.max()) - int(major.min()) + 1
    if groups * span > _FITS:
        return np.lexsort((minor, major))
    return np.argsort((major - first) * span + (minor - low))


def ranks_within(owners: Integers) -> Integers:
    """The place of each row among those of its owner; owners stand together.

    >>> ranks_within(np.array([1, 1, 4, 4, 4])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    lengths = np.diff(np.r_[starts, len(owners)])
    ranks: Integers = np.arange(len(owners)) - np.repeat(starts, lengths)
    return ranks


def distinct(numbers: Integers, below: int) -> Integers:
    """Each number once, ascending. All are at least 0 and `below` that.

    >>> distinct(np.array([5, 2, 5]), 6).tolist()
    [2, 5]
    """
    if below > _SPARSE * len(numbers):
        return np.unique(numbers)
    seen = np.zeros(below, bool)
    seen[numbers] = True
    return np.flatnonzero(seen)


def _mask(array: pa.Array) -> Mask:
    """A boolean array; what is NULL in it does not hold."""
    if len(array) == 0:
        return np.zeros(0, bool)
    found = bits(array.buffers()[1], array.offset, len(array))
    valid = validity(array)
    return found if valid is None else found & valid
