"""Arithmetic on DECIMALs that do not fit into 128 bits on the way.

A number is six limbs of 32 bits, the lowest first, each an array of int64 over all groups; the last limb has the sign
(two's complement). 192 bits hold a sum of 48 digits times 10^4, which is as far as SUM and AVG go. Division is by
counts below 2^32, digit by digit (Knuth, TAOCP 2, 4.3.1, exercise 16).

>>> ten = of_decimals(pa.array([10, -10], pa.decimal128(2, 0)))
>>> to_decimals(divided(ten, np.array([4, 4])), 38)[0].view(np.int64)
array([ 3, -3])
"""

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, Words, lanes_of

Wide: TypeAlias = list[Integers]

_LIMBS, _BITS = 6, 32
_MASK = (1 << _BITS) - 1


def of_lanes(low: Words, high: Integers) -> Wide:
    below = low.view(np.int64) if low.flags.c_contiguous else low.astype(np.int64)
    sign = high >> 63
    return [
        below & _MASK,
        (below >> _BITS) & _MASK,
        high & _MASK,
        (high >> _BITS) & _MASK,
        sign & _MASK,
        sign,
    ]


def of_decimals(array: pa.Array) -> Wide:
    return of_lanes(*lanes_of(array))


def carried(limbs: Wide) -> Wide:
    """The same number with each limb in its range."""
    result, carry = [], np.zeros_like(limbs[0])
    for limb in limbs[:-1]:
        total = limb + carry
        result.append(total & _MASK)
        carry = total >> _BITS
    return [*result, limbs[-1] + carry]


def times(limbs: Wide, factor: int) -> Wide:
    """By a positive factor below 2^31."""
    return carried([limb * factor for limb in limbs])


def times_ten(limbs: Wide, power: int) -> Wide:
    while power > 0:
        limbs = times(limbs, 10 ** min(power, 9))
        power -= 9
    return limbs


def plus(one: Wide, other: Wide) -> Wide:
    return carried([mine + yours for mine, yours in zip(one, other, strict=True)])


def magnitude(limbs: Wide) -> Wide:
    negative = limbs[-1] < 0
    return carried([np.where(negative, -limb, limb) for limb in limbs])


def with_sign(limbs: Wide, negative: Mask) -> Wide:
    return carried([np.where(negative, -limb, limb) for limb in limbs])


def split(limbs: Wide, by: int) -> tuple[Wide, Wide]:
    """Quotient, rounded toward zero, and rest, with the number's sign."""
    negative = limbs[-1] < 0
    quotient, rest = _long_division(magnitude(limbs), np.full_like(limbs[0], by))
    nothing = [np.zeros_like(rest)] * (_LIMBS - 1)
    return with_sign(quotient, negative), with_sign([rest, *nothing], negative)


def divided(limbs: Wide, by: Integers) -> Wide:
    """Rounded half away from zero."""
    quotient, rest = _long_division(magnitude(limbs), by)
    quotient[0] = quotient[0] + (2 * rest >= by)
    return with_sign(quotient, limbs[-1] < 0)


def _long_division(limbs: Wide, by: Integers) -> tuple[Wide, Integers]:
    divisor, rest = by.view(np.uint64), np.zeros(len(by), np.uint64)
    quotient = []
    for limb in reversed(limbs):
        digit = (rest << np.uint64(_BITS)) | limb.view(np.uint64)
        quotient.append((digit // divisor).view(np.int64))
        rest = digit % divisor
    return quotient[::-1], rest.view(np.int64)


def to_decimals(limbs: Wide, precision: int) -> tuple[Words, Integers, Mask]:
    """Low and high lanes, and where the number has more digits than that."""
    size = magnitude(limbs)
    bound = 10**precision
    over = np.zeros(len(limbs[0]), bool)
    equal = np.ones(len(limbs[0]), bool)
    for place in reversed(range(_LIMBS)):
        digit = (bound >> (_BITS * place)) & _MASK
        over |= equal & (size[place] > digit)
        equal &= size[place] == digit
    low = limbs[0] | (limbs[1] << _BITS)
    return low.view(np.uint64), limbs[2] | (limbs[3] << _BITS), over | equal
