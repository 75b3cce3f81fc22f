"""Partial aggregates as SQL: one template per operation and engine.

Every one skips NULLs, gives NULL (or 0, or an empty list) for no rows, and neither raises nor wraps around: the
arguments that `plan/aggregates.py` chooses cannot overflow.
"""

from collections.abc import Mapping, Sequence

from tidegate.model.expressions import fields_of
from tidegate.model.partials import PartialOp, PartialSpec
from tidegate.model.types import DataType, Scalar, is_float
from tidegate.sql.functions.ordering import datafusion_order_key
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import render, type_name

_PLAIN = {
    PartialOp.ROWS: "count(*)",
    PartialOp.COUNT: "count({0})",
    PartialOp.MEAN: "avg({0})",
    PartialOp.MIN: "min({0})",
    PartialOp.MAX: "max({0})",
    PartialOp.MIN_OF_FINITE: "min({0})",
    PartialOp.MAX_OF_FINITE: "max({0})",
    PartialOp.BOOL_AND: "bool_and({0})",
    PartialOp.BOOL_OR: "bool_or({0})",
    PartialOp.BIT_AND: "bit_and({0})",
    PartialOp.BIT_OR: "bit_or({0})",
    PartialOp.BIT_XOR: "bit_xor({0})",
}
_COLLECT = {
    (PartialOp.COLLECT, Engine.DATAFUSION): "array_agg({0})",
    (PartialOp.COLLECT, Engine.SPARK): "collect_list({0})",
    (PartialOp.COLLECT_SET, Engine.DATAFUSION): "array_agg(DISTINCT {0})",
    (PartialOp.COLLECT_SET, Engine.SPARK): "collect_set({0})",
}
_MOMENTS = {PartialOp.M2: "var_pop", PartialOp.COMOMENT: "covar_pop"}


def render_partial(
    spec: PartialSpec, engine: Engine, values: Mapping[str, int] | None = None
) -> list[str]:
    """The lines of the aggregate call, with its FILTER."""
    args = [render(arg, engine, values) for arg in spec.args]
    conditions = [] if spec.filter is None else [render(spec.filter, engine, values)]
    if spec.op in _EXTREMES and is_float(spec.type) and engine is Engine.DATAFUSION:
        return _float_extreme(spec.op, args[0], spec.type, conditions)
    return [_call(spec, args, conditions, engine)]


def _call(spec: PartialSpec, args: Sequence[str], conditions: Sequence[str], engine: Engine) -> str:
    types = [arg.type for arg in spec.args]
    match spec.op:
        case PartialOp.M2 | PartialOp.COMOMENT:
            moment = _filtered(f"{_MOMENTS[spec.op]}({', '.join(args)})", conditions)
            return f"({moment} * {_filtered(f'count({args[-1]})', conditions)})"
        case PartialOp.FIRST | PartialOp.LAST:
            constant = not fields_of(spec.args[0])
            return _at_key(spec.op, args, types, conditions, engine, constant=constant)
        case PartialOp.COLLECT | PartialOp.COLLECT_SET:
            return _collect(spec, args, conditions, engine)
        case PartialOp.SUM:
            return _filtered(f"sum({args[0]})", conditions)
        case PartialOp.MIN_OF_FINITE | PartialOp.MAX_OF_FINITE:
            extreme = _filtered(_PLAIN[spec.op].format(args[0]), conditions)
            return f"({extreme} + CAST(0 AS {type_name(types[0], engine)}))"  # -0.0 is 0.0
        case PartialOp.MIN | PartialOp.MAX:
            return _filtered(_PLAIN[spec.op].format(_key(args[0], types[0], engine)), conditions)
        case _:
            return _filtered(_PLAIN[spec.op].format(*args), conditions)


def _filtered(call: str, conditions: Sequence[str]) -> str:
    return f"{call} FILTER (WHERE {' AND '.join(conditions)})" if conditions else call


def _key(arg: str, kind: DataType, engine: Engine) -> str:
    """Floats by value, not by bits: one NaN, one zero."""
    if engine is Engine.DATAFUSION:
        return datafusion_order_key(arg, kind)
    return f"({arg} + CAST(0 AS {type_name(kind, engine)}))" if is_float(kind) else arg


# DataFusion's own extremes of floats start at the largest finite number and lose their way at NaN. So a second extreme,
# of what kind of number each is, tells when to listen to them.
_EXTREMES = {
    PartialOp.MIN: (
        "CASE min(CASE WHEN isnan({0}) THEN 2 WHEN {0} < {infinity} THEN 0 WHEN {0} IS NOT NULL THEN 1 END){filter}",
        "  WHEN 0 THEN min(nanvl({0}, {infinity})){filter} + CAST(0 AS {type})",
        "  WHEN 1 THEN {infinity}",
        "  WHEN 2 THEN {nan}",
        "END",
    ),
    PartialOp.MAX: (
        "CASE max(CASE WHEN isnan({0}) THEN 2 WHEN {0} > -{infinity} THEN 1 WHEN {0} IS NOT NULL THEN 0 END){filter}",
        "  WHEN 2 THEN {nan}",
        "  WHEN 1 THEN max({0}){filter} + CAST(0 AS {type})",
        "  WHEN 0 THEN -{infinity}",
        "END",
    ),
}


def _float_extreme(op: PartialOp, arg: str, kind: DataType, conditions: Sequence[str]) -> list[str]:
    name = type_name(kind, Engine.DATAFUSION)
    infinity, nan = f"CAST('Infinity' AS {name})", f"CAST('NaN' AS {name})"
    condition = _filtered("", conditions)
    return [
        line.format(arg, infinity=infinity, nan=nan, filter=condition, type=name)
        for line in _EXTREMES[op]
    ]


def narrowed(sql: str, kind: DataType) -> str:
    """DataFusion's order keys of REAL are DOUBLE."""
    return f"CAST({sql} AS REAL)" if kind is Scalar.REAL else sql


def _at_key(
    op: PartialOp,
    args: Sequence[str],
    types: Sequence[DataType],
    conditions: Sequence[str],
    engine: Engine,
    *,
    constant: bool,
) -> str:
    """The value at the smallest or largest key; among equal keys the smallest or largest value.

    `constant`: the key is the same in every row.
    """
    if engine is Engine.SPARK:
        extreme = "min" if op is PartialOp.FIRST else "max"
        pair = f"named_struct('k', {_key(args[0], types[0], engine)}, 'v', {_key(args[1], types[1], engine)})"
        return f"({_filtered(f'{extreme}({pair})', conditions)}).v"
    edge = "first_value" if op is PartialOp.FIRST else "last_value"
    order = ", ".join(f"{key} ASC" for key in _telling(args, types, constant=constant))
    return _filtered(f"{edge}({args[1]} ORDER BY {order})", conditions)


def _telling(args: Sequence[str], types: Sequence[DataType], *, constant: bool) -> list[str]:
    """The keys that tell rows apart: DataFusion panics at one that is constant or there twice."""
    keys = [_key(arg, kind, Engine.DATAFUSION) for arg, kind in zip(args, types, strict=True)]
    return list(dict.fromkeys(keys[constant:]))


def _collect(
    spec: PartialSpec, args: Sequence[str], conditions: Sequence[str], engine: Engine
) -> str:
    if len(args) == 1:
        conditions = [*conditions, f"{args[0]} IS NOT NULL"]
    if spec.op is PartialOp.COLLECT_SET:
        args = [
            narrowed(_key(arg, expr.type, engine), expr.type)
            for arg, expr in zip(args, spec.args, strict=True)
        ]
    fields = ", ".join(f"'v{place}', {arg}" for place, arg in enumerate(args))
    value = args[0] if len(args) == 1 else f"named_struct({fields})"
    return _filtered(_COLLECT[spec.op, engine].format(value), conditions)
