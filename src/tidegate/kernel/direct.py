"""From a number to the number of its group, when numbers lie close together.

Decided here: how close is close. Identifiers of users, sensors and accounts, and what the kernel counts itself
(sessions, runs), are mostly numbers out of a range that is nearly full. Then an array over that range says the slot,
and a lookup is one read; a hash costs twenty passes. The array may be four times as long as there are groups: whoever
gives it a number that would stretch it further is refused, and goes on with hashes (`slots.py`).

Slots are given out as `KeyIndex` gives them: dense, in the order in which groups come. NULL has the first cell.
"""

import numpy as np
from numpy.typing import NDArray

from tidegate.kernel.arrow import Column, Integers

_EMPTY = -1
_CELLS_PER_GROUP = 4
_ALWAYS = 4_096
_NULL_CELLS = 1
_FAR = 2**62  # sums and differences of numbers below fit into 64 bits


class DirectIndex:
    """Slots by number.

    >>> index = DirectIndex()
    >>> index.slots(Column(np.array([7, 9, 7])))
    (array([0, 1, 0]), array([0, 1]))
    >>> index.slots(Column(np.array([9, 8, 0]), np.array([True, True, False])))
    (array([1, 2, 3]), array([1, 2]))
    >>> index.slots(Column(np.array([1_000_000])))  # too far off
    >>> index.find(Column(np.array([1_000_000, 8]))).tolist(), index.keys().values.tolist()
    ([-1, 2], [7, 9, 8, 0])
    """

    __slots__ = ("_cells", "_low", "_size")

    def __init__(self) -> None:
        self._low = 0
        self._cells: NDArray[np.int32] = np.full(_NULL_CELLS, _EMPTY, np.int32)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def bytes(self) -> int:
        return int(self._cells.nbytes)

    def slots(self, numbers: Column, expected: int = 0) -> tuple[Integers, Integers] | None:
        """The slot of each row, and the rows (ascending) that opened a slot; None: some would lie too far off.

        `expected`: that many rows come right now, with those of later calls.
        """
        if not self._reach(numbers, expected):
            return None
        places = self._places(numbers)
        found = self._cells[places].astype(np.int64)
        absent = np.flatnonzero(found < 0)
        if len(absent) == 0:
            return found, absent
        cells = places[absent]
        self._cells[cells[::-1]] = absent[::-1]  # of equal rows the first wins
        opened = absent[self._cells[cells] == absent]
        self._cells[places[opened]] = np.arange(self._size, self._size + len(opened))
        self._size += len(opened)
        found[absent] = self._cells[cells]
        return found, opened

    def find(self, numbers: Column) -> Integers:
        """The slot of each row, or -1."""
        values, there = _known(numbers), len(self._cells) - _NULL_CELLS
        inside = (values >= self._low) & (values < self._low + there)
        if numbers.valid is not None:
            inside |= ~numbers.valid
        slots = np.full(len(values), _EMPTY, np.int64)
        rows = np.flatnonzero(inside)
        valid = None if numbers.valid is None else numbers.valid[rows]
        slots[rows] = self._cells[self._places(Column(values[rows], valid))]
        return slots

    def keys(self) -> Column:
        """The number of each slot."""
        places = np.empty(self._size, np.int64)
        taken = np.flatnonzero(self._cells >= 0)
        places[self._cells[taken]] = taken
        valid = places >= _NULL_CELLS
        return Column(np.where(valid, places - _NULL_CELLS + self._low, 0), valid)

    def _places(self, numbers: Column) -> Integers:
        places: Integers = _known(numbers) - (self._low - _NULL_CELLS)
        return places if numbers.valid is None else np.where(numbers.valid, places, 0)

    def _reach(self, numbers: Column, expected: int) -> bool:
        """Make the range contain all numbers, if it stays close."""
        values = _known(numbers)
        if numbers.valid is not None:
            values = values[numbers.valid]
        if len(values) == 0:
            return True
        low, high = int(values.min()), int(values.max()) + 1
        there = len(self._cells) - _NULL_CELLS
        if there:
            if low >= self._low and high <= self._low + there:
                return True
            low, high = min(low, self._low), max(high, self._low + there)
        groups = self._size + max(expected, len(values))
        close = high - low <= _ALWAYS + _CELLS_PER_GROUP * groups
        if not close or low < -_FAR or high > _FAR:
            return False
        self._stretch(low, high)
        return True

    def _stretch(self, low: int, high: int) -> None:
        """Have a range of at least that, and half as much again at the end where it grows."""
        there = len(self._cells) - _NULL_CELLS
        spare = there // 2
        if there and low < self._low:
            low -= spare
        elif there:
            high += spare
        else:
            self._low = low
        cells = np.full(_NULL_CELLS + high - low, _EMPTY, np.int32)
        cells[0] = self._cells[0]
        start = _NULL_CELLS + self._low - low
        cells[start : start + there] = self._cells[_NULL_CELLS:]
        self._cells, self._low = cells, low


def _known(numbers: Column) -> Integers:
    return numbers.values.astype(np.int64, copy=False)
