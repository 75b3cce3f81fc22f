"""How the tests run a projection on each engine."""

from collections.abc import Callable, Sequence

import datafusion
import pyarrow as pa
from pyspark.sql import SparkSession


def datafusion_run(table: pa.Table, texts: Sequence[str]) -> pa.Table:
    # Parentheses count, so the parser's own limit of 50 is soon reached.
    config = datafusion.SessionConfig({"datafusion.sql_parser.recursion_limit": "1000"})
    context = datafusion.SessionContext(config)
    context.register_record_batches("t", [table.to_batches()])
    return pa.Table.from_batches(context.sql(f"SELECT {', '.join(texts)} FROM t").collect())


def spark_run(spark: SparkSession) -> Callable[[pa.Table, Sequence[str]], pa.Table]:
    def run(table: pa.Table, texts: Sequence[str]) -> pa.Table:
        spark.createDataFrame(table).createOrReplaceTempView("t")
        return spark.sql(f"SELECT {', '.join(texts)} FROM t").toArrow()

    return run
