"""How others get a Spark engine: one session and one set of workers for all that a process builds."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.inputs import BY_HAND, Inputs, polled
from tidegate.engines.spark.engine import SparkEngine
from tidegate.engines.spark.handed import FrameEngine, HandedFrame
from tidegate.engines.spark.session import master_and_profile, session
from tidegate.engines.subject import Build
from tidegate.plan.script import Program
from tidegate.plan.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_workers = cache(Workers)


def spark_build(
    master: str = "local[*]",
    *,
    inputs: Inputs = BY_HAND,
    profile: str = "dev",
    conf: Mapping[str, str] | None = None,
) -> Build:
    """Builds engines in the session that is there, or in one that is started now."""
    spark = session(master, profile=profile, conf=conf)

    def build(program: Program, around: Surroundings) -> SparkEngine:
        return SparkEngine(program, around, inputs, spark=spark, workers=_workers())

    return build


def spark_run(
    *,
    bounded: bool | None,
    master: str | None,
    conf: Mapping[str, str],
    settings: Settings,
    batch_rows: int | None = None,
) -> Build:
    """Builds engines that read their sources. `bounded` True reads what is there now, False waits for more.

    What is not given here is as `[spark]` has it.
    """
    inputs = polled(bounded=bounded, batch_rows=batch_rows)
    chosen, profile = master_and_profile(settings, master)
    return spark_build(chosen, inputs=inputs, profile=profile, conf=conf)


def frame_build(
    spark: "SparkSession", frames: Mapping[str, HandedFrame], *, inputs: Inputs = BY_HAND
) -> Build:
    """Builds engines that are handed frames in the given session, by the frames' lower-case names."""

    def build(program: Program, around: Surroundings) -> FrameEngine:
        return FrameEngine(program, around, inputs, spark=spark, workers=_workers(), frames=frames)

    return build
