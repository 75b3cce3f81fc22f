"""Where a log can be: each place gives the same files to whoever opens it again."""

from collections.abc import Callable
from pathlib import Path

from pyarrow import fs

from tests.state.fragile import Disk, FragileStore
from tidegate.state.local import LocalStore
from tidegate.state.remote import RemoteStore
from tidegate.state.store import Store


def local(directory: Path) -> Store:
    return LocalStore.at(str(directory / "checkpoint"))


def mock(directory: Path) -> Store:
    return RemoteStore(fs._MockFileSystem(), "bucket/checkpoint", "mock://bucket/checkpoint")


def subtree(directory: Path) -> Store:
    system = fs.SubTreeFileSystem(str(directory), fs.LocalFileSystem())
    return RemoteStore(system, "", "subtree://")


def disk(directory: Path) -> Store:
    return FragileStore(Disk())


PLACES: dict[str, Callable[[Path], Store]] = {
    "local": local,
    "mock": mock,
    "subtree": subtree,
    "disk": disk,
}
