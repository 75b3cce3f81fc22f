"""What there is in a checkpoint, by name alone: one listing of the root, one of each shard.

Files are listed, and asked no further: whether what they say fits together is `chain.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.state import layout
from tidegate.state.store import Store, not_read


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Epochs of manifests and intents, epochs and shards of deltas and snapshots; ascending."""

    identity: bool
    lock: bool
    manifests: tuple[int, ...]
    intents: tuple[int, ...]
    deltas: tuple[tuple[int, int], ...]
    snapshots: tuple[tuple[int, int], ...]
    unfinished: tuple[str, ...]
    foreign: tuple[str, ...]
    directories: tuple[str, ...]

    @property
    def log_files(self) -> Iterator[str]:
        """All files of ours but the identity and the lock."""
        yield from self.unfinished
        yield from (layout.intent(epoch) for epoch in self.intents)
        yield from (layout.manifest(epoch) for epoch in self.manifests)
        yield from self.shard_files

    @property
    def shard_files(self) -> Iterator[str]:
        yield from (layout.delta(*key) for key in self.deltas)
        yield from (layout.snapshot(*key) for key in self.snapshots)

    @property
    def holds_state(self) -> bool:
        return bool(self.manifests or self.intents or self.deltas or self.snapshots)


def scan(store: Store) -> Contents:
    """What is there now."""
    found = _Found()
    for name in _list(store, ""):
        shard = layout.shard_of(name)
        if shard is None:
            found.in_root(name)
            continue
        found.directories.append(name)
        for inner in _list(store, name):
            found.in_shard(shard, inner)
    return found.contents()


def _list(store: Store, directory: str) -> list[str]:
    try:
        return [name for name in store.list(directory) if not layout.ignored(name)]
    except OSError as problem:
        raise not_read(store, directory, problem) from problem


class _Found:
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.numbered: dict[str, list[int]] = {"manifest": [], "intent": []}
        self.keyed: dict[str, list[tuple[int, int]]] = {"epoch": [], "snapshot": []}
        self.unfinished: list[str] = []
        self.foreign: list[str] = []
        self.directories: list[str] = []

    def in_root(self, name: str) -> None:
        meant = layout.final(name) or name
        numbered = layout.in_root(meant)
        if numbered is None and meant not in (layout.IDENTITY, layout.LOCK):
            self.foreign.append(name)
        elif meant != name:
            self.unfinished.append(name)
        elif numbered is None:
            self.names.add(name)
        else:
            self.numbered[numbered[0]].append(numbered[1])

    def in_shard(self, shard: int, name: str) -> None:
        file = f"{layout.shard_directory(shard)}/{name}"
        meant = layout.final(name) or name
        numbered = layout.in_shard(meant)
        if numbered is None:
            self.foreign.append(file)
        elif meant != name:
            self.unfinished.append(file)
        else:
            self.keyed[numbered[0]].append((numbered[1], shard))

    def contents(self) -> Contents:
        return Contents(
            identity=layout.IDENTITY in self.names,
            lock=layout.LOCK in self.names,
            manifests=tuple(sorted(self.numbered["manifest"])),
            intents=tuple(sorted(self.numbered["intent"])),
            deltas=tuple(sorted(self.keyed["epoch"])),
            snapshots=tuple(sorted(self.keyed["snapshot"])),
            unfinished=tuple(self.unfinished),
            foreign=tuple(self.foreign),
            directories=tuple(self.directories),
        )
