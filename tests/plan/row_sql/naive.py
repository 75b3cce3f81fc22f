"""Partials, their merge and their finish in a few lines each: what the kernel must do, without any speed.

`partial` works on whole rows; `merge` and `finish` on columns, going by the order of `FinishSpec.partials`; `aggregate`
says what the value should be, from the rows alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import reduce
from operator import and_, or_, xor
from typing import Any

from tests.plan.row_sql.evaluation import Row, evaluate
from tests.plan.row_sql.oracle import canonical
from tests.sql.functions.oracles import key
from tidegate.model.expressions import Literal, SortKey
from tidegate.model.partials import FinishSpec, Merge, PartialOp, PartialSpec
from tidegate.model.types import DataType, Scalar
from tidegate.model.types import Decimal as DecimalType
from tidegate.plan.aggregates import keeps_set
from tidegate.plan.decompositions import AggregateCall

OVERFLOW = "overflow"
Values = Sequence[Any]
_EXACT = Context(prec=120, rounding=ROUND_HALF_UP)


def add(values: Values) -> Any:
    """Exactly, as far as the values allow."""
    if not values:
        return None
    if isinstance(values[0], float):
        return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
    return reduce(_EXACT.add, values) if isinstance(values[0], Decimal) else sum(values)


def mean(values: Values) -> Any:
    return None if not values else add(values) / len(values)


def comoment(ones: Values, others: Values) -> Any:
    if not ones:
        return None
    middle, other_middle = mean(ones), mean(others)
    return add([(x - middle) * (y - other_middle) for x, y in zip(ones, others, strict=True)])


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    return lambda values: choose(values, key=key) if values else None


def _folded(step: Callable[[Any, Any], Any]) -> Callable[[Values], Any]:
    return lambda values: reduce(step, values) if values else None


def _at(choose: Callable[..., Any]) -> Callable[[Values, Values], Any]:
    def value(keys: Values, values: Values) -> Any:
        pairs = [(key(at), key(value), value) for at, value in zip(keys, values, strict=True)]
        return choose(pairs, key=lambda pair: pair[:2])[2] if pairs else None

    return value


def different(values: Values) -> list[Any]:
    """The first of each, floats by value."""
    return list({canonical(value): value for value in values}.values())


_OPS: dict[PartialOp, Callable[..., Any]] = {
    PartialOp.COUNT: len,
    PartialOp.SUM: add,
    PartialOp.MEAN: mean,
    PartialOp.M2: lambda values: comoment(values, values),
    PartialOp.COMOMENT: comoment,
    PartialOp.MIN: _extreme(min),
    PartialOp.MAX: _extreme(max),
    PartialOp.FIRST: _at(min),
    PartialOp.LAST: _at(max),
    PartialOp.BOOL_AND: _folded(and_),
    PartialOp.BOOL_OR: _folded(or_),
    PartialOp.BIT_AND: _folded(and_),
    PartialOp.BIT_OR: _folded(or_),
    PartialOp.BIT_XOR: _folded(xor),
    PartialOp.COLLECT: list,
    PartialOp.COLLECT_SET: different,
}


def partial(spec: PartialSpec, rows: Sequence[Row]) -> Any:
    """The column of a group with these rows."""
    kept = [row for row in rows if spec.filter is None or evaluate(spec.filter, row) is True]
    if spec.op is PartialOp.ROWS:
        return len(kept)
    entries = [tuple(evaluate(arg, row) for arg in spec.args) for row in kept]
    if spec.op in (PartialOp.COLLECT, PartialOp.COLLECT_SET) and len(spec.args) > 1:
        return _OPS[spec.op](entries)
    present = [entry for entry in entries if None not in entry]
    columns = zip(*present, strict=True) if present else [()] * len(spec.args)
    return _OPS[spec.op](*map(list, columns))


# Merge


_SIMPLE: dict[Merge, Callable[[Any, Any], Any]] = {
    Merge.ADD: lambda one, other: add([one, other]),
    Merge.MIN: lambda one, other: min(one, other, key=key),
    Merge.MAX: lambda one, other: max(one, other, key=key),
    Merge.AND: and_,
    Merge.OR: or_,
    Merge.BIT_AND: and_,
    Merge.BIT_OR: or_,
    Merge.BIT_XOR: xor,
    Merge.CONCAT: lambda one, other: [*one, *other],
    Merge.WEIGHTS: lambda one, other: [*one, *other],
    Merge.UNION: lambda one, other: different([*one, *other]),
    Merge.SMALLEST: lambda one, other: different([*one, *other]),
}


def merge(specs: Sequence[PartialSpec], left: Values, right: Values) -> list[Any]:
    """Both partials of one aggregate in one; NULL is what a side without rows says."""
    if specs[-1].merge is Merge.MOMENTS:
        return _merged_moments(specs, left, right)
    merged: list[Any] = []
    for place, (spec, one, other) in enumerate(zip(specs, left, right, strict=True)):
        if spec.merge in (Merge.FOLLOW_MIN, Merge.FOLLOW_MAX):
            choose = min if spec.merge is Merge.FOLLOW_MIN else max
            pairs = [
                (key(at), key(value), value)
                for at, value in ((left[place - 1], one), (right[place - 1], other))
                if at is not None
            ]
            merged.append(choose(pairs, key=lambda pair: pair[:2])[2] if pairs else None)
        elif one is None or other is None:
            merged.append(other if one is None else one)
        else:
            merged.append(_SIMPLE[spec.merge](one, other))
    return merged


def _merged_moments(specs: Sequence[PartialSpec], left: Values, right: Values) -> list[Any]:
    """Chan's formula. Columns: count, then as many means as there are different arguments, then their moments."""
    (count, *_), (more, *_) = left, right
    if not count or not more:
        return list(left if count else right)
    total = count + more
    means = [place for place, spec in enumerate(specs) if spec.op is PartialOp.MEAN]
    shift = {specs[place].args[0]: right[place] - left[place] for place in means}
    merged: list[Any] = [total]
    for place, spec in enumerate(specs[1:], start=1):
        if spec.op is PartialOp.MEAN:
            merged.append(left[place] + shift[spec.args[0]] * more / total)
        else:
            both = shift[spec.args[0]] * shift[spec.args[-1]]
            merged.append(left[place] + right[place] + both * count * more / total)
    return merged


# Finish


def finish(spec: FinishSpec, specs: Sequence[PartialSpec], columns: Values) -> Any:
    """The aggregate's value from its columns."""
    if spec.distinct or specs[0].op in (PartialOp.COLLECT, PartialOp.COLLECT_SET):
        return _finished_rows(spec, specs[0], columns[0] or [])
    match spec.function:
        case "count":
            return columns[0]
        case "sum":
            return _in_type(_total(specs, columns), spec.type)
        case "avg":
            return _average(_total(specs[1:], columns[1:]), columns[0], spec.type)
        case "first_value" | "last_value" | "min_by" | "max_by":
            return columns[1]
        case "covar_pop" | "covar_samp" | "corr":
            return _spread(spec.function, columns[0], columns[3], columns[4], columns[5])
        case "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp":
            return _spread(spec.function, columns[0], columns[2], columns[2], columns[2])
        case _:
            return columns[0]


def _total(specs: Sequence[PartialSpec], columns: Values) -> Any:
    """A sum in halves, put together."""
    if len(specs) == 1 or columns[0] is None:
        return columns[0]
    coarse, fine = specs[0].type, specs[1].type
    if coarse is Scalar.BIGINT:
        return columns[0] * 2**32 + columns[1]
    assert isinstance(coarse, DecimalType)
    assert isinstance(fine, DecimalType)
    unit = Decimal(10) ** max(0, fine.precision - 10 - fine.scale)
    return _EXACT.add(_EXACT.multiply(columns[0], unit), columns[1])


def _in_type(total: Any, kind: DataType) -> Any:
    if total is None or isinstance(total, float):
        return total
    if isinstance(kind, DecimalType):
        return (
            OVERFLOW if total.copy_abs() >= Decimal(10) ** (kind.precision - kind.scale) else total
        )
    return total if -(2**63) <= total < 2**63 else OVERFLOW


def _average(total: Any, count: int, kind: DataType) -> Any:
    if not count:
        return None
    if isinstance(kind, DecimalType):
        exact = Fraction(total) / count
        scaled = Decimal((abs(exact) * 10**kind.scale + Fraction(1, 2)).__floor__())
        return _EXACT.copy_sign(
            scaled.scaleb(-kind.scale, _EXACT), Decimal(1 if exact >= 0 else -1)
        )
    return total / count


def _spread(function: str, count: int, one: Any, other: Any, both: Any) -> Any:
    if not count:
        return None
    sample = function.endswith("samp")
    if sample and count == 1:
        return None
    if function == "corr":
        square = one * other
        return both / math.sqrt(square) if square > 0 else None
    value = both / (count - 1 if sample else count)
    return math.sqrt(value) if function.startswith("stddev") else value


def _finished_rows(spec: FinishSpec, partial_spec: PartialSpec, entries: Values) -> Any:
    """Whatever keeps values: `ARRAY_AGG` and `STRING_AGG` keep them with their order keys and the time."""
    kept = len(partial_spec.args)
    if spec.function in ("array_agg", "string_agg") and not spec.distinct:
        ordered = sorted(
            entries, key=lambda entry: sort_key(entry[1:-1], entry[-1], entry[0], spec.order)
        )
        return _joined(spec.function, [entry[0] for entry in ordered], spec.parameters)
    if kept == 1:
        entries = [(value,) for value in entries]
    return of_values(spec.function, entries, spec.type, spec.parameters, spec.order)


def sort_key(keys: Values, time: Any, value: Any, order: Sequence[SortKey]) -> tuple[Any, ...]:
    """By ORDER BY, then by event time, then by the value, so that arrival decides nothing."""
    parts = tuple(_Ordered(part, by) for part, by in zip(keys, order, strict=True))
    return (*parts, (time is None, time or 0), repr(canonical(value)))


class _Ordered:
    """A value in the order of a sort key."""

    def __init__(self, value: Any, by: SortKey) -> None:
        self.value, self.by = value, by

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, _Ordered)
        return bool(canonical(self.value) == canonical(other.value))

    def __hash__(self) -> int:
        return hash(canonical(self.value))

    def __lt__(self, other: "_Ordered") -> bool:
        if self.value is None or other.value is None:
            first: bool = self.value is None if self.by.nulls_first else other.value is None
            return first and self.value is not other.value
        one, another = key(self.value), key(other.value)
        return bool(another < one if self.by.descending else one < another)


def _joined(function: str, values: Values, parameters: Sequence[Literal]) -> Any:
    if not values:
        return None
    return list(values) if function == "array_agg" else str(parameters[0].value).join(values)


# The value from the rows alone


def aggregate(call: AggregateCall, rows: Sequence[Row]) -> Any:
    kept = [row for row in rows if call.filter is None or evaluate(call.filter, row) is True]
    if not call.args:
        return len(kept)
    args = [arg for arg in call.args if not isinstance(arg, Literal)]
    literals = [arg for arg in call.args if isinstance(arg, Literal)]
    if call.function in ("first_value", "last_value"):
        time = [(row["$ts"], evaluate(args[0], row)) for row in kept]
        chosen = _at(min if call.function == "first_value" else max)
        present = [pair for pair in time if None not in pair]
        return chosen([at for at, _ in present], [value for _, value in present])
    if call.function in ("array_agg", "string_agg") and not call.distinct:
        entries = [
            ([evaluate(by.expr, row) for by in call.order], row["$ts"], evaluate(args[0], row))
            for row in kept
        ]
        values_in = [entry for entry in entries if entry[2] is not None]
        ordered = sorted(
            values_in, key=lambda entry: sort_key(entry[0], entry[1], entry[2], call.order)
        )
        return _joined(call.function, [value for _, _, value in ordered], literals)
    values = [tuple(evaluate(arg, row) for arg in args) for row in kept]
    values = [entry for entry in values if None not in entry]
    if keeps_set(call):
        values = different(values)
    return of_values(call.function, values, call.type, literals, call.order)


def of_values(
    function: str,
    entries: Sequence[tuple[Any, ...]],
    kind: DataType,
    literals: Sequence[Literal],
    order: Sequence[SortKey],
) -> Any:
    """The function of a bag of argument tuples."""
    columns = [list(column) for column in zip(*entries, strict=True)] or [[], []]
    values = columns[0]
    match function:
        case "count" | "approx_count_distinct":
            return len(different(values)) if function != "count" else len(values)
        case "sum":
            return _in_type(add(values), kind)
        case "avg":
            return _average(add(values), len(values), kind)
        case "min_by" | "max_by":
            return _at(min if function == "min_by" else max)(columns[1], values)
        case (
            "covar_pop"
            | "covar_samp"
            | "corr"
            | "var_pop"
            | "var_samp"
            | "stddev_pop"
            | "stddev_samp"
        ):
            other = columns[-1]
            spreads = (comoment(values, values), comoment(other, other), comoment(values, other))
            return _spread(function, len(values), *spreads)
        case "array_agg" | "string_agg":
            reverse = bool(order) and order[0].descending
            return _joined(function, sorted(values, key=key, reverse=reverse), literals)
        case _:
            return _of_column(function, values, literals, order)


def _of_column(
    function: str, values: Values, literals: Sequence[Literal], order: Sequence[SortKey]
) -> Any:
    if not values:
        return None
    ordered = sorted(values, key=key, reverse=bool(order) and order[0].descending)
    share = literals[0].value if literals else 0.5
    assert isinstance(share, float)
    match function:
        case "median" | "percentile_cont" | "approx_percentile":
            place = share * (len(ordered) - 1)
            low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
            return low if low == high else low + (high - low) * (place - math.floor(place))
        case "percentile_disc":
            return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
        case "mode":
            counts = Counter(map(canonical, ordered))
            return min(ordered, key=lambda value: (-counts[canonical(value)], key(value)))
        case _:
            ops = {"min": _extreme(min), "max": _extreme(max), "every": _folded(and_)}
            return (ops.get(function) or _OPS[PartialOp(function)])(values)
