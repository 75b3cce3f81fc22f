"""How an engine drives a log; the same for one on a file system and one in memory.

    found = log.recover()                  first of all, once
    log.intend(epoch, facts)               what the epoch will read, the clock it will use
    entry = log.write(epoch, shard, parts)
    log.commit(epoch, facts, [entry, …])   the epoch is real
    log.snapshot(epoch, facts, shards=…)   if `log.wants_snapshot()`

Epochs are 0, 1, 2, … without a gap. An epoch that was intended and not committed is to be repeated with what was
intended; what a shard wrote for it is thrown away. A log that has refused to write is done: close it and open it anew.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tidegate.state.records import Entry, Facts, Identity, Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one epoch added. `shards` are by number, and may be more or fewer than in other epochs."""

    epoch: int
    facts: Facts
    shards: Sequence[Parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All state after an epoch, with the facts that were given for it."""

    epoch: int
    facts: Facts
    shards: Sequence[Parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What a restart begins with. `epoch` is the last real one, `facts` are its manifest's.

    If no epoch is real yet but the first was intended, `epoch` is -1 and `facts` are empty.
    """

    epoch: int
    facts: Facts
    snapshot: Snapshot | None
    intent: Facts | None
    deltas: Callable[[], Iterator[Delta]]
    """Of the epochs behind the snapshot, oldest first; read one by one, before the next call of the log."""


Written: TypeAlias = Callable[[], Sequence[Entry]]


def nothing() -> Sequence[Entry]:
    """No shards but those that are given."""
    return ()


class Log(Protocol):
    @property
    def identity(self) -> Identity: ...

    @property
    def run(self) -> str | None:
        """A name that no other checkpoint has, and this one keeps; None where nothing is kept."""
        ...

    def extend(self, identity: Identity) -> None:
        """The run goes on with other plans: from now on the checkpoint belongs to them."""
        ...

    def recover(self) -> Recovered | None:
        """None if nothing was ever intended. What an interrupted epoch left behind is removed."""
        ...

    def intend(self, epoch: int, facts: Facts) -> None:
        """Durable before it returns. Intending an epoch again replaces what was intended."""
        ...

    def write(self, epoch: int, shard: int, parts: Parts) -> Entry: ...

    def commit(self, epoch: int, facts: Facts, entries: Sequence[Entry]) -> None: ...

    def wants_snapshot(self) -> bool: ...

    def snapshot(
        self, epoch: int, facts: Facts, *, shards: Sequence[Parts], more: Written = nothing
    ) -> None:
        """Of the last epoch that was committed; what only earlier epochs need is removed.

        `more` is asked for snapshots of further shards, which others have written.
        """
        ...

    def close(self) -> None: ...
