"""Files as frames: what a range of a file source holds, read by Spark's executors.

In: a range, planned as in process, so that either engine can go on where the other one has stopped. Out: a frame, and
what is known of it once it has been read.

Decided here: Parquet files whose columns are what is declared are Spark's own to read (`native.py`). Everything else
is read by the same code as in process, part by part in Spark's Python workers (`elsewhere.py`): what a line means is
decided once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.files.blocks import BadFile
from tidegate.connectors.files.formats import FileReader
from tidegate.connectors.files.progress import Part, progress_of
from tidegate.connectors.files.source import FileSource, Reading, noted
from tidegate.connectors.protocols import Malformed, Offset
from tidegate.engines.spark.elsewhere import Elsewhere
from tidegate.engines.spark.frames import Frame, Range
from tidegate.engines.spark.native import ParquetFrames

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class _FileWork:
    """Reads parts of files."""

    reading: Reading

    def build(self) -> FileReader:
        return self.reading.build()

    def read(self, reader: FileReader, part: Part) -> tuple[pa.Table, Sequence[Malformed]]:
        try:
            return self.reading.read(reader, part)
        except BadFile as problem:
            raise self.reading.refusal(part.name, problem) from None


class FileFrames:
    """Ranges of a file source as frames.

    `shared`: several queries read each of them; `dated`: one of these asks for its times.
    """

    def __init__(
        self, spark: "SparkSession", source: FileSource, *, shared: bool, dated: bool = True
    ) -> None:
        source.plan_for_others()
        self._parquet = ParquetFrames(spark, source, dated=dated)
        work = _FileWork(source.reading)
        self._elsewhere = Elsewhere(spark, work, source.schema, kept=shared)

    def range(self, _after: Offset | None, until: Offset) -> Range:
        progress = progress_of(until)
        notes = noted(progress)
        if not progress.parts:
            return Range(frames=(), count=lambda: 0, malformed=lambda: notes)
        native = self._parquet.frame(progress.parts)
        if native is None:
            return self._elsewhere.range(progress.parts, notes)
        data, rows = native
        return Range(frames=(Frame(data, rows),), count=lambda: rows, malformed=lambda: notes)
