"""A look at a checkpoint from outside, without its lock: what is in it, and what is wrong with it.

Decided here: looking changes nothing, and may be done while a query runs. A writer removes files meanwhile; so a look
that found something wrong is repeated as long as the directory changes under it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tidegate import errors
from tidegate.errors import StateRefused, TidegateError
from tidegate.state.chain import Chain, Reader, read_chain, read_identity
from tidegate.state.contents import Contents, scan
from tidegate.state.records import Facts, Identity
from tidegate.state.shards import ShardFiles
from tidegate.state.store import Store, full

T = TypeVar("T")
_MOST_LOOKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a restart would find. `chain` is None while no epoch is real; `intent` is of the epoch behind it."""

    place: str
    mark: str
    identity: Identity
    chain: Chain | None
    intent: Facts | None

    @property
    def epoch(self) -> int:
        return self.chain.newest.epoch if self.chain else -1


def survey(store: Store) -> Survey:
    """What is in the checkpoint. Refuses what a restart would refuse, but for partials, which it does not read."""
    found = _settled(store, partial(_look, store), lambda it: isinstance(it, StateRefused))
    if isinstance(found, StateRefused):
        raise found
    return found


def verify(store: Store) -> list[TidegateError]:
    """All that is wrong with the checkpoint; every file of it is read."""
    return _settled(store, partial(_problems, store), bool)


def _settled(store: Store, look: Callable[[Contents], T], suspicious: Callable[[T], bool]) -> T:
    contents = _contents(store)
    for _ in range(_MOST_LOOKS):
        found = look(contents)
        before, contents = contents, _contents(store)
        if not suspicious(found) or contents == before:
            break
    return found


def _contents(store: Store) -> Contents:
    contents = scan(store)
    if not (contents.identity or contents.holds_state):
        raise errors.no_checkpoint(path=store.place)
    return contents


def _look(store: Store, contents: Contents) -> Survey | StateRefused:
    try:
        identity, mark = read_identity(store)
        reader = Reader(store, mark)
        chain = read_chain(contents, reader)
        coming = chain.newest.epoch + 1 if chain else 0
        intent = reader.intent(coming) if coming in contents.intents else None
    except StateRefused as problem:
        return problem
    return Survey(place=store.place, mark=mark, identity=identity, chain=chain, intent=intent)


def _problems(store: Store, contents: Contents) -> list[TidegateError]:
    problems: list[TidegateError] = []

    def attempt(read: Callable[[], T]) -> T | None:
        try:
            return read()
        except StateRefused as problem:
            problems.append(problem)
            return None

    for file in contents.foreign:
        problem = "a checkpoint has no file of that name"
        problems.append(errors.foreign_state(file=full(store, file), problem=problem))
    known = attempt(partial(read_identity, store))
    if known is None:
        return problems
    reader = Reader(store, known[1])
    chain = read_chain(contents, reader, problems.append)
    for entry in chain.entries if chain else ():
        attempt(partial(ShardFiles(store).read, entry))
    coming = max(contents.manifests, default=-1) + 1
    if coming in contents.intents:
        attempt(partial(reader.intent, coming))
    return problems
