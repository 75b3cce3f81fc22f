"""Parts of a range read by Spark's executors, by our own readers, in Spark's Python workers.

In: work that workers can do, and parts that name what is to be read. Out: a frame of their rows, and what is known of
it once it has been read. Decided here: a record that is no row travels beside the rows, in columns of its own; how many
there are is reported by the workers (`reports.py`), and they are fetched only if there are any. What a worker refuses
is reported, too, and raised on the driver in the worker's words.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from tidegate.connectors.protocols import Malformed
from tidegate.engines.spark.frames import Frame, Range, nothing
from tidegate.engines.spark.reports import Report, Reports, reports
from tidegate.errors import TidegateError, told

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

_TEXT, _DETAIL = "$record", "$detail"
_PIECE_ROWS = 65_536
_BESIDE = pa.schema([(_TEXT, pa.string()), (_DETAIL, pa.string())])


class Work(Protocol):
    """What a worker does; plain data."""

    def build(self) -> Any:
        """A reader, which can be closed."""

    def read(self, reader: Any, part: Any) -> tuple[pa.Table, Sequence[Malformed]]:
        """The rows of a part. Refuses what cannot be read."""


class Elsewhere:
    """Makes ranges of parts. `kept`: rows are read more than once, and stay in Spark's memory for it."""

    def __init__(self, spark: "SparkSession", work: Work, schema: pa.Schema, *, kept: bool) -> None:
        self._spark, self._work, self._schema, self._kept = spark, work, schema, kept
        self._reports = reports(spark)

    def range(self, parts: Sequence[Any], notes: Sequence[Malformed] = ()) -> Range:
        raw = self._raw(parts)
        kept = raw.persist() if self._kept else raw
        self._reports.value = {}

        def count() -> int:
            for report in self._reports.value.values():
                if report.refusal is not None:
                    code, message, hint = report.refusal
                    raise told(code=code, message=message, hint=hint)
            return sum(report.rows for report in self._reports.value.values())

        def malformed() -> Sequence[Malformed]:
            there = any(report.malformed for report in self._reports.value.values())
            return [*notes, *(_fetched(kept) if there else ())]

        return Range(
            frames=(Frame(_rows_of(kept)),),
            count=count,
            malformed=malformed,
            done=kept.unpersist if self._kept else nothing,
        )

    def _raw(self, parts: Sequence[Any]) -> "DataFrame":
        """Rows and records that are none."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = pa.schema([*self._schema, *_BESIDE])
        read = _reader(self._work, tuple(parts), schema, self._reports)
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
    work: Work, parts: Sequence[Any], schema: pa.Schema, reports: "Accumulator[Reports]"
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Reads the parts whose numbers it gets."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = work.build()
        try:
            for batch in batches:
                for number in batch.column("id").to_pylist():
                    try:
                        rows, wrong = work.read(reader, parts[number])
                    except TidegateError as problem:
                        refusal = problem.code, problem.message, problem.hint
                        reports.add({number: Report(refusal=refusal)})
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
