"""How others get a Spark engine: one session and one set of workers for all that a process builds."""

from collections.abc import Callable, Mapping
from functools import cache

from tidegate.connectors.protocols import SourceReader
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import BATCH_ROWS, Engine, Surroundings
from tidegate.engines.spark.engine import SparkEngine
from tidegate.engines.spark.session import session
from tidegate.engines.subject import BuildReading
from tidegate.plan.script import Program

_workers = cache(Workers)


def spark_build(
    master: str = "local[*]", *, profile: str = "dev", conf: Mapping[str, str] | None = None
) -> Callable[[Program, Surroundings], Engine]:
    """Builds engines in the session that is there, or in one that is started now."""
    spark = session(master, profile=profile, conf=conf)

    def build(program: Program, around: Surroundings) -> SparkEngine:
        return SparkEngine(program, around, spark=spark, workers=_workers())

    return build


def spark_run(
    master: str | None = None,
    *,
    profile: str = "dev",
    conf: Mapping[str, str] | None = None,
    batch_rows: int | None = None,
) -> BuildReading:
    """Builds engines that read their sources, about so many rows in an epoch."""
    spark = session(master or "local[*]", profile=profile, conf=conf)

    def build(
        program: Program, around: Surroundings, readers: Mapping[str, SourceReader]
    ) -> SparkEngine:
        rows = batch_rows or BATCH_ROWS
        return SparkEngine(
            program, around, spark=spark, workers=_workers(), readers=readers, batch_rows=rows
        )

    return build
