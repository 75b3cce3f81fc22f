"""The aggregate functions: how each is typed, what it keeps, and how its value comes out of that.

Decided here: the decomposition of every aggregate into (partial, merge, finish). The table is the catalogue that the
documentation prints; adding a function is adding an entry. Exact sums of BIGINT are kept as two halves of 32 bits, so
that no engine can overflow while adding, and leaving BIGINT is seen at the end; sums of long DECIMALs likewise, as
coarse and fine digits. DISTINCT keeps the set of values and applies the function to it when the window is finished,
whatever the function is; where repetition makes no difference it is not kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
from tidegate.model.partials import FinishSpec, Merge, PartialOp, PartialSpec
from tidegate.model.types import MAX_PRECISION, Array, DataType, Decimal, Scalar, Struct
from tidegate.sql.functions.internal import SPARE_DIGITS, coarse, fine
from tidegate.sql.functions.signature import (
    ANY,
    BIGINT,
    BOOLEAN,
    COMPARABLE,
    DECIMAL,
    DOUBLE,
    VARCHAR,
    Overload,
    Param,
    first,
    overload,
)

ROW_TIME = Field("$ts", Scalar.BIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """An aggregate with bound arguments."""

    function: str
    args: tuple[Expr, ...]
    type: DataType
    distinct: bool = False
    filter: Expr | None = None
    order: tuple[SortKey, ...] = ()

    @property
    def exprs(self) -> Iterator[Expr]:
        """Everything that is computed per row for it."""
        yield from self.args
        yield from (key.expr for key in self.order)
        if self.filter is not None:
            yield self.filter


Partials = Callable[[AggregateCall], tuple[PartialSpec, ...]]
EXACT, HOLISTIC, APPROXIMATE = "exact", "holistic", "approximate"


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """`constants` is how many trailing arguments must be literals; `ordered` says that ORDER BY inside matters."""

    name: str
    doc: str
    signatures: tuple[Overload, ...]
    partials: Partials
    aliases: tuple[str, ...] = ()
    precision: str = EXACT
    constants: int = 0
    ordered: bool = False
    star: bool = False

    def resolve(self, given: Sequence[DataType]) -> tuple[tuple[DataType, ...], DataType] | None:
        """What the arguments are converted to, and the type of the value."""
        for signature in self.signatures:
            targets = signature.fit(given)
            if targets is not None:
                return targets, signature.result(targets)
        return None


def _spec(
    op: PartialOp, merge: Merge, kind: DataType, aggregate: AggregateCall, *args: Expr
) -> PartialSpec:
    return PartialSpec(op=op, args=args, filter=aggregate.filter, type=kind, merge=merge)


def _count(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    op = PartialOp.COUNT if aggregate.args else PartialOp.ROWS
    return (_spec(op, Merge.ADD, Scalar.BIGINT, aggregate, *aggregate.args),)


def _sum(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
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
        _spec(PartialOp.SUM, Merge.ADD, _wider(part.type), aggregate, part) for part in parts
    )


def _wider(kind: DataType) -> DataType:
    """The type that both engines give to a sum."""
    if isinstance(kind, Decimal):
        return Decimal(min(MAX_PRECISION, kind.precision + SPARE_DIGITS), kind.scale)
    return kind


def _average(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    count = _spec(PartialOp.COUNT, Merge.ADD, Scalar.BIGINT, aggregate, aggregate.args[0])
    return (count, *_sum(aggregate))


def _extreme(op: PartialOp, merge: Merge) -> Partials:
    def partials(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
        return (_spec(op, merge, aggregate.args[0].type, aggregate, aggregate.args[0]),)

    return partials


def _following(key_op: PartialOp, *, by_time: bool) -> Partials:
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


def _moments(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    value = aggregate.args[0]
    return (
        _spec(PartialOp.COUNT, Merge.ADD, Scalar.BIGINT, aggregate, value),
        _spec(PartialOp.MEAN, Merge.MOMENTS, Scalar.DOUBLE, aggregate, value),
        _spec(PartialOp.M2, Merge.MOMENTS, Scalar.DOUBLE, aggregate, value),
    )


def _comoments(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
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


def _collected(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    value = aggregate.args[0]
    return (_spec(PartialOp.COLLECT, Merge.CONCAT, Array(value.type), aggregate, value),)


def _collected_in_order(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Values with what they are ordered by: the keys of ORDER BY, then the event time."""
    value = aggregate.args[0]
    present = all_of(aggregate.filter or _TRUE, negate(is_null(value)))
    parts = (value, *(key.expr for key in aggregate.order), ROW_TIME)
    return (
        PartialSpec(
            op=PartialOp.COLLECT,
            args=parts,
            filter=present,
            type=Array(_entry(parts)),
            merge=Merge.CONCAT,
        ),
    )


def _set(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """Different values; or, of a function of two columns, different pairs without a NULL."""
    values = [arg for arg in aggregate.args if not isinstance(arg, Literal)]
    if len(values) == 1:
        kind = Array(values[0].type)
        return (_spec(PartialOp.COLLECT_SET, Merge.UNION, kind, aggregate, values[0]),)
    present = all_of(aggregate.filter or _TRUE, *(negate(is_null(value)) for value in values))
    return (
        PartialSpec(
            op=PartialOp.COLLECT_SET,
            args=tuple(values),
            filter=present,
            type=Array(_entry(values)),
            merge=Merge.UNION,
        ),
    )


def _entry(parts: Sequence[Expr]) -> Struct:
    return Struct(tuple((f"v{place}", part.type) for place, part in enumerate(parts)))


def _signature(
    params: Sequence[Param], returns: DataType | Callable[[Sequence[DataType]], DataType]
) -> Overload:
    return overload(params, returns)


def _sum_type(targets: Sequence[DataType]) -> DataType:
    return _wider(targets[0])


def _average_type(targets: Sequence[DataType]) -> DataType:
    kind = targets[0]
    assert isinstance(kind, Decimal)
    scale = min(kind.scale + 4, MAX_PRECISION - (kind.precision - kind.scale))
    return Decimal(kind.precision - kind.scale + scale, scale)


def _array_type(targets: Sequence[DataType]) -> DataType:
    return Array(targets[0])


_ONE_DOUBLE = (_signature([DOUBLE], Scalar.DOUBLE),)
_TWO_DOUBLES = (_signature([DOUBLE, DOUBLE], Scalar.DOUBLE),)
_SAME = (_signature([COMPARABLE], first),)
_ORDERED = Param(
    "a comparable value", COMPARABLE.accepts
)  # unlike COMPARABLE, each of its own type
_AT_KEY = (_signature([_ORDERED, _ORDERED], first),)


def _aggregate(  # noqa: PLR0913  (one row of the table)
    name: str,
    doc: str,
    signatures: tuple[Overload, ...],
    partials: Partials,
    *,
    aliases: str = "",
    precision: str = EXACT,
    constants: int = 0,
    ordered: bool = False,
    star: bool = False,
) -> AggregateFunction:
    return AggregateFunction(
        name=name,
        doc=doc,
        signatures=signatures,
        partials=partials,
        aliases=tuple(aliases.split()),
        precision=precision,
        constants=constants,
        ordered=ordered,
        star=star,
    )


AGGREGATES: dict[str, AggregateFunction] = {
    function.name: function
    for function in (
        _aggregate(
            "count",
            "Rows (`COUNT(*)`), or rows whose value is not NULL.",
            (_signature([ANY], Scalar.BIGINT),),
            _count,
            star=True,
        ),
        _aggregate(
            "sum",
            "Sum. Integers add up exactly to BIGINT (`overflow` beyond), DECIMAL stays DECIMAL.",
            (_signature([BIGINT], Scalar.BIGINT), _signature([DECIMAL], _sum_type), *_ONE_DOUBLE),
            _sum,
        ),
        _aggregate(
            "avg",
            "Mean; of integers a DOUBLE, of DECIMAL a DECIMAL with four more digits.",
            (
                _signature([BIGINT], Scalar.DOUBLE),
                _signature([DECIMAL], _average_type),
                *_ONE_DOUBLE,
            ),
            _average,
            aliases="mean",
        ),
        _aggregate("min", "Smallest value.", _SAME, _extreme(PartialOp.MIN, Merge.MIN)),
        _aggregate(
            "max",
            "Largest value; NaN is larger than every number.",
            _SAME,
            _extreme(PartialOp.MAX, Merge.MAX),
        ),
        _aggregate(
            "first_value",
            "Value of the earliest row by event time; the smaller one where two are equally early.",
            _SAME,
            _following(PartialOp.MIN, by_time=True),
            aliases="first earliest earliest_by_offset",
        ),
        _aggregate(
            "last_value",
            "Value of the latest row by event time; the larger one where two are equally late.",
            _SAME,
            _following(PartialOp.MAX, by_time=True),
            aliases="last latest latest_by_offset",
        ),
        _aggregate(
            "min_by",
            "Value of the row whose second argument is smallest.",
            _AT_KEY,
            _following(PartialOp.MIN, by_time=False),
            aliases="arg_min argmin",
        ),
        _aggregate(
            "max_by",
            "Value of the row whose second argument is largest.",
            _AT_KEY,
            _following(PartialOp.MAX, by_time=False),
            aliases="arg_max argmax",
        ),
        _aggregate("var_pop", "Variance of the values.", _ONE_DOUBLE, _moments),
        _aggregate(
            "var_samp",
            "Variance of a population that the values are a sample of.",
            _ONE_DOUBLE,
            _moments,
            aliases="variance var",
        ),
        _aggregate("stddev_pop", "Standard deviation of the values.", _ONE_DOUBLE, _moments),
        _aggregate(
            "stddev_samp",
            "Standard deviation of a population that the values are a sample of.",
            _ONE_DOUBLE,
            _moments,
            aliases="stddev std",
        ),
        _aggregate("covar_pop", "Covariance.", _TWO_DOUBLES, _comoments),
        _aggregate(
            "covar_samp",
            "Covariance of a population that the values are a sample of.",
            _TWO_DOUBLES,
            _comoments,
        ),
        _aggregate("corr", "Correlation coefficient.", _TWO_DOUBLES, _comoments),
        _aggregate(
            "bool_and",
            "Whether it holds for every row.",
            (_signature([BOOLEAN], Scalar.BOOLEAN),),
            _extreme(PartialOp.BOOL_AND, Merge.AND),
            aliases="every",
        ),
        _aggregate(
            "bool_or",
            "Whether it holds for some row.",
            (_signature([BOOLEAN], Scalar.BOOLEAN),),
            _extreme(PartialOp.BOOL_OR, Merge.OR),
            aliases="some any",
        ),
        _aggregate(
            "bit_and",
            "Bits set in every value.",
            (_signature([BIGINT], Scalar.BIGINT),),
            _extreme(PartialOp.BIT_AND, Merge.BIT_AND),
        ),
        _aggregate(
            "bit_or",
            "Bits set in some value.",
            (_signature([BIGINT], Scalar.BIGINT),),
            _extreme(PartialOp.BIT_OR, Merge.BIT_OR),
        ),
        _aggregate(
            "bit_xor",
            "Bits set in an odd number of values.",
            (_signature([BIGINT], Scalar.BIGINT),),
            _extreme(PartialOp.BIT_XOR, Merge.BIT_XOR),
        ),
        _aggregate(
            "median", "Middle value, interpolated.", _ONE_DOUBLE, _collected, precision=HOLISTIC
        ),
        _aggregate(
            "percentile_cont",
            "Interpolated percentile: `PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)`, or with `(x, 0.9)`.",
            _TWO_DOUBLES,
            _collected,
            aliases="quantile_cont percentile quantile",
            precision=HOLISTIC,
            constants=1,
            ordered=True,
        ),
        _aggregate(
            "percentile_disc",
            "Smallest value that reaches the percentile.",
            (_signature([COMPARABLE, DOUBLE], first),),
            _collected,
            aliases="quantile_disc",
            precision=HOLISTIC,
            constants=1,
            ordered=True,
        ),
        _aggregate(
            "mode",
            "Most frequent value; the smallest of several.",
            _SAME,
            _collected,
            precision=HOLISTIC,
        ),
        _aggregate(
            "array_agg",
            "The values as an array, by event time or by ORDER BY.",
            (_signature([ANY], _array_type),),
            _collected_in_order,
            aliases="collect_list list",
            precision=HOLISTIC,
            ordered=True,
        ),
        _aggregate(
            "string_agg",
            "The values joined by a separator, by event time or by ORDER BY.",
            (_signature([VARCHAR, VARCHAR], Scalar.VARCHAR),),
            _collected_in_order,
            aliases="listagg group_concat",
            precision=HOLISTIC,
            constants=1,
            ordered=True,
        ),
        _aggregate(
            "approx_count_distinct",
            "About how many different values.",
            (_signature([COMPARABLE], Scalar.BIGINT),),
            _set,
            aliases="approx_distinct",
            precision=APPROXIMATE,
        ),
        _aggregate(
            "approx_percentile",
            "About the percentile: `(x, 0.9)`.",
            _TWO_DOUBLES,
            _collected,
            aliases="approx_quantile approx_percentile_cont",
            precision=APPROXIMATE,
            constants=1,
        ),
    )
}
_REPETITION_IS_NOTHING = frozenset(
    "min max first_value last_value min_by max_by bool_and bool_or bit_and bit_or "
    "approx_count_distinct".split()
)
_BY_NAME = {
    alias: function
    for function in AGGREGATES.values()
    for alias in (function.name, *function.aliases)
}


def find_aggregate(name: str) -> AggregateFunction | None:
    return _BY_NAME.get(name.lower())


def aggregate_names() -> tuple[str, ...]:
    return tuple(sorted(_BY_NAME))


def partials_of(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """The columns that this call keeps per group."""
    if keeps_set(aggregate):
        return _set(aggregate)
    return AGGREGATES[aggregate.function].partials(aggregate)


def keeps_set(aggregate: AggregateCall) -> bool:
    """Whether DISTINCT is more than a word: the smallest value is the same with and without repetition."""
    return aggregate.distinct and aggregate.function not in _REPETITION_IS_NOTHING


def finish_of(aggregate: AggregateCall, positions: Sequence[int]) -> FinishSpec:
    """How its value comes out of the columns at these positions."""
    function = AGGREGATES[aggregate.function]
    constants = aggregate.args[len(aggregate.args) - function.constants :]
    return FinishSpec(
        function=aggregate.function,
        partials=tuple(positions),
        type=aggregate.type,
        distinct=keeps_set(aggregate),
        parameters=tuple(arg for arg in constants if isinstance(arg, Literal)),
        order=aggregate.order,
    )


def is_bounded(aggregate: AggregateCall) -> bool:
    """Whether what a group keeps does not grow with its rows."""
    return not keeps_set(aggregate) and AGGREGATES[aggregate.function].precision == EXACT
