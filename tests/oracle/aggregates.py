"""Aggregates, each computed from all of its rows.

A row brings its event time and, per aggregate, the values of the arguments, or None where FILTER left it out.
"""

import decimal
import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_, xor

from tests.oracle.in_python import in_python
from tests.oracle.values import RowError, Value, identity, order, ranking
from tidegate.model.expressions import Literal
from tidegate.model.policies import Reason
from tidegate.model.types import DataType, Decimal, Scalar
from tidegate.plan.decompositions import AggregateCall


@dataclass(frozen=True)
class Input:
    """One row as an aggregate sees it. `ts_us` None: the row has no event time."""

    ts_us: int | None
    args: tuple[Value, ...]
    order: tuple[Value, ...] = ()


Inputs = Sequence[Input]


def aggregate(call: AggregateCall, inputs: Inputs) -> Value:
    """The value over the rows; raises `RowError` where it does not fit its type."""
    if call.distinct:
        inputs = list({identity(given.args): given for given in reversed(inputs)}.values())
    if call.user is not None:
        rows = [(0 if call.distinct else given.ts_us or 0, given.args) for given in inputs]
        return in_python(call.user, rows)
    return _FUNCTIONS[call.function](call, inputs)


def _present(inputs: Inputs) -> list[Value]:
    return [given.args[0] for given in inputs if given.args[0] is not None]


def _count(call: AggregateCall, inputs: Inputs) -> Value:
    return len(_present(inputs)) if call.args else len(inputs)


_EXACT = decimal.Context(prec=200, rounding=decimal.ROUND_HALF_UP)


def _total(values: list[Value]) -> Value:
    if isinstance(values[0], float):
        return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
    if isinstance(values[0], decimal.Decimal):
        return reduce(_EXACT.add, values)
    return sum(values)


def fitted(value: Value, kind: DataType) -> Value:
    if kind is Scalar.BIGINT and not -(2**63) <= value < 2**63:
        raise RowError(Reason.OVERFLOW)
    if isinstance(kind, Decimal):
        rounded = value.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=_EXACT)
        if rounded.copy_abs() >= decimal.Decimal(10) ** (kind.precision - kind.scale):
            raise RowError(Reason.OVERFLOW)
        return rounded
    return value


def _sum(call: AggregateCall, inputs: Inputs) -> Value:
    values = _present(inputs)
    return fitted(_total(values), call.type) if values else None


def _average(call: AggregateCall, inputs: Inputs) -> Value:
    values = _present(inputs)
    if not values:
        return None
    if isinstance(call.type, Decimal):
        return fitted(_EXACT.divide(_total(values), decimal.Decimal(len(values))), call.type)
    return _total(values) / len(values)


def _minimum(_call: AggregateCall, inputs: Inputs) -> Value:
    return min(_present(inputs), key=order, default=None)


def _maximum(_call: AggregateCall, inputs: Inputs) -> Value:
    return max(_present(inputs), key=order, default=None)


def _at(choose: Callable[..., Value], *, by_time: bool) -> Callable[[AggregateCall, Inputs], Value]:
    """The value of the row with the smallest or largest key; of several rows the smallest or largest value."""

    def function(_call: AggregateCall, inputs: Inputs) -> Value:
        pairs = [(given.ts_us if by_time else given.args[1], given.args[0]) for given in inputs]
        present = [pair for pair in pairs if None not in pair]
        if not present:
            return None
        return choose(present, key=lambda pair: (order(pair[0]), order(pair[1])))[1]

    return function


def _variance(*, sample: bool, root: bool) -> Callable[[AggregateCall, Inputs], Value]:
    def function(_call: AggregateCall, inputs: Inputs) -> Value:
        values = _present(inputs)
        if len(values) < 1 + sample:
            return None
        if not all(map(math.isfinite, values)):
            return math.nan
        found = statistics.variance(values) if sample else statistics.pvariance(values)
        return math.sqrt(found) if root else found

    return function


def _pairs(inputs: Inputs) -> list[tuple[float, float]]:
    return [(given.args[0], given.args[1]) for given in inputs if None not in given.args]


def _codeviation(pairs: list[tuple[float, float]]) -> float:
    if not all(map(math.isfinite, (value for pair in pairs for value in pair))):
        return math.nan
    one = statistics.fmean(pair[0] for pair in pairs)
    other = statistics.fmean(pair[1] for pair in pairs)
    return math.fsum((left - one) * (right - other) for left, right in pairs)


def _covariance(less: int) -> Callable[[AggregateCall, Inputs], Value]:
    def function(_call: AggregateCall, inputs: Inputs) -> Value:
        pairs = _pairs(inputs)
        return _codeviation(pairs) / (len(pairs) - less) if len(pairs) > less else None

    return function


def _correlation(_call: AggregateCall, inputs: Inputs) -> Value:
    """NULL without two rows, or where one side does not vary; NaN comes before that."""
    pairs = _pairs(inputs)
    if len(pairs) < 2:
        return None
    if math.isnan(_codeviation(pairs)):
        return math.nan
    left = _codeviation([(one, one) for one, _ in pairs])
    right = _codeviation([(other, other) for _, other in pairs])
    return _codeviation(pairs) / math.sqrt(left * right) if left and right else None


def _folded(fold: Callable[[Value, Value], Value]) -> Callable[[AggregateCall, Inputs], Value]:
    def function(_call: AggregateCall, inputs: Inputs) -> Value:
        values = _present(inputs)
        return reduce(fold, values) if values else None

    return function


def _constant(call: AggregateCall, place: int) -> Value:
    literal = call.args[place]
    assert isinstance(literal, Literal), literal
    return literal.value


def _interpolated(values: list[float], share: float) -> Value:
    """Linear between the two neighbours of share times n less one, counted from the smallest."""
    ranked = sorted(values, key=order)
    if not ranked:
        return None
    place = share * (len(ranked) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ranked) - 1)
    if place == low:
        return ranked[low]
    return ranked[low] + (ranked[high] - ranked[low]) * (place - low)


def _percentile(call: AggregateCall, inputs: Inputs) -> Value:
    share = float(_constant(call, 1))
    descending = bool(call.order) and call.order[0].descending
    return _interpolated(_present(inputs), 1 - share if descending else share)


def _discrete(call: AggregateCall, inputs: Inputs) -> Value:
    """The first value whose cumulated share reaches the percentile."""
    descending = bool(call.order) and call.order[0].descending
    ranked = sorted(_present(inputs), key=order, reverse=descending)
    if not ranked:
        return None
    share = float(_constant(call, 1))
    return ranked[max(math.ceil(share * len(ranked)) - 1, 0)]


def _mode(_call: AggregateCall, inputs: Inputs) -> Value:
    values = sorted(_present(inputs), key=order)
    counts = Counter(map(identity, values))
    return max(values, key=lambda value: counts[identity(value)], default=None)


def _in_order(call: AggregateCall, inputs: Inputs) -> list[Value]:
    """By ORDER BY, then event time, then value. Different values have no one time, and go by value."""
    present = [given for given in inputs if given.args[0] is not None]
    if call.distinct:
        down = bool(call.order) and call.order[0].descending
        values = [given.args[0] for given in present]
        return sorted(values, key=_sortable, reverse=down)
    present.sort(key=lambda given: (given.ts_us or 0, _sortable(given.args[0])))
    ranked = ranking(present, call.order, lambda given, place: given.order[place])
    return [given.args[0] for given in ranked]


def _sortable(value: Value) -> Value:
    return str(value) if isinstance(value, (dict, list, tuple)) else order(value)


def _array(call: AggregateCall, inputs: Inputs) -> Value:
    return _in_order(call, inputs) or None


def _joined(call: AggregateCall, inputs: Inputs) -> Value:
    values = _in_order(call, inputs)
    return str(_constant(call, 1)).join(values) if values else None


def _distinct(_call: AggregateCall, inputs: Inputs) -> Value:
    return len({identity(value) for value in _present(inputs)})


_FUNCTIONS: dict[str, Callable[[AggregateCall, Inputs], Value]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "min": _minimum,
    "max": _maximum,
    "first_value": _at(min, by_time=True),
    "last_value": _at(max, by_time=True),
    "min_by": _at(min, by_time=False),
    "max_by": _at(max, by_time=False),
    "var_pop": _variance(sample=False, root=False),
    "var_samp": _variance(sample=True, root=False),
    "stddev_pop": _variance(sample=False, root=True),
    "stddev_samp": _variance(sample=True, root=True),
    "covar_pop": _covariance(0),
    "covar_samp": _covariance(1),
    "corr": _correlation,
    "bool_and": _folded(lambda left, right: left and right),
    "bool_or": _folded(lambda left, right: left or right),
    "bit_and": _folded(and_),
    "bit_or": _folded(or_),
    "bit_xor": _folded(xor),
    "median": lambda _call, inputs: _interpolated(_present(inputs), 0.5),
    "percentile_cont": _percentile,
    "percentile_disc": _discrete,
    "mode": _mode,
    "array_agg": _array,
    "string_agg": _joined,
    "approx_count_distinct": _distinct,
    "approx_percentile": _percentile,
}
