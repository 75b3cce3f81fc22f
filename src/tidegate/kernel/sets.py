"""DISTINCT: from a set of values to the partials that the plain aggregate would have kept of them.

Decided here: nothing about aggregates. A set becomes partial columns (count, sum, halves, moments), and the plain
finisher does the rest; aggregates over collected values take the set as it is.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel import wide
from tidegate.kernel.arrow import (
    Numbers,
    array_of,
    arrow_type,
    decimals_of,
    numbers,
)
from tidegate.kernel.lists import flattened, list_bounds
from tidegate.model.types import Decimal

_LOW = 0xFFFFFFFF


def partials_of_set(function: str, sets: pa.Array) -> Sequence[pa.Array]:
    convert = _CONVERSIONS.get(function)
    return [sets] if convert is None else convert(sets)


class _Groups:
    """Values of sets, and how to add them up."""

    def __init__(self, sets: pa.Array) -> None:
        self.lengths = list_bounds(sets)[1]
        self.owners, self.values = flattened(sets)
        self.there = self.lengths > 0
        self._starts = (np.cumsum(self.lengths) - self.lengths)[self.there]

    def fold(self, values: Numbers, ufunc: np.ufunc = np.add) -> Numbers:
        folded = np.zeros(len(self.lengths), values.dtype)
        if len(values):
            folded[self.there] = ufunc.reduceat(values, self._starts)
        return folded

    def column(self, values: Numbers, kind: pa.DataType) -> pa.Array:
        return array_of(values, self.there, kind)

    @property
    def counts(self) -> pa.Array:
        return array_of(self.lengths, None, pa.int64())


def _count(sets: pa.Array) -> Sequence[pa.Array]:
    return [_Groups(sets).counts]


def _sum(sets: pa.Array) -> Sequence[pa.Array]:
    groups = _Groups(sets)
    kind = groups.values.type
    if pa.types.is_decimal(kind):
        return _decimal_sum(groups)
    values = numbers(groups.values).values
    if pa.types.is_floating(kind):
        with np.errstate(all="ignore"):
            return [groups.column(groups.fold(values.astype(np.float64)), pa.float64())]
    halves = (values.astype(np.int64) >> 32, values.astype(np.int64) & _LOW)
    return [groups.column(groups.fold(half), pa.int64()) for half in halves]


def _decimal_sum(groups: _Groups) -> Sequence[pa.Array]:
    """Coarse and fine digits, nine of the latter."""
    total = wide.carried([groups.fold(limb) for limb in wide.of_decimals(groups.values)])
    scale = groups.values.type.scale
    kinds = (Decimal(38, max(0, scale - 9)), Decimal(min(38, max(9, scale) + 10), scale))
    parts = (wide.to_decimals(part, 38) for part in wide.split(total, 10**9))
    return [
        decimals_of(low, high, groups.there, arrow_type(kind))
        for (low, high, _), kind in zip(parts, kinds, strict=True)
    ]


def _average(sets: pa.Array) -> Sequence[pa.Array]:
    return [*_count(sets), *_sum(sets)]


def _xor(sets: pa.Array) -> Sequence[pa.Array]:
    groups = _Groups(sets)
    folded = groups.fold(numbers(groups.values).values, np.bitwise_xor)
    return [groups.column(folded, pa.int64())]


def _moments(sets: pa.Array) -> Sequence[pa.Array]:
    groups = _Groups(sets)
    mean, away = _deviations(groups, groups.values)
    with np.errstate(all="ignore"):
        squared = groups.fold(away * away)
    return [groups.counts, mean, groups.column(squared, pa.float64())]


def _comoments(sets: pa.Array) -> Sequence[pa.Array]:
    groups = _Groups(sets)
    (mean, away), (other_mean, other_away) = (
        _deviations(groups, part) for part in groups.values.flatten()
    )
    pairs = ((away, away), (other_away, other_away), (away, other_away))
    with np.errstate(all="ignore"):
        products = [groups.column(groups.fold(one * two), pa.float64()) for one, two in pairs]
    return [groups.counts, mean, other_mean, *products]


def _deviations(groups: _Groups, array: pa.Array) -> tuple[pa.Array, Numbers]:
    values = numbers(array).values.astype(np.float64)
    with np.errstate(all="ignore"):
        means = groups.fold(values) / np.maximum(groups.lengths, 1)
        return groups.column(means, pa.float64()), values - means[groups.owners]


_CONVERSIONS: dict[str, Callable[[pa.Array], Sequence[pa.Array]]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "bit_xor": _xor,
    **dict.fromkeys("var_pop var_samp stddev_pop stddev_samp".split(), _moments),
    **dict.fromkeys("covar_pop covar_samp corr".split(), _comoments),
}
