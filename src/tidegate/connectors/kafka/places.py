"""Where a reader of a topic stands: ranges of offsets, one for each partition.

Decided here: a range names both of its ends, so that it can be read again by itself, also if it is the very first and
began with what was newest at that moment. Partitions that have nothing new are part of it, with an empty range: so all
partitions are known that there were.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate import errors
from tidegate.connectors.protocols import Offset
from tidegate.connectors.settings import Settings

EARLIEST, LATEST = -2, -1  # as in Spark's JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Offsets from `start` to before `stop`."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRange:
    """By partition.

    >>> it = TopicRange(topic="t", spans={0: Span(start=3, stop=5)})
    >>> it.offset()
    {'topic': 't', 'partitions': {'0': [3, 5]}}
    >>> range_of(it.offset(), topic="t") == it
    True
    """

    topic: str
    spans: Mapping[int, Span]

    def offset(self) -> dict[str, Any]:
        spans = {str(number): [span.start, span.stop] for number, span in self.spans.items()}
        return {"topic": self.topic, "partitions": spans}

    @property
    def stops(self) -> dict[int, int]:
        return {number: span.stop for number, span in self.spans.items()}


def range_of(offset: Offset, *, topic: str) -> TopicRange:
    """What a checkpoint names; refused if it is of another topic, or of another connector."""
    try:
        spans = {
            int(number): Span(start=int(start), stop=int(stop))
            for number, (start, stop) in offset["partitions"].items()
        }
        found = str(offset["topic"])
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise errors.foreign_offset(name="kafka", problem=repr(problem)) from None
    if found != topic:
        raise errors.foreign_offset(name="kafka", problem=f"it is of topic {found}, not {topic}")
    return TopicRange(topic=topic, spans=spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a reader without a checkpoint begins: an instant in ms, or offsets by partition, or an end of the topic."""

    otherwise: int = EARLIEST
    from_ms: int | None = None
    offsets: Mapping[int, int] | None = None

    def of(self, partition: int) -> int:
        return self.otherwise if self.offsets is None else self.offsets.get(partition, EARLIEST)


def start_of(settings: Settings) -> Start:
    """What the options say, in Flink's words or in Spark's."""
    if "startingOffsets" in settings.options:
        return _sparks(settings)
    mode = settings.text("scan.startup.mode")
    if mode == "latest-offset":
        return Start(otherwise=LATEST)
    if mode == "specific-offsets":
        return Start(offsets=_flinks(settings))
    from_ms = settings.number("scan.startup.timestamp-millis")
    if mode == "timestamp" and from_ms is None:
        raise settings.refusal("scan.startup.mode", "it needs scan.startup.timestamp-millis, too")
    if mode == "earliest-offset" and "scan.startup.mode" in settings.options:
        return Start()
    return Start(from_ms=from_ms)


def _flinks(settings: Settings) -> dict[int, int]:
    name = "scan.startup.specific-offsets"
    try:
        found = {}
        for part in str(settings.get(name) or "").strip(";").split(";"):
            pairs = dict(pair.strip().split(":") for pair in part.split(","))
            found[int(pairs["partition"])] = int(pairs["offset"])
        return found
    except (KeyError, ValueError):
        raise settings.refusal(
            name, "expected partition:0,offset:42;partition:1,offset:300"
        ) from None


def _sparks(settings: Settings) -> Start:
    text = str(settings.get("startingOffsets"))
    if text.lower() in ("earliest", "latest"):
        return Start(otherwise=LATEST if text.lower() == "latest" else EARLIEST)
    try:
        (offsets,) = json.loads(text).values()
        return Start(offsets={int(number): int(at) for number, at in offsets.items()})
    except (AttributeError, TypeError, ValueError):
        problem = 'expected earliest, latest, or {"<topic>": {"0": 42}}'
        raise settings.refusal("startingOffsets", problem) from None
