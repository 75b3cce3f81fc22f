"""Ranges of sources as frames, whoever reads them.

Decided here: a source that has no way of its own into Spark is read in this process, as the in-process engine reads
it, and its rows are handed over. That is right for every connector, and fast enough for those that make rows up. Over
Spark Connect files and topics are read so, too: what executors report of them comes by ways that it does not have.
"""

from typing import TYPE_CHECKING, Protocol

from tidegate.connectors.files.source import FileSource
from tidegate.connectors.kafka.source import KafkaSource
from tidegate.connectors.protocols import Offset, SourceReader
from tidegate.engines.spark.files import FileFrames
from tidegate.engines.spark.frames import Range, frame_of, is_remote
from tidegate.engines.spark.topics import TopicFrames

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Ranges(Protocol):
    """One source."""

    def range(self, after: Offset | None, until: Offset) -> Range: ...


class HandedOver:
    """Ranges that this process reads."""

    def __init__(self, spark: "SparkSession", reader: SourceReader) -> None:
        self._spark, self._reader = spark, reader

    def range(self, after: Offset | None, until: Offset) -> Range:
        delivery = self._reader.read(after, until)
        frame = frame_of(self._spark, delivery.rows)
        return Range(
            frames=(frame,),
            count=lambda: delivery.rows.num_rows,
            malformed=lambda: delivery.malformed,
        )


def ranges_of(
    spark: "SparkSession", reader: SourceReader, *, shared: bool, dated: bool = True
) -> Ranges:
    """How Spark gets at what the reader reads.

    `shared`: several queries read each range; `dated`: one of these asks for its times.
    """
    if isinstance(reader, FileSource) and not is_remote(spark):
        return FileFrames(spark, reader, shared=shared, dated=dated)
    if isinstance(reader, KafkaSource) and not is_remote(spark):
        return TopicFrames(spark, reader)
    return HandedOver(spark, reader)
