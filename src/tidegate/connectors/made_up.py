"""Values of made-up rows: each is a function of the seed, the column and the row's number.

Decided here: `draws` is a counter-based generator (SplitMix64's mixing of seed, name and number), so rows can be made
in any order and a thousand at a time. What a column looks like goes by its type, and for numbers by its name: an id
counts rows, a share lies between 0 and 1, anything else with a fraction wanders around 100 as a price does. Texts
are a few symbols, A to Z and on; NULLs there are none.

Reference: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

import re
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tidegate.kernel.arrow import Integers, Numbers, Words, arrow_type, decimals_of
from tidegate.model.schema import Schema
from tidegate.model.time import DAY
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct

_COUNTING = re.compile(r"(.*_)?(id|no|number|seq|sequence|offset)")
_SHARE = re.compile(r".*(share|ratio|rate|probability|fraction|pct)")
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LIMITS = {Scalar.TINYINT: 100, Scalar.SMALLINT: 1_000, Scalar.INTEGER: 1_000, Scalar.BIGINT: 1_000}
_MOST_ITEMS = 4
_STRIDE = 1_024  # rows from one support of a price's walk to the next

Floats = NDArray[np.float64]


def draws(seed: int, name: str, numbers: Integers) -> Words:
    """64 random bits for each number, independent for each name.

    >>> draws(1, "a", np.array([5, 6])).tolist() == [int(draws(1, "a", np.array([n]))[0]) for n in (5, 6)]
    True
    """
    salt = int.from_bytes(blake2b(f"{seed}:{name}".encode(), digest_size=8).digest())
    mixed = numbers.astype(np.uint64) * _GAMMA + np.uint64(salt)
    for shift, factor in _STEPS:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def uniform(words: Words) -> Floats:
    """Numbers in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def walk(seed: int, name: str, numbers: Integers) -> Floats:
    """Around 100: smooth between random supports, with a little noise on top."""
    left = numbers // _STRIDE
    share = (numbers % _STRIDE) / _STRIDE
    eased = share * share * (3 - 2 * share)
    begin, end = (uniform(draws(seed, f"{name}~", at)) - 0.5 for at in (left, left + 1))
    noise = uniform(draws(seed, name, numbers)) - 0.5
    return 100.0 * np.exp(0.2 * (begin + (end - begin) * eased) + 0.02 * noise)


def symbol(place: int) -> str:
    """Spreadsheet columns.

    >>> [symbol(place) for place in (0, 25, 26, 702)]
    ['A', 'Z', 'AA', 'AAA']
    """
    letters = ""
    place += 1
    while place:
        place, digit = divmod(place - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


class Maker:
    """Makes tables with the columns of a schema."""

    def __init__(self, schema: Schema, *, seed: int, keys: int) -> None:
        self._schema = schema
        self._seed = seed
        self._symbols = pa.array([symbol(place) for place in range(keys)])

    def table(self, numbers: Integers, times_us: Integers) -> pa.Table:
        """The rows with these numbers and event times."""
        arrays = [
            self._array(column.type, column.name.lower(), numbers, times_us)
            for column in self._schema
        ]
        fields = [(column.name, arrow_type(column.type)) for column in self._schema]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _array(self, kind: DataType, name: str, numbers: Integers, times_us: Integers) -> pa.Array:
        match kind:
            case Decimal():
                return self._decimals(kind, name, numbers)
            case Array(element):
                starts, items, at_us = self._spread(name, numbers, times_us)
                return pa.ListArray.from_arrays(
                    starts, self._array(element, f"{name}[]", items, at_us)
                )
            case Map(key, value):
                starts, items, at_us = self._spread(name, numbers, times_us)
                keys = self._array(key, f"{name}.key_id", items % _MOST_ITEMS, at_us)
                values = self._array(value, f"{name}[]", items, at_us)
                return pa.MapArray.from_arrays(starts, keys, values)
            case Struct(fields):
                parts = [
                    self._array(part, f"{name}.{field}".lower(), numbers, times_us)
                    for field, part in fields
                ]
                return pa.StructArray.from_arrays(parts, fields=list(arrow_type(kind)))
            case _:
                return self._scalars(kind, name, numbers, times_us)

    def _spread(
        self, name: str, numbers: Integers, times_us: Integers
    ) -> tuple[pa.Array, Integers, Integers]:
        """Up to a few items for each row: where they start, their own numbers, and the event times of their rows."""
        counts = (draws(self._seed, f"{name}#", numbers) % np.uint64(_MOST_ITEMS)).astype(np.int64)
        ends = np.cumsum(counts)
        starts = np.concatenate(([0], ends)).astype(np.int32)
        nth = np.arange(int(starts[-1])) - np.repeat(ends - counts, counts)
        items = np.repeat(numbers, counts) * _MOST_ITEMS + nth
        return pa.array(starts), items, np.repeat(times_us, counts)

    def _decimals(self, kind: Decimal, name: str, numbers: Integers) -> pa.Array:
        """As prices, as far as the type has room for them."""
        digits = min(kind.precision, 18)
        whole = walk(self._seed, name, numbers) * 10.0 ** min(kind.scale, 12)
        low = np.rint(whole).astype(np.int64) % 10**digits
        return decimals_of(low.view(np.uint64), np.zeros_like(low), None, arrow_type(kind))

    def _scalars(
        self, kind: DataType, name: str, numbers: Integers, times_us: Integers
    ) -> pa.Array:
        words = draws(self._seed, name, numbers)
        match kind:
            case Scalar.TIMESTAMP:
                return pa.array(times_us).cast(arrow_type(kind))
            case Scalar.DATE:
                return pa.array((times_us // DAY).astype(np.int32)).cast(arrow_type(kind))
            case Scalar.VARCHAR:
                return self._texts(name, words, numbers)
            case Scalar.BINARY:
                return pa.array([word.tobytes() for word in words], pa.binary())
            case Scalar.BOOLEAN:
                return pa.array((words & np.uint64(1)).astype(bool))
            case Scalar.REAL | Scalar.DOUBLE:
                return pa.array(self._fractions(name, numbers)).cast(arrow_type(kind))
            case _:
                assert isinstance(kind, Scalar)
                return pa.array(_integers(kind, name, words, numbers)).cast(arrow_type(kind))

    def _texts(self, name: str, words: Words, numbers: Integers) -> pa.Array:
        places = numbers.astype(np.uint64) if _counts(name) else words
        return self._symbols.take(pa.array(places % np.uint64(len(self._symbols))))

    def _fractions(self, name: str, numbers: Integers) -> Numbers:
        if _SHARE.fullmatch(name):
            return uniform(draws(self._seed, name, numbers))
        return np.round(walk(self._seed, name, numbers), 2)


def _counts(name: str) -> bool:
    return _COUNTING.fullmatch(name.rpartition(".")[2]) is not None


def _integers(kind: Scalar, name: str, words: Words, numbers: Integers) -> Integers:
    limit = _LIMITS[kind]
    if _counts(name):
        return numbers if kind is Scalar.BIGINT else numbers % (limit + 1)
    return (words % np.uint64(limit)).astype(np.int64) + 1
