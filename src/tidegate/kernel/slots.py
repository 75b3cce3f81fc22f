"""From the keys of a row to the number of its group, whatever the keys are.

Decided here: which index a table of groups has. One key that is a whole number is looked up directly for as long as
its numbers lie close together, from the first that does not on by hash, as all other keys are. Which one it is shows in
nothing but time and memory: slots are the same.
"""

from collections.abc import Sequence

import pyarrow as pa

from tidegate.kernel.arrow import Column, Integers, array_of, arrow_type, is_dense, numbers
from tidegate.kernel.direct import DirectIndex
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.model.expressions import Field
from tidegate.model.types import is_float


class GroupIndex:
    """Slots by the values of `keys`; `reserve` is how many groups are expected."""

    __slots__ = ("_direct", "_hashed", "_keys", "_reserve")

    def __init__(self, keys: Sequence[Field], *, reserve: int = 0) -> None:
        self._keys, self._reserve = tuple(keys), reserve
        whole = len(self._keys) == 1 and is_dense(keys[0].type) and not is_float(keys[0].type)
        self._direct = DirectIndex() if whole else None
        self._hashed = KeyIndex(reserve=0 if whole else reserve)

    def __len__(self) -> int:
        return len(self._hashed) if self._direct is None else len(self._direct)

    @property
    def bytes(self) -> int:
        return self._hashed.bytes + (0 if self._direct is None else self._direct.bytes)

    def slots(
        self, keys: Sequence[pa.Array], length: int, expected: int = 0
    ) -> tuple[Integers, Integers]:
        """The slot of each row, and the rows (ascending) that opened a slot; those slots follow one another.

        `expected`: that many rows come right now, with those of later calls.
        """
        if self._direct is not None:
            found = self._direct.slots(numbers(keys[0]), expected)
            if found is not None:
                return found
            self._hash(self._direct.keys())
        return self._hashed.slots(hash_rows(keys, length))

    def slots_of(self, other: "GroupIndex", keys: Sequence[pa.Array]) -> tuple[Integers, Integers]:
        """The same for all groups of another index, whose keys these are."""
        if self._direct is None and other._direct is None:
            return self._hashed.slots(other._hashed.lanes)
        return self.slots(keys, len(other))

    def find(self, keys: Sequence[pa.Array], length: int) -> Integers:
        """The slot of each row's keys, or -1; nothing changes."""
        if self._direct is not None:
            return self._direct.find(numbers(keys[0]))
        return self._hashed.find(hash_rows(keys, length))

    def _hash(self, there: Column) -> None:
        """Give up the direct one: its groups keep their slots."""
        self._direct = None
        self._hashed = KeyIndex(reserve=max(self._reserve, len(there.values)))
        keys = array_of(there.values, there.valid, arrow_type(self._keys[0].type))
        self._hashed.slots(hash_rows([keys], len(keys)))
