"""Tidegate in a Spark job that is there already: from a DataFrame into a query, and from a query to a DataFrame.

    from tidegate.spark import attach

    tide = attach(spark)
    tide.register("trades", trades, event_time="ts", watermark_lag="5 seconds")
    tide.sql("CREATE STREAM vwap AS SELECT …")
    tide.write("vwap", lambda rows, epoch: rows.write.mode("append").parquet("out"))
    run = tide.start(checkpoint="/data/vwap")
    run.awaitTermination()

The session stays its owner's: no setting of it is changed, no view is left in it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidegate import errors

if TYPE_CHECKING:
    from os import PathLike

    from pyspark.sql import SparkSession

    from tidegate.engines.clock import Clock
    from tidegate.spark.attached import Attached

__all__ = ["attach"]


def attach(
    spark: "SparkSession | None" = None,
    *,
    config: "str | PathLike[str] | Mapping[str, object] | None" = None,
    clock: "Clock | None" = None,
) -> "Attached":
    """Stand in a session of Spark; the active one if none is given.

    `config` is a file like `tidegate.toml`, or a mapping written like one. `clock` is a settable one for tests.
    """
    from tidegate.session.choice import SPARK, need_engine

    need_engine(SPARK)
    from tidegate.engines.clock import WallClock
    from tidegate.engines.spark.frames import is_remote
    from tidegate.engines.spark.session import session
    from tidegate.session.session import settings_from
    from tidegate.spark.attached import Attached

    owned = session() if spark is None else spark
    if is_remote(owned):
        raise errors.no_spark_connect(what="attach()")
    return Attached(owned, settings_from(config or {}), clock or WallClock())
