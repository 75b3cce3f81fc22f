"""State by slot: what every kind of column can do, and what a batch brings it.

Decided here: the contract between a table of groups and its columns. The table first lets every column `grow` to the
number of slots, which gives new slots the identity of the merge, and then lets each `merge` the rows of the batch; no
slot occurs twice in one merge, and a `slice` means slots that are new. A column may look at another one of
its aggregate (`Following` at its key, `Mean` at its count) as long as that one is merged after it; the order is kept in
`accumulators.py`.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Column, Integers, Mask, numbers
from tidegate.kernel.growing import Growing

Where: TypeAlias = slice | Integers
Comparable: TypeAlias = "Column | pa.Array"


class Arrivals:
    """The partial columns of one batch, in the kernel's types; numbers are unpacked once."""

    __slots__ = ("_numbers", "arrays")

    def __init__(self, arrays: Sequence[pa.Array]) -> None:
        self.arrays = arrays
        self._numbers: dict[int, Column] = {}

    def numbers(self, position: int) -> Column:
        if position not in self._numbers:
            self._numbers[position] = numbers(self.arrays[position])
        return self._numbers[position]


class StateColumn(Protocol):
    """One partial column of all groups."""

    @property
    def bytes(self) -> int:
        """Memory that it holds."""

    def grow(self, size: int) -> None:
        """Have that many slots; new ones hold the partial of no rows."""

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        """Combine the slots with what has come for them."""

    def read(self, slots: Where) -> pa.Array:
        """The partials of the slots, as they would have arrived."""


class Cells(Protocol):
    """Values by slot, NULL at first, of one representation: numbers, or anything that Arrow can hold."""

    @property
    def bytes(self) -> int: ...

    def grow(self, size: int) -> None: ...

    def arriving(self, arrivals: Arrivals, position: int) -> Comparable: ...

    def peek(self, where: Where) -> Comparable:
        """What the slots hold."""

    def put(self, where: Where, values: Comparable, chosen: Mask) -> None:
        """Replace the slots where `chosen`."""

    def read(self, slots: Where) -> pa.Array: ...


class Presence:
    """Which slots are not NULL. It takes memory only from the first NULL on; until then, all merged slots are there."""

    __slots__ = ("_mask", "_merged", "_size")

    def __init__(self) -> None:
        self._mask: Growing | None = None
        self._merged = self._size = 0

    @property
    def bytes(self) -> int:
        return 0 if self._mask is None else self._mask.bytes

    def grow(self, size: int) -> None:
        """The next merge must bring all new slots."""
        self._size = size
        if self._mask is not None:
            self._mask.grow(size, False)

    def merge(self, where: Where, valid: Mask | None) -> None:
        """Slots become present where `valid` (None: all)."""
        if self._mask is None and valid is not None:
            self._mask = Growing(np.bool_)
            self._mask.grow(self._merged, True)
            self._mask.grow(self._size, False)
        self._merged = self._size
        if self._mask is None:
            return
        if valid is None:
            self._mask.values[where] = True
        elif isinstance(where, slice):
            self._mask.values[where] = valid
        else:
            self._mask.values[where[valid]] = True

    def read(self, where: Where) -> Mask | None:
        if self._mask is not None:
            found: Mask = self._mask.values[where]
            return found
        if self._merged == self._size:
            return None
        places = np.arange(self._size)[where] if isinstance(where, slice) else where
        return places < self._merged
