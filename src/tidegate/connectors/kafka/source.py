"""A topic as a source.

In: the definition of the source. Out: ranges of offsets, and the rows of their messages. In process a range is what
has arrived by itself: the library fetches ahead, so asking for the next range is reading it, and an epoch costs no
round trip. Where ranges are read by others (Spark's executors), they are planned by the ends of the partitions.

Decided here:
* A partition that is added later is read from its beginning: whatever is in it is new.
* A bounded source is what the partitions held when it was first asked.
* Partitions are inputs: each holds back the watermark until it has shown how far it is (semantics §1.3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.connectors.kafka.client import cluster_of, partitions_of
from tidegate.connectors.kafka.fetching import Feed, Topic, fetch
from tidegate.connectors.kafka.places import (
    EARLIEST,
    LATEST,
    Span,
    Start,
    TopicRange,
    range_of,
    start_of,
)
from tidegate.connectors.kafka.records import Layout, Message
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.connectors.settings import Settings
from tidegate.model.types import Scalar
from tidegate.plan.catalog import SourceDef

_GROUP = "tidegate"
_MOST_BYTES = 256 << 20  # of values, in one epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Where a source begins and ends, and how often it looks for more partitions."""

    start: Start
    bounded: bool
    discovery_us: int


@dataclass(slots=True)
class _Held:
    """Messages of one partition that came ahead: from `start` to before `stop`."""

    start: int
    stop: int
    messages: list[Message] = field(default_factory=list)

    def forget(self, before: int) -> None:
        """What lies before is in an epoch that is real."""
        if before > self.start:
            self.messages = [it for it in self.messages if it.offset() >= before]
            self.start, self.stop = before, max(self.stop, before)

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self.stop = message.offset() + 1

    def of(self, span: Span) -> list[Message]:
        return [it for it in self.messages if span.start <= it.offset() < span.stop]


class KafkaSource:
    """Reads one topic."""

    def __init__(self, topic: Topic, layout: Layout, reading: Reading) -> None:
        self.topic, self.layout, self._reading = topic, layout, reading
        self._records = layout.build()
        self._feed = Feed(topic)
        self._held: dict[int, _Held] = {}
        self._began: dict[int, int] = {}  # partitions of which no epoch knows yet
        self._ends: dict[int, int] | None = None
        self._looked_us: int | None = None
        self._elsewhere = False
        feed = self._feed
        self._partitions: Sequence[int] = partitions_of(
            topic.cluster, feed.client, feed.troubles, topic.name
        )

    def plan_for_others(self) -> None:
        """Ranges are read by other processes: plan them without reading here."""
        self._elsewhere = True

    # Ranges

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        self._discover(now_us)
        begins = self._begins(after)
        stops = (
            self._planned(begins, max_rows) if self._elsewhere else self._arrived(begins, max_rows)
        )
        if all(stops[number] <= at for number, at in begins.items()):
            return None
        spans = {number: Span(start=at, stop=stops[number]) for number, at in begins.items()}
        return TopicRange(topic=self.topic.name, spans=spans).offset()

    def _discover(self, now_us: int) -> None:
        if self._looked_us is None:
            self._looked_us = now_us
        elif now_us - self._looked_us >= self._reading.discovery_us:
            self._looked_us = now_us
            self._partitions = self._feed.partitions()

    def _begins(self, after: Offset | None) -> dict[int, int]:
        """Where the next range of each partition begins."""
        known = {} if after is None else range_of(after, topic=self.topic.name).stops
        new = [it for it in self._partitions if it not in known and it not in self._began]
        if new:
            self._began |= self._first(new) if after is None else self._beginnings(new)
        return {it: known.get(it, self._began.get(it, 0)) for it in {*known, *self._partitions}}

    def _first(self, numbers: Sequence[int]) -> dict[int, int]:
        """Where a run without a checkpoint begins."""
        start = self._reading.start
        if start.from_ms is None:
            asked = {number: start.of(number) for number in numbers}
        else:
            asked = self._feed.at_time(numbers, start.from_ms)
        found = {}
        for number, at in asked.items():
            first, last = self._feed.edges(number) if at in (EARLIEST, LATEST) else (at, at)
            found[number] = last if at == LATEST else first
        return found

    def _beginnings(self, numbers: Sequence[int]) -> dict[int, int]:
        return {number: self._feed.edges(number)[0] for number in numbers}

    def _end(self, number: int) -> int | None:
        """Where a bounded source ends."""
        if not self._reading.bounded:
            return None
        if self._ends is None:
            self._ends = {it: self._feed.edges(it)[1] for it in self._partitions}
        return self._ends.get(number, 0)

    # As it arrives

    def _arrived(self, begins: Mapping[int, int], max_rows: int) -> dict[int, int]:
        self._hold_from(begins)
        every = [it for held in self._held.values() for it in held.messages]
        room, room_bytes = max_rows - len(every), _MOST_BYTES - sum(map(len, every))
        while room > 0 and room_bytes > 0:
            got = self._feed.take(room)
            for message in got:
                self._hold(message)
            room, room_bytes = room - len(got), room_bytes - sum(map(len, got))
            if not got:
                break
        self._note_ends()
        return {number: held.stop for number, held in self._held.items()}

    def _hold_from(self, begins: Mapping[int, int]) -> None:
        """What is held begins there; otherwise begin anew."""
        fits = self._held.keys() == begins.keys() and all(
            self._held[number].start <= at <= self._held[number].stop
            for number, at in begins.items()
        )
        if fits:
            for number, at in begins.items():
                self._held[number].forget(at)
            return
        self._held = {number: _Held(at, at) for number, at in begins.items()}
        self._feed.begin(begins)

    def _hold(self, message: Message) -> None:
        held = self._held.get(message.partition())
        if held is None or message.offset() < held.stop:
            return
        end = self._end(message.partition())
        if end is None or message.offset() < end:
            held.add(message)
        elif held.stop < end:
            held.stop = end
            self._feed.rest(message.partition())

    def _note_ends(self) -> None:
        """A bounded partition may end with what is no message."""
        for number, held in self._held.items():
            end, reached = self._end(number), self._feed.ends.get(number, -1)
            if end is not None and reached >= end > held.stop:
                held.stop = end

    # As it is

    def _planned(self, begins: Mapping[int, int], max_rows: int) -> dict[int, int]:
        """Ranges by the partitions' ends: each has its share of the rows, and what others leave of theirs."""
        stops = {}
        for number, at in begins.items():
            end = self._end(number)
            stops[number] = max(at, self._feed.edges(number)[1] if end is None else end)
        left = max_rows
        waiting = sorted(begins, key=lambda number: stops[number] - begins[number])
        for place, number in enumerate(waiting):
            share = max(left // (len(waiting) - place), 1)
            stops[number] = min(stops[number], begins[number] + share)
            left -= stops[number] - begins[number]
        return stops

    # Rows

    def read(self, after: Offset | None, until: Offset) -> Delivery:
        spans = range_of(until, topic=self.topic.name).spans
        if all(self._has(number, span) for number, span in spans.items()):
            messages = [
                it for number in sorted(spans) for it in self._held[number].of(spans[number])
            ]
        else:
            messages = fetch(self.topic, spans)
        return self._records.delivery(messages)

    def _has(self, number: int, span: Span) -> bool:
        if span.stop <= span.start:
            return number in self._held
        held = self._held.get(number)
        return held is not None and held.start <= span.start and span.stop <= held.stop

    def partitions(self, until: Offset) -> Sequence[int]:
        """The inputs that a range knows of."""
        return sorted(range_of(until, topic=self.topic.name).spans)

    def ended(self, at: Offset | None) -> bool:
        if not self._reading.bounded:
            return False
        begins = self._begins(at)
        return all(at >= (self._end(number) or 0) for number, at in begins.items())

    def close(self) -> None:
        self._feed.close()


def open_kafka_source(definition: SourceDef, bounded: bool | None) -> KafkaSource:
    """The source; refused if its topic is not there, or its brokers do not answer."""
    settings = Settings("kafka", definition.options)
    layout = Layout(
        schema=definition.physical,
        metadata=definition.metadata,
        format=settings.text("format") or "json",
        delimiter=_delimiter(settings),
    )
    _refuse_raw(settings, layout)
    ends = settings.text("scan.bounded.mode") == "latest-offset" if bounded is None else bounded
    topic = Topic(
        cluster=cluster_of(settings),
        name=str(settings.get("topic")),
        group=settings.text("group.id") or _GROUP,
    )
    reading = Reading(
        start=start_of(settings),
        bounded=ends,
        discovery_us=settings.number("scan.topic-partition-discovery.interval") or 0,
    )
    return KafkaSource(topic, layout, reading)


def _delimiter(settings: Settings) -> str:
    made = str(settings.get("delimiter")).replace("\\t", "\t")
    if len(made) != 1 or not made.isascii() or made in '\r\n"':
        raise settings.refusal("delimiter", "expected one ASCII character, or \\t")
    return made


def _refuse_raw(settings: Settings, layout: Layout) -> None:
    if layout.format != "raw":
        return
    kinds = [column.type for column in layout.own]
    if kinds not in ([Scalar.VARCHAR], [Scalar.BINARY]):
        problem = "a raw value is one column, VARCHAR or BINARY; others are METADATA"
        raise settings.refusal("format", problem)
