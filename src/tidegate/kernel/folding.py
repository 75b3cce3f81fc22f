"""Combining rows of a partial batch that belong together.

A table of groups takes in one row of each group at a time. Where a batch has several of one (runs of a session, groups
of windows that were merged), they are combined first. Numbers whose merge is a ufunc are reduced in one pass. Where
a merge is more than that, in each round every second row of a group joins the one before it, so a group of a thousand
rows takes ten rounds.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import (
    Integers,
    array_of,
    arrow_type,
    conform,
    is_dense,
    numbers,
    numpy_type,
)
from tidegate.kernel.dense import UFUNC_MERGES, Fold, fold_of, read_numbers
from tidegate.kernel.groups import MAX_TS, ROWS, GroupTable
from tidegate.kernel.ordering import ranks_within
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge, PartialSpec
from tidegate.model.types import DataType, Scalar

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
    if (owners[1:] < owners[:-1]).any():
        order = np.argsort(owners, kind="stable")
        batch, owners = batch.take(pa.array(order)), owners[order]
    folds = _folds(specs, timed=timed)
    if folds is not None and len(owners):
        return _reduced(batch, owners, folds)
    while len(rest := np.flatnonzero(owners[1:] == owners[:-1])):
        odd = ranks_within(owners) & 1 == 1
        runs = np.cumsum(~odd)
        table = GroupTable([_RUN], specs, timed=timed, reserve=len(owners) - len(rest))
        numbered = _numbered(batch, runs)
        table.merge(numbered.filter(pa.array(~odd)))
        table.merge(numbered.filter(pa.array(odd)))
        batch, owners = table.partials(), owners[~odd]
    return batch, owners


def _folds(specs: Sequence[PartialSpec], *, timed: bool) -> dict[str, tuple[DataType, Fold]] | None:
    """How each column is reduced; None where some are not by a ufunc."""
    kinds: dict[str, tuple[DataType, Merge]] = {ROWS: (Scalar.BIGINT, Merge.ADD)}
    if timed:
        kinds[MAX_TS] = (Scalar.BIGINT, Merge.MAX)
    for place, spec in enumerate(specs):
        if not is_dense(spec.kept_type) or spec.merge not in UFUNC_MERGES:
            return None
        kinds[f"$p{place}"] = (spec.kept_type, spec.merge)
    return {
        name: (kind, fold_of(merge, np.dtype(numpy_type(kind))))
        for name, (kind, merge) in kinds.items()
    }


def _reduced(
    batch: pa.RecordBatch, owners: Integers, folds: Mapping[str, tuple[DataType, Fold]]
) -> tuple[pa.RecordBatch, Integers]:
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    columns = {}
    for name, (kind, own) in folds.items():
        arrived = numbers(conform(batch.column(name), kind))
        with np.errstate(all="ignore"):
            made = own.ufunc.reduceat(arrived.filled(own.identity), starts)
        valid = arrived.valid
        there = None if valid is None else np.logical_or.reduceat(valid, starts)
        columns[name] = read_numbers(made, there, arrow_type(kind))
    return pa.record_batch(columns), owners[starts]


def _numbered(batch: pa.RecordBatch, runs: Integers) -> pa.RecordBatch:
    if _RUN.name in batch.schema.names:
        batch = batch.drop_columns([_RUN.name])
    return batch.append_column(_RUN.name, array_of(runs, None, pa.int64()))
