"""Windows whose rows are known one by one: from rows and places to the contents of windows.

In: rows that are partials of one row each (`model/partials.py: row_inputs`), and for each run of rows their places.
Out: the partials of each run. Decided here: how many rows become one partial at once. Numbers are folded
by ufuncs over runs, what is collected is put into lists, and only what looks at other columns (moments, followers, long
sums, texts) goes through the table of groups, in as many rounds as a fold takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import (
    Integers,
    Mask,
    array_of,
    arrow_type,
    conform,
    is_dense,
    numbers,
    validity,
)
from tidegate.kernel.dense import fold_of, read_numbers
from tidegate.kernel.folding import fold
from tidegate.kernel.groups import ROWS
from tidegate.kernel.keeping import KEEPING
from tidegate.kernel.lists import listed
from tidegate.kernel.user import states_of
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge, PartialOp, PartialSpec, row_inputs

_FOLDED = (
    Merge.ADD,
    Merge.MIN,
    Merge.MAX,
    Merge.AND,
    Merge.OR,
    Merge.BIT_AND,
    Merge.BIT_OR,
    Merge.BIT_XOR,
)
_COLLECTED = (*KEEPING, Merge.USER)


def is_folded(spec: PartialSpec) -> bool:
    """Whether the partials of many rows are one ufunc over those of each."""
    return spec.merge in _FOLDED and is_dense(spec.type)


@dataclass(frozen=True, slots=True)
class Input:
    """A partial that rows bring, and the place by which its columns are named among the rows."""

    place: int
    spec: PartialSpec

    @property
    def columns(self) -> tuple[Field, ...]:
        return row_inputs(self.spec, self.place)


def gathered(
    rows: pa.RecordBatch, inputs: Sequence[Input], picks: Integers, lengths: Integers
) -> list[pa.Array]:
    """The partials of runs of rows: `picks` are the places of the rows of all runs, none of which is empty."""
    starts = np.cumsum(lengths) - lengths
    owners = np.repeat(np.arange(len(lengths)), lengths)
    found: dict[int, pa.Array] = {}
    for number, one in enumerate(inputs):
        if one.spec.merge in _COLLECTED:
            found[number] = _collected(rows, one, picks, owners, len(lengths))
        elif is_folded(one.spec):
            found[number] = _folded(rows, one, picks, starts)
    rest = [
        number for number, one in enumerate(inputs) if one.spec.merge not in _COLLECTED
    ]  # with those that others look at
    if any(number not in found for number in rest):
        table = _through_table(rows, [inputs[number] for number in rest], picks, owners)
        for place, number in enumerate(rest):
            found.setdefault(number, table.column(f"$p{place}"))
    return [found[number] for number in range(len(inputs))]


def _folded(rows: pa.RecordBatch, one: Input, picks: Integers, starts: Integers) -> pa.Array:
    kind = arrow_type(one.spec.type)
    if not one.columns:
        ends = np.r_[starts[1:], len(picks)]
        return array_of(ends - starts, None, kind)
    column = numbers(conform(rows.column(one.columns[0].name), one.spec.type))
    step = fold_of(one.spec.merge, column.values.dtype)
    values = column.filled(step.identity)[picks]
    with np.errstate(all="ignore"):
        folded = step.ufunc.reduceat(values, starts) if len(starts) else values
    valid = None
    if column.valid is not None:
        valid = np.logical_or.reduceat(column.valid[picks], starts) if len(starts) else None
    return read_numbers(folded, valid, kind)


def _collected(
    rows: pa.RecordBatch, one: Input, picks: Integers, owners: Integers, count: int
) -> pa.Array:
    """A list for each run; of Python aggregates their states."""
    there, entries = _entries(rows, one)
    if there is not None:
        inside = there[picks]
        picks, owners = picks[inside], owners[inside]
    values = entries.take(pa.array(picks))
    if one.spec.merge in KEEPING:
        owners, values = KEEPING[one.spec.merge](owners, values)
    lists = listed(np.bincount(owners, minlength=count), values, arrow_type(one.spec.type))
    return lists if one.spec.user is None else states_of(one.spec.user, lists)


def _entries(rows: pa.RecordBatch, one: Input) -> tuple[Mask | None, pa.Array]:
    """Which rows bring something, and what."""
    first, *parts = one.columns
    own = conform(rows.column(first.name), first.type)
    kind = arrow_type(one.spec.type).value_type
    if not parts:
        return validity(own), _without_minus_zero(own).cast(kind)
    arrays = [
        _without_minus_zero(conform(rows.column(part.name), part.type)).cast(field.type)
        for part, field in zip(parts, kind, strict=True)
    ]
    there: Mask = numbers(own).filled(False)
    return there, pa.StructArray.from_arrays(arrays, fields=list(kind))


def _without_minus_zero(array: pa.Array) -> pa.Array:
    if not pa.types.is_floating(array.type):
        return array
    found = numbers(array)
    return read_numbers(found.values, found.valid, array.type)


def _through_table(
    rows: pa.RecordBatch, inputs: Sequence[Input], picks: Integers, owners: Integers
) -> pa.RecordBatch:
    singles = single_partials(rows, inputs).take(pa.array(picks))
    specs = [one.spec for one in inputs]
    made, _ = fold(singles, owners, specs, timed=False)
    return made


def single_partials(rows: pa.RecordBatch, inputs: Sequence[Input]) -> pa.RecordBatch:
    """Each row as the partial batch of one row; of inputs that are not collected."""
    ones = array_of(np.ones(rows.num_rows, np.int64), None, pa.int64())
    columns = {ROWS: ones}
    for place, one in enumerate(inputs):
        own = ones if one.spec.op is PartialOp.ROWS and not one.columns else None
        columns[f"$p{place}"] = (
            conform(rows.column(one.columns[0].name), one.spec.type) if own is None else own
        )
    return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])
