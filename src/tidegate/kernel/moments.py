"""Means, squared deviations and products of deviations.

Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979): of two sets
with counts m, n, means a, b and squared deviations S, T, with d = b - a, the union has

    mean a + d·n/(m+n)        squared deviations S + T + d²·m·n/(m+n)

and products of deviations of two variables likewise, with the product of both d. Unlike sums of squares this loses no
digits where the mean is large against the spread. An empty side leaves the other as it is, to the bit.

>>> m2 = merged_products(Part(2, 1.5, 1.5, 0.5), Part(1, 6.0, 6.0, 0.0))  # {1, 2} and {6}
>>> float(m2)
14.0
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Numbers, array_of
from tidegate.kernel.columns import Arrivals, Where
from tidegate.kernel.dense import Folded
from tidegate.kernel.growing import Growing


@dataclass(frozen=True, slots=True)
class Part:
    """Counts, means of two variables (maybe the same one), and their products of deviations."""

    count: Any
    mean: Any
    other_mean: Any
    products: Any = 0.0


def merged_means(one: Part, other: Part) -> Numbers:
    with np.errstate(all="ignore"):
        share = other.count / np.maximum(one.count + other.count, 1)
        together = one.mean + (other.mean - one.mean) * share
    return _unless_empty(one.count, one.mean, other.count, other.mean, together)


def merged_products(one: Part, other: Part) -> Numbers:
    with np.errstate(all="ignore"):
        share = one.count * (other.count / np.maximum(one.count + other.count, 1))
        moved = (other.mean - one.mean) * (other.other_mean - one.other_mean) * share
        together = one.products + other.products + moved
    return _unless_empty(one.count, one.products, other.count, other.products, together)


def _unless_empty(
    one_count: Any, one: Numbers, other_count: Any, other: Numbers, together: Numbers
) -> Numbers:
    return np.where(other_count == 0, one, np.where(one_count == 0, other, together))


class Mean:
    """Merged before its count."""

    __slots__ = ("_count", "_count_position", "_position", "_values")

    def __init__(self, position: int, count: Folded, count_position: int) -> None:
        self._position = position
        self._count, self._count_position = count, count_position
        self._values = Growing(np.float64)

    @property
    def bytes(self) -> int:
        return self._values.bytes

    @property
    def values(self) -> Numbers:
        return self._values.values

    def grow(self, size: int) -> None:
        self._values.grow(size, 0.0)

    def counts(self, where: Where) -> Numbers:
        return self._count.values[where]

    def arrived(self, arrivals: Arrivals) -> tuple[Numbers, Numbers]:
        counts = arrivals.numbers(self._count_position).values
        return counts, arrivals.numbers(self._position).filled(0.0)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        count, mean = self.arrived(arrivals)
        here = self.values[where]
        self.values[where] = merged_means(
            Part(self.counts(where), here, here), Part(count, mean, mean)
        )

    def read(self, slots: Where) -> pa.Array:
        return array_of(self.values[slots].copy(), self.counts(slots) > 0, pa.float64())


class Products:
    """Sum of products of deviations from two means (twice the same one: squared deviations). Merged before both."""

    __slots__ = ("_one", "_other", "_position", "_values")

    def __init__(self, position: int, one: Mean, other: Mean) -> None:
        self._position = position
        self._one, self._other = one, other
        self._values = Growing(np.float64)

    @property
    def bytes(self) -> int:
        return self._values.bytes

    def grow(self, size: int) -> None:
        self._values.grow(size, 0.0)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        values = self._values.values
        count, mean = self._one.arrived(arrivals)
        _, other_mean = self._other.arrived(arrivals)
        products = arrivals.numbers(self._position).filled(0.0)
        here = Part(
            self._one.counts(where),
            self._one.values[where],
            self._other.values[where],
            values[where],
        )
        values[where] = merged_products(here, Part(count, mean, other_mean, products))

    def read(self, slots: Where) -> pa.Array:
        there = self._one.counts(slots) > 0
        return array_of(self._values.values[slots].copy(), there, pa.float64())
