"""Arrays by slot that grow.

Decided here: what a slot costs. Room grows by half of what there is, so that a table never holds more than one and a
half times what it needs, and appending stays linear in total; what is not used yet is never written, so that the
system has not even given the memory.
"""

from typing import Any

import numpy as np

from tidegate.kernel.arrow import Numbers


class Growing:
    """One number for each slot, or one more number for each row."""

    __slots__ = ("_room", "size")

    def __init__(self, dtype: Any) -> None:
        self._room = np.empty(0, dtype)
        self.size = 0

    @property
    def values(self) -> Numbers:
        """The numbers in use, as a view: it is stale once the array has grown."""
        return self._room[: self.size]

    @property
    def bytes(self) -> int:
        return int(self._room.nbytes)

    def grow(self, size: int, fill: Any = None) -> Numbers:
        """Make room up to `size`, set what is new (None: leave it undefined), and give all numbers in use."""
        before = self.size
        if size > len(self._room):
            room = np.empty(max(size, before + before // 2, 16), self._room.dtype)
            room[:before] = self._room[:before]
            self._room = room
        self.size = max(before, size)
        if fill is not None and size > before:
            self._room[before:size] = fill
        return self.values

    def append(self, numbers: Numbers) -> None:
        before = self.size
        self.grow(before + len(numbers))[before:] = numbers
