"""Numbers for the partitions that rows are in, the same from batch to batch.

Decided here: what a number costs. The first rows of a batch open most of the partitions that it has, so they are looked
up first, and all others only find what is there. Numbers are given anew when most of them are of partitions whose rows
are gone, so the index does not grow with the history.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, conform
from tidegate.kernel.slots import GroupIndex
from tidegate.model.expressions import Field

_AT_FIRST = 1 << 15
_SLACK = 1 << 12


class Partitions:
    """Of rows by `keys`."""

    def __init__(self, keys: Sequence[Field]) -> None:
        self._keys = tuple(keys)
        self._index = GroupIndex(keys)

    @property
    def bytes(self) -> int:
        return self._index.bytes

    def slots(self, rows: pa.RecordBatch) -> Integers:
        """The number of each row's partition."""
        keys = [conform(rows.column(key.name), key.type) for key in self._keys]
        count = rows.num_rows
        parts = [
            self._index.slots([key.slice(start, size) for key in keys], size, count)[0]
            for start, size in ((0, min(count, _AT_FIRST)), (_AT_FIRST, max(0, count - _AT_FIRST)))
        ]
        return np.concatenate(parts)

    def is_stale(self, rows: int) -> bool:
        """Whether most numbers are sure to be of no row any more."""
        return len(self._index) > 2 * rows + _SLACK
