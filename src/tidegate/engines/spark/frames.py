"""Spark's frames at the edge of the engine: from Arrow, to Arrow, and as the table that a statement reads.

Decided here: in which session statements run, and what is set there. They run in the session of the frame that they
read, since a frame is of no use in another one. A session that the engine makes is its own (`private_session`):
settings and views in it meet nobody else's, while cores and the JVM are shared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SETTINGS: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # it reads ${…} in the names of columns
    "spark.sql.adaptive.enabled": "false",  # one exchange of partials leaves nothing to adapt
}
_PREPARED = "spark.tidegate.prepared"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Rows of a source in Spark. `count` None: nobody knows how many without reading them."""

    data: "DataFrame"
    count: int | None = None


def private_session(spark: "SparkSession") -> "SparkSession":
    """A session beside the given one, for statements alone."""
    own = spark.newSession()
    prepare(own)
    return own


def prepare(spark: "SparkSession") -> None:
    """What statements need so that they give the same values in every session."""
    if spark.conf.get(_PREPARED, None) is None:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        spark.conf.set(_PREPARED, "true")


def frame_of(spark: "SparkSession", batches: Sequence[pa.RecordBatch]) -> Frame:
    """Arrow rows, of which there is at least one batch, as a frame."""
    rows = pa.Table.from_batches(batches)
    return Frame(spark.createDataFrame(rows), rows.num_rows)


def lookup_frame(spark: "SparkSession", table: pa.Table) -> "DataFrame":
    """A static table, which every task gets whole."""
    from pyspark.sql.functions import broadcast

    return broadcast(spark.createDataFrame(table))


def name_frame(data: "DataFrame", name: str) -> None:
    """Statements in the frame's session may read it by that name."""
    data.createOrReplaceTempView(f"`{name}`")
