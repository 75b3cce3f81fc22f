"""The nouns of the log, and how its JSON files spell them.

Decided here: a checkpoint has a mark of its own, which all its documents repeat, so that a manifest that was copied
from elsewhere is not taken for one of this checkpoint. A document also says its epoch, which must be the one in its
name.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from tidegate import errors
from tidegate.plan.fingerprint import Fingerprint
from tidegate.state import layout

Facts: TypeAlias = Mapping[str, Any]  # plain JSON; the engine's own
Parts: TypeAlias = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a checkpoint belongs to: the fingerprint lines of each stream's plan."""

    plans: Mapping[str, tuple[str, ...]]

    def difference(self, other: "Identity") -> str:
        """Lines that only this one has after `-`, lines that only the other has after `+`; empty if they are equal."""
        changed = []
        for name in sorted({*self.plans, *other.plans}):
            ours, theirs = self.plans.get(name), other.plans.get(name)
            if theirs is None:
                changed.append(f"- stream {name}")
            elif ours is None:
                changed.append(f"+ stream {name}")
            elif ours != theirs:
                changed += [
                    f"stream {name}:",
                    Fingerprint(ours).difference(Fingerprint(theirs)),
                ]
        return "\n".join(changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table in an entry's file."""

    name: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of one shard: the parts of an epoch, or of a snapshot."""

    file: str
    shard: int
    bytes: int
    checksum: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Facts, and the files of the shards that go with them."""

    facts: Facts
    entries: tuple[Entry, ...]

    @property
    def bytes(self) -> int:
        return sum(entry.bytes for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """An epoch that is real.

    `base` is the epoch of the snapshot that its delta builds on; None is the empty state before epoch 0. With the
    `snapshot` of the epoch itself, which its delta has gone into, `base` is the epoch and `delta` has no files.
    """

    epoch: int
    base: int | None
    delta: Stored
    snapshot: Stored | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self.delta.entries + (self.snapshot.entries if self.snapshot else ())


# As JSON


def identity_body(identity: Identity, mark: str) -> dict[str, Any]:
    return {"checkpoint": mark, "plans": {name: [*it] for name, it in identity.plans.items()}}


def identity_of(body: Mapping[str, Any], file: str) -> tuple[Identity, str]:
    """The identity and the mark."""
    try:
        plans = {str(name): tuple(map(str, lines)) for name, lines in body["plans"].items()}
        return Identity(plans=plans), str(body["checkpoint"])
    except (AttributeError, KeyError, TypeError) as problem:
        raise _misshapen(file, problem) from None


def intent_body(epoch: int, facts: Facts, mark: str) -> dict[str, Any]:
    return {"checkpoint": mark, "epoch": epoch, "facts": facts}


def intent_of(body: Mapping[str, Any], file: str, *, epoch: int, mark: str) -> Facts:
    try:
        check_belongs(body, file, epoch=epoch, mark=mark)
        return _facts(body)
    except (KeyError, TypeError) as problem:
        raise _misshapen(file, problem) from None


def manifest_body(manifest: Manifest, mark: str) -> dict[str, Any]:
    return {
        "checkpoint": mark,
        "epoch": manifest.epoch,
        "base": manifest.base,
        "delta": _stored_body(manifest.delta),
        "snapshot": _stored_body(manifest.snapshot) if manifest.snapshot else None,
    }


def manifest_of(body: Mapping[str, Any], file: str, *, epoch: int, mark: str) -> Manifest:
    try:
        check_belongs(body, file, epoch=epoch, mark=mark)
        base, snapshot = body["base"], body["snapshot"]
        return Manifest(
            epoch=epoch,
            base=None if base is None else int(base),
            delta=_stored_of(body["delta"], lambda shard: layout.delta(epoch, shard)),
            snapshot=None
            if snapshot is None
            else _stored_of(snapshot, lambda shard: layout.snapshot(epoch, shard)),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise _misshapen(file, problem) from None


def check_belongs(body: Mapping[str, Any], file: str, *, epoch: int, mark: str) -> None:
    """Refuses what was written for another checkpoint or another epoch."""
    if body["checkpoint"] != mark:
        raise errors.foreign_state(file=file, problem="it was written for another checkpoint")
    if body["epoch"] != epoch:
        raise errors.foreign_state(file=file, problem=f"it was written for epoch {body['epoch']}")


def _facts(body: Mapping[str, Any]) -> Facts:
    facts = body["facts"]
    if not isinstance(facts, dict):
        raise TypeError("facts are no object")
    return facts


def _stored_body(stored: Stored) -> dict[str, Any]:
    return {"facts": stored.facts, "entries": [asdict(entry) for entry in stored.entries]}


def _stored_of(body: Mapping[str, Any], named: Callable[[int], str]) -> Stored:
    """Its files are the ones of its epoch: files that manifests name are removed some day, and no other may be."""
    entries = tuple(map(_entry_of, body["entries"]))
    for entry in entries:
        if entry.file != named(entry.shard):
            raise ValueError(f"{entry.file} is not the file of shard {entry.shard}")
    return Stored(facts=_facts(body), entries=entries)


def _entry_of(body: Mapping[str, Any]) -> Entry:
    parts = tuple(Part(**part) for part in body["parts"])
    return Entry(**{**body, "parts": parts})


def _misshapen(file: str, problem: Exception) -> errors.TidegateError:
    return errors.damaged_state(file=file, problem=f"it is not shaped as it should be ({problem})")
