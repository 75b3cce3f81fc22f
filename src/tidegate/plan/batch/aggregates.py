"""Aggregates as DuckDB has them, over the rows of a group.

Decided here: where the answer depends on an order, the order is written out: event time first, then the value, as
semantics §7 has it. A total that leaves its type is told apart from one that is not there: `overflows`.
"""

from collections.abc import Callable, Mapping

from tidegate.model.expressions import Literal, SortKey
from tidegate.model.types import Decimal, Scalar
from tidegate.plan.batch.scalars import literal, refused, scalar, type_name
from tidegate.plan.decompositions import AggregateCall

TS = '"$ts"'
_OVER = "/*over*/"
_BIGINT = "BETWEEN -9223372036854775808 AND 9223372036854775807"


def aggregate(call: AggregateCall, *, over: str = "") -> str:
    """The call as text; `over` is what stands behind each function of it."""
    return _aggregate(call).replace(_OVER, over)


def _aggregate(call: AggregateCall) -> str:
    if call.user is not None:
        raise refused(f"{call.function}, which is in Python")
    writer = _WRITERS.get(call.function)
    if writer is None:
        raise refused(f"the aggregate {call.function.upper()}")
    return writer(call)


def overflows(call: AggregateCall, sql: str) -> str:
    """The condition that the value does not fit its type; "" where it always does."""
    if call.function == "sum" and call.type is Scalar.BIGINT:
        return f"{sql} NOT {_BIGINT}"
    return ""


def sort_key(key: SortKey) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{scalar(key.expr)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _plain(name: str) -> Callable[[AggregateCall], str]:
    def write(call: AggregateCall) -> str:
        distinct = "DISTINCT " if call.distinct else ""
        args = ", ".join(map(scalar, call.args)) or "*"
        return f"{name}({distinct}{args}){_where(call)}{_OVER}"

    return write


def _spread(name: str) -> Callable[[AggregateCall], str]:
    """NaN where a value is not finite, which DuckDB does not say; NULL where two columns cannot correlate."""

    def write(call: AggregateCall) -> str:
        values = [scalar(arg) for arg in call.args]
        if call.distinct:
            raise refused(f"{name.upper()} of DISTINCT values")
        where = _where(call, *values) + _OVER
        needed = 1 if name.endswith("_pop") else 2
        odd = " OR ".join(f"NOT isfinite({value})" for value in values)
        still = " OR ".join(f"min({value}){where} = max({value}){where}" for value in values)
        branches = [
            f"WHEN count(*){where} < {needed} THEN NULL",
            f"WHEN bool_or({odd}){where} THEN CAST('NaN' AS DOUBLE)",
        ]
        if name == "corr":
            branches.append(f"WHEN {still} THEN NULL")
        return f"CASE {' '.join(branches)} ELSE {name}({', '.join(values)}){where} END"

    return write


def _where(call: AggregateCall, *present: str) -> str:
    conditions = [f"{arg} IS NOT NULL" for arg in present]
    if call.filter is not None:
        conditions.insert(0, scalar(call.filter))
    return f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else ""


def _average(call: AggregateCall) -> str:
    if isinstance(call.type, Decimal):
        raise refused("AVG of DECIMAL")
    return _plain("avg")(call)


def _at(name: str, *, by_time: bool) -> Callable[[AggregateCall], str]:
    """The value at the smallest or largest key; of several the smallest or largest value."""

    def write(call: AggregateCall) -> str:
        value = scalar(call.args[0])
        key = TS if by_time else scalar(call.args[1])
        pair = f"struct_pack(k := {key}, v := {value})"
        return f"{name}({value}, {pair}){_where(call, key, value)}{_OVER}"

    return write


def _percentile(name: str) -> Callable[[AggregateCall], str]:
    def write(call: AggregateCall) -> str:
        share = call.args[1] if len(call.args) > 1 else Literal(0.5, Scalar.DOUBLE)
        if not isinstance(share, Literal) or call.distinct:
            raise refused(f"{call.function.upper()} of DISTINCT values")
        if any(key.descending for key in call.order):
            raise refused(f"{call.function.upper()} in descending order")
        return f"{name}({scalar(call.args[0])}, {literal(share)}){_where(call)}{_OVER}"

    return write


def _mode(call: AggregateCall) -> str:
    """DuckDB takes any of several values that are as frequent; the smallest is asked for."""
    value = scalar(call.args[0])
    if call.distinct:
        return f"min({value}){_where(call)}"
    counted = f"map_entries(histogram({value}){_where(call)})"
    pairs = f"list_transform({counted}, lambda e: struct_pack(c := -CAST(e.value AS BIGINT), v := e.key))"
    return f"list_sort({pairs})[1].v"


def _listed(call: AggregateCall) -> str:
    value = scalar(call.args[0])
    if call.distinct:
        if call.order:
            raise refused(f"{call.function.upper()} of DISTINCT values with ORDER BY")
        order = f"{value}"
    else:
        order = ", ".join([*map(sort_key, call.order), TS, value])
    separator = f", {scalar(call.args[1])}" if len(call.args) > 1 else ""
    name = "string_agg" if separator else "list"
    distinct = "DISTINCT " if call.distinct else ""
    return f"{name}({distinct}{value}{separator} ORDER BY {order}){_where(call, value)}"


def _sum(call: AggregateCall) -> str:
    if isinstance(call.type, Decimal):
        return f"CAST({_plain('sum')(call)} AS {type_name(call.type)})"
    return _plain("sum")(call)


_WRITERS: Mapping[str, Callable[[AggregateCall], str]] = {
    **{
        name: _plain(name)
        for name in ("count min max bool_and bool_or bit_and bit_or bit_xor").split()
    },
    **{
        name: _spread(name)
        for name in ("var_pop var_samp stddev_pop stddev_samp covar_pop covar_samp corr").split()
    },
    "sum": _sum,
    "avg": _average,
    "first_value": _at("arg_min", by_time=True),
    "last_value": _at("arg_max", by_time=True),
    "min_by": _at("arg_min", by_time=False),
    "max_by": _at("arg_max", by_time=False),
    "median": _percentile("quantile_cont"),
    "percentile_cont": _percentile("quantile_cont"),
    "percentile_disc": _percentile("quantile_disc"),
    "mode": _mode,
    "array_agg": _listed,
    "string_agg": _listed,
}
