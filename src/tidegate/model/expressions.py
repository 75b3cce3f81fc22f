"""Bound scalar expressions: what every per-row and per-window computation is written in.

A closed union of frozen nodes, each with its type. Binding (`plan/`) makes them from syntax trees, so that names are
resolved, operands have the types that their function wants, and nothing is left to an engine's own coercions. They
are rendered to each engine's SQL by `sql/render`, hash and compare by value, and are what fingerprints are made of.
"""

import decimal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tidegate.model.types import DataType, Scalar

LiteralValue = None | bool | int | float | decimal.Decimal | str | bytes


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the relation that the expression is evaluated on."""

    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that the engine supplies with each batch, such as the watermark or the clock."""

    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: TIMESTAMP and INTERVAL in microseconds, DATE in days, both since the epoch."""

    value: LiteralValue
    type: DataType


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the catalogue (operators included), by its canonical name."""

    function: str
    args: "tuple[Expr, ...]"
    type: DataType


@dataclass(frozen=True, slots=True)
class Cast:
    """`strict`: a value that does not convert is a row error; otherwise (TRY_CAST) it is NULL."""

    operand: "Expr"
    type: DataType
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    branches: "tuple[tuple[Expr, Expr], ...]"
    otherwise: "Expr"
    type: DataType


Expr = Field | Parameter | Literal | Call | Cast | Case


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of the column that it makes."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class SortKey:
    """NULLs come last in either direction, unless `nulls_first`."""

    expr: Expr
    descending: bool = False
    nulls_first: bool = False


TRUE = Literal(True, Scalar.BOOLEAN)
FALSE = Literal(False, Scalar.BOOLEAN)


def bigint(value: int) -> Literal:
    return Literal(value, Scalar.BIGINT)


def text(value: str) -> Literal:
    return Literal(value, Scalar.VARCHAR)


def null(kind: DataType = Scalar.NULL) -> Literal:
    return Literal(None, kind)


def call(function: str, *args: Expr, type: DataType = Scalar.BOOLEAN) -> Call:
    return Call(function, args, type)


def all_of(*conditions: Expr) -> Expr:
    """Conjunction, without the parts that are always true."""
    parts = [condition for condition in conditions if condition != TRUE]
    return chain("and", parts) if parts else TRUE


def any_of(*conditions: Expr) -> Expr:
    """Disjunction, without the parts that are never true."""
    parts = [condition for condition in conditions if condition != FALSE]
    return chain("or", parts) if parts else FALSE


_LONG_CHAIN = 64


def chain(function: str, parts: Sequence[Expr]) -> Expr:
    """AND or OR of at least one part. A long chain becomes a balanced tree: no walk over a plan nests as deep as it."""
    if len(parts) > _LONG_CHAIN:
        half = len(parts) // 2
        return call(function, chain(function, parts[:half]), chain(function, parts[half:]))
    folded = parts[0]
    for part in parts[1:]:
        folded = call(function, folded, part)
    return folded


def conjuncts(predicate: Expr) -> Iterator[Expr]:
    """The parts of a conjunction, from left to right; `all_of` taken apart."""
    stack = [predicate]
    while stack:
        part = stack.pop()
        if isinstance(part, Call) and part.function == "and":
            stack.extend(reversed(part.args))
        else:
            yield part


def is_null(operand: Expr) -> Expr:
    return call("is_null", operand)


def negate(operand: Expr) -> Expr:
    return call("not", operand)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Call(args=args):
            return args
        case Cast(operand=operand):
            return (operand,)
        case Case(branches=branches, otherwise=otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it, outermost first, left to right."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def fields_of(*exprs: Expr) -> frozenset[str]:
    """Names of the columns that the expressions read."""
    return frozenset(node.name for expr in exprs for node in walk(expr) if isinstance(node, Field))


def parameters_of(*exprs: Expr) -> frozenset[str]:
    """Names of what the expressions read of the epoch."""
    return frozenset(
        node.name for expr in exprs for node in walk(expr) if isinstance(node, Parameter)
    )


def substitute(expr: Expr, replacement: Callable[[Expr], Expr | None]) -> Expr:
    """Replace the outermost nodes for which `replacement` has an answer."""
    replaced = replacement(expr)
    if replaced is not None:
        return replaced
    match expr:
        case Call(args=args):
            return replace(expr, args=tuple(substitute(arg, replacement) for arg in args))
        case Cast(operand=operand):
            return replace(expr, operand=substitute(operand, replacement))
        case Case(branches=branches, otherwise=otherwise):
            pairs = tuple(
                (substitute(when, replacement), substitute(then, replacement))
                for when, then in branches
            )
            return replace(expr, branches=pairs, otherwise=substitute(otherwise, replacement))
        case _:
            return expr
