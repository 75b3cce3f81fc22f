"""Which column keeps which partial.

Decided here: the representation of every PartialSpec, and the order of merging. Some columns read others of their
aggregate (a follower its key, deviations their means, means their count), which must still be what they were, so
those come last. They are found by what they compute, not by where they stand: equal columns are shared.
"""

from collections.abc import Sequence
from dataclasses import replace

from tidegate.kernel.arrow import is_dense
from tidegate.kernel.columns import Cells, StateColumn
from tidegate.kernel.decimals import DecimalSum
from tidegate.kernel.dense import DenseCells, Folded
from tidegate.kernel.following import Following
from tidegate.kernel.heap import Extreme, HeapCells
from tidegate.kernel.keeping import KEEPING
from tidegate.kernel.lists import Lists
from tidegate.kernel.moments import Mean, Products
from tidegate.kernel.user import States
from tidegate.model.expressions import Expr
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.types import DataType, Decimal, Scalar

_RANK = {
    PartialOp.M2: 0,
    PartialOp.COMOMENT: 0,
    PartialOp.FIRST: 0,
    PartialOp.LAST: 0,
    PartialOp.MEAN: 1,
}
_LAST = 2


def state_columns(specs: Sequence[PartialSpec]) -> tuple[StateColumn, ...]:
    """Empty columns for the specs, position by position."""
    columns: dict[int, StateColumn] = {}
    for position in reversed(merge_order(specs)):  # what is read is there before who reads it
        columns[position] = _column(position, specs, columns)
    return tuple(columns[position] for position in range(len(specs)))


def merge_order(specs: Sequence[PartialSpec]) -> list[int]:
    return sorted(range(len(specs)), key=lambda position: _RANK.get(specs[position].op, _LAST))


def _column(
    position: int, specs: Sequence[PartialSpec], columns: dict[int, StateColumn]
) -> StateColumn:
    spec = specs[position]
    match spec.merge:
        case Merge.FOLLOW_MIN | Merge.FOLLOW_MAX:
            return _following(position, specs, columns)
        case Merge.MOMENTS if spec.op is PartialOp.MEAN:
            count = columns[place := count_position(spec, specs)]
            assert isinstance(count, Folded)
            return Mean(position, count, place)
        case Merge.MOMENTS:
            one, other = (
                columns[mean_position(spec, arg, specs)] for arg in (spec.args[0], spec.args[-1])
            )
            assert isinstance(one, Mean)
            assert isinstance(other, Mean)
            return Products(position, one, other)
        case merge if merge in KEEPING:
            return Lists(position, spec.type, KEEPING[spec.merge])
        case Merge.USER:
            assert spec.user is not None
            return States(position, spec.user)
        case Merge.ADD if isinstance(spec.type, Decimal):
            return DecimalSum(position, spec.type)
        case _ if is_dense(spec.type):
            return Folded(position, spec.type, spec.merge)
        case _:
            return Extreme(position, HeapCells(spec.type), largest=spec.merge is Merge.MAX)


def _following(
    position: int, specs: Sequence[PartialSpec], columns: dict[int, StateColumn]
) -> Following:
    spec = specs[position]
    largest = spec.merge is Merge.FOLLOW_MAX
    op, merge = (PartialOp.MAX, Merge.MAX) if largest else (PartialOp.MIN, Merge.MIN)
    key = spec.args[0]
    place = specs.index(replace(spec, op=op, args=(key,), type=key.type, merge=merge))
    column = columns[place]
    assert isinstance(column, (Folded, Extreme))
    return Following(position, _cells(spec.type), key=column, key_position=place, largest=largest)


def _cells(kind: DataType) -> Cells:
    return DenseCells(kind) if is_dense(kind) else HeapCells(kind)


def count_position(mean: PartialSpec, specs: Sequence[PartialSpec]) -> int:
    """The count of the values of a mean; where NULLs are filtered out, that of the rows."""
    counts = (
        replace(mean, op=op, args=args, type=Scalar.BIGINT, merge=Merge.ADD)
        for op, args in ((PartialOp.COUNT, mean.args), (PartialOp.ROWS, ()))
    )
    return next(specs.index(count) for count in counts if count in specs)


def mean_position(spec: PartialSpec, arg: Expr, specs: Sequence[PartialSpec]) -> int:
    return specs.index(replace(spec, op=PartialOp.MEAN, args=(arg,)))
