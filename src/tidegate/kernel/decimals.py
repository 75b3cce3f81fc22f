"""Sums of DECIMAL: 128-bit integers in two lanes.

Decided here: a sum may have more digits than its type while it is kept; only its end is judged (`finish`). Rows would
have to be counted in tens of billions before 128 bits wrapped around (`plan/aggregates.py` leaves ten spare digits).

>>> low, high = add_wide(np.array([2**64 - 1], np.uint64), np.array([0]), np.array([1], np.uint64), np.array([0]))
>>> low, high
(array([0], dtype=uint64), array([1]))
"""

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Words, arrow_type, decimals_of, lanes_of, validity
from tidegate.kernel.columns import Arrivals, Presence, Where
from tidegate.kernel.growing import Growing
from tidegate.model.types import DataType


def add_wide(
    low: Words, high: Integers, other_low: Words, other_high: Integers
) -> tuple[Words, Integers]:
    """Two's complement addition with carry."""
    total = low + other_low
    return total, high + other_high + (total < low)


class DecimalSum:
    """16 bytes for each slot."""

    __slots__ = ("_high", "_kind", "_low", "_position", "_presence")

    def __init__(self, position: int, kind: DataType) -> None:
        self._position = position
        self._kind = arrow_type(kind)
        self._low, self._high = Growing(np.uint64), Growing(np.int64)
        self._presence = Presence()

    @property
    def bytes(self) -> int:
        return self._low.bytes + self._high.bytes + self._presence.bytes

    def grow(self, size: int) -> None:
        self._low.grow(size, 0)
        self._high.grow(size, 0)
        self._presence.grow(size)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        array = arrivals.arrays[self._position]
        valid = validity(array)
        low, high = lanes_of(array)
        if valid is not None:
            low, high = np.where(valid, low, np.uint64(0)), np.where(valid, high, 0)
        lows, highs = self._low.values, self._high.values
        lows[where], highs[where] = add_wide(lows[where], highs[where], low, high)
        self._presence.merge(where, valid)

    def read(self, slots: Where) -> pa.Array:
        valid = self._presence.read(slots)
        return decimals_of(self._low.values[slots], self._high.values[slots], valid, self._kind)
