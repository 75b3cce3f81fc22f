"""What the log asks of a file system, and how a file comes to be on it: whole or not at all, and durable.

Decided here: a file is written under a temporary name, made durable, given its name, and then the name is made
durable. A crash anywhere leaves the old file or the new one, and perhaps a temporary one, which nobody reads. What
the system refuses becomes a refusal of ours that names the file.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from os import PathLike, fspath
from typing import Protocol
from urllib.parse import urlsplit

import pyarrow as pa

from tidegate import errors
from tidegate.state import layout
from tidegate.state.parts import Sink


class Lock(Protocol):
    def release(self) -> None: ...


class Store(Protocol):
    """A directory on some file system. Files are named by their path in it; all methods may raise OSError."""

    @property
    def place(self) -> str:
        """What people call it; without passwords."""
        ...

    def list(self, directory: str) -> list[str]:
        """Names of all that is in the directory; nothing if it does not exist."""
        ...

    def read(self, file: str) -> pa.Buffer: ...

    def create(self, file: str) -> AbstractContextManager[Sink]:
        """A new file in the root or in a directory of it, which is made if need be; durable at the end."""
        ...

    def rename(self, file: str, name: str) -> None:
        """At once, over what had the name before."""
        ...

    def remove(self, file: str) -> None:
        """It may be gone already."""
        ...

    def sync(self, directory: str) -> None:
        """Names in the directory are durable, and so is what has gone from it."""
        ...

    def lock(self) -> Lock:
        """Makes the root if need be. Refuses (TG-5004) while another one writes."""
        ...


def store_at(location: str | PathLike[str]) -> Store:
    """The store for a path, or for a URI that pyarrow knows."""
    from tidegate.state.local import LocalStore
    from tidegate.state.remote import RemoteStore

    path = fspath(location)
    if "://" not in path:
        return LocalStore.at(path)
    from pyarrow import fs

    place = _without_secrets(path)
    try:
        system, root = fs.FileSystem.from_uri(path)
    except (OSError, ValueError, NotImplementedError) as problem:
        reason = str(problem).replace(path, place)
        raise errors.bad_checkpoint_location(place=place, problem=reason) from None
    if isinstance(system, fs.LocalFileSystem):
        return LocalStore.at(root)
    return RemoteStore(system, root, place)


def _without_secrets(uri: str) -> str:
    """Without user and password, and without a query, which may hold keys."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def write_file(store: Store, file: str, write: Callable[[Sink], object]) -> None:
    """Makes or replaces a file; durable when it returns."""
    temporary = layout.temporary(file)
    try:
        try:
            with store.create(temporary) as sink:
                write(sink)
            store.rename(temporary, file)
        except OSError:
            with suppress(OSError):  # it takes room that a full disk lacks
                store.remove(temporary)
            raise
        store.sync(layout.directory(file))
    except OSError as problem:
        raise not_written(store, file, problem) from problem


def read_file(store: Store, file: str, *, needed_by: str) -> pa.Buffer:
    """The content of a file that must be there."""
    try:
        return store.read(file)
    except FileNotFoundError:
        raise errors.missing_state(file=full(store, file), needed_by=needed_by) from None
    except OSError as problem:
        raise not_read(store, file, problem) from problem


def full(store: Store, file: str) -> str:
    return f"{store.place}/{file}" if file else store.place


def not_written(store: Store, file: str, problem: OSError) -> errors.TidegateError:
    return errors.state_not_written(file=full(store, file), problem=_reason(problem))


def not_read(store: Store, file: str, problem: OSError) -> errors.TidegateError:
    return errors.state_not_read(file=full(store, file), problem=_reason(problem))


def _reason(problem: OSError) -> str:
    return problem.strerror or str(problem) or type(problem).__name__
