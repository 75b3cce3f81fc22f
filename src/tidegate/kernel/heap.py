"""Values of any width by slot: strings, binary, decimals, nested ones.

Decided here: a value is a row in Arrow chunks, and a slot holds the row's number. Replacing a value appends a row and
leaves the old one as garbage; once there is more garbage than values, everything alive is written anew. So a merge
costs the rows that it touches, memory is at most about twice that of the values, and nothing is a Python object.
Chunks are joined like the runs of a log-structured merge tree (O'Neil 1996): each is at least twice as large as the
next, which keeps their number logarithmic and copies a row that often at most.
"""

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, arrow_type
from tidegate.kernel.columns import Arrivals, Comparable, Where
from tidegate.kernel.growing import Growing
from tidegate.kernel.ordering import less, present
from tidegate.model.types import DataType

_NOWHERE = -1
_SLACK = 1024
_WIDE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}


class Rows:
    """Appended rows, by number."""

    __slots__ = ("_chunks", "_kind")

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = _WIDE.get(kind, kind)  # more than 2 GiB of text must not fail
        self._chunks: list[pa.Array] = []

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    @property
    def bytes(self) -> int:
        return sum(chunk.get_total_buffer_size() for chunk in self._chunks)

    def append(self, rows: pa.Array) -> None:
        chunks = self._chunks
        chunks.append(rows.cast(self._kind) if rows.type != self._kind else rows)
        while len(chunks) > 1 and len(chunks[-2]) < 2 * len(chunks[-1]):
            chunks[-2:] = [pa.concat_arrays(chunks[-2:])]

    def take(self, rows: Integers) -> pa.Array:
        """The rows with these numbers; -1 is NULL."""
        if not self._chunks:
            return pa.nulls(len(rows), self._kind)
        if len(self._chunks) == 1:
            return self._chunks[0].take(_indices(rows))
        ends = np.cumsum([len(chunk) for chunk in self._chunks])
        homes = np.searchsorted(ends, rows, side="right")
        parts, order = [], np.empty(len(rows), np.int64)
        done = 0
        for number, chunk in enumerate(self._chunks):
            mine = np.flatnonzero(homes == number)
            inside = rows[mine]
            inside = np.where(inside < 0, inside, inside - (ends[number] - len(chunk)))
            parts.append(chunk.take(_indices(inside)))
            order[mine] = np.arange(done, done + len(mine))
            done += len(mine)
        return pa.concat_arrays(parts).take(pa.array(order))


def _indices(rows: Integers) -> pa.Array:
    return pa.array(rows, mask=rows < 0)


class HeapCells:
    """Values by slot."""

    __slots__ = ("_alive", "_kind", "_places", "_rows")

    def __init__(self, kind: DataType) -> None:
        self._kind = arrow_type(kind)
        self._places = Growing(np.int64)
        self._rows = Rows(self._kind)
        self._alive = 0

    @property
    def bytes(self) -> int:
        return self._places.bytes + self._rows.bytes

    def grow(self, size: int) -> None:
        self._places.grow(size, _NOWHERE)

    def arriving(self, arrivals: Arrivals, position: int) -> pa.Array:
        array = arrivals.arrays[position]
        return array.cast(_WIDE[array.type]) if array.type in _WIDE else array

    def peek(self, where: Where) -> pa.Array:
        return self._rows.take(self._places.values[where])

    def put(self, where: Where, values: Comparable, chosen: Mask) -> None:
        rows = np.flatnonzero(chosen)
        if len(rows) == 0:
            return
        slots = rows + where.start if isinstance(where, slice) else where[rows]
        places = self._places.values
        self._alive += int(np.count_nonzero(places[slots] < 0))
        start = len(self._rows)
        self._rows.append(values.take(pa.array(rows)))  # type: ignore[union-attr]
        places[slots] = np.arange(start, start + len(rows))
        if start + len(rows) > 2 * self._alive + _SLACK:
            self._compact()

    def read(self, slots: Where) -> pa.Array:
        found = self.peek(slots)
        return found.cast(self._kind) if found.type != self._kind else found

    def _compact(self) -> None:
        places = self._places.values
        slots = np.flatnonzero(places >= 0)
        alive = self._rows.take(places[slots])
        self._rows = Rows(self._kind)
        self._rows.append(alive)
        places[slots] = np.arange(len(slots))


class Extreme:
    """MIN or MAX of values in a heap."""

    __slots__ = ("_cells", "_largest", "_position")

    def __init__(self, position: int, cells: HeapCells, *, largest: bool) -> None:
        self._position, self._cells, self._largest = position, cells, largest

    @property
    def bytes(self) -> int:
        return self._cells.bytes

    def grow(self, size: int) -> None:
        self._cells.grow(size)

    def arriving(self, arrivals: Arrivals, position: int) -> pa.Array:
        return self._cells.arriving(arrivals, position)

    def peek(self, where: Where) -> pa.Array:
        return self._cells.peek(where)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        arrived = self._cells.arriving(arrivals, self._position)
        there = present(arrived)
        if not isinstance(where, slice):
            held = self._cells.peek(where)
            better = less(held, arrived) if self._largest else less(arrived, held)
            there = there & (better | ~present(held))
        self._cells.put(where, arrived, there)

    def read(self, slots: Where) -> pa.Array:
        return self._cells.read(slots)
