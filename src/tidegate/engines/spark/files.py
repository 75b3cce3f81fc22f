"""Files as frames: what a range of a file source holds, read by Spark's executors.

In: a range, planned as in process, so that either engine can go on where the other one has stopped. Out: a frame, and
what is known of it once it has been read.

Decided here: Parquet files whose columns are what is declared are Spark's own to read (`native.py`). Everything else
is read by the same code as in process, part by part in Spark's Python workers: what a line means is decided once. A
record that is no row travels beside the rows, in columns of its own; how many there are is reported by the workers
(`reports.py`), and they are fetched only if there are any.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.files.blocks import BadFile
from tidegate.connectors.files.progress import Part, progress_of
from tidegate.connectors.files.source import FileSource, Reading, noted
from tidegate.connectors.protocols import Malformed, Offset
from tidegate.engines.spark.frames import Frame, Range, nothing
from tidegate.engines.spark.native import ParquetFrames
from tidegate.engines.spark.reports import Report, Reports, reports

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

_TEXT, _DETAIL = "$record", "$detail"
_PIECE_ROWS = 65_536
_BESIDE = pa.schema([(_TEXT, pa.string()), (_DETAIL, pa.string())])


class FileFrames:
    """Ranges of a file source as frames.

    `shared`: several queries read each of them; `dated`: one of these asks for its times.
    """

    def __init__(
        self, spark: "SparkSession", source: FileSource, *, shared: bool, dated: bool = True
    ) -> None:
        source.plan_for_others()
        self._spark, self._source, self._shared = spark, source, shared
        self._parquet = ParquetFrames(spark, source, dated=dated)
        self._reports = reports(spark)

    def range(self, _after: Offset | None, until: Offset) -> Range:
        progress = progress_of(until)
        notes = noted(progress)
        if not progress.parts:
            return Range(frames=(), count=lambda: 0, malformed=lambda: notes)
        native = self._parquet.frame(progress.parts)
        if native is None:
            return self._elsewhere(progress.parts, notes)
        data, rows = native
        return Range(frames=(Frame(data, rows),), count=lambda: rows, malformed=lambda: notes)

    def _elsewhere(self, parts: Sequence[Part], notes: Sequence[Malformed]) -> Range:
        raw = self._raw(parts)
        kept = raw.persist() if self._shared else raw
        self._reports.value = {}

        def count() -> int:
            for report in self._reports.value.values():
                if report.refusal is not None:
                    name, problem, changed = report.refusal
                    raise self._source.reading.refusal(name, BadFile(problem, changed=changed))
            return sum(report.rows for report in self._reports.value.values())

        def malformed() -> Sequence[Malformed]:
            there = any(report.malformed for report in self._reports.value.values())
            return [*notes, *(_fetched(kept) if there else ())]

        return Range(
            frames=(Frame(_rows_of(kept)),),
            count=count,
            malformed=malformed,
            done=kept.unpersist if self._shared else nothing,
        )

    def _raw(self, parts: Sequence[Part]) -> "DataFrame":
        """Rows and records that are none."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = pa.schema([*self._source.schema, *_BESIDE])
        read = _reader(self._source.reading, tuple(parts), schema, self._reports)
        numbers = self._spark.range(0, len(parts), 1, len(parts))
        return numbers.mapInArrow(read, from_arrow_schema(schema))


def _rows_of(raw: "DataFrame") -> "DataFrame":
    from pyspark.sql.functions import col

    return raw.where(col(_DETAIL).isNull()).drop(*_BESIDE.names)


def _fetched(raw: "DataFrame") -> Sequence[Malformed]:
    from pyspark.sql.functions import col

    found = raw.where(col(_DETAIL).isNotNull()).select(_TEXT, _DETAIL).toArrow().to_pylist()
    return [Malformed(text=record[_TEXT], detail=record[_DETAIL]) for record in found]


# In Spark's Python workers


def _reader(
    reading: Reading, parts: Sequence[Part], schema: pa.Schema, reports: "Accumulator[Reports]"
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Reads the parts whose numbers it gets."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = reading.build()
        try:
            for batch in batches:
                for number in batch.column("id").to_pylist():
                    try:
                        rows, wrong = reading.read(reader, parts[number])
                    except BadFile as problem:
                        told = (parts[number].name, str(problem), problem.changed)
                        reports.add({number: Report(refusal=told)})
                        continue
                    reports.add({number: Report(rows.num_rows, len(wrong))})
                    yield from _fitted(rows, schema)
                    if wrong:
                        yield from _fitted(_records(wrong), schema)
        finally:
            reader.close()

    return read


def _records(wrong: Sequence[Malformed]) -> pa.Table:
    return pa.table({_TEXT: [it.text for it in wrong], _DETAIL: [it.detail for it in wrong]})


def _fitted(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows in all columns of the schema; those that they do not have are NULL."""
    columns = [
        rows.column(field.name)
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    yield from pa.Table.from_arrays(columns, schema=schema).to_batches(_PIECE_ROWS)
