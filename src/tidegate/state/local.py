"""A checkpoint on a local file system: POSIX gives all that the log needs.

`os.replace` is atomic, `fsync` makes contents and names durable, and `flock` goes away with its process, so that the
lock of a dead writer does not block. A child that was forked off a writer (not one that was spawned) shares its lock.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa

from tidegate import errors
from tidegate.state import layout
from tidegate.state.parts import Sink

_BUFFER_BYTES = 1 << 17


@dataclass(frozen=True, slots=True)
class LocalStore:
    """`root` is absolute: the store may travel to a process with another working directory."""

    root: str
    place: str

    @classmethod
    def at(cls, path: str) -> "LocalStore":
        return cls(os.path.abspath(path), path.rstrip("/") or "/")

    def list(self, directory: str) -> list[str]:
        try:
            return sorted(os.listdir(self._path(directory)))
        except FileNotFoundError:
            return []

    def read(self, file: str) -> pa.Buffer:
        with pa.OSFile(self._path(file)) as opened:
            return opened.read_buffer()

    @contextmanager
    def create(self, file: str) -> Iterator[Sink]:
        path = self._path(file)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileNotFoundError:
            self._make(layout.directory(file))
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb", buffering=_BUFFER_BYTES) as opened:
            yield opened
            opened.flush()
            os.fsync(descriptor)

    def rename(self, file: str, name: str) -> None:
        os.replace(self._path(file), self._path(name))

    def remove(self, file: str) -> None:
        with suppress(FileNotFoundError):
            os.remove(self._path(file))

    def sync(self, directory: str) -> None:
        _sync(self._path(directory))

    def lock(self) -> "LocalLock":
        _make_with_parents(self.root)
        descriptor = os.open(self._path(layout.LOCK), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, owner().encode(), 0)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise errors.checkpoint_in_use(path=self.place, owner=holder) from None
        except OSError:
            os.close(descriptor)
            raise
        return LocalLock(descriptor)

    def _path(self, file: str) -> str:
        return f"{self.root}/{file}" if file else self.root

    def _make(self, directory: str) -> None:
        """Not the root: that it is gone is no reason to begin another one without an identity."""
        if directory:
            with suppress(FileExistsError):
                os.mkdir(self._path(directory))
            self.sync("")


@dataclass(slots=True)
class LocalLock:
    descriptor: int

    def release(self) -> None:
        os.close(self.descriptor)


def owner() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _make_with_parents(path: str) -> None:
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    _make_with_parents(above)
    with suppress(FileExistsError):
        os.mkdir(path)
    _sync(above)


def _sync(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
