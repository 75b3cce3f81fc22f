"""Variances, covariances and correlation, from counts, means and products of deviations (`moments.py`).

A sample of one has no variance: NULL. Nor has a constant a correlation with anything: NULL, as in PostgreSQL. Where one
value is infinite or NaN, so is the mean, and everything here is NaN: what the products became depends on the order.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Numbers, array_of, numbers
from tidegate.kernel.sums import Finished
from tidegate.model.partials import FinishSpec

Finisher = Callable[[FinishSpec, Sequence[pa.Array]], Finished]


def variance(*, sample: bool, root: bool) -> Finisher:
    def finish(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
        return _per_degree(arrays[0], arrays[1:2], arrays[2], sample=sample, root=root)

    return finish


def covariance(*, sample: bool) -> Finisher:
    def finish(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
        return _per_degree(arrays[0], arrays[1:3], arrays[5], sample=sample, root=False)

    return finish


def _per_degree(
    counts: pa.Array, means: Sequence[pa.Array], products: pa.Array, *, sample: bool, root: bool
) -> Finished:
    degrees = numbers(counts).filled(0) - sample
    values = _of_finite(means, numbers(products).filled(0.0)) / np.maximum(degrees, 1)
    return Finished(array_of(np.sqrt(values) if root else values, degrees > 0, pa.float64()))


def _of_finite(means: Sequence[pa.Array], products: Numbers) -> Numbers:
    finite = np.ones(len(products), bool)
    for mean in means:
        finite &= np.isfinite(numbers(mean).filled(0.0))
    return products if finite.all() else np.where(finite, products, np.nan)


def correlation(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    one, other, both = (
        _of_finite(arrays[1:3], numbers(array).filled(0.0)) for array in arrays[3:6]
    )
    spread = np.sqrt(one) * np.sqrt(other)
    valid = (numbers(arrays[0]).filled(0) > 1) & (one != 0) & (other != 0)
    with np.errstate(all="ignore"):
        together = both / np.where(valid, spread, 1.0)
    return Finished(array_of(np.clip(together, -1.0, 1.0), valid, pa.float64()))
