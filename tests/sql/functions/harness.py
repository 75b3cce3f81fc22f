"""Runs calls on an engine: one table per combination of columns, one query with one column per call."""

import itertools
import math
import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeVar

import pyarrow as pa

from tests.sql.functions.exercises import Conversion, Exercise
from tests.sql.functions.values import Pool
from tidegate.model.expressions import Call, Cast, Expr, Field, Literal
from tidegate.model.types import DataType, Decimal, Scalar
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import render

_MOST_ROWS = 1200
Run = Callable[[pa.Table, Sequence[str]], pa.Table]
Pools = tuple[Pool, ...]


def rows_of(pools: Pools) -> list[tuple[object, ...]]:
    """All combinations, or a sample that is the same every time."""
    rows = list(itertools.product(*(pool.values for pool in pools)))
    return random.Random(7).sample(rows, _MOST_ROWS) if len(rows) > _MOST_ROWS else rows


@cache
def table_of(pools: Pools, *, zone: str | None = None) -> pa.Table:
    rows = rows_of(pools)
    columns = {}
    for place, pool in enumerate(pools):
        kind = pa.timestamp("us", zone) if pool.type is Scalar.TIMESTAMP else pool.arrow
        columns[f"c{place}"] = pa.array([row[place] for row in rows], kind)
    return pa.table(columns) if columns else pa.table({"c0": pa.array([1])})


def call_of(exercise: Exercise) -> Call:
    """As the binder makes it: arguments are converted to what the overload takes."""
    places = itertools.count()
    args: list[Expr] = [
        arg if isinstance(arg, Literal) else Field(f"c{next(places)}", arg.type)
        for arg in exercise.args
    ]
    resolved = FUNCTIONS[exercise.function].resolve([arg.type for arg in args])
    assert resolved is not None, str(exercise)
    overload, targets = resolved
    cast = [
        arg if arg.type == target else Cast(arg, target)
        for arg, target in zip(args, targets, strict=True)
    ]
    return Call(exercise.function, tuple(cast), overload.result(targets))


def expression_of(exercise: Exercise | Conversion) -> Expr:
    if isinstance(exercise, Conversion):
        return Cast(Field("c0", exercise.source.type), exercise.target)
    return call_of(exercise)


_Some = TypeVar("_Some", Exercise, Conversion, Exercise | Conversion)


def by_pools(exercises: Iterable[_Some]) -> dict[Pools, list[_Some]]:
    groups: dict[Pools, list[_Some]] = {}
    for exercise in exercises:
        groups.setdefault(exercise.pools, []).append(exercise)
    return groups


def results(pools: Pools, exprs: Sequence[Expr], run: Run, engine: Engine) -> list[list[object]]:
    """A list of values per expression; instants as integers, since Python's datetime is narrower than ours."""
    table = table_of(pools, zone="UTC" if engine is Engine.SPARK else None)
    texts = [f"{render(expr, engine)} AS r{place}" for place, expr in enumerate(exprs)]
    answer = run(table, texts)
    for place, expr in enumerate(exprs):
        kind = answer.column(f"r{place}").type
        assert arrow_type_fits(expr.type, kind), (texts[place], expr.type, kind)
    return [_values(answer.column(f"r{place}")) for place in range(len(exprs))]


def _values(column: pa.ChunkedArray) -> list[object]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        assert kind.unit == "us"
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    values: list[object] = column.to_pylist()
    return values


def arrow_type_fits(kind: DataType, arrow: pa.DataType) -> bool:
    expected = {
        Scalar.BOOLEAN: pa.types.is_boolean,
        Scalar.TINYINT: pa.types.is_int8,
        Scalar.SMALLINT: pa.types.is_int16,
        Scalar.INTEGER: pa.types.is_int32,
        Scalar.BIGINT: pa.types.is_int64,
        Scalar.INTERVAL: pa.types.is_int64,
        Scalar.DOUBLE: pa.types.is_float64,
        Scalar.REAL: pa.types.is_float32,
        Scalar.TIMESTAMP: pa.types.is_timestamp,
        Scalar.DATE: pa.types.is_date32,
    }
    if isinstance(kind, Decimal):
        return bool(arrow == pa.decimal128(kind.precision, kind.scale))
    if isinstance(kind, Scalar) and kind in expected:
        return bool(expected[kind](arrow))
    return True


def same(left: object, right: object, *, tolerance: float = 1e-12) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right or abs(left - right) <= tolerance * max(abs(left), abs(right))
    return left == right and (left is None) == (right is None)


def differences(
    left: Sequence[object], right: Sequence[object], rows: Sequence[object]
) -> list[str]:
    return [
        f"{row!r:.120}: {one!r:.80} <> {other!r:.80}"
        for row, one, other in zip(rows, left, right, strict=True)
        if not same(one, other)
    ]
