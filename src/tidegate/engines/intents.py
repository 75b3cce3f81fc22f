"""What an epoch is going to read, and what it has read.

Decided here: an intent is all that is needed to do an epoch again, except for rows that a program handed over; it is
plain JSON, and written down before anything is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from tidegate.connectors.protocols import Offset
from tidegate.engines.executor import Rows
from tidegate.engines.sides import Payload


def _nothing() -> None:
    """Nothing is kept."""


@dataclass(slots=True)
class Intent:
    """What an epoch is going to do. `offsets` are where its ranges end.

    `rows` and `tables` are what a program handed over: there is no offset by which they could be had again.
    """

    now_us: int
    offsets: Mapping[str, Offset] = field(default_factory=dict)
    rows: Mapping[str, Rows] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    ended: bool = False

    def facts(self, since_us: int) -> dict[str, Any]:
        return {
            "since_us": since_us,
            "clock_us": self.now_us,
            "offsets": self.offsets,
            "watermarks": dict(self.watermarks),
            "ended": self.ended,
            "replayable": not self.rows and not self.tables,
        }

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Intent":
        return cls(
            now_us=facts["clock_us"],
            offsets=dict(facts["offsets"]),
            watermarks=facts["watermarks"],
            ended=facts["ended"],
        )


@dataclass(slots=True, kw_only=True)
class Told:
    """What is known of an epoch's input, by source, once it has been read.

    A source of the intent without a count is read by one branch of a stage, and counted there.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    malformed: Mapping[str, Sequence[Payload]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Read:
    """What an epoch reads. `tell` is asked when its rows have gone through all stages: some engines read them then.

    `partitions` are those of sources that have such. `done` is called when nobody needs the rows any more.
    """

    rows: Mapping[str, Rows] = field(default_factory=dict)
    partitions: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tell: Callable[[], Told] = Told
    done: Callable[[], None] = _nothing


Reader: TypeAlias = Callable[[Intent, int], Read]
"""Reads what was intended; the second argument is the number of the epoch."""
