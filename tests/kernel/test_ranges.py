"""Ranges: folded over numbers, and combined from pieces; both against the plain loop."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kernel.chains import chain
from tidegate.kernel.dense import Fold, fold_of
from tidegate.kernel.groups import ROWS
from tidegate.kernel.ranges import Ranges
from tidegate.kernel.sharing import Shared
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.types import Scalar

FOLDS = {
    "sum": Fold(np.add, 0.0),
    "min": fold_of(Merge.MIN, np.dtype(float)),
    "max": fold_of(Merge.MAX, np.dtype(float)),
}


def ranges(draw: np.random.Generator, count: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.sort(draw.integers(0, count, 60))
    return first, np.minimum(first + draw.integers(1, longest + 1, len(first)), count)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(("count", "longest"), [(1, 1), (50, 20), (3_000, 600), (9_000, 9_000)])
@given(seed=st.integers(0, 2**32))
def test_folds_are_those_of_each_range(name: str, count: int, longest: int, seed: int) -> None:
    """The last case is long enough for blocks."""
    draw = np.random.default_rng(seed)
    values, fold = draw.normal(size=count), FOLDS[name]
    values[draw.random(count) < 0.01] = np.nan if name != "sum" else 0.0
    first, end = ranges(draw, count, longest)
    expected = [fold.ufunc.reduce(values[a:b]) for a, b in zip(first, end, strict=True)]
    np.testing.assert_allclose(Ranges(fold, values)(first, end), expected, rtol=1e-9, atol=1e-9)


def test_what_lies_outside_of_a_range_does_not_count() -> None:
    values = np.r_[np.inf, 1e300, np.full(5_000, 0.1), np.nan]
    first, end = np.array([2, 2, 3]), np.array([5_000, 5_002, 5_002])
    found = Ranges(FOLDS["sum"], values)(first, end)
    np.testing.assert_allclose(found, [499.8, 500.0, 499.9], rtol=1e-12)


def test_prefixes_may_leave_64_bits() -> None:
    values = np.full(8, 2**62)
    found = Ranges(Fold(np.add, 0), values)(np.array([0, 6]), np.array([1, 7]))
    assert found.tolist() == [2**62, 2**62]


@pytest.mark.parametrize("name", FOLDS)
@given(seed=st.integers(0, 2**32))
def test_few_ranges_of_a_long_array(name: str, seed: int) -> None:
    """What lies between them is not looked at; some are empty, the last at the very end."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=5_000)
    first = np.r_[np.sort(draw.integers(0, 4_900, 9)), 5_000]
    end = np.minimum(first + draw.integers(0, 40, len(first)), 5_000)
    fold = FOLDS[name]
    wanted = [
        fold.ufunc.reduce(values[a:b], initial=None if b > a else fold.identity)
        for a, b in zip(first, end, strict=True)
    ]
    np.testing.assert_allclose(Ranges(fold, values)(first, end), wanted, rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 2**32), count=st.integers(1, 90))
def test_pieces_combine_like_rows(seed: int, count: int) -> None:
    draw = np.random.default_rng(seed)
    value = Field("x", Scalar.DOUBLE)
    specs = [
        PartialSpec(op=PartialOp.COUNT, args=(value,), filter=None, type=Scalar.BIGINT, merge=Merge.ADD),
        PartialSpec(op=PartialOp.MEAN, args=(value,), filter=None, type=Scalar.DOUBLE, merge=Merge.MOMENTS),
        PartialSpec(op=PartialOp.M2, args=(value,), filter=None, type=Scalar.DOUBLE, merge=Merge.MOMENTS),
        PartialSpec(op=PartialOp.MAX, args=(value,), filter=None, type=Scalar.VARCHAR, merge=Merge.MAX),
    ]  # fmt: skip
    numbers = draw.normal(size=count)
    words = [str(word) if word else None for word in draw.integers(0, 9, count)]
    rows = pa.record_batch(
        {
            ROWS: np.ones(count, int),
            "$p0": np.ones(count, int),
            "$p1": numbers,
            "$p2": np.zeros(count),
            "$p3": pa.array(words, pa.string()),
        }
    )
    first, end = ranges(draw, count, count)
    cut = count // 2  # some rows come in another part, with or without any of a range's
    shared = Shared(specs)
    shared.add(rows.slice(0, cut), np.minimum(first, cut), np.minimum(end, cut))
    shared.add(rows.slice(cut), np.maximum(first - cut, 0), np.maximum(end - cut, 0))
    made = shared.partials()
    for place, (a, b) in enumerate(zip(first, end, strict=True)):
        own = numbers[a:b]
        assert made.column("$p0")[place].as_py() == b - a
        assert made.column("$p1")[place].as_py() == pytest.approx(own.mean())
        assert made.column("$p2")[place].as_py() == pytest.approx(own.var() * len(own), abs=1e-9)
        there = [word for word in words[a:b] if word is not None]
        assert made.column("$p3")[place].as_py() == max(there, default=None)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=40), st.sets(st.integers(0, 39)))
def test_chains_reach_what_steps_reach(steps: list[int], begins: set[int]) -> None:
    count = len(steps)
    following = np.array([*(min(n + step, count) for n, step in enumerate(steps)), count])
    reached = set()
    for start in (begin for begin in begins if begin < count):
        place = start
        while place < count:
            reached.add(place)
            place = int(following[place])
    started = np.array(sorted(begin for begin in begins if begin < count), np.int64)
    assert chain(started, following).tolist() == sorted(reached)
