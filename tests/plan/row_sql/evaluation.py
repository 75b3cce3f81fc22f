"""Bound expressions evaluated for one row in plain Python, as SQL users expect them to be evaluated.

It shares nothing with `plan/row_errors` or the templates: what fails raises, and CASE, COALESCE, AND and OR look at
their operands one after the other. Instants are microseconds, dates are days.
"""

from collections.abc import Mapping
from typing import Any

from tests.sql.functions.oracles import SEES_NULLS, oracle_of
from tests.sql.functions.oracles_cast import cast_of
from tidegate.model.expressions import Call, Case, Cast, Expr, Field, Literal, Parameter
from tidegate.model.policies import Reason
from tidegate.model.types import Scalar
from tidegate.sql.functions.casts import may_fail
from tidegate.sql.functions.catalogue import FUNCTIONS

Row = Mapping[str, Any]


class Failed(Exception):
    """The row has no value for the expression."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def evaluate(expr: Expr, row: Row) -> Any:
    match expr:
        case Field(name=name) | Parameter(name=name):
            return row[name]
        case Literal(value=value):
            return value
        case Call(function="and" | "or" as word, args=(left, right)):
            return _logical(left, right, row, ends=word == "or")
        case Call(function="coalesce", args=args):
            return _first_present(args, row)
        case Call():
            return _called(expr, row)
        case Cast():
            return _converted(expr, row)
        case Case(branches=branches, otherwise=otherwise):
            for when, then in branches:
                if evaluate(when, row) is True:
                    return evaluate(then, row)
            return evaluate(otherwise, row)


def _logical(left: Expr, right: Expr, row: Row, *, ends: bool) -> bool | None:
    one: bool | None = evaluate(left, row)
    if one is ends:
        return ends
    other: bool | None = evaluate(right, row)
    if other is ends:
        return ends
    return None if one is None or other is None else not ends


def _first_present(args: tuple[Expr, ...], row: Row) -> Any:
    for arg in args:
        value = evaluate(arg, row)
        if value is not None:
            return value
    return None


def _called(expr: Call, row: Row) -> Any:
    args = [evaluate(arg, row) for arg in expr.args]
    if None in args and expr.function not in SEES_NULLS:
        return None if expr.function != "is_null" else True
    types = tuple(arg.type for arg in expr.args)
    oracle = oracle_of(expr.function, types, expr.type)
    resolved = FUNCTIONS[expr.function].resolve(types)
    assert oracle is not None, expr
    assert resolved is not None
    value = oracle(*args)
    if value is None and resolved[0].fails is not None and None not in args:
        raise Failed(resolved[0].fails)
    return value


def _converted(expr: Cast, row: Row) -> Any:
    value = evaluate(expr.operand, row)
    source = expr.operand.type
    if value is None or source == expr.type or source is Scalar.NULL:
        return value
    made = cast_of(source, expr.type)(value)
    if made is None and expr.strict and may_fail(source, expr.type):
        raise Failed(Reason.INVALID_CAST)
    return made
