"""Columns of a user's frame as columns of a source.

In: a frame. Out: its schema in our types, and the frame with columns of exactly these types. Decided here: a column
that has no counterpart is refused by name, even if no query reads it yet, for some day one does; TIMESTAMP_NTZ counts
as UTC, as in files; texts lose their collation, because keys are compared byte by byte on every engine.
"""

from typing import TYPE_CHECKING, Any

from tidegate import errors
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Column, Schema
from tidegate.model.time import MILLISECOND
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCALARS = {
    "BooleanType": Scalar.BOOLEAN,
    "ByteType": Scalar.TINYINT,
    "ShortType": Scalar.SMALLINT,
    "IntegerType": Scalar.INTEGER,
    "LongType": Scalar.BIGINT,
    "FloatType": Scalar.REAL,
    "DoubleType": Scalar.DOUBLE,
    "StringType": Scalar.VARCHAR,
    "CharType": Scalar.VARCHAR,
    "VarcharType": Scalar.VARCHAR,
    "BinaryType": Scalar.BINARY,
    "DateType": Scalar.DATE,
    "TimestampType": Scalar.TIMESTAMP,
    "TimestampNTZType": Scalar.TIMESTAMP,
}
_WATERMARK = "spark.watermarkDelayMs"  # what withWatermark leaves behind


def schema_of_frame(data: "DataFrame", *, frame: str) -> Schema:
    """The columns in our types; refuses what has no counterpart."""
    columns: dict[str, Column] = {}
    for field in data.schema.fields:
        kind = type_of(field.dataType)
        if kind is None:
            shown = field.dataType.simpleString()
            raise errors.frame_column(frame=frame, column=field.name, type=shown)
        if field.name.startswith("$"):
            problem = f"names that begin with $ are Tidegate's own: {field.name}"
            raise errors.frame_columns(frame=frame, problem=problem)
        if field.name.lower() in columns:
            other = columns[field.name.lower()].name
            problem = f"columns {other} and {field.name} have one name to SQL"
            raise errors.frame_columns(frame=frame, problem=problem)
        columns[field.name.lower()] = Column(field.name, kind, field.nullable)
    if not columns:
        raise errors.frame_columns(frame=frame, problem="it has no columns")
    return Schema(tuple(columns.values()))


def type_of(kind: Any) -> DataType | None:
    """Our type for one of Spark's; None if there is none."""
    match type(kind).__name__:
        case "DecimalType":
            return Decimal(kind.precision, kind.scale)
        case "ArrayType":
            element = type_of(kind.elementType)
            return None if element is None else Array(element)
        case "MapType":
            key, value = type_of(kind.keyType), type_of(kind.valueType)
            return None if key is None or value is None else Map(key, value)
        case "StructType":
            return _struct(kind)
        case name:
            return _SCALARS.get(name)


def _struct(kind: Any) -> DataType | None:
    fields = []
    for field in kind.fields:
        made = type_of(field.dataType)
        if made is None:
            return None
        fields.append((field.name, made))
    return Struct(tuple(fields))


def conformed(data: "DataFrame", schema: Schema) -> "DataFrame":
    """The frame with the types of the schema, which is its own."""
    from pyspark.sql.functions import col
    from pyspark.sql.pandas.types import from_arrow_type

    columns, changed = [], False
    for field, column in zip(data.schema.fields, schema, strict=True):
        wanted = from_arrow_type(arrow_type(column.type))
        same = field.dataType.simpleString() == wanted.simpleString()
        named = col("`" + column.name.replace("`", "``") + "`")
        columns.append(named if same else named.cast(wanted).alias(column.name))
        changed |= not same
    return data.select(*columns) if changed else data


def declared_watermark(data: "DataFrame") -> tuple[str, int] | None:
    """The column that the frame's own withWatermark names, and its delay in µs."""
    for field in data.schema.fields:
        delay_ms = field.metadata.get(_WATERMARK)
        if delay_ms is not None:
            return field.name, int(delay_ms) * MILLISECOND
    return None


def is_repeatable(data: "DataFrame") -> bool:
    """Whether reading the frame's plan twice gives the same rows."""
    return bool(data._jdf.logicalPlan().deterministic())
