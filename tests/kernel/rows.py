"""Rows, and what the engines' SQL makes of them, in plain Python: the oracle of the kernel's tests.

A row is a dict of field values with `$ts` and `$k0`. Nothing here shares code with the kernel but the Arrow types.
"""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Context
from decimal import Decimal as Number
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tidegate.kernel.arrow import arrow_type
from tidegate.model.expressions import Call, Cast, Expr, Field, Literal
from tidegate.model.partials import SPARE_DIGITS, FinishSpec, PartialOp, PartialSpec
from tidegate.model.types import MAX_PRECISION, Array, DataType, Decimal, Scalar
from tidegate.plan.aggregates import finish_of, partials_of
from tidegate.plan.decompositions import AggregateCall

Row = dict[str, Any]
X: dict[DataType, Field] = {
    kind: Field(f"x_{kind}", kind)
    for kind in (
        Scalar.BOOLEAN,
        Scalar.TINYINT,
        Scalar.BIGINT,
        Scalar.REAL,
        Scalar.DOUBLE,
        Scalar.VARCHAR,
        Scalar.BINARY,
        Scalar.DATE,
        Scalar.TIMESTAMP,
        Decimal(12, 3),
        Decimal(38, 2),
        Array(Scalar.BIGINT),
    )
}
Y, Z = Field("y_DOUBLE", Scalar.DOUBLE), Field("z_DOUBLE", Scalar.DOUBLE)  # finite ones
KEEP = Field("keep", Scalar.BOOLEAN)
FLOATS = st.sampled_from(
    [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 2.0**50]
) | st.floats(-1e6, 1e6, width=32)
VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    Scalar.BOOLEAN: st.booleans(),
    Scalar.TINYINT: st.integers(-128, 127),
    Scalar.BIGINT: st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    Scalar.REAL: FLOATS,
    Scalar.DOUBLE: FLOATS,
    Scalar.VARCHAR: st.sampled_from(["", "a", "ab", "é", "日本", "😀"]) | st.text(max_size=3),
    Scalar.BINARY: st.binary(max_size=3),
    Scalar.DATE: st.integers(-(10**5), 10**5),
    Scalar.TIMESTAMP: st.integers(-(10**12), 10**12),
    Decimal(12, 3): st.decimals(-(10**8), 10**8, places=3),
    Decimal(38, 2): st.decimals(-(10**30), 10**30, places=2),
    Array(Scalar.BIGINT): st.lists(st.integers(0, 3), max_size=2),
}


def rows(fields: Iterable[Field], *, groups: int = 3) -> st.SearchStrategy[list[Row]]:
    """Rows with the fields, in a few groups and at a few instants."""
    values: dict[str, st.SearchStrategy[Any]] = {
        field.name: st.none()
        | (st.floats(-1e6, 1e6, width=32) if field in (Y, Z) else VALUES[field.type])
        for field in fields
    }
    fixed = {
        "$ts": st.integers(-5, 5),
        "$k0": st.none() | st.integers(0, groups),
        "keep": st.booleans(),
    }
    return st.lists(st.fixed_dictionaries({**values, **fixed}), max_size=12)


def order(value: Any) -> Any:
    """What SQL sorts by: NaN last among numbers, lists by their elements."""
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value.encode() if isinstance(value, str) else value


def evaluate(expr: Expr, row: Row) -> Any:
    match expr:
        case Field(name=name):
            return row[name]
        case Literal(value=value):
            return value
        case Cast(operand=operand):
            value = evaluate(operand, row)
            return None if value is None else float(value)
        case Call(function="and", args=args):
            return all(evaluate(arg, row) for arg in args)
        case Call(function="$fine" | "$coarse" as part, args=(arg,)):
            number = evaluate(arg, row)
            split = _fine if part == "$fine" else _coarse
            return None if number is None else split(number, arg.type)
        case Call(function=function, args=args):
            return _CALLS[function](*(evaluate(arg, row) for arg in args))
        case _:
            raise NotImplementedError(expr)


def _skipping(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: None if None in values else operation(*values)


EXACT = Context(prec=100)


def _fine(value: Number, kind: DataType) -> Number:
    assert isinstance(kind, Decimal)
    power = kind.precision + SPARE_DIGITS - MAX_PRECISION - kind.scale
    return EXACT.remainder(value, Number(1).scaleb(power))


def _coarse(value: Number, kind: DataType) -> Number:
    assert isinstance(kind, Decimal)
    power = kind.precision + SPARE_DIGITS - MAX_PRECISION - kind.scale
    whole = EXACT.scaleb(EXACT.subtract(value, _fine(value, kind)), -max(power, 0))
    return EXACT.quantize(whole, Number(1).scaleb(min(power, 0)))


_CALLS: dict[str, Callable[..., Any]] = {
    ">>": _skipping(lambda value, by: value >> by),
    "&": _skipping(lambda value, mask: value & mask),
    "not": lambda value: not value,
    "is_null": lambda value: value is None,
}


def _extreme(pick: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    return lambda values: pick(values, key=order) if values else None


def _folded(operation: Callable[[Any, Any], Any]) -> Callable[[list[Any]], Any]:
    return lambda values: functools.reduce(operation, values) if values else None


def _sum(values: list[Any]) -> Any:
    if not values:
        return None
    if isinstance(values[0], Number):
        return functools.reduce(EXACT.add, values)
    return (
        math.fsum(values)
        if isinstance(values[0], float) and all(map(math.isfinite, values))
        else sum(values)
    )


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def comoment(ones: list[float], others: list[float]) -> float | None:
    if not ones:
        return None
    if not all(map(math.isfinite, ones + others)):
        return math.nan
    at, other_at = math.fsum(ones) / len(ones), math.fsum(others) / len(others)
    return math.fsum(
        (one - at) * (other - other_at) for one, other in zip(ones, others, strict=True)
    )


def _distinct(values: list[Any]) -> list[Any]:
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault("nan" if value != value else value, value)
    return list(found.values())


_OVER_VALUES: dict[PartialOp, Callable[[list[Any]], Any]] = {
    PartialOp.COUNT: len,
    PartialOp.SUM: _sum,
    PartialOp.MEAN: mean,
    PartialOp.MIN: _extreme(min),
    PartialOp.MAX: _extreme(max),
    PartialOp.BOOL_AND: _folded(lambda one, other: one and other),
    PartialOp.BOOL_OR: _folded(lambda one, other: one or other),
    PartialOp.BIT_AND: _folded(lambda one, other: one & other),
    PartialOp.BIT_OR: _folded(lambda one, other: one | other),
    PartialOp.BIT_XOR: _folded(lambda one, other: one ^ other),
    PartialOp.COLLECT: lambda values: values or None,
    PartialOp.COLLECT_SET: lambda values: _distinct(values) or None,
}


def partial(spec: PartialSpec, given: Sequence[Row]) -> Any:
    """What the engine's SQL computes over the rows of one group."""
    kept = [row for row in given if spec.filter is None or evaluate(spec.filter, row)]
    args = [[evaluate(arg, row) for row in kept] for arg in spec.args]
    match spec.op:
        case PartialOp.ROWS:
            return len(kept)
        case PartialOp.M2:
            present = [value for value in args[0] if value is not None]
            return comoment(present, present)
        case PartialOp.COMOMENT:
            return comoment(args[0], args[1])
        case PartialOp.FIRST | PartialOp.LAST:
            pairs = sorted(
                zip(*args, strict=True), key=lambda pair: (order(pair[0]), order(pair[1]))
            )
            return pairs[0 if spec.op is PartialOp.FIRST else -1][1] if pairs else None
        case PartialOp.COLLECT | PartialOp.COLLECT_SET if len(args) > 1:
            return [
                {f"v{place}": value for place, value in enumerate(entry)}
                for entry in _entries(spec.op, args)
            ] or None
        case _:
            return _OVER_VALUES[spec.op]([value for value in args[0] if value is not None])


def _entries(op: PartialOp, args: list[list[Any]]) -> Iterable[tuple[Any, ...]]:
    entries = list(zip(*args, strict=True))
    return (
        {repr(entry): entry for entry in entries}.values()
        if op is PartialOp.COLLECT_SET
        else entries
    )


def by_key(given: Sequence[Row]) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in given:
        groups.setdefault(row["$k0"], []).append(row)
    return groups


def partial_batch(
    specs: Sequence[PartialSpec], given: Sequence[Row], kind: DataType = Scalar.BIGINT
) -> pa.RecordBatch:
    """The partial batch of rows, keyed by `$k0`."""
    groups = by_key(given)
    columns = {
        "$k0": pa.array(list(groups), arrow_type(kind)),
        "$rows": pa.array([len(members) for members in groups.values()], pa.int64()),
        "$max_ts": pa.array(
            [max(row["$ts"] for row in members) for members in groups.values()], pa.int64()
        ),
    }
    for place, spec in enumerate(specs):
        values = [partial(spec, members) for members in groups.values()]
        columns[f"$p{place}"] = pa.array(values, arrow_type(spec.type))
    return pa.record_batch(columns)


def lowered(calls: Sequence[AggregateCall]) -> tuple[list[PartialSpec], list[FinishSpec]]:
    """Partial columns and finishes of aggregates, equal columns shared, as plans have them."""
    specs: list[PartialSpec] = []
    finishes = []
    for aggregate in calls:
        own = partials_of(aggregate)
        specs.extend(spec for spec in own if spec not in specs)
        finishes.append(finish_of(aggregate, [specs.index(spec) for spec in own]))
    return specs, finishes


def close(one: Any, other: Any) -> bool:
    """Equal, as far as sums of doubles go."""
    if isinstance(one, float) and isinstance(other, float):
        if one != one or other != other:
            return one != one and other != other
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)
    if isinstance(one, list) and isinstance(other, list):
        ours, theirs = (sorted(map(repr, map(_plain, side))) for side in (one, other))
        return ours == theirs
    return bool(one == other)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0
    return (
        {name: _plain(part) for name, part in value.items()} if isinstance(value, dict) else value
    )
