"""Spark's frames at the edge of the engine: from Arrow, to Arrow, and as the table that a statement reads.

Decided here: in which session statements run, and what is set there. They run in the session of the frame that they
read, since a frame is of no use in another one. A session that the engine makes is its own (`private_session`):
settings and views in it meet nobody else's, while cores and the JVM are shared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate.connectors.protocols import Malformed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SETTINGS: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # it reads ${…} in the names of columns
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # files without a word about it are not Spark 2's
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.adaptive.enabled": "false",  # one exchange of partials leaves nothing to adapt
    "spark.sql.execution.arrow.maxRecordsPerBatch": "262144",  # partials of a task in one piece, usually
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "18",  # at 16, panes of 10 K groups soon are too many
}
_PREPARED = "spark.tidegate.prepared"


def nothing() -> None:
    """Nothing is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Rows of a source in Spark. `count` None: nobody knows how many without reading them."""

    data: "DataFrame"
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What a range of a source holds. `count` and `malformed` are asked once its frames have been read."""

    frames: Sequence[Frame]
    count: Callable[[], int]
    malformed: Callable[[], Sequence[Malformed]]
    done: Callable[[], object] = nothing


def private_session(spark: "SparkSession") -> "SparkSession":
    """A session beside the given one, for statements alone; what its owner has set counts there, too."""
    own = spark.newSession()
    there = own.conf.getAll
    for name, value in spark.conf.getAll.items():
        if there.get(name) != value and own.conf.isModifiable(name):
            own.conf.set(name, value)
    prepare(own)
    return own


def is_remote(spark: "SparkSession") -> bool:
    """Whether the session is a client of Spark Connect, without a driver of its own."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def brought(data: "DataFrame", spark: "SparkSession") -> "DataFrame":
    """The same rows in another session. What they are made of was decided in their own, and stays."""
    from pyspark.sql import DataFrame

    jvm = spark._jvm
    assert jvm is not None
    dataset = jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(spark._jsparkSession, data._jdf.logicalPlan()), spark)


def prepare(spark: "SparkSession") -> None:
    """What statements need so that they give the same values in every session."""
    if spark.conf.get(_PREPARED, None) is None:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        spark.conf.set(_PREPARED, "true")


def frame_of(spark: "SparkSession", rows: pa.Table) -> Frame:
    """Arrow rows as a frame."""
    return Frame(_made(spark, rows), rows.num_rows)


def _made(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    """PySpark makes the session the active one on this occasion; which one is, is for its owner to say."""
    if is_remote(spark):
        return spark.createDataFrame(rows)
    classes = type(spark)
    before = classes.getActiveSession()
    try:
        return spark.createDataFrame(rows)
    finally:
        if before is not None:
            classes._activeSession = before
            classes._get_j_spark_session_class(before._jvm).setActiveSession(before._jsparkSession)


def lookup_frame(spark: "SparkSession", table: pa.Table) -> "DataFrame":
    """A static table, which every task gets whole."""
    from pyspark.sql.functions import broadcast

    return broadcast(_made(spark, table))


def name_frame(data: "DataFrame", name: str) -> None:
    """Statements in the frame's session may read it by that name."""
    data.createOrReplaceTempView(f"`{name}`")
