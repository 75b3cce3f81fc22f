"""The log of a run that nobody wants to keep: the same protocol, nothing on disk.

It outlives an engine within the process: hand the object to the next engine, and it recovers as from files. Facts go
through JSON here too, so that what a file could not hold is found by a test that has none.
"""

from collections.abc import Callable, Iterator, Sequence
from secrets import token_hex

from tidegate.state import layout
from tidegate.state.documents import plain
from tidegate.state.growth import Growth
from tidegate.state.protocol import Delta, Recovered, Snapshot, Written, nothing
from tidegate.state.records import Entry, Facts, Identity, Part, Parts


class MemoryLog:
    """A `Log`. Closing it changes nothing; `recover` makes it ready for the next engine."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.run = token_hex(8)
        self._snapshot: Snapshot | None = None
        self._deltas: list[Delta] = []
        self._intent: tuple[int, Facts] | None = None
        self._written: dict[str, Parts] = {}
        self._growth = Growth()

    def extend(self, identity: Identity) -> None:
        self.identity = identity

    def recover(self) -> Recovered | None:
        self._written.clear()
        epoch = self._epoch
        intended = self._intent is not None and self._intent[0] == epoch + 1
        if epoch < 0 and not intended:
            return None
        return Recovered(
            epoch=epoch,
            facts=self._facts(),
            snapshot=self._snapshot,
            intent=plain(self._intent[1]) if self._intent and intended else None,
            deltas=_iterate(tuple(self._deltas)),
        )

    def intend(self, epoch: int, facts: Facts) -> None:
        self._expect(epoch)
        self._intent = epoch, plain(facts)

    def write(self, epoch: int, shard: int, parts: Parts) -> Entry:
        self._expect(epoch)
        file = layout.delta(epoch, shard)
        self._written[file] = dict(parts)
        sizes = tuple(
            Part(name=name, rows=table.num_rows, bytes=table.nbytes)
            for name, table in parts.items()
        )
        size = sum(part.bytes for part in sizes)
        return Entry(file=file, shard=shard, bytes=size, checksum="", parts=sizes)

    def commit(self, epoch: int, facts: Facts, entries: Sequence[Entry]) -> None:
        self._expect(epoch)
        shards: list[Parts] = [
            {} for _ in range(1 + max((entry.shard for entry in entries), default=-1))
        ]
        for entry in entries:
            shards[entry.shard] = self._written[entry.file]
        self._deltas.append(Delta(epoch=epoch, facts=plain(facts), shards=shards))
        self._written.clear()
        self._growth.add(sum(entry.bytes for entry in entries))

    def wants_snapshot(self) -> bool:
        return self._growth.wants_snapshot

    def snapshot(
        self, epoch: int, facts: Facts, *, shards: Sequence[Parts], more: Written = nothing
    ) -> None:
        assert epoch == self._epoch
        assert not more(), "shards in other processes do not see this memory"
        if self._snapshot is not None and epoch == self._snapshot.epoch:
            return
        self._last_facts = self._facts()
        self._snapshot = Snapshot(epoch=epoch, facts=plain(facts), shards=[*map(dict, shards)])
        self._deltas.clear()
        self._growth.restart(sum(table.nbytes for parts in shards for table in parts.values()))

    _last_facts: Facts

    def close(self) -> None: ...

    @property
    def _epoch(self) -> int:
        if self._deltas:
            return self._deltas[-1].epoch
        return self._snapshot.epoch if self._snapshot else -1

    def _facts(self) -> Facts:
        """Of the last epoch's manifest."""
        if self._deltas:
            return self._deltas[-1].facts
        return self._last_facts if self._snapshot else {}

    def _expect(self, epoch: int) -> None:
        assert epoch == self._epoch + 1, epoch


def _iterate(deltas: Sequence[Delta]) -> Callable[[], Iterator[Delta]]:
    return lambda: iter(deltas)
