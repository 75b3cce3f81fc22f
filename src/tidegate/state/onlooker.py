"""The log of an engine that looks at a checkpoint and never writes to it: for questions about a run that goes on.

Decided here: it takes no lock and removes nothing, so the run itself is not disturbed. What a run had begun and not
finished is left alone.
"""

from tidegate import errors
from tidegate.state.chain import Chain
from tidegate.state.forgetful import ForgetfulLog
from tidegate.state.log import deltas_of
from tidegate.state.protocol import Recovered, Snapshot
from tidegate.state.records import Identity
from tidegate.state.shards import ShardFiles
from tidegate.state.store import store_at
from tidegate.state.survey import survey


class Onlooker(ForgetfulLog):
    """Recovers what a restart would; all else is forgotten."""

    def __init__(self, location: str, *, identity: Identity) -> None:
        super().__init__(identity)
        store = store_at(location)
        found = survey(store)
        difference = found.identity.difference(identity)
        if difference:
            raise errors.other_plan(path=store.place, difference=difference)
        self._chain: Chain | None = found.chain
        self._shards = ShardFiles(store)

    def recover(self) -> Recovered | None:
        chain = self._chain
        if chain is None:
            return None
        snapshot = None
        if chain.snapshot is not None:
            shards = self._shards.read_all(chain.snapshot.entries)
            epoch, facts = chain.links[0].epoch, chain.snapshot.facts
            snapshot = Snapshot(epoch=epoch, facts=facts, shards=shards)
        return Recovered(
            epoch=chain.newest.epoch,
            facts=chain.newest.delta.facts,
            snapshot=snapshot,
            intent=None,
            deltas=deltas_of(self._shards, chain),
        )
