"""A checkpoint on any file system that pyarrow knows.

A file that has been closed is taken to be durable there, and a move to replace its target at once (object stores copy,
and a copy becomes visible whole). There are no locks that end with their process; so the lock is a file that names its
owner. It is a courtesy between people, not a proof: of two writers that start within one instant both may pass.
A lock of this host is taken over if its process is gone; one of another host has to be removed by hand.
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

import pyarrow as pa
from pyarrow import fs

from tidegate import errors
from tidegate.state import layout
from tidegate.state.parts import Sink

# Locks of this process. A process id alone is not enough: in a container that was started again it is the same one.
_HELD: set[str] = set()
_MOST_PROCESSES = 1 << 31


@dataclass(frozen=True, slots=True)
class RemoteStore:
    system: fs.FileSystem
    root: str
    place: str

    def list(self, directory: str) -> list[str]:
        selected = fs.FileSelector(self._path(directory), allow_not_found=True)
        return sorted(info.base_name for info in self.system.get_file_info(selected))

    def read(self, file: str) -> pa.Buffer:
        with self.system.open_input_file(self._path(file)) as opened:
            return opened.read_buffer()

    @contextmanager
    def create(self, file: str) -> Iterator[Sink]:
        path = self._path(file)
        try:
            opened = self.system.open_output_stream(path, compression=None)
        except FileNotFoundError:
            self.system.create_dir(self._path(layout.directory(file)))
            opened = self.system.open_output_stream(path, compression=None)
        with opened:
            yield opened

    def rename(self, file: str, name: str) -> None:
        self.system.move(self._path(file), self._path(name))

    def remove(self, file: str) -> None:
        with suppress(FileNotFoundError):
            self.system.delete_file(self._path(file))

    def sync(self, directory: str) -> None:
        """Nothing is left to do there."""

    def lock(self) -> "RemoteLock":
        if self.root:
            self.system.create_dir(self.root)
        holder = self._holder()
        if holder is not None and _alive(holder):
            raise self._in_use(holder)
        token = token_hex(8)
        ours = {"host": socket.gethostname(), "process": os.getpid(), "token": token}
        with self.create(layout.LOCK) as sink:
            sink.write(json.dumps(ours).encode())
        now = self._holder()
        if now != ours:
            raise self._in_use(now or {})
        _HELD.add(token)
        return RemoteLock(self, token)

    def _holder(self) -> dict[str, Any] | None:
        try:
            content = self.read(layout.LOCK).to_pybytes()
        except FileNotFoundError:
            return None
        with suppress(ValueError):
            holder = json.loads(content)
            if isinstance(holder, dict):
                return holder
        return {}

    def _in_use(self, holder: dict[str, Any]) -> errors.TidegateError:
        process, host = holder.get("process", "unknown"), holder.get("host", "an unknown host")
        return errors.checkpoint_in_use(
            path=self.place,
            owner=f"process {process} on {host}",
            hint=f"stop it first; if it is gone, remove {self.place}/{layout.LOCK}",
        )

    def _path(self, file: str) -> str:
        return "/".join(part for part in (self.root, file) if part)


@dataclass(frozen=True, slots=True)
class RemoteLock:
    store: RemoteStore
    token: str

    def release(self) -> None:
        _HELD.discard(self.token)
        self.store.remove(layout.LOCK)


def _alive(holder: dict[str, Any]) -> bool:
    """Whether it may be; of another host nobody can tell."""
    process = holder.get("process")
    if not isinstance(process, int) or not 0 < process < _MOST_PROCESSES:
        return True
    if holder.get("host") != socket.gethostname():
        return True
    if process == os.getpid():
        return holder.get("token") in _HELD
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
