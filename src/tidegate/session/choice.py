"""Which engines there are, and what a machine lacks to run one.

Decided here: engines are chosen by name, in this place alone, and loaded when they are. What is missing is said before
anything is loaded, with the extra of the package that brings it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tidegate import errors

if TYPE_CHECKING:
    from tidegate.engines.subject import Build
    from tidegate.plan.settings import Settings

LOCAL, SPARK = "local", "spark"
ENGINES = (LOCAL, SPARK)

_LIBRARIES: Mapping[str, Sequence[str]] = {
    LOCAL: ("numpy", "pyarrow", "datafusion"),
    SPARK: ("numpy", "pyarrow", "datafusion", "pyspark"),
}
_BUILDERS = {
    LOCAL: ("tidegate.engines.local.build", "local_build"),
    SPARK: ("tidegate.engines.spark.build", "spark_build"),
}


def default_engine() -> str:
    """What runs a pipeline if nobody says: Spark, which pipelines are written for, wherever it is installed."""
    return SPARK if find_spec("pyspark") is not None else LOCAL


def need(libraries: Sequence[str], *, extra: str) -> None:
    """Refuses what cannot run here."""
    for library in libraries:
        if find_spec(library) is None:
            raise errors.missing_library(name=library, extra=extra)


def need_engine(engine: str) -> None:
    """Refuses an engine that nobody knows, or whose libraries are not there."""
    if engine not in ENGINES:
        hint = errors.nearest(engine, ENGINES, otherwise=f"engines are {', '.join(ENGINES)}")
        raise errors.unknown_engine(name=engine, hint=hint)
    need(_LIBRARIES[engine], extra=engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How an engine reads its sources: how far, and about how many rows in an epoch. `master`, `conf` are Spark's."""

    bounded: bool | None = None
    batch_rows: int | None = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)


def get_ready(engine: str, running: Running, settings: "Settings") -> None:
    """Let what takes long to start do so, while the rest is loaded and planned."""
    if engine == SPARK:
        from tidegate.engines.spark import session as spark

        master, profile = spark.master_and_profile(settings, running.master)
        spark.get_ready(master, profile=profile, conf=running.conf)


def run_build(engine: str, running: Running, settings: "Settings") -> "Build":
    """What makes engines of that name, which read their sources. The command line beats the settings."""
    need_engine(engine)
    if engine == LOCAL:
        if running.master is not None or running.conf:
            raise errors.option_of_other_engine(name="master, conf", engine=SPARK)
        from tidegate.engines.local.build import local_run

        return local_run(bounded=running.bounded, batch_rows=running.batch_rows)
    from tidegate.engines.spark.build import spark_run

    return spark_run(
        bounded=running.bounded,
        master=running.master,
        conf=running.conf,
        settings=settings,
        batch_rows=running.batch_rows,
    )


def build_of(engine: str) -> "Build":
    """What makes engines of that name, to be driven by hand."""
    need_engine(engine)
    module, name = _BUILDERS[engine]
    make: Callable[[], Build] = getattr(import_module(module), name)
    return make()
