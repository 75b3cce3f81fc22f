"""File systems without locks of their own: a file names the owner, and one that is gone does not block for ever."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import fs

from tests.state.story import IDENTITY, Run, check_recovered
from tidegate.errors import TidegateError
from tidegate.state import layout, open_log
from tidegate.state.remote import RemoteStore
from tidegate.state.store import store_at


@pytest.fixture
def store() -> RemoteStore:
    return RemoteStore(fs._MockFileSystem(), "bucket", "mock://bucket")


def locked_by(store: RemoteStore, content: object) -> None:
    store.system.create_dir("bucket")
    with store.create(layout.LOCK) as sink:
        sink.write(content if isinstance(content, bytes) else json.dumps(content).encode())


def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(timeout=60)
    return process.pid


def refused(store: RemoteStore) -> TidegateError:
    with pytest.raises(TidegateError) as told:
        open_log(store, identity=IDENTITY)
    assert told.value.code == "TG-5004"
    return told.value


def test_a_second_writer_is_refused_and_told_what_to_do(store: RemoteStore) -> None:
    log = open_log(store, identity=IDENTITY)
    told = refused(store)
    host = socket.gethostname()
    assert told.message == f"mock://bucket is being written by process {os.getpid()} on {host}"
    assert told.hint == "stop it first; if it is gone, remove mock://bucket/writer.lock"
    log.close()
    log = open_log(store, identity=IDENTITY)
    log.recover()
    Run().to(1, log)
    log.close()
    assert layout.LOCK not in store.list("")


def test_a_refused_writer_leaves_the_lock(store: RemoteStore) -> None:
    log = open_log(store, identity=IDENTITY)
    refused(store)
    refused(store)
    log.close()


def test_the_lock_of_a_process_that_is_gone_is_taken_over(store: RemoteStore) -> None:
    locked_by(store, {"host": socket.gethostname(), "process": gone(), "token": "0"})
    log = open_log(store, identity=IDENTITY)
    log.recover()
    Run().to(0, log)
    log.close()
    log = open_log(store, identity=IDENTITY)
    check_recovered(log.recover(), 0)
    log.close()


def test_the_lock_of_an_earlier_process_with_our_number_is_taken_over(store: RemoteStore) -> None:
    """In a container the writer is process 1, before and after it was started again."""
    locked_by(store, {"host": socket.gethostname(), "process": os.getpid(), "token": "0"})
    open_log(store, identity=IDENTITY).close()


@pytest.mark.parametrize(
    "holder",
    [
        {"host": "elsewhere.example", "process": 1, "token": "0"},
        {"host": socket.gethostname(), "process": os.getppid(), "token": "0"},
        {"host": socket.gethostname(), "process": 10**30},
        {"host": socket.gethostname(), "process": -1},
        {},
        [],
        b"",
        b"not json",
    ],
    ids=["elsewhere", "alive", "no process", "negative", "nobody", "list", "torn", "text"],
)
def test_a_lock_that_may_be_held_is_respected(store: RemoteStore, holder: object) -> None:
    locked_by(store, holder)
    assert refused(store).hint.startswith("stop it first; if it is gone, remove ")
    store.remove(layout.LOCK)
    open_log(store, identity=IDENTITY).close()


class OverwritingStore(RemoteStore):
    """Another writer begins in the same instant, and is a little later."""

    def read(self, file: str) -> object:
        if file == layout.LOCK and layout.LOCK in self.list(""):
            locked_by(self, {"host": "elsewhere.example", "process": 1, "token": "0"})
        return super().read(file)


def test_of_two_that_begin_at_once_the_earlier_gives_way() -> None:
    store = OverwritingStore(fs._MockFileSystem(), "bucket", "mock://bucket")
    assert "process 1 on elsewhere.example" in refused(store).message


def test_uris_find_their_file_system(tmp_path: Path) -> None:
    remote = store_at("mock:///bucket/x")
    assert isinstance(remote, RemoteStore)
    assert (remote.root, remote.place) == ("bucket/x", "mock:///bucket/x")
    log = open_log("mock:///bucket/x", identity=IDENTITY)
    log.recover()
    Run(frozenset({1})).to(2, log)
    log.close()
