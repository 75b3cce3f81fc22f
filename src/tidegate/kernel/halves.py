"""Exact sums of BIGINT as two halves, for ever.

Decided here: when halves are put in order. An engine adds up the high 32 bits and the low 32 bits of values separately
(`plan/aggregates.py`), so 2^31 rows are sure to fit; a group that is never closed sees more than that. So every 2^30
rows of a table, whatever has gathered in the low halves above 32 bits is carried over to the high halves. The sum of
both, `high * 2^32 + low`, stays what it is, and the next 2^30 rows fit again.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import numbers
from tidegate.kernel.columns import StateColumn
from tidegate.kernel.dense import Folded
from tidegate.model.expressions import Call, bigint
from tidegate.model.partials import PartialOp, PartialSpec
from tidegate.model.types import Scalar

_EVERY_ROWS = 1 << 30
_LOW = 0xFFFFFFFF


def halves_of(specs: Sequence[PartialSpec]) -> list[tuple[int, int]]:
    """Positions of high and low halves that belong together."""
    pairs = []
    for position, spec in enumerate(specs):
        match spec:
            case PartialSpec(op=PartialOp.SUM, args=(Call(function="&", args=(value, mask)),)):
                if mask != bigint(_LOW):
                    continue
                above = Call(">>", (value, bigint(32)), Scalar.BIGINT)
                high = replace(spec, args=(above,))
                if high in specs:
                    pairs.append((specs.index(high), position))
    return pairs


class Halves:
    """The pairs of a table, and how many rows they have taken in."""

    __slots__ = ("_pairs", "_rows")

    def __init__(self, specs: Sequence[PartialSpec], columns: Sequence[StateColumn]) -> None:
        self._pairs: list[tuple[Folded, Folded]] = []
        for high, low in halves_of(specs):
            one, other = columns[high], columns[low]
            if isinstance(one, Folded) and isinstance(other, Folded):
                self._pairs.append((one, other))
        self._rows = 0

    def settle(self, rows: pa.Array) -> None:
        """Note that a batch with these numbers of rows has been merged."""
        if not self._pairs:
            return
        self._rows += int(numbers(rows).values.sum())
        if self._rows < _EVERY_ROWS:
            return
        self._rows = 0
        for high, low in self._pairs:
            high.values[:] += low.values >> 32
            low.values[:] &= np.int64(_LOW)
