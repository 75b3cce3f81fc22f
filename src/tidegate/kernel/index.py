"""From the hash of a row's keys to the number of its group.

Decided here: slots are dense numbers, given out in the order in which groups come, and never reused; whatever is
kept by group is an array by slot. Looking up costs numpy passes over the rows that are looked up, whatever the number
of groups. If every operator kept a dict of its own, each would be a Python loop over rows.

Open addressing (Knuth, TAOCP 3, 6.4, algorithm D: double hashing) done in rounds. In each, all rows that are still
on the way look at their cell at once: a row is home where it finds its own hash, and goes one step further where it
finds another; where the cell is empty, it writes its claim, reads the cell again, and whoever finds his own claim has
won it. Losers look at the same cell again, because the winner may be their equal. The first lane says where to begin
and the second how far to step, so keys that agree in some bits of one lane still part. At most half of the cells are
taken, so a row is looked at twice or so.
"""

import numpy as np
from numpy.typing import NDArray

from tidegate.kernel.arrow import Integers, Mask, Words
from tidegate.kernel.growing import Growing
from tidegate.kernel.hashing import Lanes

_EMPTY = -1
_SMALLEST = 64
_STEP_FROM = np.uint64(40)  # bits of the second lane; all of them are mixed
MAX_GROUPS = 2**31 - 1


class KeyIndex:
    """Slots by hash. `reserve` is how many groups are expected.

    >>> index = KeyIndex()
    >>> lanes = np.array([7, 9, 7], np.uint64), np.array([1, 1, 1], np.uint64)
    >>> index.slots(lanes)
    (array([0, 1, 0]), array([0, 1]))
    >>> index.slots((np.array([9, 7], np.uint64), np.array([1, 2], np.uint64)))
    (array([1, 2]), array([1]))
    """

    __slots__ = ("_cells", "_first", "_second")

    def __init__(self, *, reserve: int = 0) -> None:
        self._first = Growing(np.uint64)
        self._second = Growing(np.uint64)
        self._cells = _empty_cells(reserve)

    def __len__(self) -> int:
        return self._first.size

    @property
    def bytes(self) -> int:
        return int(self._cells.nbytes) + self._first.bytes + self._second.bytes

    @property
    def lanes(self) -> Lanes:
        """The hashes of all groups, by slot."""
        return self._first.values, self._second.values

    def slots(self, lanes: Lanes) -> tuple[Integers, Integers]:
        """The slot of each row, and the rows (ascending) that opened a slot; those slots follow one another."""
        found = self.find(lanes)
        absent = np.flatnonzero(found < 0)
        if len(absent) == 0:
            return found, absent
        everything = len(absent) == len(found)
        missing = lanes if everything else (lanes[0][absent], lanes[1][absent])
        self._make_room(len(self) + len(absent))
        slots, opened = self._insert(missing)
        if everything:
            return slots, opened
        found[absent] = slots
        return found, absent[opened]

    def find(self, lanes: Lanes) -> Integers:
        """The slot of each row, or -1."""
        length = len(lanes[0])
        slots = np.full(length, _EMPTY, np.int64)
        if len(self) == 0:
            return slots
        cells = self._homes(lanes[0])
        rows: Integers | None = None  # all of them, in the first round
        first, second = lanes
        while len(cells):
            held = self._cells[cells].astype(np.int64)
            same = self._holds(held, first, second)
            if rows is None:
                slots = np.where(same, held, _EMPTY)
            else:
                slots[rows[same]] = held[same]
            on = np.flatnonzero(~same & (held >= 0))
            rows = on if rows is None else rows[on]
            first, second = lanes[0][rows], lanes[1][rows]
            cells = self._next(cells[on], second)
        return slots

    def _holds(self, held: Integers, first: Words, second: Words) -> Mask:
        """Whether the slots have these hashes. An empty cell looks at the last slot, which must not count."""
        same: Mask = self._first.values[held] == first
        same &= self._second.values[held] == second
        same &= held >= 0
        return same

    def _homes(self, first: Words) -> Integers:
        return (first & np.uint64(len(self._cells) - 1)).view(np.int64)

    def _next(self, cells: Integers, second: Words) -> Integers:
        steps = (second >> _STEP_FROM).view(np.int64) | 1
        return (cells + steps) & (len(self._cells) - 1)

    def _make_room(self, groups: int) -> None:
        assert groups <= MAX_GROUPS
        if 2 * groups <= len(self._cells):
            return
        self._cells = _empty_cells(groups)
        slots = np.arange(len(self))
        first, second = self._first.values, self._second.values
        cells = self._homes(first)
        while len(slots):
            lost = np.flatnonzero(~self._claim(cells, slots))
            slots = slots[lost]
            cells = self._next(cells[lost], second[slots])

    def _claim(self, cells: Integers, claims: Integers) -> Mask:
        """Write claims into those of the cells that are empty; True where the cell is the claimant's now."""
        empty = np.flatnonzero(self._cells[cells] == _EMPTY)[::-1]  # of equal rows the first wins
        self._cells[cells[empty]] = claims[empty]
        won: Mask = self._cells[cells] == claims
        return won

    def _insert(self, lanes: Lanes) -> tuple[Integers, Integers]:
        """Open slots for rows of which none has one; rows with equal hashes share one.

        A row's claim is the number that its slot would have if every row opened one. Only at the end, when it is
        known who won, are slots numbered without gaps, in the order of rows.
        """
        start, length = len(self), len(lanes[0])
        self._first.append(lanes[0])
        self._second.append(lanes[1])
        claims = np.arange(start, start + length)
        slots = claims.copy()
        rows, cells = np.arange(length), self._homes(lanes[0])
        taken = np.empty(length, np.int64)  # the cell of each row that won one
        while len(rows):
            won = self._claim(cells, claims[rows])
            taken[rows[won]] = cells[won]
            lost = np.flatnonzero(~won)
            rows, cells = rows[lost], cells[lost]
            held = self._cells[cells].astype(np.int64)
            same = self._holds(held, lanes[0][rows], lanes[1][rows])
            slots[rows[same]] = held[same]
            apart = np.flatnonzero(~same)
            rows = rows[apart]
            cells = self._next(cells[apart], lanes[1][rows])
        opened = np.flatnonzero(slots == claims)
        if len(opened) == length:
            return slots, opened
        return self._number(start, slots, opened, taken), opened

    def _number(self, start: int, slots: Integers, opened: Integers, taken: Integers) -> Integers:
        """Close the gaps that rows without a slot of their own have left."""
        end = start + len(opened)
        numbers = np.empty(len(slots), np.int64)
        numbers[opened] = np.arange(start, end)
        self._cells[taken[opened]] = numbers[opened]
        for lane in (self._first, self._second):
            lane.values[start:end] = lane.values[start + opened]
            lane.size = end
        return numbers[slots - start]


def _empty_cells(groups: int) -> NDArray[np.int32]:
    return np.full(max(_SMALLEST, 1 << (2 * groups - 1).bit_length()), _EMPTY, np.int32)
