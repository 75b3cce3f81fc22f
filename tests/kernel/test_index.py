"""Slots are dense, in the order of first appearance, and stay what they are."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kernel.hashing import Lanes
from tidegate.kernel.index import KeyIndex

WORDS = st.integers(0, 2**64 - 1)
CROWDED = st.integers(0, 3).map(lambda high: high << 62)  # same in all low bits


def lanes_of(keys: Iterable[tuple[int, int]]) -> Lanes:
    pairs = list(keys)
    return (
        np.array([first for first, _ in pairs], np.uint64),
        np.array([second for _, second in pairs], np.uint64),
    )


def expected(
    seen: dict[tuple[int, int], int], keys: list[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    slots, opened = [], []
    for row, key in enumerate(keys):
        if key not in seen:
            seen[key] = len(seen)
            opened.append(row)
        slots.append(seen[key])
    return slots, opened


@given(
    batches=st.lists(
        st.lists(st.tuples(WORDS | CROWDED | st.integers(0, 9), WORDS | CROWDED)), max_size=8
    ),
    reserve=st.sampled_from([0, 1000]),
)
def test_slots_are_given_out_in_order(batches: list[list[tuple[int, int]]], reserve: int) -> None:
    index, seen = KeyIndex(reserve=reserve), dict[tuple[int, int], int]()
    for keys in batches:
        slots, opened = index.slots(lanes_of(keys))
        assert (slots.tolist(), opened.tolist()) == expected(seen, keys)
        assert len(index) == len(seen)
    assert index.find(lanes_of(seen)).tolist() == list(range(len(seen)))


@pytest.mark.parametrize("high", [0, 1], ids=["first lane", "second lane"])
def test_keys_that_agree_in_one_lane(high: int) -> None:
    keys = [(number, 5) if high else (5, number << 40) for number in range(3000)]
    index, seen = KeyIndex(), dict[tuple[int, int], int]()
    for start in range(0, 3000, 700):
        batch = keys[start : start + 1000]
        assert [part.tolist() for part in index.slots(lanes_of(batch))] == list(
            expected(seen, batch)
        )


def test_growth_keeps_slots() -> None:
    random = np.random.default_rng(5)
    words = random.integers(0, 2**63, (2, 50_000)).astype(np.uint64)
    index = KeyIndex()
    for start in range(0, 50_000, 7919):
        part = (words[0][start : start + 7919], words[1][start : start + 7919])
        slots, opened = index.slots(part)
        assert slots.tolist() == list(range(start, start + len(slots)))
        assert len(opened) == len(slots)
    order = random.permutation(50_000)
    found, opened = index.slots((words[0][order], words[1][order]))
    assert np.array_equal(found, order)
    assert len(opened) == 0
    assert index.bytes <= 50_000 * (1.5 * 16 + 4 * 4)


def test_absent_keys_are_not_found() -> None:
    index = KeyIndex()
    assert index.find(lanes_of([(1, 1)])).tolist() == [-1]
    index.slots(lanes_of([(1, 1)]))
    assert index.find(lanes_of([(1, 2), (2, 1), (1, 1)])).tolist() == [-1, -1, 0]
    assert index.slots(lanes_of([]))[0].tolist() == []
