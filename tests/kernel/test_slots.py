"""Slots of whole numbers are those of any keys, whether the numbers lie close together or not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.kernel.arrow import Column, arrow_type
from tidegate.kernel.direct import DirectIndex
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.ordering import distinct, lexical
from tidegate.kernel.slots import GroupIndex
from tidegate.model.expressions import Field
from tidegate.model.types import Scalar

CLOSE = st.integers(-20, 20)
FAR = st.integers(-(2**63), 2**63 - 1)
KEYS = st.none() | CLOSE | FAR
BATCHES = st.lists(
    st.lists(st.none() | CLOSE, max_size=30) | st.lists(KEYS, max_size=30), max_size=6
)


def column(keys: list[int | None], kind: Scalar = Scalar.BIGINT) -> pa.Array:
    return pa.array(keys, arrow_type(kind))


@given(batches=BATCHES, expected=st.sampled_from([0, 1_000_000]))
@example(batches=[[2**63 - 1], [-(2**63)], [None, 0]], expected=0)
@example(batches=[[5, None], [4], [6], [None, 10_000], [4_000_000]], expected=1_000_000)
def test_slots_are_given_out_in_order(batches: list[list[int | None]], expected: int) -> None:
    index, seen = GroupIndex([Field("k", Scalar.BIGINT)]), dict[int | None, int]()
    for keys in batches:
        opened = [row for row, key in enumerate(keys) if key not in seen and key not in keys[:row]]
        for key in keys:
            seen.setdefault(key, len(seen))
        slots, found = index.slots([column(keys)], len(keys), expected)
        assert slots.tolist() == [seen[key] for key in keys]
        assert found.tolist() == opened
        assert len(index) == len(seen)
    asked = [*seen, 2**62, -(2**62), 21]
    slots = index.find([column(asked)], len(asked))
    assert slots.tolist() == [seen.get(key, -1) for key in asked]


def test_numbers_that_lie_far_apart_are_hashed() -> None:
    index = GroupIndex([Field("k", Scalar.BIGINT)])
    index.slots([column([1, None, 3])], 3)
    close = index.bytes
    slots, opened = index.slots([column([10**15, None, 1])], 3)
    assert (slots.tolist(), opened.tolist()) == ([3, 1, 0], [0])
    assert index.bytes < close + 4_096


def test_an_index_takes_four_cells_of_a_group_at_most() -> None:
    index, count = DirectIndex(), 0
    while index.slots(Column(np.array([3 * count]))) is not None and count < 30_000:
        count += 1
    assert count == 30_000
    assert index.bytes <= 4 * 4 * 1.5 * count


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Scalar.TINYINT, [-128, 127, None, -128]),
        (Scalar.DATE, [0, 20_000, None, 0]),
        (Scalar.BOOLEAN, [True, False, None, True]),
        (Scalar.TIMESTAMP, [-1, 1, None, -1]),
    ],
)
def test_every_whole_number_can_be_a_key(kind: Scalar, keys: list[int | None]) -> None:
    table = GroupTable([Field("$k0", kind)], [], timed=False)
    rows = pa.record_batch({"$k0": column(keys[:3], kind), "$rows": pa.array([1, 2, 3])})
    assert table.merge(rows).tolist() == [0, 1, 2]
    assert table.merge(rows.slice(0, 1)).tolist() == [0]
    assert table.partials().column("$rows").to_pylist() == [2, 2, 3]
    assert table.partials().column("$k0").equals(rows.column("$k0"))


@given(rows=st.lists(st.tuples(CLOSE | FAR, CLOSE | FAR), max_size=30))
def test_order_by_two_numbers(rows: list[tuple[int, int]]) -> None:
    major, minor = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
    order = lexical(major, minor)
    assert [rows[place] for place in order.tolist()] == sorted(rows)


@given(numbers=st.lists(st.integers(0, 500), max_size=30))
def test_each_number_once(numbers: list[int]) -> None:
    assert distinct(np.array(numbers, np.int64), 501).tolist() == sorted(set(numbers))
