"""How others get a Spark engine: one session and one set of workers for all that a process builds."""

from collections.abc import Mapping
from functools import cache

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.inputs import BY_HAND, Inputs, polled
from tidegate.engines.spark.engine import SparkEngine
from tidegate.engines.spark.session import session
from tidegate.engines.subject import Build
from tidegate.model.options import SPARK_OPTIONS, OptionValue
from tidegate.plan.script import Program
from tidegate.plan.settings import Settings

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
        return SparkEngine(
            program,
            around,
            inputs,
            spark=spark,
            workers=_workers(),
            shards=int(_option(program.settings, "shards")),
            driver_state=int(_option(program.settings, "driver_state")),
        )

    return build


def _option(settings: Settings, name: str) -> OptionValue:
    """As `[spark]` has it."""
    value = settings.spark.get(name, SPARK_OPTIONS[name].default)
    assert value is not None, name
    return value


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
    chosen = master or str(_option(settings, "master"))
    profile = str(_option(settings, "profile"))
    return spark_build(chosen, inputs=inputs, profile=profile, conf=conf)
