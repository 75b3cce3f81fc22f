"""Rows that are windows by themselves: what a stage without a window passes on, where duplicates are looked for.

In: rows. Out: the same rows, as contents of windows that have no edges. Nothing is kept of them.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, numbers
from tidegate.kernel.finishing import ARRIVAL
from tidegate.kernel.taking import no_rows
from tidegate.kernel.windowed import Contained, Edges, Runs, contents_of, nothing


class PassingStore:
    """The rows of the epoch."""

    unused = 0

    def __init__(self, what: Contained) -> None:
        self.what = what
        self._rows = no_rows(what.kept)

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    @property
    def bytes(self) -> int:
        return 0

    def take(self, rows: pa.RecordBatch) -> None:
        self._rows = rows

    def fire(self, _watermark_us: int) -> Integers:
        return np.arange(len(self))

    def finish(self) -> Integers:
        return np.zeros(0, np.int64)

    def contents(self, windows: Integers) -> Iterator[pa.RecordBatch]:
        none = np.zeros(len(windows), np.int64)
        edges = Edges(
            numbers=numbers(self._rows.column(ARRIVAL)).values[windows],
            starts_us=none,
            ends_us=none,
            times_us=none,
            there=np.zeros(len(windows), bool),
        )
        yield from contents_of(self._rows, self.what, edges, (Runs(windows, windows + 1),))

    def drop(self, _watermark_us: int) -> None:
        self._rows = no_rows(self.what.kept)

    def nothing(self) -> pa.RecordBatch:
        return nothing(self.what)

    def partials(self) -> pa.RecordBatch:
        return self._rows

    def restore(self, batch: pa.RecordBatch) -> None:
        """There is nothing to restore."""
