"""What approximate aggregates keep: a bounded part of the values that stands for all of them.

Decided here: sketches that forget how they came about. What is kept depends on the values alone and not on batches,
shards or the order of merges, so all engines and every replay give the same estimate. Both are exact for few values.

APPROX_COUNT_DISTINCT keeps the values with the smallest hashes (bottom-k: Cohen and Kaplan 2007; Bar-Yossef et al.
2002). Hashes are uniform, so if the k-th smallest of them is the fraction f of their range, there are about (k - 1) / f
different values; the standard error is 1/√(k - 2), here 2.2 %.

APPROX_PERCENTILE keeps values with their counts. Beyond so many different ones, all are rounded to points whose ratio
is fixed (DDSketch: Masson, Rim and Lee 2019), here within 0.5 % of the value. Counts of rounded values are negative,
which is how a merge knows that the others have to be rounded, too.

>>> owners, entries = np.array([0, 0, 0]), weighted([2.0, 1.0, 2.0], [1, 1, 3])
>>> owners, entries = weights(owners, entries)
>>> entries.to_pylist()
[{'v0': 1.0, 'v1': 1}, {'v0': 2.0, 'v1': 4}]
>>> _, entries = weights(np.zeros(3, int), weighted([100.0, 100.1, 7.0], [1, 1, -1]))
>>> [(round(one["v0"], 2), one["v1"]) for one in entries.to_pylist()]
[(6.99, -1), (99.99, -2)]
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Column, Integers, Numbers, array_of, numbers
from tidegate.kernel.hashing import stable_hashes
from tidegate.kernel.lists import distinct, flattened, list_bounds
from tidegate.kernel.ordering import equal, ranks_within
from tidegate.kernel.sums import Finished
from tidegate.model.partials import FinishSpec

_SMALLEST = 2048
_EXACTLY = 2048
_ERROR = 0.005
_RATIO = (1 + _ERROR) / (1 - _ERROR)
_LOG = np.log(_RATIO)
_MIDDLE = 2 / (1 + _RATIO)  # of two points, relative to the upper one
_HASHES = 2.0**64
_LIMITS = np.finfo(np.float64)


# Different values


def smallest(owners: Integers, values: pa.Array) -> tuple[Integers, pa.Array]:
    """Of each owner the different values, or those with the smallest hashes; owners ascend."""
    places = distinct(owners, values)
    if np.bincount(owners[places]).max(initial=0) > _SMALLEST:
        order = places[np.lexsort((stable_hashes(values.take(pa.array(places))), owners[places]))]
        places = np.sort(order[ranks_within(owners[order]) < _SMALLEST])
    return owners[places], values.take(pa.array(places))


def count_distinct(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    """How many there are, or about how many."""
    (sets,) = arrays
    counts = list_bounds(sets)[1]
    full = np.flatnonzero(counts >= _SMALLEST)
    if len(full):
        owners, values = flattened(sets.take(pa.array(full)))
        largest = np.zeros(len(full), np.uint64)
        np.maximum.at(largest, owners, stable_hashes(values))
        estimate = (_SMALLEST - 1) * (_HASHES / (largest.astype(np.float64) + 1))
        counts = counts.copy()
        counts[full] = np.maximum(np.rint(estimate), _SMALLEST).astype(np.int64)
    return Finished(array_of(counts, None, pa.int64()))


# Values with counts


def weighted(values: Sequence[float] | Numbers, counts: Sequence[int] | Integers) -> pa.Array:
    columns = [pa.array(values, pa.float64()), pa.array(counts, pa.int64())]
    return pa.StructArray.from_arrays(columns, ["v0", "v1"])


def weights(owners: Integers, entries: pa.Array) -> tuple[Integers, pa.Array]:
    """Of each owner every value once, or every point that stands for some; by owner and value."""
    values, counts = (numbers(part).values for part in entries.flatten())
    owners, values, counts = _added(owners, values + 0.0, counts)
    most = int(owners.max(initial=-1)) + 1
    many = np.bincount(owners, minlength=most) > _EXACTLY
    many |= np.bincount(owners[counts < 0], minlength=most) > 0
    rounded = many[owners]
    if rounded.any():
        values = np.where(rounded, _points(values), values)
        counts = np.where(rounded, -np.abs(counts), counts)
        owners, values, counts = _added(owners, values, counts)
    return owners, weighted(values, counts)


def _added(
    owners: Integers, values: Numbers, counts: Integers
) -> tuple[Integers, Numbers, Integers]:
    """Equal values in one, with the sum of their counts; rounded and exact ones apart."""
    if len(owners) == 0:
        return owners, values, counts
    order = np.lexsort((counts < 0, values, owners))
    owners, values, counts = owners[order], values[order], counts[order]
    new = np.ones(len(order), bool)
    new[1:] = (owners[1:] != owners[:-1]) | ~equal(Column(values[1:]), Column(values[:-1]))
    new[1:] |= (counts[1:] < 0) != (counts[:-1] < 0)
    starts = np.flatnonzero(new)
    return owners[starts], values[starts], np.add.reduceat(counts, starts)


def _points(values: Numbers) -> Numbers:
    """The point between whose neighbours a value is. Infinities and NaN stand for themselves; what is so small that it
    has few digits is zero."""
    sizes = np.abs(values)
    plain = np.isfinite(sizes) & (sizes >= _LIMITS.tiny)
    logs = np.ceil(np.log(np.where(plain, sizes, 1.0)) / _LOG)
    with np.errstate(over="ignore"):
        points = np.minimum(np.exp(logs * _LOG) * _MIDDLE, _LIMITS.max)
    others = np.where(sizes < _LIMITS.tiny, 0.0, values)
    found: Numbers = np.where(plain, np.copysign(points, values), others)
    return found


def percentile(lists: pa.Array, share: float) -> Finished:
    """Interpolated between the two values that it falls between."""
    owners, entries = flattened(lists)
    owners, entries = weights(owners, entries)
    values, counts = (numbers(part).values for part in entries.flatten())
    upto = np.cumsum(np.abs(counts))
    totals = np.bincount(owners, np.abs(counts), minlength=len(lists)).astype(np.int64)
    before = np.cumsum(totals) - totals
    place = np.round(share * np.maximum(totals - 1, 0), 8)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(totals - 1, 0))
    there = totals > 0
    if not there.any():
        return Finished(pa.nulls(len(lists), pa.float64()))
    low, high = (
        values[np.minimum(np.searchsorted(upto, before + at, side="right"), len(values) - 1)]
        for at in (below, above)
    )
    part = place - below
    with np.errstate(all="ignore"):
        mixed = low + (high - low) * part
    result = np.where((part == 0) | (low == high), low, mixed)
    return Finished(array_of(result, there, pa.float64()))
