"""COUNT, SUM and AVG.

Sums of integers come as `high * 2^32 + low`, sums of long decimals as `coarse * 10^n + fine`; both are put together
without rounding, and only then is it asked whether the result fits. AVG divides the exact sum: an integer mean is off
by one rounding of the quotient, a decimal one is rounded half away from zero at its last digit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tidegate.kernel import wide
from tidegate.kernel.arrow import (
    Integers,
    Mask,
    array_of,
    arrow_type,
    decimals_of,
    numbers,
    validity,
)
from tidegate.model.partials import SPARE_DIGITS, FinishSpec
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.model.types import Decimal

_LOW = 0xFFFFFFFF
_OVERFLOW = DISPOSITION[Reason.OVERFLOW]


@dataclass(frozen=True, slots=True)
class Finished:
    """Values, and where there is none: the `codes` of reasons (None: nowhere), and `details` by place."""

    values: pa.Array
    codes: Integers | None = None
    details: Mapping[int, str] = field(default_factory=dict)


def count(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    return Finished(array_of(numbers(arrays[0]).filled(0), None, pa.int64()))


def total(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    if isinstance(spec.type, Decimal):
        return _decimals(decimal_sum(arrays), there(arrays[0]), spec.type)
    if len(arrays) == 1:
        return Finished(arrays[0])
    high, low = integer_sum(arrays)
    valid = there(arrays[0])
    overflow = valid & (high != high << 32 >> 32)
    values = array_of((high << 32) | low, valid & ~overflow, pa.int64())
    return Finished(values, _overflowing(overflow))


def average(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    counts = numbers(arrays[0]).filled(0)
    valid, by = counts > 0, np.maximum(counts, 1)
    if isinstance(spec.type, Decimal):
        scaled = wide.times_ten(decimal_sum(arrays[1:]), spec.type.scale - arrays[-1].type.scale)
        return _decimals(wide.divided(scaled, by), valid, spec.type)
    if len(arrays) == 2:
        with np.errstate(all="ignore"):
            return Finished(array_of(numbers(arrays[1]).filled(0.0) / by, valid, pa.float64()))
    return Finished(array_of(_quotient(*integer_sum(arrays[1:]), by), valid, pa.float64()))


def there(array: pa.Array) -> Mask:
    valid = validity(array)
    return np.ones(len(array), bool) if valid is None else valid


def integer_sum(arrays: Sequence[pa.Array]) -> tuple[Integers, Integers]:
    """High and low part of the sum, the low one below 2^32."""
    high, low = (numbers(array).filled(0) for array in arrays)
    return high + (low >> 32), low & _LOW


def _quotient(
    high: Integers, low: Integers, by: Integers
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Long division in base 2^32: whole quotient first, then what is left as a fraction."""
    whole, rest = np.divmod(high, by)
    exact = by < 1 << 31
    rest = np.where(exact, rest, 0)
    more, left = np.divmod((rest << 32) + low, by)
    quotient = whole * 2.0**32 + more + left / by
    return np.where(exact, quotient, (high * 2.0**32 + low) / by)


def decimal_sum(arrays: Sequence[pa.Array]) -> wide.Wide:
    """In units of the last column's last digit."""
    parts = [_zero_for_null(array) for array in arrays]
    if len(parts) == 1:
        return parts[0]
    coarse, fine = (array.type for array in arrays)
    unit = max(0, fine.precision - SPARE_DIGITS - fine.scale)
    return wide.plus(wide.times_ten(parts[0], unit + fine.scale - coarse.scale), parts[1])


def _zero_for_null(array: pa.Array) -> wide.Wide:
    valid = there(array)
    return [np.where(valid, limb, 0) for limb in wide.of_decimals(array)]


def _decimals(limbs: wide.Wide, valid: Mask, kind: Decimal) -> Finished:
    low, high, over = wide.to_decimals(limbs, kind.precision)
    overflow = over & valid
    values = decimals_of(low, high, valid & ~overflow, arrow_type(kind))
    return Finished(values, _overflowing(overflow))


def _overflowing(overflow: Mask) -> Integers | None:
    return np.where(overflow, _OVERFLOW, AGGREGATED) if overflow.any() else None
