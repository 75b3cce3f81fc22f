"""Folds over many ranges of one array, each range a run of places, at a cost that does not grow with their length.

Decided here: where subtraction may be used. Sums of integers are differences of prefix sums, exact even where a prefix
leaves 64 bits, since both wrap around alike. Sums of floats would lose digits that way, and an infinity would never
leave again; and extremes cannot be subtracted at all. So these are walked over where ranges are short, and else folded
from blocks: a range is a run of whole blocks between two ends of less than a block, and blocks are ranges of the array
of blocks. Every fold is thus one of values inside the range alone.

Ranges must not begin or end before the one in front of them does by much: what lies between the end of one and the
beginning of the next is walked over.

>>> values, first, end = np.arange(10.0), np.array([0, 2, 5]), np.array([3, 8, 6])
>>> folded(Fold(np.add, 0.0), values, first, end)
array([ 3., 27.,  5.])
>>> sums(np.array([2**62, 2**62, 1, 2]), np.array([0, 2]), np.array([1, 4]))
array([4611686018427387904,                   3])
"""

import numpy as np

from tidegate.kernel.arrow import Integers, Numbers
from tidegate.kernel.dense import Fold

_BLOCK = 256
_WALKED = 1024  # numbers for each range on average; walking over them costs less than three walks and a block


def sums(values: Integers, first: Integers, end: Integers) -> Integers:
    """Sums of integers that are known to fit."""
    prefix = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=prefix[1:])
    found: Integers = prefix[end] - prefix[first]
    return found


def folded(fold: Fold, values: Numbers, first: Integers, end: Integers) -> Numbers:
    """The fold over [first, end) for each; the identity where that is empty."""
    if len(first) == 0:
        return values[:0]
    if int((end - first).sum()) <= _WALKED * len(first):
        return _runs(fold, values, first, end)
    whole, rest = -(-first // _BLOCK), end // _BLOCK
    long = whole < rest
    head_end = np.where(long, whole * _BLOCK, end)
    result = _runs(fold, values, first, head_end)
    blocks = fold.ufunc.reduceat(values, np.arange(0, len(values), _BLOCK))
    rows = np.flatnonzero(long)
    middle = folded(fold, blocks, whole[rows], rest[rows])
    tail = _runs(fold, values, rest[rows] * _BLOCK, end[rows])
    result[rows] = fold.ufunc(fold.ufunc(result[rows], middle), tail)
    return result


def _runs(fold: Fold, values: Numbers, first: Integers, end: Integers) -> Numbers:
    """Each range by walking it; one element behind all of them is there to end the last."""
    edges = np.empty(2 * len(first), np.int64)
    edges[0::2], edges[1::2] = first, end
    padded = np.append(values, values.dtype.type(fold.identity))
    found: Numbers = fold.ufunc.reduceat(padded, edges)[0::2]
    empty = first >= end
    if empty.any():
        found = np.where(empty, values.dtype.type(fold.identity), found)
    return np.ascontiguousarray(found)
