"""The log of a run that is never resumed: nothing is kept, and nothing costs anything."""

from collections.abc import Sequence

from tidegate.state.protocol import Recovered, Written, nothing
from tidegate.state.records import Entry, Facts, Identity, Parts

_NO_ENTRY = Entry(file="", shard=0, bytes=0, checksum="", parts=())


class ForgetfulLog:
    """A `Log` that always begins anew."""

    run = None

    def __init__(self, identity: Identity) -> None:
        self.identity = identity

    def extend(self, identity: Identity) -> None:
        self.identity = identity

    def recover(self) -> Recovered | None:
        return None

    def intend(self, epoch: int, facts: Facts) -> None: ...

    def write(self, epoch: int, shard: int, parts: Parts) -> Entry:
        return _NO_ENTRY

    def commit(self, epoch: int, facts: Facts, entries: Sequence[Entry]) -> None: ...

    def wants_snapshot(self) -> bool:
        return False

    def snapshot(
        self, epoch: int, facts: Facts, *, shards: Sequence[Parts], more: Written = nothing
    ) -> None: ...

    def close(self) -> None: ...
