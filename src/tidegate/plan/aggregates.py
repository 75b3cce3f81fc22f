"""The aggregate functions: how each is typed, and how its value comes out of what it keeps.

The table is the catalogue that the documentation prints; adding a function is adding an entry. What a function keeps
per group is one of the ways in `decompositions.py`; how it is finished, the kernel knows by its name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tidegate.model.expressions import (
    Literal,
)
from tidegate.model.partials import FinishSpec, Merge, PartialOp, PartialSpec
from tidegate.model.types import MAX_PRECISION, Array, DataType, Decimal, Scalar, common_type
from tidegate.model.user_aggregates import UserAggregate
from tidegate.plan.decompositions import (
    AggregateCall,
    Partials,
    average_of,
    collected,
    collected_in_order,
    comoments,
    count_of,
    extreme,
    following,
    moments,
    set_of,
    sketch_of_set,
    sketch_of_values,
    states_of_user,
    sum_of,
    wider,
)
from tidegate.sql.functions.signature import (
    ANY,
    BIGINT,
    BOOLEAN,
    COMPARABLE,
    DECIMAL,
    DOUBLE,
    TEXTUAL,
    VARCHAR,
    Overload,
    Param,
    first,
    overload,
)

EXACT, HOLISTIC, APPROXIMATE = "exact", "holistic", "approximate"
UserAggregates = Mapping[str, UserAggregate]
NO_AGGREGATES: UserAggregates = {}


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
    user: UserAggregate | None = None

    def resolve(self, given: Sequence[DataType]) -> tuple[tuple[DataType, ...], DataType] | None:
        """What the arguments are converted to, and the type of the value."""
        for signature in self.signatures:
            targets = signature.fit(given)
            if targets is not None:
                return targets, signature.result(targets)
        return None


def _signature(
    params: Sequence[Param], returns: DataType | Callable[[Sequence[DataType]], DataType]
) -> Overload:
    return overload(params, returns)


def _sum_type(targets: Sequence[DataType]) -> DataType:
    return wider(targets[0])


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
            count_of,
            star=True,
        ),
        _aggregate(
            "sum",
            "Sum. Integers add up exactly to BIGINT (`overflow` beyond), DECIMAL stays DECIMAL.",
            (_signature([BIGINT], Scalar.BIGINT), _signature([DECIMAL], _sum_type), *_ONE_DOUBLE),
            sum_of,
        ),
        _aggregate(
            "avg",
            "Mean; of integers a DOUBLE, of DECIMAL a DECIMAL with four more digits.",
            (
                _signature([BIGINT], Scalar.DOUBLE),
                _signature([DECIMAL], _average_type),
                *_ONE_DOUBLE,
            ),
            average_of,
            aliases="mean favg",
        ),
        _aggregate("min", "Smallest value.", _SAME, extreme(PartialOp.MIN, Merge.MIN)),
        _aggregate(
            "max",
            "Largest value; NaN is larger than every number.",
            _SAME,
            extreme(PartialOp.MAX, Merge.MAX),
        ),
        _aggregate(
            "first_value",
            "Value of the earliest row by event time; the smaller one where two are equally early.",
            _SAME,
            following(PartialOp.MIN, by_time=True),
            aliases="first earliest earliest_by_offset any_value arbitrary",
        ),
        _aggregate(
            "last_value",
            "Value of the latest row by event time; the larger one where two are equally late.",
            _SAME,
            following(PartialOp.MAX, by_time=True),
            aliases="last latest latest_by_offset",
        ),
        _aggregate(
            "min_by",
            "Value of the row whose second argument is smallest.",
            _AT_KEY,
            following(PartialOp.MIN, by_time=False),
            aliases="arg_min argmin",
        ),
        _aggregate(
            "max_by",
            "Value of the row whose second argument is largest.",
            _AT_KEY,
            following(PartialOp.MAX, by_time=False),
            aliases="arg_max argmax",
        ),
        _aggregate(
            "var_pop", "Variance of the values.", _ONE_DOUBLE, moments, aliases="varp varpop"
        ),
        _aggregate(
            "var_samp",
            "Variance of a population that the values are a sample of.",
            _ONE_DOUBLE,
            moments,
            aliases="variance var vars varsamp",
        ),
        _aggregate(
            "stddev_pop",
            "Standard deviation of the values.",
            _ONE_DOUBLE,
            moments,
            aliases="stdevp stddevpop",
        ),
        _aggregate(
            "stddev_samp",
            "Standard deviation of a population that the values are a sample of.",
            _ONE_DOUBLE,
            moments,
            aliases="stddev std stdev stddevs stddevsamp",
        ),
        _aggregate("covar_pop", "Covariance.", _TWO_DOUBLES, comoments),
        _aggregate(
            "covar_samp",
            "Covariance of a population that the values are a sample of.",
            _TWO_DOUBLES,
            comoments,
        ),
        _aggregate(
            "corr", "Correlation coefficient.", _TWO_DOUBLES, comoments, aliases="correlation"
        ),
        _aggregate(
            "bool_and",
            "Whether it holds for every row.",
            (_signature([BOOLEAN], Scalar.BOOLEAN),),
            extreme(PartialOp.BOOL_AND, Merge.AND),
            aliases="every logical_and",
        ),
        _aggregate(
            "bool_or",
            "Whether it holds for some row.",
            (_signature([BOOLEAN], Scalar.BOOLEAN),),
            extreme(PartialOp.BOOL_OR, Merge.OR),
            aliases="some any logical_or",
        ),
        _aggregate(
            "bit_and",
            "Bits set in every value.",
            (_signature([BIGINT], Scalar.BIGINT),),
            extreme(PartialOp.BIT_AND, Merge.BIT_AND),
        ),
        _aggregate(
            "bit_or",
            "Bits set in some value.",
            (_signature([BIGINT], Scalar.BIGINT),),
            extreme(PartialOp.BIT_OR, Merge.BIT_OR),
        ),
        _aggregate(
            "bit_xor",
            "Bits set in an odd number of values.",
            (_signature([BIGINT], Scalar.BIGINT),),
            extreme(PartialOp.BIT_XOR, Merge.BIT_XOR),
        ),
        _aggregate(
            "median",
            "Middle value, interpolated.",
            _ONE_DOUBLE,
            collected,
            aliases="approx_median",
            precision=HOLISTIC,
        ),
        _aggregate(
            "percentile_cont",
            "Interpolated percentile: `PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)`, or with `(x, 0.9)`.",
            _TWO_DOUBLES,
            collected,
            aliases="quantile_cont percentile quantile",
            precision=HOLISTIC,
            constants=1,
            ordered=True,
        ),
        _aggregate(
            "percentile_disc",
            "Smallest value that reaches the percentile.",
            (_signature([COMPARABLE, DOUBLE], first),),
            collected,
            aliases="quantile_disc",
            precision=HOLISTIC,
            constants=1,
            ordered=True,
        ),
        _aggregate(
            "mode",
            "Most frequent value; the smallest of several.",
            _SAME,
            collected,
            precision=HOLISTIC,
        ),
        _aggregate(
            "array_agg",
            "The values as an array, by event time or by ORDER BY; with DISTINCT by value.",
            (_signature([ANY], _array_type),),
            collected_in_order,
            aliases="collect_list list collect group_array",
            precision=HOLISTIC,
            ordered=True,
        ),
        _aggregate(
            "string_agg",
            "The values joined by a separator, by event time or by ORDER BY; with DISTINCT by value.",
            (_signature([TEXTUAL, VARCHAR], Scalar.VARCHAR),),
            collected_in_order,
            aliases="listagg group_concat",
            precision=HOLISTIC,
            constants=1,
            ordered=True,
        ),
        _aggregate(
            "approx_count_distinct",
            "About how many different values.",
            (_signature([COMPARABLE], Scalar.BIGINT),),
            sketch_of_set,
            aliases="approx_distinct",
            precision=APPROXIMATE,
        ),
        _aggregate(
            "approx_percentile",
            "About the percentile: `(x, 0.9)`.",
            _TWO_DOUBLES,
            sketch_of_values,
            aliases="approx_quantile approx_percentile_cont percentile_approx",
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


def find_aggregate(name: str, users: UserAggregates = NO_AGGREGATES) -> AggregateFunction | None:
    """By its name or another name for it; `users` are the ones in Python."""
    built_in = _BY_NAME.get(name.lower())
    if built_in is not None:
        return built_in
    user = users.get(name.lower())
    return None if user is None else _in_python(user)


def aggregate_names(users: UserAggregates = NO_AGGREGATES) -> tuple[str, ...]:
    return tuple(sorted((*_BY_NAME, *users)))


def _in_python(user: UserAggregate) -> AggregateFunction:
    return AggregateFunction(
        name=user.name,
        doc=f"it is {user.name}({', '.join(map(str, user.arguments))}), in Python",
        signatures=(_signature([_takes(kind) for kind in user.arguments], user.returns),),
        partials=states_of_user,
        user=user,
    )


def _takes(wanted: DataType) -> Param:
    """The type itself, and what it is wide enough for."""
    return Param(
        str(wanted), lambda given: wanted if common_type(given, wanted) == wanted else None
    )


def partials_of(aggregate: AggregateCall) -> tuple[PartialSpec, ...]:
    """The columns that this call keeps per group."""
    if keeps_set(aggregate):
        return set_of(aggregate)
    if aggregate.user is not None:
        return states_of_user(aggregate)
    return AGGREGATES[aggregate.function].partials(aggregate)


def keeps_set(aggregate: AggregateCall) -> bool:
    """Whether DISTINCT is more than a word: the smallest value is the same with and without repetition."""
    return aggregate.distinct and aggregate.function not in _REPETITION_IS_NOTHING


def finish_of(aggregate: AggregateCall, positions: Sequence[int]) -> FinishSpec:
    """How its value comes out of the columns at these positions."""
    count = 0 if aggregate.user else AGGREGATES[aggregate.function].constants
    constants = aggregate.args[len(aggregate.args) - count :]
    return FinishSpec(
        function=aggregate.function,
        partials=tuple(positions),
        type=aggregate.type,
        distinct=keeps_set(aggregate),
        parameters=tuple(arg for arg in constants if isinstance(arg, Literal)),
        order=aggregate.order,
        user=aggregate.user,
    )


def is_bounded(aggregate: AggregateCall) -> bool:
    """Whether what a group keeps does not grow with its rows; of states in Python nobody knows."""
    if keeps_set(aggregate) or aggregate.user is not None:
        return False
    return AGGREGATES[aggregate.function].precision == EXACT
