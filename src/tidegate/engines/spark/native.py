"""Which Parquet files Spark may read by itself: those in which every column is what is declared.

Decided here: what another reader would have to convert (an integer that stands for an instant, a text that stands for
a number) is never left to Spark, which refuses some of it and gives other values for the rest. And that a file's own
time is asked for only by who needs it: Spark then carries what it knows of the file along with every row.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.files.progress import Part
from tidegate.connectors.files.source import SOURCE_TIME, FileSource
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Column
from tidegate.model.types import Scalar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

_TEXTS = (pa.string(), pa.large_string())


class ParquetFrames:
    """Frames over whole Parquet files of one source. `dated`: with the time of the file, as the source has it."""

    def __init__(self, spark: "SparkSession", source: FileSource, *, dated: bool) -> None:
        self._spark, self._source, self._dated = spark, source, dated
        self._readers: dict[frozenset[str], tuple[DataFrameReader, Sequence[str]]] = {}

    def frame(self, parts: Sequence[Part]) -> tuple["DataFrame", int] | None:
        """The rows of the parts, and how many they are; None if they are not Spark's to read."""
        kinds, count = set(), 0
        for part in parts:
            footer = self._source.footer(part)
            if footer is None or (part.start, part.stop) != (0, footer.num_rows):
                return None
            kinds.add(self._without_zone(footer.schema.to_arrow_schema()))
            count += footer.num_rows
        if len(kinds) != 1 or (without_zone := kinds.pop()) is None:
            return None
        return self._read(parts, without_zone), count

    def _without_zone(self, found: pa.Schema) -> frozenset[str] | None:
        """The instants that a file has without a zone; None if it is not as declared."""
        names = [name.lower() for name in found.names]
        without = set()
        for column in self._source.reading.schema:
            places = [place for place, name in enumerate(names) if name == column.name.lower()]
            if len(places) > 1 or (places and not _is_as_declared(found.types[places[0]], column)):
                return None
            if places and _is_local(found.types[places[0]]):
                without.add(column.name)
        return frozenset(without)

    def _read(self, parts: Sequence[Part], without_zone: frozenset[str]) -> "DataFrame":
        """Each word to the JVM takes a millisecond, so what is the same for all ranges is said once."""
        reader, columns = self._readers.get(without_zone) or self._reader(without_zone)
        self._readers[without_zone] = reader, columns
        rows = reader.parquet(*map(self._path, parts))
        return rows.selectExpr(*columns) if self._dated or without_zone else rows

    def _reader(self, without_zone: frozenset[str]) -> tuple["DataFrameReader", Sequence[str]]:
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType, TimestampNTZType

        fields, columns = [], []
        for column in self._schema:
            local = column.name in without_zone
            kind = TimestampNTZType() if local else from_arrow_type(arrow_type(column.type))
            fields.append(StructField(column.name, kind))
            name = _name(column.name)
            columns.append(f"CAST({name} AS TIMESTAMP_LTZ) AS {name}" if local else name)
        if self._dated:
            columns.append(f"_metadata.file_modification_time AS {_name(SOURCE_TIME)}")
        return self._spark.read.schema(StructType(fields)), columns

    @property
    def _schema(self) -> Sequence[Column]:
        return tuple(self._source.reading.schema)

    def _path(self, part: Part) -> str:
        place = self._source.reading.place
        path = place.full(part.name)
        return path if "://" in place.path else f"file://{_quoted(path)}"


def _quoted(path: str) -> str:
    """Spark reads globs into paths."""
    return "".join(f"\\{letter}" if letter in "*?[]{}\\" else letter for letter in path)


def _name(text: str) -> str:
    quoted = text.replace("`", "``")
    return f"`{quoted}`"


def _is_local(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) and kind.tz is None and kind.unit != "ns")


def _is_as_declared(found: pa.DataType, column: Column) -> bool:
    """Nanoseconds are how pyarrow sees Spark's own old instants; whether they are is not worth a second look."""
    if column.type is Scalar.TIMESTAMP:
        return bool(pa.types.is_timestamp(found)) and found.unit in ("us", "ms")
    if column.type is Scalar.VARCHAR:
        return found in _TEXTS
    return bool(found == arrow_type(column.type))
