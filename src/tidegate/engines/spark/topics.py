"""Topics as frames: what a range of a Kafka source holds, fetched by Spark's executors.

Decided here: the driver plans ranges by the ends of partitions and reads nothing; each task fetches one stretch of one
partition, with a client of its own, and makes rows of it by the code that does so in process. So either engine goes on
where the other one has stopped, and no jar of Spark's is needed. Rows stay in Spark's memory for the epoch: row SQL,
watermarks of partitions and side outputs ask for them, and a topic is fetched once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.kafka.fetching import Topic, fetch
from tidegate.connectors.kafka.places import Span, range_of
from tidegate.connectors.kafka.records import Layout, Records
from tidegate.connectors.kafka.source import KafkaSource
from tidegate.connectors.protocols import Malformed, Offset
from tidegate.engines.spark.elsewhere import Elsewhere
from tidegate.engines.spark.frames import Range

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STRETCH = 100_000  # offsets; a task takes tens of milliseconds to connect
Part = tuple[int, Span]


class _Reader:
    """Nothing stays open between parts."""

    def __init__(self, records: Records) -> None:
        self.records = records

    def close(self) -> None:
        """Each fetch closes its client."""


@dataclass(frozen=True, slots=True)
class _TopicWork:
    topic: Topic
    layout: Layout

    def build(self) -> _Reader:
        return _Reader(self.layout.build())

    def read(self, reader: _Reader, part: Part) -> tuple[pa.Table, Sequence[Malformed]]:
        number, span = part
        delivery = reader.records.delivery(fetch(self.topic, {number: span}))
        return delivery.rows, delivery.malformed


class TopicFrames:
    """Ranges of a topic as frames."""

    def __init__(self, spark: "SparkSession", source: KafkaSource) -> None:
        source.plan_for_others()
        self._topic = source.topic
        work = _TopicWork(source.topic, source.layout)
        self._elsewhere = Elsewhere(spark, work, source.layout.arrow, kept=True)

    def range(self, _after: Offset | None, until: Offset) -> Range:
        parts = list(_stretches(range_of(until, topic=self._topic.name).spans))
        if not parts:
            return Range(frames=(), count=lambda: 0, malformed=lambda: ())
        return self._elsewhere.range(parts)


def _stretches(spans: Mapping[int, Span]) -> Iterator[Part]:
    """
    >>> [*_stretches({1: Span(start=0, stop=0), 0: Span(start=5, stop=100_006)})]
    [(0, Span(start=5, stop=100005)), (0, Span(start=100005, stop=100006))]
    """
    for number in sorted(spans):
        for start in range(spans[number].start, spans[number].stop, _STRETCH):
            yield number, Span(start=start, stop=min(start + _STRETCH, spans[number].stop))
