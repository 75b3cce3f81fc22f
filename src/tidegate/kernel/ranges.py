"""Folds over many ranges of one array, each range a run of places, at a cost that does not grow with their length.

Decided here: where subtraction may be used. Sums of integers are differences of prefix sums, exact even where a prefix
leaves 64 bits, since both wrap around alike. Sums of floats would lose digits that way, and an infinity would never
leave again; and extremes cannot be subtracted at all. So these are walked over where ranges are short, and else folded
from blocks: a range is a run of whole blocks between two ends of less than a block, and blocks are ranges of the array
of blocks. Every fold is thus one of values inside the range alone. Prefixes and blocks are made once, however often
they are asked.

>>> values, first, end = np.arange(10.0), np.array([0, 2, 5]), np.array([3, 8, 6])
>>> Ranges(Fold(np.add, 0.0), values)(first, end)
array([ 3., 27.,  5.])
>>> Ranges(Fold(np.add, 0), np.array([2**62, 2**62, 1, 2]))(np.array([0, 2]), np.array([1, 4]))
array([4611686018427387904,                   3])
"""

import numpy as np

from tidegate.kernel.arrow import Integers, Numbers
from tidegate.kernel.dense import Fold

_BLOCK = 256
_WALKED = 1024  # numbers for each range on average; walking over them costs less than three walks and a block
_SPARSE = 2


class Ranges:
    """Of one array, by one fold; the identity where a range is empty."""

    __slots__ = ("_blocks", "_fold", "_prefix", "_values")

    def __init__(self, fold: Fold, values: Numbers) -> None:
        self._fold = fold
        # One element behind all others is there to end the last range.
        self._values = np.append(values, values.dtype.type(fold.identity))
        self._prefix: Integers | None = None
        self._blocks: Ranges | None = None
        if fold.ufunc is np.add and values.dtype.kind == "i":
            self._prefix = np.zeros(len(values) + 1, np.int64)
            np.cumsum(values, out=self._prefix[1:])
            self._values = values[:0]

    @property
    def bytes(self) -> int:
        own = self._values.nbytes + (0 if self._prefix is None else self._prefix.nbytes)
        return int(own) + (0 if self._blocks is None else self._blocks.bytes)

    def __call__(self, first: Integers, end: Integers) -> Numbers:
        """The fold over [first, end) for each."""
        if self._prefix is not None:
            found: Numbers = self._prefix[np.maximum(first, end)] - self._prefix[first]
            return found
        if len(first) == 0:
            return self._values[:0]
        if int((end - first).sum()) <= _WALKED * len(first):
            return self._runs(first, end)
        return self._in_blocks(first, end)

    def _in_blocks(self, first: Integers, end: Integers) -> Numbers:
        whole, rest = -(-first // _BLOCK), end // _BLOCK
        long = whole < rest
        result = self._runs(first, np.where(long, whole * _BLOCK, end))
        if self._blocks is None:
            values = self._values[:-1]
            reduced = self._fold.ufunc.reduceat(values, np.arange(0, len(values), _BLOCK))
            self._blocks = Ranges(self._fold, reduced)
        rows = np.flatnonzero(long)
        middle = self._blocks(whole[rows], rest[rows])
        tail = self._runs(rest[rows] * _BLOCK, end[rows])
        ufunc = self._fold.ufunc
        result[rows] = ufunc(ufunc(result[rows], middle), tail)
        return result

    def _runs(self, first: Integers, end: Integers) -> Numbers:
        """Each range by walking it."""
        values, empty = self._values, first >= end
        lengths = np.where(empty, 0, end - first)
        if len(first) and int(end[-1] - first[0]) > _SPARSE * int(lengths.sum()):
            values, first, end = _gathered(values, first, lengths)
        edges = np.empty(2 * len(first), np.int64)
        edges[0::2], edges[1::2] = first, end
        found: Numbers = self._fold.ufunc.reduceat(values, edges)[0::2]
        if empty.any():
            found = np.where(empty, values.dtype.type(self._fold.identity), found)
        return np.ascontiguousarray(found)


def _gathered(
    values: Numbers, first: Integers, lengths: Integers
) -> tuple[Numbers, Integers, Integers]:
    """The ranges one behind the other, and where they are then: what lies between them would be walked over, too."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    places = np.arange(int(ends[-1])) + np.repeat(first - starts, lengths)
    return np.append(values[places], values[-1:]), starts, ends
