"""From the files of a checkpoint to the chain that a restart follows: a snapshot, and every epoch behind it.

Decided here: the newest manifest rules. It names the snapshot that it builds on, and every epoch from there on must
have its manifest. A newest manifest that is damaged is a refusal and not a reason to take the one before: sinks have
seen its epoch. An intent, delta or snapshot beyond the epoch that may come next shows that a manifest has been lost.
`verify` follows the same chain as a restart does; it differs in what it does with a problem.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tidegate import errors
from tidegate.errors import StateRefused, TidegateError
from tidegate.state import layout
from tidegate.state.contents import Contents
from tidegate.state.documents import unseal
from tidegate.state.records import (
    Entry,
    Facts,
    Identity,
    Manifest,
    Stored,
    identity_of,
    intent_of,
    manifest_of,
)
from tidegate.state.store import Store, full, read_file

Complain = Callable[[TidegateError], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """`links` are the manifests from the snapshot's (or epoch 0's) to the newest."""

    links: tuple[Manifest, ...]

    @property
    def newest(self) -> Manifest:
        return self.links[-1]

    @property
    def snapshot(self) -> Stored | None:
        return self.links[0].snapshot

    @property
    def deltas(self) -> tuple[Manifest, ...]:
        """Those behind the snapshot."""
        return self.links[1:] if self.snapshot else self.links

    @property
    def entries(self) -> Iterator[Entry]:
        for link in self.links:
            yield from link.entries

    @property
    def files(self) -> Iterator[str]:
        """The large ones first."""
        yield from (entry.file for entry in self.entries)
        yield from (layout.manifest(link.epoch) for link in self.links)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the documents of one checkpoint."""

    store: Store
    mark: str

    def manifest(self, epoch: int) -> Manifest:
        file = layout.manifest(epoch)
        body = _document(self.store, file, "later epochs build on it")
        return manifest_of(body, full(self.store, file), epoch=epoch, mark=self.mark)

    def intent(self, epoch: int) -> Facts:
        file = layout.intent(epoch)
        body = _document(self.store, file, "the next epoch needs it")
        return intent_of(body, full(self.store, file), epoch=epoch, mark=self.mark)

    def missing(self, epoch: int) -> TidegateError:
        file = full(self.store, layout.manifest(epoch))
        return errors.missing_state(file=file, needed_by="there are later epochs")


def read_identity(store: Store) -> tuple[Identity, str]:
    """Whose checkpoint it is, and its mark."""
    body = _document(store, layout.IDENTITY, "it says whose state this is")
    return identity_of(body, full(store, layout.IDENTITY))


def _document(store: Store, file: str, needed_by: str) -> dict[str, object]:
    content = read_file(store, file, needed_by=needed_by)
    return unseal(content.to_pybytes(), full(store, file))


def refuse(problem: TidegateError) -> None:
    """What a restart does with a problem."""
    raise problem


def read_chain(contents: Contents, reader: Reader, complain: Complain = refuse) -> Chain | None:
    """The chain, or None if no epoch is real; without the links that were complained about."""
    newest = _newest(contents, reader, complain)
    _check_nothing_beyond(contents, newest, complain, reader)
    if newest is None:
        return None
    first = newest.base or 0
    known = frozenset(contents.manifests)
    links = []
    for epoch in range(first, newest.epoch):
        link = _link(epoch, known, reader, complain)
        if link is not None:
            links.append(link)
    links.append(newest)
    _check_base(newest.base, links, complain, reader)
    return Chain(links=tuple(links))


def _newest(contents: Contents, reader: Reader, complain: Complain) -> Manifest | None:
    for epoch in reversed(contents.manifests):
        try:
            return reader.manifest(epoch)
        except StateRefused as problem:
            complain(problem)
    return None


def _link(epoch: int, known: frozenset[int], reader: Reader, complain: Complain) -> Manifest | None:
    if epoch not in known:
        complain(reader.missing(epoch))
        return None
    try:
        return reader.manifest(epoch)
    except StateRefused as problem:
        complain(problem)
        return None


def _check_nothing_beyond(
    contents: Contents, newest: Manifest | None, complain: Complain, reader: Reader
) -> None:
    """Snapshots are of real epochs; intents and deltas, of the one behind them at most."""
    last = contents.manifests[-1] if contents.manifests else -1
    begun = [*contents.intents, *(epoch for epoch, _ in contents.deltas)]
    needed = max([*(epoch - 1 for epoch in begun), *(epoch for epoch, _ in contents.snapshots), -1])
    if needed > last:
        complain(reader.missing(needed))


def _check_base(
    base: int | None, links: list[Manifest], complain: Complain, reader: Reader
) -> None:
    """All links build on the same snapshot, which is the first one's."""
    for link in links:
        snapshot_fits = (link.snapshot is not None) == (link.epoch == base)
        if link.base != base or not snapshot_fits:
            file = full(reader.store, layout.manifest(link.epoch))
            problem = f"it does not build on the snapshot of epoch {base}"
            complain(errors.foreign_state(file=file, problem=problem))
