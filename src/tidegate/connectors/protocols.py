"""What the engines know of the outside: sources that give the same rows again, sinks that take the same epoch again.

Decided here: a source is read in ranges. `latest` says where the next range ends, which the engine writes down before
it reads; `read` gives the rows of a range, the same ones whenever it is asked. So a crash between the two repeats an
epoch instead of losing or doubling it. Offsets are plain JSON, opaque to the engine. A sink takes all rows of an epoch
at once, and taking the same epoch again replaces what it took before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

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
