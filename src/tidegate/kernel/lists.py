"""Collected values: what holistic and DISTINCT aggregates keep.

Decided here: a list is never extended in place. What arrives for a slot is one more row in Arrow chunks, linked to the
row that came before it; reading follows the links of all slots at once, one round for each link. When a table has
taken in as much as it held after the last time, the lists are written anew, one row for each slot, with what is to be
kept of them (`keeping.py`). So a merge costs what arrives, reading what is read, and copying is paid for by growth.
Sets are told apart by the hashes of values, as groups are. NULL and the empty list are the same: nothing.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, arrow_type, packed
from tidegate.kernel.columns import Arrivals, Where
from tidegate.kernel.growing import Growing
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.heap import Rows
from tidegate.model.types import DataType

Kept: TypeAlias = tuple[Integers, pa.Array]
_NOWHERE = -1
_SLACK = 4096


def list_bounds(lists: pa.Array) -> tuple[Integers, Integers, pa.Array]:
    """Where each list begins among the values, how long it is (NULL: 0), and the values."""
    offsets = np.frombuffer(
        lists.buffers()[1] or b"\0\0\0\0", np.int32, count=lists.offset + len(lists) + 1
    )
    starts = offsets[lists.offset :].astype(np.int64)
    lengths = np.diff(starts)
    if lists.null_count:
        lengths = np.where(lists.is_valid().to_numpy(zero_copy_only=False), lengths, 0)
    return starts[:-1], lengths, lists.values


def flattened(lists: pa.Array) -> tuple[Integers, pa.Array]:
    """All values of all lists, each with the number of its list, in order."""
    starts, lengths, values = list_bounds(lists)
    owners = np.repeat(np.arange(len(lists)), lengths)
    ends = np.cumsum(lengths)
    if len(owners) == 0:
        return owners, values[:0]
    if len(starts) and ends[-1] == starts[-1] + lengths[-1] - starts[0]:
        return owners, values[int(starts[0]) : int(starts[0] + ends[-1])]
    places = np.arange(len(owners)) + np.repeat(starts - (ends - lengths), lengths)
    return owners, values.take(pa.array(places))


def listed(lengths: Integers, values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Lists of these lengths over the values; a list without values is NULL."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    there = packed(lengths > 0)
    return pa.Array.from_buffers(
        kind, len(lengths), [there, pa.py_buffer(offsets)], children=[values]
    )


def distinct(owners: Integers, values: pa.Array) -> Integers:
    """Places of the values without those that came before with the same owner, in order."""
    parts = values.flatten() if pa.types.is_struct(values.type) else [values]
    first, second = hash_rows(parts, len(values))
    order = np.lexsort((second, first, owners))
    owner, one, two = owners[order], first[order], second[order]
    new = np.ones(len(order), bool)
    new[1:] = (owner[1:] != owner[:-1]) | (one[1:] != one[:-1]) | (two[1:] != two[:-1])
    places: Integers = order[new]
    places.sort()
    return places


class Lists:
    """Values by slot. `keep` says what of them."""

    __slots__ = ("_held", "_keep", "_kind", "_last", "_links", "_position", "_rows", "_taken")

    def __init__(
        self, position: int, kind: DataType, keep: Callable[[Integers, pa.Array], Kept]
    ) -> None:
        self._position, self._kind, self._keep = position, arrow_type(kind), keep
        self._last = Growing(np.int64)  # by slot: its newest row
        self._links = Growing(np.int64)  # by row: the row before it
        self._rows = Rows(self._kind)
        self._held = self._taken = 0  # values after the last rewriting, and since

    @property
    def bytes(self) -> int:
        return self._last.bytes + self._links.bytes + self._rows.bytes

    def grow(self, size: int) -> None:
        self._last.grow(size, _NOWHERE)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        arrived = arrivals.arrays[self._position]
        _, lengths, _ = list_bounds(arrived)
        rows = np.flatnonzero(lengths)
        if len(rows) == 0:
            return
        slots = rows + where.start if isinstance(where, slice) else where[rows]
        self._append(slots, arrived if len(rows) == len(arrived) else arrived.take(pa.array(rows)))
        self._taken += int(lengths.sum())
        if self._taken > self._held + _SLACK:
            self._rewrite()

    def read(self, slots: Where) -> pa.Array:
        numbers = np.arange(self._last.size)[slots] if isinstance(slots, slice) else slots
        owners, rows = self._follow(numbers)
        order = np.lexsort((rows, owners))
        owners = owners[order]
        members, values = flattened(self._rows.take(rows[order]))
        owners, values = self._keep(owners[members], values)
        return listed(np.bincount(owners, minlength=len(numbers)), values, self._kind)

    def _append(self, slots: Integers, lists: pa.Array) -> None:
        start, last = self._links.size, self._last.values
        self._links.append(last[slots])
        last[slots] = np.arange(start, start + len(slots))
        self._rows.append(lists)

    def _follow(self, slots: Integers) -> tuple[Integers, Integers]:
        """Every row of the slots, with the place of its slot among them."""
        owners, rows = np.arange(len(slots)), self._last.values[slots]
        found: list[tuple[Integers, Integers]] = []
        while len(owners):
            on = np.flatnonzero(rows >= 0)
            owners, rows = owners[on], rows[on]
            found.append((owners, rows))
            rows = self._links.values[rows]
        parts = found or [(owners, rows)]
        return np.concatenate([part[0] for part in parts]), np.concatenate(
            [part[1] for part in parts]
        )

    def _rewrite(self) -> None:
        slots = np.flatnonzero(self._last.values >= 0)
        lists = self.read(slots)
        self._rows, self._links = Rows(self._kind), Growing(np.int64)
        self._last.values[slots] = _NOWHERE
        self._append(slots, lists)
        self._held, self._taken = int(list_bounds(lists)[1].sum()), 0
