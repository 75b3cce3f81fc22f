"""Rows as 128 bits: what groups are looked up by.

Decided here: equality of keys. Two rows are one group iff their hashes are equal; nothing compares keys afterwards.
That is sound because 128 bits never meet by accident (a billion groups: 1e-21), and because the constants are drawn
anew in every process, so that nobody who sends rows can make them meet on purpose. Hence a hash must never leave the
process: snapshots hold keys. NULL is a value of its own, -0.0 is 0.0, all NaNs are one. Sketches, which only estimate,
have constants that are the same everywhere.

Each of the two lanes absorbs one 64-bit word after the other: `h = mix((h ^ secret) + word)`, where `mix` is the
finaliser of MurmurHash3 (Appleby 2011), a bijection; so different single words never collide, not even in one lane.
Strings are absorbed as their length and their words of 8 bytes, read from the data buffer where they lie. There is a
loop over word positions, never one over rows; of long strings all words beyond the 16th are mixed in one pass, each
with its position, and added up, so that a single long value does not cost thousands of rounds.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Words, lanes_of, numbers, validity

Lanes: TypeAlias = tuple[Words, Words]

_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(33)
_IN_TURN = 16
_KEEP = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


class Hashing:
    """Hashes by eight secret numbers."""

    __slots__ = ("_null", "_place", "_start", "_word")

    def __init__(self, secrets: Words) -> None:
        self._start, self._word, self._null, self._place = secrets.reshape(4, 2)

    def rows(self, columns: Sequence[pa.Array], length: int) -> Lanes:
        """Two 64-bit lanes for each row over all key columns (no columns: all rows are equal)."""
        first = np.full(length, self._start[0], np.uint64)
        second = np.full(length, self._start[1], np.uint64)
        lanes = (first, second)
        for column in columns:
            lanes = self._absorb(lanes, column)
        return lanes

    def _absorb(self, lanes: Lanes, column: pa.Array) -> Lanes:
        valid = validity(column)
        if len(column) == 0:
            return lanes
        before = lanes
        if pa.types.is_null(column.type):
            absorbed = lanes
        elif _is_text(column.type):
            absorbed = self._absorb_text(lanes, column)
        elif pa.types.is_struct(column.type):
            absorbed = lanes
            for part in column.flatten():
                absorbed = self._absorb(absorbed, part)
        elif pa.types.is_nested(column.type):
            absorbed = self._absorb_list(lanes, column)
        elif pa.types.is_decimal128(column.type):
            low, high = lanes_of(column)
            absorbed = self._absorb_word(self._absorb_word(lanes, low), high.view(np.uint64))
        else:
            absorbed = self._absorb_word(lanes, _words_of(column))
        if valid is None:
            return absorbed
        nulls = tuple(
            _mixed(lane ^ secret) for lane, secret in zip(before, self._null, strict=True)
        )
        return np.where(valid, absorbed[0], nulls[0]), np.where(valid, absorbed[1], nulls[1])

    def _absorb_list(self, lanes: Lanes, column: pa.Array) -> Lanes:
        """The length, and the sum over all elements of each mixed with its position."""
        starts = np.frombuffer(column.buffers()[1], np.int32, count=column.offset + len(column) + 1)
        starts = starts[column.offset :].astype(np.int64)
        lengths = np.diff(starts)
        lanes = self._absorb_word(lanes, lengths.view(np.uint64))
        inside = column.values.slice(starts[0], starts[-1] - starts[0])
        place = np.arange(len(inside)) - np.repeat(starts[:-1] - starts[0], lengths)
        elements = self.rows([inside], len(inside))
        absorbed = []
        for lane, element, secret in zip(lanes, elements, self._place, strict=True):
            salted = _mixed((place.view(np.uint64) * _FIRST) ^ secret)
            sums = np.r_[np.uint64(0), np.cumsum(_mixed(element ^ salted), dtype=np.uint64)]
            ends = starts - starts[0]
            absorbed.append(_mixed(lane ^ (sums[ends[1:]] - sums[ends[:-1]])))
        return absorbed[0], absorbed[1]

    def _absorb_word(self, lanes: Lanes, words: Words) -> Lanes:
        first, second = (
            (lane ^ secret) + words for lane, secret in zip(lanes, self._word, strict=True)
        )
        return _mixed(first), _mixed(second)

    def _absorb_text(self, lanes: Lanes, column: pa.Array) -> Lanes:
        starts, lengths, data = _extents(column)
        lanes = self._absorb_word(lanes, lengths.view(np.uint64))
        longest = int(lengths.max())
        for place in range(min((longest + 7) // 8, _IN_TURN)):
            rows = np.flatnonzero(lengths > 8 * place)
            if len(rows) == len(lengths):
                lanes = self._absorb_word(
                    lanes, _read(data, starts + 8 * place, lengths - 8 * place)
                )
                continue
            words = _read(data, starts[rows] + 8 * place, lengths[rows] - 8 * place)
            changed = self._absorb_word((lanes[0][rows], lanes[1][rows]), words)
            lanes[0][rows], lanes[1][rows] = changed
        if longest > 8 * _IN_TURN:
            self._absorb_rest(lanes, starts + 8 * _IN_TURN, lengths - 8 * _IN_TURN, data)
        return lanes

    def _absorb_rest(self, lanes: Lanes, starts: Integers, lengths: Integers, data: Any) -> None:
        """All further words of the long values at once: the sum of each word mixed with its position."""
        rows = np.flatnonzero(lengths > 0)
        counts = (lengths[rows] + 7) // 8
        ends = np.cumsum(counts)
        place = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        at = np.repeat(starts[rows], counts) + 8 * place
        words = _read(data, at, np.repeat(lengths[rows], counts) - 8 * place)
        for lane, secret in zip(lanes, self._place, strict=True):
            salted = _mixed((place.view(np.uint64) * _FIRST) ^ secret)
            sums = np.add.reduceat(_mixed(words ^ salted), ends - counts)
            lane[rows] = _mixed(lane[rows] ^ sums)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary())


def _words_of(column: pa.Array) -> Words:
    """One word for each value; equal values have equal words, whatever the width of their type."""
    values = numbers(column).values
    if values.dtype.kind == "f":
        floats = values.astype(np.float64) + 0.0
        floats[np.isnan(floats)] = np.nan
        return floats.view(np.uint64)
    return values.astype(np.int64, copy=False).view(np.uint64)


def _mixed(words: Words) -> Words:
    """MurmurHash3's finaliser, in place."""
    words ^= words >> _HALF
    words *= _FIRST
    words ^= words >> _HALF
    words *= _SECOND
    words ^= words >> _HALF
    return words


def _extents(column: pa.Array) -> tuple[Integers, Integers, Any]:
    """Where each value begins in the data, how many bytes it has (NULL: none), and the data."""
    width = np.int64 if column.type in (pa.large_string(), pa.large_binary()) else np.int32
    offset = column.offset
    offsets = np.frombuffer(column.buffers()[1], width, count=offset + len(column) + 1)[offset:]
    lengths = np.diff(offsets).astype(np.int64, copy=False)
    valid = validity(column)
    if valid is not None:
        lengths = np.where(valid, lengths, 0)
    data = column.buffers()[2]
    found = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    if len(found) < 8:
        found = np.concatenate([found, np.zeros(8 - len(found), np.uint8)])
    return offsets[:-1].astype(np.int64), lengths, found


def _read(data: Any, at: Integers, left: Integers) -> Words:
    """Up to 8 bytes at each place. At the data's end the word is read from further left and shifted."""
    shape = (len(data) - 7,)
    unaligned: Words = np.ndarray(shape, np.uint64, buffer=data, strides=(1,))
    inside = np.minimum(at, len(data) - 8)
    words = unaligned[inside] >> ((at - inside) << 3).view(np.uint64)
    words &= _KEEP[np.minimum(left, 8)]
    return words


_OURS = Hashing(np.random.SeedSequence().generate_state(8, np.uint64).astype(np.uint64))
_EVERYWHERE = Hashing(_mixed(np.arange(1, 9, dtype=np.uint64)))


def hash_rows(columns: Sequence[pa.Array], length: int) -> Lanes:
    """Two 64-bit lanes for each row over all key columns (no columns: all rows are equal).

    >>> low, high = hash_rows([pa.array([0.0, -0.0, None, float("nan")]), pa.array(["é", "é", "", None])], 4)
    >>> bool(low[0] == low[1] and high[0] == high[1]), len(set(zip(low.tolist(), high.tolist())))
    (True, 3)
    """
    return _OURS.rows(columns, length)


def stable_hashes(values: pa.Array) -> Words:
    """A hash of each value that is the same in every process: for sketches, which outlive one."""
    return _EVERYWHERE.rows([values], len(values))[0]
