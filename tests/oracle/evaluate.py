"""Bound expressions over Python values, one row at a time.

What SQL does not need is not looked at: CASE, COALESCE, AND and OR stop where their answer is known. A call whose
arguments are there and whose result is not has failed, for the reason that the catalogue names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tests.oracle.values import RowError, Value
from tests.sql.functions.oracles import SEES_NULLS, oracle_of
from tests.sql.functions.oracles_cast import cast_of
from tidegate.model.expressions import (
    Call,
    Case,
    Cast,
    Expr,
    Field,
    Literal,
    Named,
    Parameter,
)
from tidegate.model.policies import Reason
from tidegate.model.types import Array, DataType, Map, Scalar, Struct
from tidegate.sql.functions.casts import may_fail
from tidegate.sql.functions.catalogue import FUNCTIONS


class Env(Protocol):
    """Columns by name."""

    def get(self, name: str) -> Value: ...


@dataclass(frozen=True)
class Row:
    """Columns that are there, over others that hide behind them."""

    values: Mapping[str, Value]
    behind: Env | None = None

    def get(self, name: str) -> Value:
        if name not in self.values and self.behind is not None:
            return self.behind.get(name)
        return self.values[name]


@dataclass(frozen=True)
class Derived:
    """Columns of a projection, computed when somebody asks: what nobody reads cannot go wrong."""

    columns: Mapping[str, Expr]
    below: Env
    made: dict[str, Value] = field(default_factory=dict)

    def get(self, name: str) -> Value:
        if name not in self.made:
            self.made[name] = evaluate(self.columns[name], self.below)
        return self.made[name]


def derived(columns: tuple[Named, ...], below: Env) -> Env:
    return Derived({named.name: named.expr for named in columns}, below)


def evaluate(expr: Expr, env: Env) -> Value:
    """The value; raises `RowError` where there is none."""
    match expr:
        case Field(name=name) | Parameter(name=name):
            return env.get(name)
        case Literal(value=value):
            return value
        case Cast(operand=operand, type=kind, strict=strict):
            return _cast(evaluate(operand, env), operand.type, kind, strict=strict)
        case Case(branches=branches, otherwise=otherwise):
            for when, then in branches:
                if evaluate(when, env) is True:
                    return evaluate(then, env)
            return evaluate(otherwise, env)
        case Call(function="coalesce", args=args):
            return next((found for arg in args if (found := evaluate(arg, env)) is not None), None)
        case Call(function="and" | "or" as word, args=(left, right)):
            return _logical(word, left, right, env)
        case Call():
            return _call(expr, env)


def holds(expr: Expr, env: Env) -> bool:
    return evaluate(expr, env) is True


def _logical(word: str, left: Expr, right: Expr, env: Env) -> Value:
    decisive = word == "or"
    first = evaluate(left, env)
    if first is decisive:
        return decisive
    second = evaluate(right, env)
    if second is decisive:
        return decisive
    return None if first is None or second is None else not decisive


def _call(expr: Call, env: Env) -> Value:
    types = tuple(arg.type for arg in expr.args)
    args = [evaluate(arg, env) for arg in expr.args]
    if expr.function not in SEES_NULLS and None in args:
        return None
    result = _function(expr, types)(*args)
    given = [
        arg for arg, node in zip(args, expr.args, strict=True) if not isinstance(node, Literal)
    ]
    resolved = FUNCTIONS[expr.function].resolve(types)
    assert resolved is not None, expr
    reason = resolved[0].fails
    if result is None and reason is not None and None not in given:
        raise RowError(reason)
    return result


def _function(expr: Call, types: tuple[DataType, ...]) -> Callable[..., Value]:
    found = oracle_of(expr.function, types, expr.type)
    return found if found is not None else cast_of(types[0], expr.type)


def _cast(value: Value, source: DataType, target: DataType, *, strict: bool) -> Value:
    converted = _converted(value, source, target)
    if converted is None and value is not None and strict and may_fail(source, target):
        raise RowError(Reason.INVALID_CAST)
    return converted


def _converted(value: Value, source: DataType, target: DataType) -> Value:
    if value is None or source == target or source is Scalar.NULL:
        return value
    match source, target:
        case Array(one), Array(other):
            return [_converted(item, one, other) for item in value]
        case Map(_, one), Map(_, other):
            return [(key, _converted(item, one, other)) for key, item in value]
        case Struct(ones), Struct(others):
            pairs = zip(ones, others, strict=True)
            return {to: _converted(value[name], one, other) for (name, one), (to, other) in pairs}
        case _:
            return cast_of(source, target)(value)
