"""Combining rows of a partial batch that belong together.

A table of groups takes in one row of each group at a time. Where a batch has several of one (runs of a session, groups
of windows that were merged), they are combined first: in each round every second row of a group joins the one before
it, so a group of a thousand rows takes ten rounds.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, array_of
from tidegate.kernel.groups import GroupTable
from tidegate.model.expressions import Field
from tidegate.model.partials import PartialSpec
from tidegate.model.types import Scalar

_RUN = Field("$run", Scalar.BIGINT)


def fold(
    batch: pa.RecordBatch, owners: Integers, specs: Sequence[PartialSpec], *, timed: bool
) -> tuple[pa.RecordBatch, Integers]:
    """One row per owner, and whose it is (ascending). Only the columns of a partial are kept.

    >>> rows = pa.record_batch({"$rows": [1, 2, 4, 8]})
    >>> folded, owners = fold(rows, np.array([3, 1, 3, 3]), [], timed=False)
    >>> folded.column("$rows").to_pylist(), owners.tolist()
    ([2, 13], [1, 3])
    """
    order = np.argsort(owners, kind="stable")
    batch, owners = batch.take(pa.array(order)), owners[order]
    while len(rest := np.flatnonzero(owners[1:] == owners[:-1])):
        odd = _rank(owners) & 1 == 1
        runs = np.cumsum(~odd)
        table = GroupTable([_RUN], specs, timed=timed, reserve=len(owners) - len(rest))
        numbered = _numbered(batch, runs)
        table.merge(numbered.filter(pa.array(~odd)))
        table.merge(numbered.filter(pa.array(odd)))
        batch, owners = table.partials(), owners[~odd]
    return batch, owners


def _rank(owners: Integers) -> Integers:
    """The place of each row among those of its owner; owners ascend."""
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    lengths = np.diff(np.r_[starts, len(owners)])
    ranks: Integers = np.arange(len(owners)) - np.repeat(starts, lengths)
    return ranks


def _numbered(batch: pa.RecordBatch, runs: Integers) -> pa.RecordBatch:
    if _RUN.name in batch.schema.names:
        batch = batch.drop_columns([_RUN.name])
    return batch.append_column(_RUN.name, array_of(runs, None, pa.int64()))
