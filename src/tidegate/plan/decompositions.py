"""What an aggregate can keep per group: the columns of its partial.

Exact sums of BIGINT and of wide DECIMALs are kept as two halves, so that no engine can overflow while adding, and
leaving the type is seen at the end. DISTINCT keeps the set of values and applies the function to it when the window is
finished, whatever the function is. `aggregates.py` says which function has which decomposition.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tidegate.model.expressions import (
    Expr,
    Field,
    Literal,
    SortKey,
    all_of,
    bigint,
    call,
    is_null,
    negate,
)
from tidegate.model.partials import SPARE_DIGITS, Merge, PartialOp, PartialSpec
from tidegate.model.types import MAX_PRECISION, Array, DataType, Decimal, Scalar, Struct
from tidegate.model.user_aggregates import UserAggregate
from tidegate.sql.functions.internal import coarse, fine

ROW_TIME = Field("$ts", Scalar.BIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """An aggregate with bound arguments; `user` is there if it is one in Python."""

    function: str
    args: tuple[Expr, ...]
    type: DataType
    distinct: bool = False
    filter: Expr | None = None
    order: tuple[SortKey, ...] = ()
    user: UserAggregate | None = None

    @property
    def exprs(self) -> Iterator[Expr]:
        """Everything that is computed per row for it."""
        yield from self.args
        yield from (key.expr for key in self.order)
        if self.filter is not None:
            yield self.filter


Partials = Callable[[AggregateCall], tuple[PartialSpec, ...]]


def _spec(
    op: PartialOp, merge: Merge, kind: DataType, aggregate: AggregateCall, *args: Expr
) -> PartialSpec:
    return PartialSpec(op=op, args=args, filter=aggregate.filter, type=kind, merge=merge)


def count_of(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    op = PartialOp.COUNT if aggregate.args else PartialOp.ROWS
    return (_spec(op, Merge.ADD, Scalar.BIGINT, aggregate, *aggregate.args),)


def sum_of(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    value = aggregate.args[0]
    match value.type:
        case Decimal(precision) if precision + SPARE_DIGITS > MAX_PRECISION:
            return _halves(aggregate, coarse(value), fine(value))
        case Decimal():
            return _halves(aggregate, value)
        case Scalar.DOUBLE:
            return (_spec(PartialOp.SUM, Merge.ADD, Scalar.DOUBLE, aggregate, value),)
        case _:
            high = call(">>", value, bigint(32), type=Scalar.BIGINT)
            low = call("&", value, bigint(0xFFFFFFFF), type=Scalar.BIGINT)
            return _halves(aggregate, high, low)


def _halves(aggregate: AggregateCall, *parts: Expr) -> tuple[PartialSpec, ...]:
    return tuple(
        _spec(PartialOp.SUM, Merge.ADD, wider(part.type), aggregate, part) for part in parts
    )


def wider(kind: DataType) -> DataType:
    """The type that both engines give to a sum."""
    if isinstance(kind, Decimal):
        return Decimal(min(MAX_PRECISION, kind.precision + SPARE_DIGITS), kind.scale)
    return kind


def average_of(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    count = _spec(PartialOp.COUNT, Merge.ADD, Scalar.BIGINT, aggregate, aggregate.args[0])
    return (count, *sum_of(aggregate))


def extreme(op: PartialOp, merge: Merge) -> Partials:
    def partials(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
        return (_spec(op, merge, aggregate.args[0].type, aggregate, aggregate.args[0]),)

    return partials


def following(key_op: PartialOp, *, by_time: bool) -> Partials:
    """The value at the smallest or largest key. Rows without value or key are left out; ties go the same way."""
    op, merge, follow = (
        (PartialOp.FIRST, Merge.MIN, Merge.FOLLOW_MIN)
        if key_op is PartialOp.MIN
        else (PartialOp.LAST, Merge.MAX, Merge.FOLLOW_MAX)
    )

    def partials(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
        value = aggregate.args[0]
        key = ROW_TIME if by_time else aggregate.args[1]
        present = all_of(aggregate.filter or _TRUE, negate(is_null(value)), negate(is_null(key)))
        kept = PartialSpec(op=key_op, args=(key,), filter=present, type=key.type, merge=merge)
        return (
            kept,
            PartialSpec(op=op, args=(key, value), filter=present, type=value.type, merge=follow),
        )

    return partials


_TRUE = Literal(True, Scalar.BOOLEAN)


def moments(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    value = aggregate.args[0]
    return (
        _spec(PartialOp.COUNT, Merge.ADD, Scalar.BIGINT, aggregate, value),
        _spec(PartialOp.MEAN, Merge.MOMENTS, Scalar.DOUBLE, aggregate, value),
        _spec(PartialOp.M2, Merge.MOMENTS, Scalar.DOUBLE, aggregate, value),
    )


def comoments(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Over rows where both sides are there."""
    one, other = aggregate.args
    present = all_of(aggregate.filter or _TRUE, negate(is_null(one)), negate(is_null(other)))

    def moment(op: PartialOp, *args: Expr) -> PartialSpec:
        return PartialSpec(
            op=op, args=args, filter=present, type=Scalar.DOUBLE, merge=Merge.MOMENTS
        )

    count = PartialSpec(
        op=PartialOp.ROWS, args=(), filter=present, type=Scalar.BIGINT, merge=Merge.ADD
    )
    means = (moment(PartialOp.MEAN, one), moment(PartialOp.MEAN, other))
    spreads = (
        moment(PartialOp.M2, one),
        moment(PartialOp.M2, other),
        moment(PartialOp.COMOMENT, one, other),
    )
    return (count, *means, *spreads)


def collected(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    value = aggregate.args[0]
    return (_spec(PartialOp.COLLECT, Merge.CONCAT, Array(value.type), aggregate, value),)


def collected_in_order(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Values with what they are ordered by: the keys of ORDER BY, then the event time."""
    value = aggregate.args[0]
    parts = (value, *(key.expr for key in aggregate.order), ROW_TIME)
    return (
        PartialSpec(
            op=PartialOp.COLLECT,
            args=parts,
            filter=_where_present(aggregate, [value]),
            type=Array(_entry(parts)),
            merge=Merge.CONCAT,
        ),
    )


def states_of_user(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Arguments with the event time, for Python code that makes a state of them in that order."""
    parts = (*aggregate.args, ROW_TIME)
    return (
        PartialSpec(
            op=PartialOp.COLLECT,
            args=parts,
            filter=_where_present(aggregate, aggregate.args),
            type=Array(_entry(parts)),
            merge=Merge.USER,
            user=aggregate.user,
        ),
    )


def _where_present(aggregate: AggregateCall, values: Sequence[Expr]) -> Expr:
    return all_of(aggregate.filter or _TRUE, *(negate(is_null(value)) for value in values))


def set_of(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Different values; or, of a function of several columns, different tuples without a NULL.

    Python code gets every argument; others know their constants without keeping them.
    """
    constant = () if aggregate.user else (Literal,)
    values = [arg for arg in aggregate.args if not isinstance(arg, constant)]
    if len(values) == 1:
        kind = Array(values[0].type)
        return (_spec(PartialOp.COLLECT_SET, Merge.UNION, kind, aggregate, values[0]),)
    return (
        PartialSpec(
            op=PartialOp.COLLECT_SET,
            args=tuple(values),
            filter=_where_present(aggregate, values),
            type=Array(_entry(values)),
            merge=Merge.UNION,
        ),
    )


def sketch_of_set(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Different values, as many as a sketch keeps."""
    return tuple(replace(spec, merge=Merge.SMALLEST) for spec in set_of(aggregate))


def sketch_of_values(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Values with how often they were there."""
    value = aggregate.args[0]
    parts = (value, bigint(1))
    return (
        PartialSpec(
            op=PartialOp.COLLECT,
            args=parts,
            filter=_where_present(aggregate, [value]),
            type=Array(_entry(parts)),
            merge=Merge.WEIGHTS,
        ),
    )


def _entry(parts: Sequence[Expr]) -> Struct:
    return Struct(tuple((f"v{place}", part.type) for place, part in enumerate(parts)))
