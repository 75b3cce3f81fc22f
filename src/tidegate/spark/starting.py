"""From definitions to a run: the engine is opened, Spark's checkpoints are found, queries are started.

Decided here: where Spark keeps its own checkpoints: in `.spark/<frame>` of ours, so that they are copied, moved and
reset together. Ours is reset first: should the process die between the two, Spark's batches no longer fit and are
refused, instead of being taken for the first ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tidegate import errors
from tidegate.connectors.callback import Callback
from tidegate.engines.clock import Clock
from tidegate.engines.inputs import polled, sources_of
from tidegate.engines.spark.build import frame_build
from tidegate.engines.spark.handed import FrameEngine
from tidegate.plan.script import Program
from tidegate.session.opening import Way, start
from tidegate.session.watching import Watching
from tidegate.spark.definitions import Registered
from tidegate.spark.running import Run
from tidegate.spark.triggers import Triggering

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BESIDE = ".spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a program is run."""

    spark: "SparkSession"
    clock: Clock
    checkpoint: str | PathLike[str] | None
    reset: bool
    triggering: Triggering
    close_windows: bool


def started(
    program: Program,
    frames: Mapping[str, Registered],
    callbacks: Mapping[str, Callback],
    watching: Watching,
    how: Start,
) -> Run:
    """The run, with all queries going. `frames` and `callbacks` are by name, frames by lower-case name."""
    read = {source.name.lower() for source in sources_of(program)}
    streams = {name: one for name, one in frames.items() if one.streams and name in read}
    if not streams:
        raise errors.nothing_to_run()
    way = Way(
        build=frame_build(
            how.spark,
            {name: one.handed for name, one in streams.items()},
            inputs=polled(bounded=how.triggering.bounded or None),
        ),
        clock=how.clock,
        checkpoint=how.checkpoint,
        reset=how.reset,
        callbacks=callbacks,
        tables={name: one.rows() for name, one in frames.items() if not one.streams},
    )
    engine, _ = start(program, way, watching.listener(lambda: program))
    assert isinstance(engine, FrameEngine)
    run = Run(
        engine,
        {name: one.data for name, one in streams.items()},
        watching=watching,
        triggering=how.triggering,
        close_windows=how.close_windows,
    )
    locations = _locations(streams, how)
    if how.reset:
        for location in locations.values():
            _remove(location, how.spark)
    run.begin(locations)
    return run


def _locations(names: Iterable[str], how: Start) -> dict[str, str]:
    """Without a checkpoint of ours Spark's is a temporary one, too."""
    if how.checkpoint is None:
        return {}
    place = fspath(how.checkpoint)
    root = place if "://" in place else f"file://{Path(place).absolute()}"
    return {name: f"{root.rstrip('/')}/{_BESIDE}/frame={quote(name, safe='')}" for name in names}


def _remove(location: str, spark: "SparkSession") -> None:
    jvm, hadoop = spark._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(location)
    path.getFileSystem(hadoop).delete(path, True)
