"""A PostgreSQL of the tests' own, on a free port of the loopback, by the programs of Debian's package.

A server refuses to run as root; then it runs as the user `postgres`, who owns what it stores.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.services.kafka import NotInstalled, free_ports

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


class Server:
    """Running when made."""

    def __init__(self, place: Path) -> None:
        self._bin, self._place = _programs(), place
        (self.port,) = free_ports(1)
        self.url = f"postgresql://tester@127.0.0.1:{self.port}/postgres"
        self._own(place)
        self._run("initdb", "-D", place / "data", "-U", "tester", "-A", "trust", "--no-sync")
        self.start()

    def _own(self, place: Path) -> None:
        if os.geteuid() == 0:
            shutil.chown(place, "postgres")
            place.chmod(0o700)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._bin / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(
            command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self._place} -c fsync=off"
        log = self._place / "log"
        self._run("pg_ctl", "-D", self._place / "data", "-l", log, "-w", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self._place / "data", "-m", mode, "-w", "stop")

    def rows(self, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(text.encode(), values)
            return cursor.fetchall() if cursor.description else []


def _programs() -> Path:
    for place in _PLACES:
        if (place / "initdb").exists():
            return place
    raise NotInstalled("there is no initdb; apt-get install postgresql brings it")


@contextmanager
def running() -> Iterator[Server]:
    """A server, started and stopped."""
    _programs()
    with tempfile.TemporaryDirectory(prefix="tidegate-pg-") as place:
        server = Server(Path(place))
        try:
            yield server
        finally:
            server.stop()
