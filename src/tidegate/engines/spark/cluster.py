"""Whether a cluster's executors can run our Python, asked once, before anything depends on it.

Decided here: what they must have is Tidegate in the driver's version, and numpy and pyarrow in its major versions. The
question travels by value: a function of this package could not be loaded where the package is missing, which is the
very thing to find out. A local master has the driver's own Python.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from typing import TYPE_CHECKING

from tidegate import errors
from tidegate.engines.inputs import BY_HAND_CONNECTORS, sources_of
from tidegate.engines.spark.frames import is_remote
from tidegate.engines.spark.session import local_cores
from tidegate.model.options import SPARK_OPTIONS
from tidegate.plan.script import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WHOLE = ("tidegate",)
_MAJOR = ("numpy", "pyarrow")
_MOST_TASKS = 64
Found = tuple[str, Mapping[str, str]]


def runs_python(program: Program, *, on_executors: bool) -> bool:
    """Whether tasks of the program may be ours: sources that we read, and state, if it may be `on_executors`."""
    placed = program.settings.spark.get("state", SPARK_OPTIONS["state"].default)
    reads = any(source.connector not in BY_HAND_CONNECTORS for source in sources_of(program))
    return reads or (on_executors and placed != "driver")


def check_executors(spark: "SparkSession") -> None:
    """Refuses a cluster whose executors lack what our tasks need."""
    if is_remote(spark):
        return
    context = spark.sparkContext
    master = str(context.master)
    if local_cores(master) is not None and not master.startswith("local-cluster"):
        return
    tasks = max(1, min(context.defaultParallelism, _MOST_TASKS))
    found = context.parallelize(range(tasks), tasks).map(_question((*_WHOLE, *_MAJOR))).collect()
    lacking = what_is_lacking(found, here())
    if lacking:
        raise errors.executors_lack(what="; ".join(lacking))


def here() -> Mapping[str, str]:
    """The driver's versions."""
    return {name: metadata.version(name) for name in (*_WHOLE, *_MAJOR)}


def what_is_lacking(found: Iterable[Found], wanted: Mapping[str, str]) -> list[str]:
    """A sentence for each thing that some executor lacks.

    >>> what_is_lacking([("worker-1", {"numpy": "1.26.4"})], {"numpy": "2.3.0", "pyarrow": "26.0.1"})
    ['numpy is 1.26.4 on worker-1, and 2.3.0 here', 'pyarrow is missing on worker-1']
    """
    hosts: dict[tuple[str, str], set[str]] = {}
    for host, versions in found:
        for name, version in wanted.items():
            there = versions.get(name, "")
            if not _fits(name, there, version):
                hosts.setdefault((name, there), set()).add(host)
    return [
        f"{name} is {there} on {', '.join(sorted(where))}, and {wanted[name]} here"
        if there
        else f"{name} is missing on {', '.join(sorted(where))}"
        for (name, there), where in sorted(hosts.items())
    ]


def _fits(name: str, there: str, here: str) -> bool:
    return there == here if name in _WHOLE else there.partition(".")[0] == here.partition(".")[0]


def _question(names: tuple[str, ...]) -> Callable[[int], Found]:
    """A function that needs nothing but Python where it runs."""

    def ask(_: int) -> Found:
        from importlib import import_module
        from socket import gethostname

        versions = {}
        for name in names:
            try:
                versions[name] = str(import_module(name).__version__)
            except ImportError:
                continue
        return gethostname(), versions

    ask.__module__ = "__main__"  # else it is looked up by name over there
    return ask
