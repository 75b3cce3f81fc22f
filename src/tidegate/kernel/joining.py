"""Rows of two sides that share a window and keys, side by side: a join when the window is complete.

In: contents of windows whose groups hold rows of both sides, as one list (`rows.py`). Out: the joined rows. Decided
here: nothing is looked up. Rows of equal keys have met in one group of the group table already, by the hash of their
keys; what is left is each group's left rows times its right rows, which is arithmetic on counts. A key that is NULL
equals nothing, though it is a group: such rows match none. Rows without a match come out beside NULLs where their side
is kept. Joined rows are in the order of the left rows' arrival, then of the right ones', and are numbered so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, numbers, validity
from tidegate.kernel.lists import flattened

_NOBODY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinShape:
    """Columns of each side among those that are kept, the one that says the side, and the groups' keys."""

    side: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    keys: tuple[str, ...]
    keeps_left: bool
    keeps_right: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """The columns of joined rows, and the group that each is of."""

    columns: dict[str, pa.Array]
    owners: Integers


def joined(contents: pa.RecordBatch, rows: str, shape: JoinShape, *, arrival: str) -> Joined:
    """The rows of each group of `contents`, which stand in its column `rows`, joined."""
    owners, structs = flattened(contents.column(rows))
    names = [field.name for field in structs.type]
    fields = dict(zip(names, structs.flatten(), strict=True))
    order = np.lexsort((numbers(fields[arrival]).values, owners))
    on_right = numbers(fields[shape.side]).values[order] == 1
    sides = order[~on_right], order[on_right]
    matching = _comparable(contents, shape.keys)
    one, other, of = _pairs(sides, owners, matching, keeps=(shape.keeps_left, shape.keeps_right))
    columns = _taken(fields, shape.left, one) | _taken(fields, shape.right, other)
    return Joined(columns, of)


def _comparable(contents: pa.RecordBatch, keys: Sequence[str]) -> Mask:
    """Groups whose keys are all there."""
    fine = np.ones(contents.num_rows, bool)
    for key in keys:
        valid = validity(contents.column(key))
        if valid is not None:
            fine &= valid
    return fine


def _pairs(
    sides: tuple[Integers, Integers], owners: Integers, matching: Mask, *, keeps: tuple[bool, bool]
) -> tuple[Integers, Integers, Integers]:
    """The left and the right row of each joined row (-1: none), and its group, in order.

    >>> rows, of = (np.array([0, 1]), np.array([2, 3])), np.array([0, 1, 0, 0])
    >>> [made.tolist() for made in _pairs(rows, of, np.array([True, True]), keeps=(True, False))]
    [[0, 0, 1], [2, 3, -1], [0, 0, 1]]
    """
    left, right = sides
    groups = len(matching)
    per_group = [np.bincount(owners[side], minlength=groups) * matching for side in sides]
    starts = np.searchsorted(owners[right], np.arange(groups))
    times = per_group[1][owners[left]]
    ends = np.cumsum(times)
    within = np.arange(times.sum()) - np.repeat(ends - times, times)
    one = np.repeat(left, times)
    other = right[np.repeat(starts[owners[left]], times) + within]
    alone = [
        side[per_group[1 - place][owners[side]] == 0] if keep else side[:0]
        for place, (side, keep) in enumerate(zip(sides, keeps, strict=True))
    ]
    lefts = np.concatenate([one, alone[0], np.full(len(alone[1]), _NOBODY)])
    rights = np.concatenate([other, np.full(len(alone[0]), _NOBODY), alone[1]])
    of = np.concatenate([owners[one], owners[alone[0]], owners[alone[1]]])
    order = np.argsort(of, kind="stable")
    return lefts[order], rights[order], of[order]


def _taken(
    fields: dict[str, pa.Array], names: Sequence[str], rows: Integers
) -> dict[str, pa.Array]:
    there = rows >= 0
    places = array_of(np.where(there, rows, 0), None if there.all() else there, pa.int64())
    return {name: fields[name].take(places) for name in names}
