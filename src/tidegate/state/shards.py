"""The files of shards. May be pickled and used in another process: it needs no lock, since nothing that it writes is
real before a manifest names it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa

from tidegate.state import layout
from tidegate.state.parts import Sink, read_parts, write_parts
from tidegate.state.records import Entry, Parts
from tidegate.state.store import Store, full, not_written, read_file, write_file


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one of several attempts has written, and where. Its entry has no name yet."""

    file: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class ShardFiles:
    store: Store

    def write(self, epoch: int, shard: int, parts: Parts) -> Entry:
        """What a shard made in an epoch; durable when it returns. Writing it again replaces it."""
        return self._write(layout.delta(epoch, shard), shard, parts)

    def write_snapshot(self, epoch: int, shard: int, parts: Parts) -> Entry:
        """All that a shard holds after an epoch."""
        return self._write(layout.snapshot(epoch, shard), shard, parts)

    def write_seed(self, run: str, shard: int, parts: Parts) -> Entry:
        """What a shard begins with in this run; the log does not know of it. Seeds of other runs go."""
        directory = layout.shard_directory(shard)
        try:
            for name in self.store.list(directory):
                if layout.is_seed(name):
                    self.store.remove(f"{directory}/{name}")
        except OSError as problem:
            raise not_written(self.store, directory, problem) from problem
        return self._write(layout.seed(run, shard), shard, parts)

    def attempt(self, shard: int, parts: Parts) -> "Attempt":
        """Parts of a shard under a name that nothing else has; nothing before `adopt` gives it its own."""
        file = layout.temporary(layout.delta(0, shard))
        try:
            with self.store.create(file) as sink:
                sizes, size, checksum = write_parts(sink, parts)
        except OSError as problem:
            with suppress(OSError):  # it takes room that a full disk lacks
                self.store.remove(file)
            raise not_written(self.store, file, problem) from problem
        return Attempt(
            file, Entry(file="", shard=shard, bytes=size, checksum=checksum, parts=sizes)
        )

    def adopt(self, attempt: "Attempt", file: str) -> Entry:
        """From now on it is that file, durably."""
        try:
            self.store.rename(attempt.file, file)
            self.store.sync(layout.directory(file))
        except OSError as problem:
            raise not_written(self.store, file, problem) from problem
        return replace(attempt.entry, file=file)

    def forget(self, attempt: "Attempt") -> None:
        """It will not be adopted."""
        try:
            self.store.remove(attempt.file)
        except OSError as problem:
            raise not_written(self.store, attempt.file, problem) from problem

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
