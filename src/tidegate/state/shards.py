"""The files of shards. May be pickled and used in another process: it needs no lock, since nothing that it writes is
real before a manifest names it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from tidegate.state import layout
from tidegate.state.parts import Sink, read_parts, write_parts
from tidegate.state.records import Entry, Parts
from tidegate.state.store import Store, full, read_file, write_file


@dataclass(frozen=True, slots=True)
class ShardFiles:
    store: Store

    def write(self, epoch: int, shard: int, parts: Parts) -> Entry:
        """What a shard made in an epoch; durable when it returns. Writing it again replaces it."""
        return self._write(layout.delta(epoch, shard), shard, parts)

    def write_snapshot(self, epoch: int, shard: int, parts: Parts) -> Entry:
        """All that a shard holds after an epoch."""
        return self._write(layout.snapshot(epoch, shard), shard, parts)

    def read(self, entry: Entry) -> dict[str, pa.Table]:
        """The parts of an entry, checked against what was written."""
        content = read_file(self.store, entry.file, needed_by="its manifest names it")
        return read_parts(content, entry, full(self.store, entry.file))

    def read_all(self, entries: Sequence[Entry]) -> list[dict[str, pa.Table]]:
        """By shard; one that has no file has no parts."""
        shards: list[dict[str, pa.Table]] = [
            {} for _ in range(1 + max((entry.shard for entry in entries), default=-1))
        ]
        for entry in entries:
            shards[entry.shard] = self.read(entry)
        return shards

    def _write(self, file: str, shard: int, parts: Parts) -> Entry:
        written = []

        def write(sink: Sink) -> None:
            written.append(write_parts(sink, parts))

        write_file(self.store, file, write)
        [(sizes, size, checksum)] = written
        return Entry(file=file, shard=shard, bytes=size, checksum=checksum, parts=sizes)
