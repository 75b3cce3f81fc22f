"""A file system that remembers what is durable, and dies or fails when told to.

What is visible is one thing, what survives another: contents survive once their file is complete, names (made,
replaced or removed) once their directory has been synced. After a death any mixture of the two may be found, name by
name.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO

import pyarrow as pa

from tidegate import errors
from tidegate.state import layout
from tidegate.state.parts import Sink

Files = dict[str, bytes]


class Died(BaseException):
    """Not an Exception, for nothing gets a chance to tidy up."""


@dataclass
class Disk:
    """What is left when a machine is gone."""

    visible: Files = field(default_factory=dict)
    durable: Files = field(default_factory=dict)

    def survivors(self, visible: Callable[[str], bool]) -> "Disk":
        """The names for which it is `visible` are found as they were seen, the others as they were synced."""
        chosen = {
            name: (self.visible if visible(name) else self.durable).get(name)
            for name in {*self.visible, *self.durable}
        }
        files = {name: content for name, content in chosen.items() if content is not None}
        return Disk(dict(files), dict(files))


class FragileStore:
    """`steps` operations succeed; at the next one it dies, or raises `failure` once."""

    place = "disk"

    def __init__(self, disk: Disk, *, steps: int = -1, failure: OSError | None = None) -> None:
        self.disk, self.steps, self.failure = disk, steps, failure
        self.taken = 0
        self.dead = False

    def list(self, directory: str) -> list[str]:
        self._step()
        prefix = f"{directory}/" if directory else ""
        inside = [name[len(prefix) :] for name in self.disk.visible if name.startswith(prefix)]
        return sorted({name.partition("/")[0] for name in inside})

    def read(self, file: str) -> pa.Buffer:
        self._step()
        if file not in self.disk.visible:
            raise FileNotFoundError(file)
        return pa.py_buffer(self.disk.visible[file])

    @contextmanager
    def create(self, file: str) -> Iterator[Sink]:
        self._step()
        self.disk.visible[file] = b""
        content = BytesIO()
        yield content
        written = content.getvalue()
        self.disk.visible[file] = written[: len(written) // 2]
        self._step()
        self.disk.visible[file] = written

    def rename(self, file: str, name: str) -> None:
        self._step()
        self.disk.visible[name] = self.disk.visible.pop(file)

    def remove(self, file: str) -> None:
        self._step()
        self.disk.visible.pop(file, None)

    def sync(self, directory: str) -> None:
        self._step()
        for name in {*self.disk.visible, *self.disk.durable}:
            if layout.directory(name) != directory:
                continue
            if name in self.disk.visible:
                self.disk.durable[name] = self.disk.visible[name]
            else:
                del self.disk.durable[name]

    def lock(self) -> "FragileLock":
        self._step()
        if self.disk.visible.get(layout.LOCK):
            raise errors.checkpoint_in_use(path=self.place, owner="a test")
        self.disk.visible[layout.LOCK] = b"held"
        return FragileLock(self)

    def _step(self) -> None:
        if self.dead:
            raise Died
        if self.taken == self.steps:
            if self.failure is not None:
                self.taken += 1
                raise self.failure
            self.dead = True
            raise Died
        self.taken += 1


@dataclass
class FragileLock:
    """Ends with its process, as `flock` does; the file stays."""

    store: FragileStore

    def release(self) -> None:
        self.store.disk.visible[layout.LOCK] = b""


def restarted(disk: Disk, visible: Callable[[str], bool] = lambda name: True) -> Disk:
    """What the next process finds; the lock went with the one before."""
    found = disk.survivors(visible)
    for files in (found.visible, found.durable):
        if layout.LOCK in files:
            files[layout.LOCK] = b""
    return found
