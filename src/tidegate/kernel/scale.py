"""Partition and time as one number that ascends by both, so that a frame's ends are found by one search.

Decided here: what becomes of times that no row of the scale has. They are taken to the nearest end of their partition,
and partitions that no row has to one behind all others; so whatever is asked, its rows are found or there are none.

>>> slots, times = np.array([0, 0, 1]), np.array([10, 30, 20])
>>> scale = Scale.of(slots, times)
>>> every = scale.number(slots, times)
>>> at, own = np.array([5, 30, 99, 20]), np.array([0, 0, 0, 7])
>>> np.searchsorted(every, scale.number(own, at)).tolist()
[0, 1, 2, 3]
>>> np.searchsorted(every, scale.number(own, at, last=True), side="right").tolist()
[0, 2, 2, 3]
"""

from dataclasses import dataclass

import numpy as np

from tidegate.kernel.arrow import Integers

_ROOM = 1 << 62
_HALF = 1 << 16


@dataclass(frozen=True, slots=True)
class Scale:
    """Of rows with partitions up to `most`; `ranks`: times go by their rank, where there is no room."""

    earliest_us: int
    stride: int
    most: int
    ranks: Integers | None

    @classmethod
    def of(cls, slots: Integers, times_us: Integers) -> "Scale":
        if len(times_us) == 0:
            return cls(0, 1, 0, None)
        earliest, latest, most = int(times_us.min()), int(times_us.max()), int(slots.max())
        stride = latest - earliest + 1
        if (most + 3) * stride < _ROOM:
            return cls(earliest, stride, most, None)
        ranks = np.unique(times_us)
        return cls(earliest, len(ranks), most, ranks)

    def number(self, slots: Integers, times_us: Integers, *, last: bool = False) -> Integers:
        """That of the first row at or behind the time, or of the `last` one at or before it, if there is such a row."""
        lowest, highest = (-1, self.stride - 1) if last else (0, self.stride)
        if self.ranks is None:
            on_scale = np.clip(times_us - self.earliest_us, lowest, highest)
        elif last:
            on_scale = np.searchsorted(self.ranks, times_us, side="right") - 1
        else:
            on_scale = np.searchsorted(self.ranks, times_us)
        number: Integers = np.minimum(slots, self.most + 1) * self.stride + on_scale
        return number


def by_slot(slots: Integers) -> Integers:
    """The order by slot, which leaves equal ones as they are; two rounds of 16 bits are a third of one of 64."""
    most = int(slots.max()) if len(slots) else 0
    order: Integers = np.argsort(slots.astype(np.uint16), kind="stable")
    if most < _HALF:
        return order
    high = (slots >> 16).astype(np.uint16)[order]
    order = order[np.argsort(high, kind="stable")]
    if most < _HALF * _HALF:
        return order
    return np.argsort(slots, kind="stable")
