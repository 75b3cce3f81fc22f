"""Equal keys have equal hashes, different ones different ones, however the arrays lie in memory."""

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kernel.hashing import hash_rows, stable_hashes

NAN = float("nan")
_HASH_OF_ONE = """
import pyarrow as pa
from tidegate.kernel.hashing import hash_rows, stable_hashes
print(hash_rows([pa.array([1])], 1)[0][0], stable_hashes(pa.array([1]))[0])
"""


def lanes(*columns: pa.Array) -> list[tuple[int, int]]:
    first, second = hash_rows(columns, len(columns[0]))
    return list(zip(first.tolist(), second.tolist(), strict=True))


TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.timestamp("us", tz="UTC"), st.integers(-(2**63) + 1, 2**63 - 1)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal128(38, 5), st.decimals(-(10**30), 10**30, places=5)),
    (pa.string(), st.text(max_size=20) | st.text(min_size=100, max_size=200)),
    (pa.large_string(), st.text(max_size=20)),
    (pa.binary(), st.binary(max_size=300)),
    (pa.large_binary(), st.binary(max_size=20)),
]


def same_key(value: Any) -> object:
    if isinstance(value, float):
        return "nan" if value != value else value + 0.0
    return value


@pytest.mark.parametrize(("kind", "values"), TYPES, ids=lambda part: str(part)[:20])
@given(data=st.data())
def test_hashes_are_equal_where_keys_are(
    kind: pa.DataType, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    drawn = data.draw(st.lists(st.none() | values, min_size=1, max_size=12))
    array = pa.array(drawn * 2, kind)
    keys = [same_key(value) for value in drawn * 2]
    hashed = lanes(array)
    for here, mine in zip(hashed, keys, strict=True):
        for there, other in zip(hashed, keys, strict=True):
            assert (here == there) == (mine == other)
    start = data.draw(st.integers(0, len(array) - 1))
    assert lanes(array[start:]) == hashed[start:]


def test_a_row_is_the_sequence_of_its_keys() -> None:
    one, other = pa.array(["a", "ab", None, ""]), pa.array(["bc", "c", "", None])
    assert len(set(lanes(one, other))) == 4
    assert set(lanes(one, other)).isdisjoint(lanes(other[:2], one[:2]))
    assert lanes(one, other) == [
        *lanes(one[:2], other[:2]),
        *lanes(one[2:], other[2:]),
    ]


def test_width_does_not_matter() -> None:
    assert lanes(pa.array([1, -1], pa.int8())) == lanes(pa.array([1, -1], pa.int64()))
    assert lanes(pa.array(["é"], pa.string())) == lanes(pa.array(["é"], pa.large_string()))


def test_nulls_hide_what_lies_under_them() -> None:
    one = pa.array([1, 2], pa.int64())
    bitmap = pa.py_buffer(b"\x00")
    hidden = pa.Array.from_buffers(pa.int64(), 2, [bitmap, one.buffers()[1]])
    assert len(set(lanes(hidden))) == 1
    assert set(lanes(hidden)) == set(lanes(pa.array([None], pa.string())))
    assert set(lanes(hidden)) == set(lanes(pa.nulls(1)))


def test_no_keys_make_one_group() -> None:
    first, second = hash_rows([], 3)
    assert len(set(first.tolist())) == len(set(second.tolist())) == 1


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 127, 128, 129, 136, 1000, 100_000])
def test_every_byte_of_a_string_counts(length: int) -> None:
    text = bytes(range(256)) * (length // 256 + 1)
    places = sorted({0, 1, 7, 8, length // 2, length - 9, length - 1} & set(range(length)))
    changed = [text[:at] + bytes([text[at] ^ 1]) + text[at + 1 : length] for at in places]
    variants = [text[:length], text[:length] + b"\x00", *changed]
    assert len(set(lanes(pa.array(variants)))) == len(variants)


def test_swapped_words_of_long_strings_differ() -> None:
    words = [b"%08d" % number for number in range(40)]
    swapped = [*words[:20], words[30], *words[21:30], words[20], *words[31:]]
    assert len(set(lanes(pa.array([b"".join(words), b"".join(swapped)])))) == 2


def test_decimals_differ_in_either_half() -> None:
    numbers = [Decimal(0), Decimal(1), Decimal(2**64), Decimal(-1), Decimal(-(2**64))]
    assert len(set(lanes(pa.array(numbers, pa.decimal128(38, 0))))) == 5


def test_constants_are_drawn_anew() -> None:
    """Those of groups are not those of sketches, which are the same everywhere, nor of any other process."""
    command = [sys.executable, "-c", _HASH_OF_ONE]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    mine = hash_rows([pa.array([1])], 1)[0].tolist() + stable_hashes(pa.array([1])).tolist()
    assert [str(value) for value in mine][1] == other[1]
    assert str(mine[0]) not in (*other, str(mine[1]))


@pytest.mark.parametrize("make", [lambda n: n, lambda n: n << 32, lambda n: n * 1000, str])
def test_neighbours_spread(make: Callable[[int], Any]) -> None:
    first, second = hash_rows([pa.array([make(number) for number in range(4096)])], 4096)
    for lane in (first, second):
        for shift in (0, 40, 58):
            counts = np.bincount(((lane >> np.uint64(shift)) & np.uint64(63)).astype(int))
            assert counts.min() > 20
            assert counts.max() < 120
