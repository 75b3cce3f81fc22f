"""Implicit conversions: the few there are, made explicit.

An operand is converted only where no value changes its meaning: numbers widen, DATE becomes TIMESTAMP, NULL takes any
type, and a string literal beside a TIMESTAMP or DATE is read as one. Everything else needs a CAST.
"""

from collections.abc import Sequence
from decimal import Decimal as Number

from tidegate.model.expressions import Case, Cast, Expr, Literal
from tidegate.model.types import DataType, Decimal, Scalar, common_type, is_float, is_integer


def coerce(expr: Expr, target: DataType) -> Expr:
    """The expression as the target type; literals change type without a conversion at run time."""
    if expr.type == target:
        return expr
    if isinstance(expr, Literal):
        converted = _literal(expr, target)
        if converted is not None:
            return converted
    return Cast(expr, target)


def _literal(literal: Literal, target: DataType) -> Literal | None:
    value = literal.value
    if value is None:
        return Literal(None, target)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, Number))
        or literal.type in (Scalar.TIMESTAMP, Scalar.DATE, Scalar.INTERVAL)
    ):
        return None
    if is_float(target):
        return Literal(float(value), target)
    if isinstance(target, Decimal):
        return Literal(Number(value), target)
    return Literal(value, target) if is_integer(target) and isinstance(value, int) else None


def coerce_all(exprs: Sequence[Expr]) -> tuple[tuple[Expr, ...], DataType] | None:
    """All expressions as their one common type, or None where they have none."""
    shared: DataType = Scalar.NULL
    for expr in exprs:
        merged = common_type(shared, expr.type)
        if merged is None:
            return None
        shared = merged
    return tuple(coerce(expr, shared) for expr in exprs), shared


def make_case(branches: Sequence[tuple[Expr, Expr]], otherwise: Expr) -> Case | None:
    """A CASE whose results have their common type, or None where they have none."""
    results = coerce_all([*(then for _, then in branches), otherwise])
    if results is None:
        return None
    values, kind = results
    pairs = tuple((when, value) for (when, _), value in zip(branches, values[:-1], strict=True))
    return Case(pairs, values[-1], kind)
