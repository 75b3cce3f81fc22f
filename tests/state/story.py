"""A scripted run whose every epoch is known: what it intends, what its shards add, and the state that results.

Epoch e adds the row (e, shard, e·10 + shard) to the part `sums` of each of two shards, and every second epoch a row to
the part `late` of shard 0. The state after an epoch is all rows so far.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tidegate.state import Identity, Log, Parts, Recovered

IDENTITY = Identity(
    plans={"minutes": ("format: 1", "key: k VARCHAR"), "hours": ("format: 1", "key: k BIGINT")}
)
SHARDS = 2
Rows = list[tuple[str, tuple[int, ...]]]


def intended(epoch: int) -> dict[str, Any]:
    return {"offsets": {"trades": {"0": 2**60 + epoch}}, "clock_us": 1_000_000 * epoch}


def left_at(epoch: int) -> dict[str, Any]:
    return {"watermark_us": {"minutes": -(2**62) + epoch}, "note": f"µ{epoch}", "share": epoch / 3}


def added(epoch: int, shard: int) -> dict[str, pa.Table]:
    sums = pa.table({"epoch": [epoch], "shard": [shard], "sum": [epoch * 10 + shard]})
    if epoch % 2 or shard:
        return {"sums": sums}
    return {"sums": sums, "late": pa.table({"at": [epoch]})}


def state_after(epoch: int) -> list[dict[str, pa.Table]]:
    """By shard."""
    merged = []
    for shard in range(SHARDS):
        tables: dict[str, list[pa.Table]] = {}
        for each in range(epoch + 1):
            for name, table in added(each, shard).items():
                tables.setdefault(name, []).append(table)
        merged.append({name: pa.concat_tables(each) for name, each in tables.items()})
    return merged


def rows(shards: Iterable[Parts]) -> Rows:
    """All rows with the names of their parts, in an order of their own."""
    return sorted(
        (name, tuple(row.values()))
        for parts in shards
        for name, table in parts.items()
        for row in table.to_pylist()
    )


def recovered_rows(found: Recovered) -> Rows:
    snapshot: Sequence[Parts] = found.snapshot.shards if found.snapshot else ()
    return rows([*snapshot, *(parts for delta in found.deltas() for parts in delta.shards)])


@dataclass
class Run:
    """What an engine would do; remembers how far it got, so that a death leaves that behind."""

    snapshots: frozenset[int] = frozenset()
    intends: int = -1
    intended: int = -1
    commits: int = -1
    committed: int = -1

    def to(self, last: int, log: Log, first: int = 0) -> None:
        """Epochs from `first` to `last`; the log has been recovered."""
        for epoch in range(first, last + 1):
            self.intends = epoch
            log.intend(epoch, intended(epoch))
            self.intended = epoch
            entries = [log.write(epoch, shard, added(epoch, shard)) for shard in range(SHARDS)]
            self.commits = epoch
            log.commit(epoch, left_at(epoch), entries)
            self.committed = epoch
            if epoch in self.snapshots:
                log.snapshot(epoch, {"of": epoch}, shards=state_after(epoch))


def check_recovered(found: Recovered | None, epoch: int, *, intent: bool = False) -> None:
    """That it is the state after the epoch, and whether the next one was intended."""
    if epoch < 0 and not intent:
        assert found is None
        return
    assert found is not None
    assert found.epoch == epoch
    assert found.facts == (left_at(epoch) if epoch >= 0 else {})
    assert found.intent == (intended(epoch + 1) if intent else None)
    assert recovered_rows(found) == (rows(state_after(epoch)) if epoch >= 0 else [])
    first = found.snapshot.epoch + 1 if found.snapshot else 0
    deltas = list(found.deltas())
    assert [delta.epoch for delta in deltas] == list(range(first, epoch + 1))
    assert all(delta.facts == left_at(delta.epoch) for delta in deltas)
    if found.snapshot:
        assert found.snapshot.facts == {"of": found.snapshot.epoch}
