"""A standalone cluster on this machine, of one master and two workers with a core each, from PySpark's own classes."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tidegate.engines.spark.java import find_java
from tidegate.engines.spark.jvm import MODULE_OPTIONS, spark_home

_WITHIN_S = 120.0
_HOST = "127.0.0.1"


@dataclass
class Cluster:
    """`url` is for `--master`."""

    url: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def executors(self) -> list[int]:
        """The processes that run executors now."""
        found = []
        for worker in self.workers:
            for child in _children(worker.pid):
                with suppress(OSError):
                    command = Path(f"/proc/{child}/cmdline").read_bytes()
                    if b"CoarseGrainedExecutorBackend" in command:
                        found.append(child)
        return found

    def kill(self, executor: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(executor, signal.SIGKILL)


@contextmanager
def cluster(place: Path) -> Iterator[Cluster]:
    """Up when it is entered, gone when it is left."""
    port, page = _free_port(), _free_port()
    url = f"spark://{_HOST}:{port}"
    with ExitStack() as stack:
        master = ("--host", _HOST, "--port", str(port), "--webui-port", str(page))
        stack.enter_context(_running("master.Master", *master, place=place))
        _wait_until_alive(page, workers=0)
        made = Cluster(url)
        for number in range(2):
            own = place / f"worker-{number}"
            own.mkdir(parents=True)
            of = ("--host", _HOST, "--cores", "1", "--memory", "1g", "--webui-port", "0")
            worker = _running("worker.Worker", *of, "--work-dir", str(own), url, place=own)
            made.workers.append(stack.enter_context(worker))
        _wait_until_alive(page, workers=2)
        yield made


@contextmanager
def _running(kind: str, *options: str, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process of a master or worker. What it has started goes with it."""
    home, java = spark_home(os.environ), find_java()
    command = [str(java.path), "-cp", f"{home}/jars/*", "-Xmx256m", *MODULE_OPTIONS]
    command += [f"org.apache.spark.deploy.{kind}", *options]
    environ = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": _scala(home),
        "JAVA_HOME": str(java.path.resolve().parents[1]),
        "SPARK_LOCAL_IP": _HOST,
    }
    place.mkdir(parents=True, exist_ok=True)
    with (place / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
        try:
            yield process
        finally:
            children = list(_children(process.pid))
            process.kill()
            process.wait()
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)


def _scala(home: Path) -> str:
    """Told, since Spark looks for it in directories that its Python package does not have."""
    (core,) = home.glob("jars/spark-core_*.jar")
    return core.name.removeprefix("spark-core_").partition("-")[0]


def _children(process: int) -> Iterator[int]:
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            yield from map(int, tasks.read_text().split())


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((_HOST, 0))
        port: int = found.getsockname()[1]
        return port


def _wait_until_alive(page: int, *, workers: int) -> None:
    """The master's page says how many workers there are."""
    deadline = time.monotonic() + _WITHIN_S
    while time.monotonic() < deadline:
        with (
            suppress(URLError, OSError),
            urlopen(f"http://{_HOST}:{page}/json/", timeout=5) as answer,
        ):
            if answer.read().count(b'"ALIVE"') >= workers + 1:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no cluster within {_WITHIN_S:g} s")
