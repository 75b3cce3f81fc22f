"""Blocks of lines as numbers: where each begins and ends, without blank ones.

Decided here, for JSON and CSV alike: a line ends with a line feed, perhaps behind a carriage return; lines of
white space only are nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tidegate.kernel.arrow import Integers

BOM = b"\xef\xbb\xbf"
_NEWLINE, _RETURN = 10, 13


@dataclass(frozen=True, slots=True)
class Lines:
    """`block[starts[i]:ends[i]]` is the i-th line that is not empty. `first` is the number of the first one."""

    block: bytes
    starts: Integers
    ends: Integers
    first: int = 0

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        for _, line in self.numbered():
            yield line

    def numbered(self) -> Iterator[tuple[int, bytes]]:
        """Lines with their numbers."""
        edges = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        for number, (start, end) in enumerate(edges, self.first):
            line = self.block[start:end]
            if not line.isspace():
                yield number, line

    def halves(self) -> "tuple[Lines, Lines]":
        middle = len(self) // 2
        return (
            Lines(self.block, self.starts[:middle], self.ends[:middle], self.first),
            Lines(self.block, self.starts[middle:], self.ends[middle:], self.first + middle),
        )

    def bytes(self) -> bytes:
        """From the first line to the last."""
        return self.block[int(self.starts[0]) : int(self.ends[-1])] if len(self) else b""


def lines_of(block: bytes) -> Lines:
    """The lines of a block.

    >>> list(lines_of(b"a\\r\\n\\n b\\nc"))
    [b'a', b' b', b'c']
    """
    data = np.frombuffer(block, np.uint8)
    breaks = np.flatnonzero(data == _NEWLINE)
    starts = np.concatenate(([0], breaks + 1))
    ends = np.concatenate((breaks, [len(data)]))
    full = ends > starts
    starts, ends = starts[full], ends[full]
    ends = ends - (data[ends - 1] == _RETURN)
    full = ends > starts
    return Lines(block, starts[full], ends[full])
