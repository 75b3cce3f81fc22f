"""Order of values, the same for all representations: NaN is equal to itself and larger than every number.

Decided here: which of two rows wins where a merge chooses one. What is compared with NULL is undefined; callers know
what is there.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.kernel.arrow import Column, Mask, bits, validity
from tidegate.kernel.columns import Comparable


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


def _mask(array: pa.Array) -> Mask:
    """A boolean array; what is NULL in it does not hold."""
    if len(array) == 0:
        return np.zeros(0, bool)
    found = bits(array.buffers()[1], array.offset, len(array))
    valid = validity(array)
    return found if valid is None else found & valid
