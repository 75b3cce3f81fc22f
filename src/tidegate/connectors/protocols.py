"""What the engines know of the outside: sources that give the same rows again, sinks that take the same epoch again.

Decided here: a source is read in ranges. `latest` says where the next range ends, which the engine writes down before
it reads; `read` gives the rows of a range, the same ones whenever it is asked. So a crash between the two repeats an
epoch instead of losing or doubling it. Offsets are plain JSON, opaque to the engine. A sink takes all rows of an epoch
at once, and taking the same epoch again replaces what it took before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

Offset: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """A record that is no row. `text` is as much of it as fits into a side output."""

    text: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a range holds: the source's physical columns in the kernel's Arrow types, and what could not be read.

    A connector that knows when a row came about adds the column `$source_time` (TIMESTAMP).
    """

    rows: pa.Table
    malformed: tuple[Malformed, ...] = ()


class SourceReader(Protocol):
    """One source. `after` None is the very beginning."""

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        """Where a range of about `max_rows` rows that begins there would end; None while there is nothing new."""
        ...

    def read(self, after: Offset | None, until: Offset) -> Delivery: ...

    def ended(self, at: Offset | None) -> bool:
        """Whether nothing will ever come behind the offset."""
        ...

    def close(self) -> None: ...


class SinkWriter(Protocol):
    """One sink. `rows` has the columns of the stream, and `_op` in front if the stream is upsert or changelog."""

    def write(self, epoch: int, rows: pa.Table) -> None:
        """Durable when it returns. Epochs come in order; after a crash the last one may come again."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Partitioned(Protocol):
    """A source whose rows have a column `$partition` (BIGINT), and whose partitions hold the watermark back."""

    def partitions(self, until: Offset) -> Sequence[int]:
        """All that there are, by the offset."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Where a run begins. `run` names its checkpoint, None if it has none; `epoch` is the last one that is real.

    `repeats`: the one behind it, if it was begun, is done again just as it was.
    """

    run: str | None
    epoch: int
    repeats: bool


@runtime_checkable
class Resumable(Protocol):
    """A sink that remembers by itself which epochs it has."""

    def resume(self, resumed: Resumed) -> None:
        """Once, before the first epoch."""
        ...
