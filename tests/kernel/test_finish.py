"""Every aggregate from rows, by way of partials and a table, against what SQL says in plain Python."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP
from decimal import Decimal as Number
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.rows import (
    EXACT,
    KEEP,
    Row,
    X,
    Y,
    Z,
    by_key,
    close,
    comoment,
    evaluate,
    lowered,
    order,
    partial_batch,
    rows,
)
from tidegate.kernel.finish import FINISHERS, finish
from tidegate.kernel.folding import fold
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.sums import Finished
from tidegate.model.expressions import Expr, Field, Literal, SortKey
from tidegate.model.partials import FinishSpec, PartialSpec
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.model.types import Array, DataType, Decimal, Scalar
from tidegate.plan.aggregates import AGGREGATES
from tidegate.plan.decompositions import AggregateCall

OVERFLOW = "overflow"
OUTCOMES = {DISPOSITION[Reason.OVERFLOW]: OVERFLOW}


def call(function: str, *args: Expr, **more: Any) -> AggregateCall:
    resolved = AGGREGATES[function].resolve([arg.type for arg in args])
    kind = Scalar.BIGINT if resolved is None else resolved[1]
    return AggregateCall(function=function, args=args, type=kind, **more)


def share(value: float) -> Literal:
    return Literal(value, Scalar.DOUBLE)


def aggregated(
    aggregate: AggregateCall, drawn: Sequence[Row], *, folded: bool = False
) -> dict[Any, Any]:
    """By key, through a table that gets the rows in two batches; `folded`: each batch's rows one by one, combined."""
    specs, (spec,) = lowered([aggregate])
    table = GroupTable([Field("$k0", Scalar.BIGINT)], specs)
    for part in (drawn[::2], drawn[1::2]):
        table.merge(combined(specs, part) if folded else partial_batch(specs, part))
    partials = table.partials()
    done = finish(spec, partials)
    done.values.validate(full=True)
    values = done.values.to_pylist()
    if done.codes is not None:
        assert all(value is None for value, code in zip(values, done.codes, strict=True) if code)
        values = [OUTCOMES.get(*pair) for pair in zip(done.codes.tolist(), values, strict=True)]
    return dict(zip(partials.column("$k0").to_pylist(), values, strict=True))


def combined(specs: Sequence[PartialSpec], drawn: Sequence[Row]) -> pa.RecordBatch:
    """The partials of single rows, combined as runs of a session are."""
    keys = list(dict.fromkeys(row["$k0"] for row in drawn))
    singles = [partial_batch(specs, part) for part in ([row] for row in drawn) if part]
    rest = pa.concat_batches(singles or [partial_batch(specs, [])]).drop_columns(["$k0"])
    owners = np.array([keys.index(row["$k0"]) for row in drawn], np.int64)
    made, owners = fold(rest, owners, specs, timed=True)
    named = pa.array([keys[owner] for owner in owners.tolist()], pa.int64())
    return made.append_column("$k0", named)


# The oracle: what the aggregate is of tuples of arguments in which nothing is NULL

Tuples = list[tuple[Any, ...]]


def _sum(kind: DataType, values: list[Any]) -> Any:
    if not values:
        return None
    if kind is Scalar.BIGINT:
        return sum(values) if -(2**63) <= sum(values) < 2**63 else OVERFLOW
    if isinstance(kind, Decimal):
        total = Number(0)
        for value in values:
            total = EXACT.add(total, value)
        return total if abs(total).scaleb(kind.scale, EXACT) < 10**kind.precision else OVERFLOW
    return sum(values)


def _average(kind: DataType, values: list[Any]) -> Any:
    if not values:
        return None
    if isinstance(kind, Decimal):
        exact = EXACT.divide(_sum(Decimal(99, kind.scale), values), len(values))
        return exact.quantize(Number(1).scaleb(-kind.scale), ROUND_HALF_UP, EXACT)
    return (
        float(Fraction(sum(values), len(values)))
        if isinstance(values[0], int)
        else sum(values) / len(values)
    )


def _spread(values: list[float], less: int, *, root: bool = False) -> Any:
    if len(values) <= less:
        return None
    found = comoment(values, values)
    assert found is not None
    return math.sqrt(found / (len(values) - less)) if root else found / (len(values) - less)


def _covariance(pairs: Tuples, less: int) -> Any:
    found = comoment([one for one, _ in pairs], [other for _, other in pairs])
    return None if found is None or len(pairs) <= less else found / (len(pairs) - less)


def _correlation(pairs: Tuples) -> Any:
    ones, others = [one for one, _ in pairs], [other for _, other in pairs]
    if len(pairs) == 0 or len(set(ones)) == 1 or len(set(others)) == 1:
        return None
    return statistics.correlation(ones, others)


def _continuous(values: list[float], at: float) -> Any:
    ordered = sorted(values, key=order)
    if not ordered:
        return None
    place = at * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return (
        low
        if low == high or place == math.floor(place)
        else low + (high - low) * (place - math.floor(place))
    )


def _mode(values: list[Any]) -> Any:
    counts = Counter("nan" if value != value else value for value in values)
    most = max(counts.values(), default=0)
    return min(
        (value for value in values if counts["nan" if value != value else value] == most),
        key=order,
        default=None,
    )


def _discrete(values: list[Any], at: Fraction) -> Any:
    return sorted(values, key=order)[max(math.ceil(at * len(values)) - 1, 0)] if values else None


def _firsts(of: list[tuple[Any, ...]]) -> list[Any]:
    return [first for first, *_ in of]


ORACLE: dict[str, Callable[[DataType, Tuples], Any]] = {
    "count": lambda _, of: len(of),
    "sum": lambda kind, of: _sum(kind, _firsts(of)),
    "avg": lambda kind, of: _average(kind, _firsts(of)),
    "min": lambda _, of: min(_firsts(of), key=order, default=None),
    "max": lambda _, of: max(_firsts(of), key=order, default=None),
    "min_by": lambda _, of: min(
        of, key=lambda pair: (order(pair[1]), order(pair[0])), default=(None,)
    )[0],
    "max_by": lambda _, of: max(
        of, key=lambda pair: (order(pair[1]), order(pair[0])), default=(None,)
    )[0],
    "var_pop": lambda _, of: _spread(_firsts(of), 0),
    "var_samp": lambda _, of: _spread(_firsts(of), 1),
    "stddev_pop": lambda _, of: _spread(_firsts(of), 0, root=True),
    "stddev_samp": lambda _, of: _spread(_firsts(of), 1, root=True),
    "covar_pop": lambda _, of: _covariance(of, 0),
    "covar_samp": lambda _, of: _covariance(of, 1),
    "corr": lambda _, of: _correlation(of),
    "bool_and": lambda _, of: all(_firsts(of)) if of else None,
    "bool_or": lambda _, of: any(_firsts(of)) if of else None,
    "median": lambda _, of: _continuous(_firsts(of), 0.5),
    "percentile_cont": lambda _, of: _continuous(_firsts(of), 0.25),
    "approx_percentile": lambda _, of: _continuous(_firsts(of), 0.25),
    "percentile_disc": lambda _, of: _discrete(_firsts(of), Fraction(3, 10)),
    "mode": lambda _, of: _mode(_firsts(of)),
    "approx_count_distinct": lambda _, of: len(
        {"nan" if value != value else value for value in _firsts(of)}
    ),
}
for _name, _fold in (("bit_and", int.__and__), ("bit_or", int.__or__), ("bit_xor", int.__xor__)):

    def _bits(_: DataType, of: Tuples, fold: Callable[[int, int], int] = _fold) -> Any:
        found = None
        for value in _firsts(of):
            found = value if found is None else fold(found, value)
        return found

    ORACLE[_name] = _bits
TS = Field("$ts", Scalar.BIGINT)
BY_TIME = {"first_value": "min_by", "last_value": "max_by"}


def expected(aggregate: AggregateCall, drawn: Sequence[Row]) -> Any:
    args = [arg for arg in aggregate.args if not isinstance(arg, Literal)]
    name = aggregate.function
    if name in BY_TIME:
        name, args = BY_TIME[name], [*args, TS]
    kept = [row for row in drawn if aggregate.filter is None or row["keep"]]
    tuples = [tuple(evaluate(arg, row) for arg in args) for row in kept]
    tuples = [values for values in tuples if None not in values]
    if aggregate.distinct:
        tuples = list(
            {repr(tuple(same(value) for value in values)): values for values in tuples}.values()
        )
    return ORACLE[name](aggregate.type, tuples)


def same(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


def matches(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and isinstance(got, float) and abs(wanted) > 1e6:
        return math.isclose(got, wanted, rel_tol=1e-9)
    return close(got, wanted)


INTEGER, DOUBLE, TEXT = X[Scalar.BIGINT], X[Scalar.DOUBLE], X[Scalar.VARCHAR]
SHORT, LONG = X[Decimal(12, 3)], X[Decimal(38, 2)]
SORTED = [TEXT, DOUBLE, SHORT, X[Scalar.BOOLEAN], X[Scalar.BINARY], X[Scalar.TINYINT]]
CALLS = [
    *(call("count", field) for field in (TEXT, X[Array(Scalar.BIGINT)])),
    *(call(name, field) for name in ("sum", "avg") for field in (INTEGER, DOUBLE, SHORT, LONG)),
    *(
        call(name, field)
        for name in ("min", "max", "first_value", "last_value", "mode")
        for field in SORTED
    ),
    *(call(name, TEXT, key) for name in ("min_by", "max_by") for key in (TEXT, DOUBLE, LONG)),
    *(call(name, Y) for name in ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "median")),
    *(call(name, Y, Z) for name in ("covar_pop", "covar_samp", "corr")),
    *(call(name, X[Scalar.BOOLEAN]) for name in ("bool_and", "bool_or")),
    *(call(name, INTEGER) for name in ("bit_and", "bit_or", "bit_xor")),
    *(call(name, DOUBLE, share(0.25)) for name in ("percentile_cont", "approx_percentile")),
    *(call("percentile_disc", field, share(0.3)) for field in SORTED),
    *(call("approx_count_distinct", field) for field in SORTED),
    *(call("median", Y, filter=KEEP), call("sum", LONG, filter=KEEP)),
    *(call(name, INTEGER, distinct=True) for name in ("sum", "avg", "bit_xor", "count")),
    *(call(name, field, distinct=True) for name in ("sum", "avg") for field in (SHORT, LONG, Y)),
    *(call(name, Y, distinct=True) for name in ("var_pop", "var_samp", "stddev_pop", "median")),
    *(call(name, Y, Z, distinct=True) for name in ("covar_pop", "corr")),
    *(call("count", field, distinct=True) for field in SORTED),
    call("percentile_disc", TEXT, share(0.3), distinct=True),
    call("mode", TEXT, distinct=True),
]


def name_of(aggregate: object) -> str:
    assert isinstance(aggregate, AggregateCall)
    words = ["distinct"] * aggregate.distinct + [str(arg.type) for arg in aggregate.args]
    return " ".join([aggregate.function, *words])


@pytest.mark.parametrize("aggregate", CALLS, ids=name_of)
@settings(max_examples=7)
@given(data=st.data(), folded=st.booleans())
def test_values_are_those_of_sql(
    aggregate: AggregateCall, data: st.DataObject, folded: bool
) -> None:
    fields = [field for field in (*X.values(), Y, Z) if repr(field) in repr(aggregate.args)]
    drawn = data.draw(rows(fields))
    got = aggregated(aggregate, drawn, folded=folded)
    for key, members in by_key(drawn).items():
        wanted = expected(aggregate, members)
        assert matches(got[key], wanted), (key, got[key], wanted)


def test_every_aggregate_is_finished() -> None:
    assert FINISHERS.keys() == AGGREGATES.keys()
    assert {aggregate.function for aggregate in CALLS} | {
        "array_agg",
        "string_agg",
    } == AGGREGATES.keys()


def finished(function: str, kind: DataType, *columns: pa.Array, **more: Any) -> Finished:
    spec = FinishSpec(function=function, partials=tuple(range(len(columns))), type=kind, **more)
    return finish(
        spec, pa.record_batch({f"$p{place}": column for place, column in enumerate(columns)})
    )


EXTREMES = [2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, -1, 0]


@pytest.mark.parametrize("total", EXTREMES)
@pytest.mark.parametrize("carry", [0, 1, 2**30])
def test_sums_at_the_edge_of_bigint(total: int, carry: int) -> None:
    high, low = pa.array([(total >> 32) - carry]), pa.array([(total & 0xFFFFFFFF) + (carry << 32)])
    done = finished("sum", Scalar.BIGINT, high, low)
    fits = -(2**63) <= total < 2**63
    assert done.values.to_pylist() == [total if fits else None]
    assert (done.codes is None) is fits
    assert done.codes is None or list(OUTCOMES) == done.codes.tolist()
    mean = finished("avg", Scalar.DOUBLE, pa.array([7]), high, low)
    assert mean.values.to_pylist() == [pytest.approx(total / 7, rel=1e-15)]


def test_a_large_group_is_averaged() -> None:
    count = 2**40
    done = finished("avg", Scalar.DOUBLE, pa.array([count]), pa.array([3 * 2**8]), pa.array([5]))
    assert done.values.to_pylist() == [pytest.approx((3 * 2**40 + 5) / count)]


MOST = Number("9" * 38)


@pytest.mark.parametrize("scale", [0, 2, 9, 20, 38])
def test_decimal_sums_of_38_digits(scale: int) -> None:
    """The second rows take the sum out of its type, the third bring it back; the mean fits always."""
    most, one = MOST.scaleb(-scale, EXACT), Number(1).scaleb(-scale)
    groups = [
        [most],
        [most, one],
        [most, one, -one],
        [most] * 4,
        [most.copy_negate()] * 3,
        [most, most.copy_negate()],
    ]
    wanted = [most, OVERFLOW, most, OVERFLOW, OVERFLOW, Number(0)]
    field = Field("d", Decimal(38, scale))
    drawn = [
        {"$k0": key, "$ts": 0, "d": value} for key, values in enumerate(groups) for value in values
    ]
    sums = aggregated(call("sum", field), drawn)
    means = aggregated(call("avg", field), drawn)
    assert [sums[key] for key in range(6)] == wanted
    assert [means[key] for key in (0, 3, 4)] == [most, most, most.copy_negate()]


def test_distinct_decimals_of_38_digits() -> None:
    values = [EXACT.subtract(MOST, Number(less)) for less in range(4)]
    kept = pa.array([values, values[:1], None], pa.list_(pa.decimal128(38, 0)))
    total = finished("sum", Decimal(38, 0), kept, distinct=True)
    assert total.codes is not None
    assert (total.values.to_pylist(), total.codes.tolist()) == (
        [None, MOST, None],
        [DISPOSITION[Reason.OVERFLOW], AGGREGATED, AGGREGATED],
    )
    mean = finished("avg", Decimal(38, 0), kept, distinct=True)
    assert mean.values.to_pylist() == [EXACT.subtract(MOST, Number(1)), MOST, None]


def test_infinities_and_nan_have_no_spread() -> None:
    values = [[math.inf], [math.inf, 1.0], [math.nan, 1.0], [1.0], []]
    drawn = [
        {"$k0": key, "$ts": 0, Y.name: value, "keep": True}
        for key, members in enumerate(values)
        for value in [*members, None]
    ]
    got = [aggregated(call(name, Y), drawn) for name in ("var_pop", "var_samp")]
    assert [list(map(str, found.values())) for found in got] == [
        ["nan", "nan", "nan", "0.0", "None"],
        ["None", "nan", "nan", "None", "None"],
    ]


ORDERS: list[tuple[SortKey, ...]] = [
    (),
    (SortKey(INTEGER),),
    (SortKey(DOUBLE, descending=True), SortKey(TEXT, nulls_first=True)),
    (SortKey(TEXT, descending=True, nulls_first=True),),
]


@pytest.mark.parametrize("keys", ORDERS, ids=len)
@settings(max_examples=15)
@given(data=st.data())
def test_lists_are_in_order(keys: tuple[SortKey, ...], data: st.DataObject) -> None:
    drawn = data.draw(rows([INTEGER, DOUBLE, TEXT]))
    got = aggregated(call("array_agg", TEXT, order=keys), drawn)
    joined = aggregated(call("string_agg", TEXT, Literal("|é|", Scalar.VARCHAR), order=keys), drawn)
    for key, members in by_key(drawn).items():
        present = [row for row in members if row[TEXT.name] is not None]
        present.sort(key=lambda row: (row["$ts"], order(row[TEXT.name])))
        for by in reversed(keys):
            column = evaluate_column(by, present)
            present = [
                row for _, row in sorted(column, key=lambda pair: pair[0], reverse=by.descending)
            ]
            present.sort(key=lambda row: (evaluate(by.expr, row) is None) != by.nulls_first)
        wanted = [row[TEXT.name] for row in present] or None
        assert got[key] == wanted
        assert joined[key] == (None if wanted is None else "|é|".join(wanted))


def evaluate_column(by: SortKey, given: Sequence[Row]) -> list[tuple[Any, Row]]:
    """Python's `reverse` keeps the order of equals, as we want it."""
    values = [evaluate(by.expr, row) for row in given]
    present = [order(value) for value in values if value is not None]
    filler = present[0] if present else 0
    return [
        (filler if value is None else order(value), row)
        for value, row in zip(values, given, strict=True)
    ]


def test_sets_are_listed_in_order() -> None:
    drawn = [{"$k0": 1, "$ts": 0, TEXT.name: text, "keep": True} for text in ("b", "a", "b", None)]
    assert aggregated(call("array_agg", TEXT, distinct=True), drawn) == {1: ["a", "b"]}
    down = (SortKey(TEXT, descending=True),)
    separator = Literal(",", Scalar.VARCHAR)
    assert aggregated(call("string_agg", TEXT, separator, distinct=True, order=down), drawn) == {
        1: "b,a"
    }


def test_percentiles_from_above() -> None:
    drawn = [{"$k0": 1, "$ts": 0, Y.name: float(value), "keep": True} for value in range(5)]
    down = (SortKey(Y, descending=True),)
    assert aggregated(call("percentile_cont", Y, share(0.125), order=down), drawn) == {1: 3.5}
    assert aggregated(call("percentile_disc", Y, share(0.2), order=down), drawn) == {1: 4.0}
    for at, value in ((0.0, 0.0), (1.0, 4.0)):
        assert aggregated(call("percentile_disc", Y, share(at)), drawn) == {1: value}
        assert aggregated(call("percentile_cont", Y, share(at)), drawn) == {1: value}


def test_nothing_at_all() -> None:
    for aggregate in CALLS:
        assert aggregated(aggregate, []) == {}


IN_DUCKDB = "count sum avg min max var_pop var_samp stddev_pop stddev_samp median".split()


def test_duckdb_agrees() -> None:
    drawn = [
        {
            "$k0": number % 7,
            "$ts": number,
            Y.name: math.sin(number) * 100 if number % 5 else None,
            "keep": True,
        }
        for number in range(500)
    ]
    table = pa.table({"k": [row["$k0"] for row in drawn], "y": [row[Y.name] for row in drawn]})
    for name in IN_DUCKDB:
        query = f"SELECT k, {name}(y) FROM judged GROUP BY k"
        with duckdb.connect() as connection:
            connection.register("judged", table)
            wanted = dict(connection.execute(query).fetchall())
        assert aggregated(call(name, Y), drawn) == pytest.approx(wanted, rel=1e-12)
