"""What a query emits, as a DataFrame of the session that it is attached to."""

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of_rows(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    """The rows; instants stay what they are, whatever the session's time zone."""
    from pyspark.sql.pandas.types import from_arrow_schema

    if rows.num_rows == 0:
        return spark.createDataFrame([], from_arrow_schema(rows.schema))
    return spark.createDataFrame(rows)
