"""A SparkSession with sane settings, in seconds; or the one that the user already has, as it is.

Decided here: the settings of a session that is ours. A caller's `conf` always wins over them, and a session that exists
is never changed: its owner chose its settings, and other queries may run in it.

spark.sql.ansi.enabled stays at its default (true): row errors are caught by our row SQL, on both engines alike.
"""

import atexit
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tidegate import errors
from tidegate.engines.spark import jvm
from tidegate.model.options import SPARK_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidegate.plan.settings import Settings

DEFAULTS: Mapping[str, str] = {
    "spark.app.name": "tidegate",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Spark remembers a thousand of each, with texts of their plans, and an epoch has several.
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "20",
}
# One machine: nobody else has to reach the driver, and its name need not resolve.
LOCAL_DEFAULTS: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.python.unix.domain.socket.enabled": "true",
}

CHECKPOINT_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_RENAMING = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)

_starting = Lock()
_ahead: list[tuple[jvm.Profile, dict[str, str], jvm.Starting]] = []


def session(
    master: str = "local[*]",
    *,
    profile: str = jvm.Profile.DEV,
    conf: Mapping[str, str] | None = None,
    checkpoint: str = "",
) -> "SparkSession":
    """The active session if there is one; otherwise a new one on a JVM that we start.

    `checkpoint` is where all streaming queries of a new session keep their checkpoints, if that is known: Spark reads
    the setting that depends on it from the session, long after a query has started.
    """
    with _starting:
        wanted = checkpoint_settings(checkpoint) | settings(master, conf or {})
        return _active() or _started(wanted, jvm.Profile(profile))


def get_ready(master: str, *, profile: str, conf: Mapping[str, str]) -> None:
    """Let the JVM start while this process does something else; `session` with the same arguments connects to it.

    What is wrong with it `session` will say.
    """
    with _starting, suppress(errors.TidegateError, OSError):
        if not _ahead and _active() is None and not _has_jvm():
            wanted, tuned = settings(master, conf), jvm.Profile(profile)
            _adapt_environment(master)
            _ahead.append((tuned, wanted, jvm.begin(tuned, wanted)))


def settings(master: str, conf: Mapping[str, str]) -> dict[str, str]:
    """All settings of a new session.

    Spark's 200 shuffle partitions cost seconds per micro-batch on one machine, where one per core is right; for a
    cluster its owner knows better than we do.

    >>> settings("local[3]", {"spark.ui.enabled": "true"})["spark.sql.shuffle.partitions"]
    '3'
    """
    chosen = {**DEFAULTS, "spark.master": master}
    if (cores := local_cores(master)) is not None:
        chosen |= {**LOCAL_DEFAULTS, "spark.sql.shuffle.partitions": str(cores)}
    return {**chosen, **conf}


def master_and_profile(given: "Settings", master: str | None) -> tuple[str, str]:
    """As `[spark]` has it, if nothing else is said."""

    def option(name: str) -> str:
        return str(given.spark.get(name, SPARK_OPTIONS[name].default))

    return master or option("master"), option("profile")


def local_cores(master: str) -> int | None:
    """How many tasks a local master runs at once; None for a cluster.

    >>> local_cores("local"), local_cores("local[2,4]"), local_cores("local-cluster[2,3,512]")
    (1, 2, 6)
    >>> local_cores("spark://host:7077") is None
    True
    """
    if master == "local":
        return 1
    if cluster := re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,.*\]", master):
        return int(cluster[1]) * int(cluster[2])
    if threads := re.fullmatch(r"local\[\s*(\d+|\*)\s*(?:,.*)?\]", master):
        return usable_cores() if threads[1] == "*" else int(threads[1])
    return None


def usable_cores() -> int:
    """The cores that this process may run on, which in a container are fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux has it
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def checkpoint_settings(location: str) -> dict[str, str]:
    """The fast way to write a streaming checkpoint, if `location` allows it.

    Spark's default forks a `chmod` for every file, which is two thirds of a small micro-batch. Plain renaming is as
    safe on a local file system and nowhere else, so only `file:` gets it. It does not notice a second writer: whoever
    starts the query holds a lock on the checkpoint.

    >>> list(checkpoint_settings("file:///var/tidegate")), checkpoint_settings("s3a://bucket/tidegate")
    (['spark.sql.streaming.checkpointFileManagerClass'], {})
    """
    return {CHECKPOINT_MANAGER: _RENAMING} if urlsplit(location).scheme == "file" else {}


def _active() -> "SparkSession | None":
    if "pyspark" not in sys.modules:
        return None
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError:  # NO_ACTIVE_OR_DEFAULT_SESSION
        return None


def _started(chosen: Mapping[str, str], profile: jvm.Profile) -> "SparkSession":
    try:
        from pyspark.sql import SparkSession
    except ImportError as missing:
        raise errors.no_pyspark() from missing

    builder = SparkSession.builder.config(map=dict(chosen))
    _adapt_environment(chosen["spark.master"])
    if _has_jvm():
        return builder.getOrCreate()
    with _jvm(profile, dict(chosen)).offered():
        spark = builder.getOrCreate()
    atexit.register(_stop_at_exit)
    return spark


def _adapt_environment(master: str) -> None:
    """A cluster's machines need not have this interpreter, nor this path to it."""
    if local_cores(master) is not None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _has_jvm() -> bool:
    """A JVM outlives its sessions, or spark-submit started it and then us."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    if "pyspark" not in sys.modules:
        return False
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def _jvm(profile: jvm.Profile, wanted: dict[str, str]) -> jvm.Jvm:
    """The one that was started ahead, if it is such a one."""
    while _ahead:
        *as_wanted, starting = _ahead.pop()
        if as_wanted == [profile, wanted]:
            return starting.ready()
        starting.abandon()
    return jvm.start(profile, wanted)


def _stop_at_exit() -> None:
    """Before the JVM is ended (exit handlers run last in, first out): a context that it takes along complains."""
    from pyspark import SparkContext

    if (context := SparkContext._active_spark_context) is not None:
        with suppress(
            Exception
        ):  # the JVM may have died by itself, and then nothing is left to stop
            context.stop()
