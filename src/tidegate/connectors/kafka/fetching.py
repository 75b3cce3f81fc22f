"""Messages of a topic, by offset.

Decided here: offsets are ours, so the library is told partitions and offsets (`assign`), joins no group and commits
nothing. A range ends where an offset at or behind its end is seen, or where the library says that nothing lies before
it: offsets have gaps, where transactions end and where topics are compacted.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidegate import errors
from tidegate.connectors.kafka.client import Cluster, Troubles, asked, library, partitions_of
from tidegate.connectors.kafka.places import Span
from tidegate.connectors.kafka.records import Message

_AT_ONCE = 10_000
_WAIT_S = 0.1
_DOUBT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What is read; plain data."""

    cluster: Cluster
    name: str
    group: str


class Feed:
    """A consumer of some partitions. `ends` says up to which offset a partition has nothing more for now."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self.troubles = Troubles(topic.cluster)
        self.ends: dict[int, int] = {}
        self._doubted: float | None = None
        self.client = library().Consumer(
            {
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 50,
                **topic.cluster.configuration(
                    group_id=topic.group,
                    enable_auto_commit=False,
                    enable_partition_eof=True,
                    auto_offset_reset="error",
                ),
                "error_cb": self.troubles.hear,
            }
        )

    def place(self, number: int, at: int = -1) -> Any:
        return library().TopicPartition(self._topic.name, number, at)

    def begin(self, places: Mapping[int, int]) -> None:
        """From these offsets on, and from no other partition."""
        self.ends.clear()
        self.client.assign([self.place(number, at) for number, at in places.items()])

    def rest(self, number: int) -> None:
        """No more of the partition."""
        self.client.pause([self.place(number)])

    def take(self, most: int, *, wait_s: float = 0.0) -> list[Message]:
        """Up to so many messages, of any partitions."""
        got = self.client.consume(min(most, _AT_ONCE), wait_s)
        self.troubles.check()
        self._settle_doubt()
        messages = [message for message in got if message.error() is None or self._hear(message)]
        if messages:
            self.troubles.answered()
        return messages

    def _hear(self, message: Message) -> bool:
        """What is no message; never one."""
        kinds, error = library().KafkaError, message.error()
        match error.code():
            case kinds._PARTITION_EOF:
                self.ends[message.partition()] = message.offset()
                self.troubles.answered()
            case kinds._AUTO_OFFSET_RESET:
                raise self.gone(message.partition(), message.offset())
            case kinds.UNKNOWN_TOPIC_OR_PART | kinds._UNKNOWN_TOPIC | kinds._UNKNOWN_PARTITION:
                self._doubted = self._doubted or time.monotonic()
            case kinds.TOPIC_AUTHORIZATION_FAILED | kinds.GROUP_AUTHORIZATION_FAILED:
                raise self._topic.cluster.refused(error.str())
        return False

    def _settle_doubt(self) -> None:
        """A topic that is not there any more; brokers that have just started may say so, too, for a moment."""
        if self._doubted is not None and time.monotonic() - self._doubted > _DOUBT_S:
            self._doubted = None
            self.partitions()

    def partitions(self) -> list[int]:
        """All of the topic, which was there before."""
        topic = self._topic
        return partitions_of(
            topic.cluster, self.client, self.troubles, topic.name, patience_s=_DOUBT_S
        )

    def gone(self, number: int, at: int, stop: int | None = None) -> errors.TidegateError:
        first, _ = self.edges(number)
        name = self._topic.name
        return errors.records_gone(
            topic=name, partition=number, start=at, stop=stop or max(first, at), first=first
        )

    def edges(self, number: int) -> tuple[int, int]:
        """The first offset that is there, and the one behind the last that may be read."""

        def ask(timeout_s: float) -> tuple[int, int]:
            found: tuple[int, int] | None
            found = self.client.get_watermark_offsets(self.place(number), timeout=timeout_s)
            if found is None:
                kafka = library()
                raise kafka.KafkaException(kafka.KafkaError(kafka.KafkaError._TIMED_OUT))
            return found

        return asked(self._topic.cluster, self.troubles, ask)

    def at_time(self, numbers: Sequence[int], instant_ms: int) -> dict[int, int]:
        """The first offsets of that time or later; -1 where there is none."""
        places = [self.place(number, instant_ms) for number in numbers]
        found = asked(
            self._topic.cluster,
            self.troubles,
            lambda s: self.client.offsets_for_times(places, timeout=s),
        )
        return {place.partition: max(place.offset, -1) for place in found}

    def close(self) -> None:
        self.client.close()


def fetch(topic: Topic, spans: Mapping[int, Span]) -> list[Message]:
    """All messages of the spans, by partition and offset."""
    wanted = {number: span for number, span in spans.items() if span.stop > span.start}
    found: dict[int, list[Message]] = {number: [] for number in sorted(wanted)}
    if not wanted:
        return []
    feed = Feed(topic)
    try:
        feed.begin({number: span.start for number, span in wanted.items()})
        _fill(feed, topic, wanted, found)
    finally:
        feed.close()
    return [message for messages in found.values() for message in messages]


def _fill(
    feed: Feed, topic: Topic, wanted: Mapping[int, Span], found: dict[int, list[Message]]
) -> None:
    pending = set(wanted)
    heard = time.monotonic()
    while pending:
        got = feed.take(_AT_ONCE, wait_s=_WAIT_S)
        for message in got:
            number, at = message.partition(), message.offset()
            if number in pending and at < wanted[number].stop:
                found[number].append(message)
            if at + 1 >= wanted[number].stop and number in pending:
                pending.discard(number)
                feed.rest(number)
        pending -= {it for it in pending if feed.ends.get(it, -1) >= wanted[it].stop}
        if got:
            heard = time.monotonic()
        elif (time.monotonic() - heard) * 1e6 > topic.cluster.timeout_us:
            number = min(pending)
            raise feed.gone(number, wanted[number].start, wanted[number].stop)
