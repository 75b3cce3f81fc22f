"""Values that come with the smallest or largest key: FIRST_VALUE, LAST_VALUE, MIN_BY, MAX_BY.

Decided here: ties. Of rows with the same key the smaller (FOLLOW_MIN) or larger (FOLLOW_MAX) value stays, which makes
the merge commutative; "the one that came first" would depend on how rows were batched. The key is a column of its own,
merged after this one, so that here it still is the key of what is held.
"""

from typing import Protocol

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Mask
from tidegate.kernel.columns import Arrivals, Cells, Comparable, Where
from tidegate.kernel.ordering import equal, less, present, rows_of


class Key(Protocol):
    """What a key column shows of itself."""

    def arriving(self, arrivals: Arrivals, position: int) -> Comparable: ...

    def peek(self, where: Where) -> Comparable: ...


class Following:
    """The value beside a key; NULL with it."""

    __slots__ = ("_cells", "_key", "_key_position", "_largest", "_position")

    def __init__(
        self, position: int, cells: Cells, *, key: Key, key_position: int, largest: bool
    ) -> None:
        self._position, self._cells, self._largest = position, cells, largest
        self._key, self._key_position = key, key_position

    @property
    def bytes(self) -> int:
        return self._cells.bytes

    def grow(self, size: int) -> None:
        self._cells.grow(size)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        keys = self._key.arriving(arrivals, self._key_position)
        values = self._cells.arriving(arrivals, self._position)
        chosen = present(keys)
        if not isinstance(where, slice):
            chosen = chosen & self._wins(where, keys, values)
        self._cells.put(where, values, chosen)

    def _wins(self, where: Where, keys: Comparable, values: Comparable) -> Mask:
        held = self._key.peek(where)
        empty = ~present(held)
        wins = empty | self._beats(keys, held)
        ties = np.flatnonzero(~empty & present(keys) & equal(keys, held))
        if len(ties):
            others = rows_of(self._cells.peek(where), ties)
            wins[ties] = self._beats(rows_of(values, ties), others)
        return wins

    def _beats(self, one: Comparable, other: Comparable) -> Mask:
        return less(other, one) if self._largest else less(one, other)

    def read(self, slots: Where) -> pa.Array:
        return self._cells.read(slots)
