"""How others get a Spark engine: one session and one set of workers for all that a process builds."""

from collections.abc import Callable, Mapping
from functools import cache

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.spark.engine import SparkEngine
from tidegate.engines.spark.session import session
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
