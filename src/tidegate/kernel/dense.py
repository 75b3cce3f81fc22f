"""State of fixed width: one number for each slot.

Decided here: a merge is a ufunc and its identity. What is not there is the identity, so no merge looks at NULLs; only
whether a slot is NULL is kept beside, and only once there is one. Floats are ordered as everywhere: NaN is the
largest. That is why MIN is `fmin` with NaN as identity (it gives NaN for NaNs alone), and MAX is `maximum`, which
passes NaN on.

>>> from tidegate.model.types import Scalar
>>> smallest = Folded(0, Scalar.DOUBLE, Merge.MIN)
>>> for values in ([float("nan"), 5.0, None], [2.0, 7.0, None]):
...     smallest.grow(3)
...     smallest.merge(np.arange(3), Arrivals([pa.array(values, pa.float64())]))
>>> smallest.read(slice(None)).to_pylist()
[2.0, 5.0, None]
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Column, Mask, Numbers, array_of, arrow_type, numpy_type
from tidegate.kernel.columns import Arrivals, Comparable, Presence, Where
from tidegate.kernel.growing import Growing
from tidegate.model.partials import Merge
from tidegate.model.types import DataType


@dataclass(frozen=True, slots=True)
class Fold:
    """A merge of numbers, and what it leaves as it is."""

    ufunc: np.ufunc
    identity: Any


def fold_of(merge: Merge, dtype: np.dtype[Any]) -> Fold:
    match merge:
        case Merge.MIN | Merge.MAX:
            return _extreme(merge, dtype)
        case _:
            return _FOLDS[merge]


_FOLDS = {
    Merge.ADD: Fold(np.add, 0),
    Merge.AND: Fold(np.logical_and, True),
    Merge.OR: Fold(np.logical_or, False),
    Merge.BIT_AND: Fold(np.bitwise_and, -1),
    Merge.BIT_OR: Fold(np.bitwise_or, 0),
    Merge.BIT_XOR: Fold(np.bitwise_xor, 0),
}
UFUNC_MERGES = frozenset({Merge.MIN, Merge.MAX, *_FOLDS})


def _extreme(merge: Merge, dtype: np.dtype[Any]) -> Fold:
    smallest = merge is Merge.MIN
    match dtype.kind:
        case "f":
            return Fold(np.fmin, np.nan) if smallest else Fold(np.maximum, -np.inf)
        case "b":
            return _FOLDS[Merge.AND] if smallest else _FOLDS[Merge.OR]
        case _:
            limits = np.iinfo(dtype)
            return Fold(np.minimum, limits.max) if smallest else Fold(np.maximum, limits.min)


class Folded:
    """A column whose merge is a ufunc."""

    __slots__ = ("_fold", "_kind", "_position", "_presence", "_values")

    def __init__(self, position: int, kind: DataType, merge: Merge) -> None:
        self._position = position
        self._kind = arrow_type(kind)
        self._values = Growing(numpy_type(kind))
        self._fold = fold_of(merge, self._values.values.dtype)
        self._presence = Presence()

    @property
    def bytes(self) -> int:
        return self._values.bytes + self._presence.bytes

    @property
    def values(self) -> Numbers:
        """The identity stands where there is NULL. A view, stale after growth."""
        return self._values.values

    def grow(self, size: int) -> None:
        self._values.grow(size, self._fold.identity)
        self._presence.grow(size)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        arrived = arrivals.numbers(self._position)
        incoming = arrived.filled(self._fold.identity)
        values = self._values.values
        if isinstance(where, slice):
            values[where] = incoming
        elif self._fold.ufunc is np.add:
            np.add.at(values, where, incoming)  # half the time of the other way
        else:
            values[where] = self._fold.ufunc(values[where], incoming)
        self._presence.merge(where, arrived.valid)

    def arriving(self, arrivals: Arrivals, position: int) -> Column:
        return arrivals.numbers(position)

    def peek(self, where: Where) -> Column:
        return Column(self._values.values[where], self._presence.read(where))

    def read(self, slots: Where) -> pa.Array:
        return read_numbers(self._values.values[slots], self._presence.read(slots), self._kind)


class DenseCells:
    """Numbers that are replaced, not combined."""

    __slots__ = ("_kind", "_there", "_values")

    def __init__(self, kind: DataType) -> None:
        self._kind = arrow_type(kind)
        self._values = Growing(numpy_type(kind))
        self._there = Growing(np.bool_)

    @property
    def bytes(self) -> int:
        return self._values.bytes + self._there.bytes

    def grow(self, size: int) -> None:
        self._values.grow(size, 0)
        self._there.grow(size, False)

    def arriving(self, arrivals: Arrivals, position: int) -> Column:
        return arrivals.numbers(position)

    def peek(self, where: Where) -> Column:
        return Column(self._values.values[where], self._there.values[where])

    def put(self, where: Where, values: Comparable, chosen: Mask) -> None:
        assert isinstance(values, Column)
        places = np.arange(where.start, where.stop) if isinstance(where, slice) else where
        self._values.values[places[chosen]] = values.values[chosen]
        self._there.values[places[chosen]] = True

    def read(self, slots: Where) -> pa.Array:
        return read_numbers(self._values.values[slots], self._there.values[slots], self._kind)


def read_numbers(values: Numbers, valid: Mask | None, kind: pa.DataType) -> pa.Array:
    """As Arrow, apart from the state: -0.0 as 0.0, and nothing that a later merge would change."""
    if values.dtype.kind == "f":
        return array_of(values + values.dtype.type(0), valid, kind)
    return array_of(values.copy(), valid, kind)
