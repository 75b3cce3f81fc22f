"""Lines from a TCP server of the tests' own."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.connectors.reading import source_def, stored
from tests.services.kafka import free_ports
from tidegate.connectors import open_source
from tidegate.connectors.protocols import SourceReader
from tidegate.errors import TidegateError

Serve = Callable[..., int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Sends a text to each caller in turn, and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))
    threads: list[Thread] = []

    def start(*texts: bytes) -> int:
        def run() -> None:
            for text in texts:
                caller, _ = server.accept()
                with caller:
                    for place in range(0, len(text), 7):  # lines are cut anywhere
                        caller.sendall(text[place : place + 7])

        threads.append(Thread(target=run))
        threads[-1].start()
        port: int = server.getsockname()[1]
        return port

    yield start
    for thread in threads:
        thread.join()
    server.close()


def reader(port: int, place: Path, *, bounded: bool = True) -> SourceReader:
    definition = source_def(
        "n BIGINT", connector="socket", hostname="127.0.0.1", port=port, spool=place
    )
    definition.options["connection.timeout"] = 300_000
    return open_source(definition, bounded=bounded)


def numbers(it: SourceReader, count: int) -> list[Any]:
    found: list[Any] = []
    after, until = None, time.monotonic() + 20
    while len(found) < count and time.monotonic() < until:
        at = it.latest(after, max_rows=100, now_us=0)
        if at is None:
            time.sleep(0.01)
            continue
        found += it.read(after, stored(at)).rows.column("n").to_pylist()
        after = stored(at)
    while not it.ended(after) and time.monotonic() < until and count == 3:
        time.sleep(0.01)
    return found


def test_up_to_the_end(serve: Serve, tmp_path: Path) -> None:
    it = reader(serve(b'{"n": 1}\n\n{"n": 2}\r\n{"n": 3}'), tmp_path)
    assert numbers(it, 3) == [1, 2, 3]
    it.close()


def test_a_server_that_hangs_up_is_called_again(serve: Serve, tmp_path: Path) -> None:
    it = reader(serve(b'{"n": 1}\n', b'{"n": 2}\n'), tmp_path, bounded=False)
    assert numbers(it, 2) == [1, 2]
    it.close()


def test_nobody_is_there(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with pytest.raises(
        TidegateError, match=f"TG-6010: socket at 127.0.0.1:{port} cannot be reached"
    ):
        reader(port, tmp_path)
