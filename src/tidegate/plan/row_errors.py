"""When an expression has no value for a row, and why.

In: a bound expression. Out: an expression for the code of the first thing that goes wrong in it, 0 where nothing does.
It follows evaluation as SQL users expect it: what CASE, COALESCE, AND and OR do not need is not counted as wrong.
The codes are `DISPOSITION` numbers.
"""

from collections.abc import Sequence

from tidegate.model.expressions import (
    FALSE,
    TRUE,
    Call,
    Case,
    Cast,
    Expr,
    Literal,
    all_of,
    bigint,
    call,
    is_null,
    negate,
)
from tidegate.model.policies import DISPOSITION, Reason
from tidegate.model.types import Scalar
from tidegate.sql.functions.casts import may_fail
from tidegate.sql.functions.catalogue import FUNCTIONS

NO_ERROR = bigint(0)


def error_of(expr: Expr) -> Expr:
    """The code of what goes wrong in the expression; the literal 0 where nothing ever can."""
    match expr:
        case Call(function="coalesce", args=args):
            return _until_found(args)
        case Call(function="and", args=(left, right)):
            return first_of(
                error_of(left),
                only_where(call("is_distinct", left, FALSE), error_of(right)),
            )
        case Call(function="or", args=(left, right)):
            return first_of(
                error_of(left),
                only_where(call("is_distinct", left, TRUE), error_of(right)),
            )
        case Call(args=args):
            inner = first_of(*map(error_of, args))
            reason = _failure(expr)
            return inner if reason is None else first_of(inner, _fails(expr, args, reason))
        case Cast(operand=operand, strict=True) if may_fail(operand.type, expr.type):
            return first_of(error_of(operand), _fails(expr, (operand,), Reason.INVALID_CAST))
        case Cast(operand=operand):
            return error_of(operand)
        case Case(branches=branches, otherwise=otherwise):
            return _in_case(branches, otherwise)
        case _:
            return NO_ERROR


def first_of(*codes: Expr) -> Expr:
    """The first code that is not 0. Each is written once: doubled at every level, an expression would never end."""
    real = [part for code in codes if code != NO_ERROR for part in _alternatives(code)]
    if not real:
        return NO_ERROR
    *before, last = real
    found = [call("nullif", code, NO_ERROR, type=Scalar.BIGINT) for code in before]
    return call("coalesce", *found, last, type=Scalar.BIGINT) if found else last


def _alternatives(code: Expr) -> Sequence[Expr]:
    """What `first_of` was given to make this code."""
    if isinstance(code, Call) and code.function == "coalesce":
        *before, last = code.args
        return [*(part.args[0] for part in before if isinstance(part, Call)), last]
    return [code]


def only_where(condition: Expr, code: Expr) -> Expr:
    """The code where the condition holds, for what is not looked at elsewhere."""
    return code if code == NO_ERROR else Case(((condition, code),), NO_ERROR, Scalar.BIGINT)


def _failure(expr: Call) -> Reason | None:
    resolved = FUNCTIONS[expr.function].resolve([arg.type for arg in expr.args])
    assert resolved is not None, expr
    return resolved[0].fails


def _fails(expr: Expr, operands: Sequence[Expr], reason: Reason) -> Expr:
    """NULL although no operand is: that is how a total template says that there is no value."""
    if any(isinstance(operand, Literal) and operand.value is None for operand in operands):
        return NO_ERROR
    present = [negate(is_null(operand)) for operand in operands if not isinstance(operand, Literal)]
    condition = all_of(is_null(expr), *present)
    return Case(((condition, bigint(DISPOSITION[reason])),), NO_ERROR, Scalar.BIGINT)


def _until_found(args: Sequence[Expr]) -> Expr:
    """COALESCE looks at an argument only where those before it are NULL; one that failed stops it."""
    code: Expr = NO_ERROR
    for arg in reversed(args):
        code = first_of(error_of(arg), only_where(is_null(arg), code))
    return code


def _in_case(branches: Sequence[tuple[Expr, Expr]], otherwise: Expr) -> Expr:
    """Conditions are looked at in order, results only where their condition holds."""
    code = error_of(otherwise)
    for when, then in reversed(branches):
        result = error_of(then)
        chosen = code if result == code else Case(((when, result),), code, Scalar.BIGINT)
        code = first_of(error_of(when), chosen)
    return code
