"""What is emitted: final rows, or the difference between what was there and what is there now.

Decided here: nothing that was emitted is remembered. What was emitted of a window follows from its partials at that
time, so two contents are finished, and their rows compared: a row that is gone is `-D`, a new one `+I` (in an upsert
stream `+U`), another one `-U` `+U` (in an upsert stream `+U`), an equal one nothing. Removals come first, and `-U`
stands directly before its `+U` (semantics §5). A group that has no value is reported once, until it has one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers
from tidegate.kernel.finishing import Finished
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.model.policies import FILTERED, StreamKind


class Op(IntEnum):
    INSERT = 0
    BEFORE = 1
    AFTER = 2
    DELETE = 3


OPS = pa.array(["+I", "-U", "+U", "-D"])


@dataclass(frozen=True, slots=True)
class Broken:
    """Groups without a value, each with the code of the reason, and what else is known (or "")."""

    units: pa.RecordBatch
    codes: Integers
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Emitted:
    """Rows, what they are of, and in upsert and changelog streams what each means (`Op`).

    An upsert stream has rows for what is replaced, too: `visible` hides them, but who computes with the stream needs
    them.
    """

    rows: pa.RecordBatch
    units: pa.RecordBatch
    ops: Integers | None
    broken: Broken
    upsert: bool = False

    @classmethod
    def nothing(cls, done: Finished, kind: StreamKind) -> "Emitted":
        """No rows of a stream."""
        none = np.zeros(0, np.int64)
        ops = None if kind is StreamKind.APPEND else none
        upsert = kind is StreamKind.UPSERT
        return cls(done.values, done.units, ops, Broken(done.units, none, ()), upsert)

    @property
    def visible(self) -> "Emitted":
        """What the stream's readers see: in an upsert stream, what is new or replaces, and what is gone."""
        if self.ops is None or not self.upsert:
            return self
        shown = np.flatnonzero(self.ops != Op.BEFORE)
        ops = np.where(self.ops[shown] == Op.INSERT, Op.AFTER, self.ops[shown])
        rows = pa.array(shown)
        return Emitted(self.rows.take(rows), self.units.take(rows), ops, self.broken, True)

    @property
    def signs(self) -> Integers:
        """+1 and -1 of the rows, for who reads the stream."""
        if self.ops is None:
            return np.ones(self.rows.num_rows, np.int64)
        return np.where((self.ops == Op.BEFORE) | (self.ops == Op.DELETE), -1, 1)


def final(done: Finished) -> Emitted:
    """Rows that nothing will replace."""
    if done.live.all():
        nothing = Broken(done.units.slice(0, 0), done.codes[:0], ())
        return Emitted(done.values, done.units, None, nothing)
    broken = _broken(done, done.codes > FILTERED)
    rows = pa.array(np.flatnonzero(done.live))
    return Emitted(done.values.take(rows), done.units.take(rows), None, broken)


def difference(before: Finished, after: Finished, kind: StreamKind) -> Emitted:
    """From what was emitted last to what there is now."""
    index = KeyIndex()
    old = np.flatnonzero(before.live)
    slots, _ = index.slots(_lanes(before.units))
    place = np.full(len(slots) + 1, -1)
    place[slots[old]] = old
    found = index.find(_lanes(after.units))
    matched = np.where(found >= 0, place[found], -1)
    new = np.flatnonzero(after.live)
    kept = matched[new]
    removed = np.setdiff1d(old, kept)
    unchanged = _equal(before.values, kept, after.values, new)
    new, kept = new[~unchanged], kept[~unchanged]
    sources, ops = _written(removed, new, kept, len(before.codes))
    rows = pa.array(sources)
    failed_before = np.full(len(slots) + 1, 0)
    failed_before[slots] = before.codes
    known = np.where(found >= 0, failed_before[found], 0)
    broken = _broken(after, (after.codes > FILTERED) & (known != after.codes))
    return Emitted(
        pa.concat_batches([before.values, after.values]).take(rows),
        pa.concat_batches([before.units, after.units]).take(rows),
        ops,
        broken,
        upsert=kind is StreamKind.UPSERT,
    )


def _written(
    removed: Integers, new: Integers, kept: Integers, offset: int
) -> tuple[Integers, Integers]:
    """Which rows are written (those of `after` behind those of `before`), and as what."""
    deleted = np.full(len(removed), Op.DELETE)
    corrected = kept >= 0
    pairs = np.stack([kept, new + offset], axis=1).ravel()
    ops = np.where(corrected[:, None], [[Op.BEFORE, Op.AFTER]], [[-1, Op.INSERT]]).ravel()
    wanted = ops >= 0
    return np.concatenate([removed, pairs[wanted]]), np.concatenate([deleted, ops[wanted]])


def _equal(
    before: pa.RecordBatch, kept: Integers, after: pa.RecordBatch, new: Integers
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which of the new rows stand in the place of an equal one."""
    both = np.flatnonzero(kept >= 0)
    one = _lanes(before.take(pa.array(kept[both])))
    other = _lanes(after.take(pa.array(new[both])))
    same = np.zeros(len(new), bool)
    same[both] = (one[0] == other[0]) & (one[1] == other[1])
    return same


def _broken(done: Finished, which: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Broken:
    rows = np.flatnonzero(which)
    details = tuple(done.details.get(row, "") for row in rows.tolist())
    return Broken(done.units.take(pa.array(rows)), done.codes[rows], details)


def _lanes(batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    return hash_rows(batch.columns, batch.num_rows)


def together(parts: Sequence[Emitted]) -> Emitted:
    """Several emissions of one stage, one after the other."""
    if len(parts) == 1:
        return parts[0]
    ops = [part.ops for part in parts if part.ops is not None]
    return Emitted(
        pa.concat_batches([part.rows for part in parts]),
        pa.concat_batches([part.units for part in parts]),
        np.concatenate(ops) if ops else None,
        Broken(
            pa.concat_batches([part.broken.units for part in parts]),
            np.concatenate([part.broken.codes for part in parts]),
            tuple(detail for part in parts for detail in part.broken.details),
        ),
        upsert=parts[0].upsert,
    )
