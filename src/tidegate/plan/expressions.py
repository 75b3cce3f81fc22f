"""Binds scalar expressions: syntax trees in, typed expressions out.

One handler per kind of syntax node, in a table. A handler resolves names through the context's scope, converts
operands to what the catalogue's function wants, and refuses, with a place, whatever has no meaning. Aggregates and
window columns are met here too, and handed to the sinks of the context, which know whether they may stand there.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import (
    FALSE,
    TRUE,
    Call,
    Cast,
    Expr,
    Literal,
    Parameter,
    bigint,
    call,
    chain,
    negate,
    text,
)
from tidegate.model.types import Array, DataType, Map, Scalar, Struct
from tidegate.plan.coercion import coerce, coerce_all, make_case
from tidegate.plan.scope import ELSEWHERE, Scope
from tidegate.plan.types import bind_type, instant_literal, number_literal, whole_number
from tidegate.sql.functions.casts import can_cast
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.intervals import is_interval
from tidegate.sql.lengths import CalendarLength, interval_us
from tidegate.sql.places import head_of, span_of
from tidegate.sql.source import Span

CLOCK = Parameter("clock_us", Scalar.TIMESTAMP)
CallBinder = Callable[[exp.Expression, "Context"], Expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an expression may see, and who takes the calls in it. `clause` names the place in messages."""

    scope: Scope
    clause: str
    call: CallBinder
    within: Span

    def at(self, node: exp.Expression) -> errors.Location:
        return self.scope.source.location(span_of(node, self.scope.source, otherwise=self.within))

    def at_head(self, node: exp.Expression) -> errors.Location:
        return self.scope.source.location(head_of(node, self.scope.source, otherwise=self.within))


def bind(node: exp.Expression, context: Context) -> Expr:
    """The typed expression that the syntax tree means."""
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        return handler(node, context)
    return context.call(node, context)


def bind_condition(node: exp.Expression, context: Context, *, of: str = "") -> Expr:
    """An expression that must be BOOLEAN; `of` names what needs it, where that is not the clause."""
    condition = bind(node, context)
    if condition.type is Scalar.NULL:
        return coerce(condition, Scalar.BOOLEAN)
    if condition.type is not Scalar.BOOLEAN:
        raise errors.not_boolean(context.at(node), clause=of or context.clause, got=condition.type)
    return condition


def unsupported(
    node: exp.Expression, context: Context, what: str, *, instead: str = ""
) -> errors.TidegateError:
    return errors.unsupported_expression(context.at(node), what=what, instead=instead)


# Names and literals


def _column(node: exp.Expression, context: Context) -> Expr:
    if isinstance(node.this, exp.Star):
        raise unsupported(node, context, "* inside an expression", instead="name a column")
    parts = [part.name for part in node.parts] if isinstance(node, exp.Column) else [node.name]
    return context.scope.resolve(
        parts, span_of(node, context.scope.source, otherwise=context.within)
    )


def _literal(node: exp.Expression, context: Context) -> Expr:
    assert isinstance(node, exp.Literal)
    return text(node.name) if node.is_string else number_literal(node, context.scope.source)


def bind_interval(node: exp.Expression, context: Context) -> Expr:
    """An INTERVAL literal: a length in microseconds."""
    try:
        return Literal(interval_us(node, context.scope.source), Scalar.INTERVAL)
    except CalendarLength as calendar:
        hint = "months and years can be added to or subtracted from a TIMESTAMP, nothing else"
        what = f"an interval of calendar length ({calendar.unit}) here"
        raise unsupported(node, context, what, instead=hint) from None


def _paren(node: exp.Expression, context: Context) -> Expr:
    return bind(node.this, context)


# Operators


def operator(
    name: str, node: exp.Expression, operands: Sequence[exp.Expression], context: Context
) -> Expr:
    """A call of the catalogue's operator, its operands converted."""
    bound = _meet([bind(operand, context) for operand in operands], operands, context)
    resolved = FUNCTIONS[name].resolve([operand.type for operand in bound])
    if resolved is None:
        raise _no_operator(name, operands, bound, context)
    overload, targets = resolved
    args = tuple(coerce(arg, target) for arg, target in zip(bound, targets, strict=True))
    return Call(name, args, overload.result(targets))


def _no_operator(
    name: str, operands: Sequence[exp.Expression], bound: Sequence[Expr], context: Context
) -> errors.TidegateError:
    symbol = name.upper().replace("_", " ")
    hint = "convert one side with CAST, or TRY_CAST where values may be bad"
    if len(bound) == 1:
        return errors.wrong_argument_type(
            context.at(operands[0]),
            function=symbol,
            got=bound[0].type,
            expected=FUNCTIONS[name].overloads[0].params[0].label,
            cast=hint,
        )
    types = [expr.type for expr in bound]
    params = [overload.params for overload in FUNCTIONS[name].overloads]
    unfit = (
        place
        for place, kind in enumerate(types)
        if not any(each[min(place, len(each) - 1)].accepts(kind) for each in params)
    )
    culprit = next(unfit, len(types) - 1)
    if {Scalar.TIMESTAMP, Scalar.BIGINT} <= set(types):
        hint = "turn the number into a TIMESTAMP with TO_TIMESTAMP_MS, or the TIMESTAMP into a number with EPOCH_MS"
    return errors.wrong_operand_types(
        context.at(operands[culprit]), left=types[0], operator=symbol, right=types[-1], cast=hint
    )


def _meet(bound: list[Expr], operands: Sequence[exp.Expression], context: Context) -> list[Expr]:
    """String literals beside instants become instants."""
    instants = {expr.type for expr in bound} & {Scalar.TIMESTAMP, Scalar.DATE}
    if not instants:
        return bound
    kind = Scalar.TIMESTAMP if Scalar.TIMESTAMP in instants else Scalar.DATE
    return [
        _as_instant(expr, kind, node, context) for expr, node in zip(bound, operands, strict=True)
    ]


def _as_instant(expr: Expr, kind: Scalar, node: exp.Expression, context: Context) -> Expr:
    if isinstance(expr, Literal) and expr.type is Scalar.VARCHAR and isinstance(expr.value, str):
        span = span_of(node, context.scope.source, otherwise=context.within)
        return instant_literal(expr.value, kind, source=context.scope.source, span=span)
    return expr


def _binary(name: str) -> Callable[[exp.Expression, Context], Expr]:
    return lambda node, context: operator(name, node, (node.this, node.expression), context)


def _pattern(name: str) -> Callable[[exp.Expression, Context], Expr]:
    """NOT stands in the middle: `a NOT LIKE b`."""
    plain = _binary(name)

    def bound(node: exp.Expression, context: Context) -> Expr:
        matches = plain(node, context)
        return negate(matches) if node.args.get("negate") else matches

    return bound


def _unary(name: str) -> Callable[[exp.Expression, Context], Expr]:
    return lambda node, context: operator(name, node, (node.this,), context)


def _logical(name: str) -> Callable[[exp.Expression, Context], Expr]:
    """AND and OR: chains are flattened, so that a long one does not nest."""

    def handler(node: exp.Expression, context: Context) -> Expr:
        parts = cast("Iterator[exp.Expression]", node.flatten())
        return chain(name, [bind_condition(part, context, of=name.upper()) for part in parts])

    return handler


def _not(node: exp.Expression, context: Context) -> Expr:
    return call("not", bind_condition(node.this, context, of="NOT"))


def _neg(node: exp.Expression, context: Context) -> Expr:
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        if node.this.name == str(2**63):
            return bigint(-(2**63))
        number = number_literal(node.this, context.scope.source)
        assert number.value is not None
        assert not isinstance(number.value, (str, bytes))
        return Literal(-number.value, number.type)
    if is_interval(node.this):
        length = bind_interval(node.this, context)
        assert isinstance(length, Literal)
        assert isinstance(length.value, int)
        return Literal(-length.value, Scalar.INTERVAL)
    return operator("neg", node, (node.this,), context)


def _shift(name: str, sign: int) -> Callable[[exp.Expression, Context], Expr]:
    """+ and -, which also move a TIMESTAMP by months."""

    def handler(node: exp.Expression, context: Context) -> Expr:
        months = _months(node.expression, context)
        if months is None:
            return operator(name, node, (node.this, node.expression), context)
        amount = exp.Literal.number(abs(months))
        signed = exp.Neg(this=amount) if months * sign < 0 else amount
        moved = exp.Anonymous(this="add_months", expressions=[node.this.copy(), signed])
        return context.call(moved, context)

    return handler


_COUNT = re.compile("[+-]?[0-9]+")
_MOST_MONTHS = 12 * 9_999  # from one end of event time to the other
_MONTHS = {"MONTH": 1, "MON": 1, "QUARTER": 3, "YEAR": 12, "Y": 12}


def _months(node: exp.Expression, context: Context) -> int | None:
    if not is_interval(node):
        return None
    words = " ".join(part.name for part in node.expressions).split()
    factor = _MONTHS.get(words[1].upper().removesuffix("S") or "") if len(words) == 2 else None
    if not factor or not _COUNT.fullmatch(words[0]):
        return None
    months = whole_number(words[0]) * factor
    if abs(months) > _MOST_MONTHS:
        limit = f"{_MOST_MONTHS} MONTH"
        at = context.at(node)
        raise errors.length_too_large(at, argument="the length", window="an interval", limit=limit)
    return months


# Comparison


def _is(node: exp.Expression, context: Context) -> Expr:
    right = node.expression
    if isinstance(right, exp.Null):
        return call("is_null", bind(node.this, context))
    if isinstance(right, exp.Boolean):
        condition = bind_condition(node.this, context, of="IS TRUE")
        return call("is_not_distinct", condition, TRUE if right.this else FALSE)
    raise unsupported(node, context, f"IS {right.sql()}")


def _in(node: exp.Expression, context: Context) -> Expr:
    if not node.expressions:
        raise unsupported(
            node, context, "IN with a subquery", instead="list the values, or join with a table"
        )
    return operator("in", node, (node.this, *node.expressions), context)


def _between(node: exp.Expression, context: Context) -> Expr:
    low = operator(">=", node, (node.this, node.args["low"]), context)
    high = operator("<=", node, (node.this, node.args["high"]), context)
    return call("and", low, high)


# Conversions and CASE


def _cast(node: exp.Expression, context: Context) -> Expr:
    source = context.scope.source
    target = bind_type(
        node.args["to"], source, otherwise=span_of(node, source, otherwise=context.within)
    )
    if (
        isinstance(node.this, exp.Literal)
        and node.this.is_string
        and target in (Scalar.DATE, Scalar.TIMESTAMP)
        and not isinstance(node, exp.TryCast)
    ):
        assert isinstance(target, Scalar)
        return instant_literal(
            node.this.name, target, source=source, span=span_of(node.this, source)
        )
    operand = bind(node.this, context)
    if operand.type == target:
        return operand
    if operand.type is Scalar.NULL:
        return coerce(operand, target)
    if not can_cast(operand.type, target):
        hint = _cast_hint(operand.type, target)
        raise errors.impossible_cast(
            context.at(node), source=operand.type, target=target, hint=hint
        )
    return Cast(operand, target, strict=not isinstance(node, exp.TryCast))


def _cast_hint(source: DataType, target: DataType) -> str:
    if target is Scalar.TIMESTAMP:
        return "say what the number counts: TO_TIMESTAMP_S, TO_TIMESTAMP_MS or TO_TIMESTAMP_US"
    if source is Scalar.TIMESTAMP:
        return "say what to count: UNIX_SECONDS, UNIX_MILLIS or UNIX_MICROS"
    return (
        "convert to DECIMAL(p, s) first, so that the digits are fixed"
        if target is Scalar.VARCHAR
        else ""
    )


def _case(node: exp.Expression, context: Context) -> Expr:
    branches = []
    written = [branch.args["true"] for branch in node.args["ifs"]]
    for branch in node.args["ifs"]:
        when = exp.EQ(this=node.this, expression=branch.this) if node.this else branch.this
        branches.append(
            (bind_condition(when, context, of="WHEN"), bind(branch.args["true"], context))
        )
    default = node.args.get("default")
    otherwise = bind(default, context) if default else Literal(None, Scalar.NULL)
    return _finish_case([*written, default or node], branches, otherwise, context)


def _if(node: exp.Expression, context: Context) -> Expr:
    condition = bind_condition(node.this, context, of="IF")
    otherwise = node.args.get("false")
    rest = bind(otherwise, context) if otherwise else Literal(None, Scalar.NULL)
    written = [node.args["true"], otherwise or node]
    return _finish_case(written, [(condition, bind(node.args["true"], context))], rest, context)


def _finish_case(
    written: Sequence[exp.Expression],
    branches: list[tuple[Expr, Expr]],
    otherwise: Expr,
    context: Context,
) -> Expr:
    case = make_case(branches, otherwise)
    if case is None:
        results = [*(then for _, then in branches), otherwise]
        culprit = next(n for n in range(len(results)) if coerce_all(results[: n + 1]) is None)
        types = " and ".join(dict.fromkeys(str(expr.type) for expr in results))
        at = context.at(written[culprit])
        raise errors.no_common_type(at, what="the results of CASE", types=types)
    return case


# Nested values


def _bracket(node: exp.Expression, context: Context) -> Expr:
    operand = bind(node.this, context)
    if len(node.expressions) != 1 or isinstance(node.expressions[0], exp.Slice):
        raise unsupported(node, context, "a slice", instead="take one element: a[1]")
    if not isinstance(operand.type, (Array, Map)):
        raise errors.wrong_argument_type(
            context.at(node), function="[ ]", got=operand.type, expected="ARRAY or MAP", cast=""
        )
    return operator("element_at", node, (node.this, node.expressions[0]), context)


def _dot(node: exp.Expression, context: Context) -> Expr:
    if isinstance(node.this, exp.Identifier) and isinstance(node.expression, exp.Anonymous):
        written = f"{node.this.name}.{node.expression.name}"
        hint = ELSEWHERE.get(written.lower(), "functions have no name before a dot")
        raise errors.unknown_function(context.at(node), name=written, hint=hint)
    operand = bind(node.this, context)
    name = node.expression.name
    found = operand.type.field(name) if isinstance(operand.type, Struct) else None
    if found is None:
        raise errors.unknown_field(context.at(node), type=operand.type, name=name)
    return Call("field", (operand, text(found[0])), found[1])


_BINARY: dict[type[exp.Expression], str] = {
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "is_not_distinct",
    exp.NullSafeNEQ: "is_distinct",
    exp.RegexpLike: "rlike",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_HANDLERS: dict[type[exp.Expression], Callable[[exp.Expression, Context], Expr]] = {
    **{kind: _binary(name) for kind, name in _BINARY.items()},
    exp.Like: _pattern("like"),
    exp.ILike: _pattern("ilike"),
    exp.Add: _shift("+", 1),
    exp.Sub: _shift("-", -1),
    exp.And: _logical("and"),
    exp.Or: _logical("or"),
    exp.Not: _not,
    exp.Neg: _neg,
    exp.BitwiseNot: _unary("~"),
    exp.Column: _column,
    exp.Identifier: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node, _context: TRUE if node.this else FALSE,
    exp.Null: lambda _node, _context: Literal(None, Scalar.NULL),
    exp.Paren: _paren,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Case: _case,
    exp.If: _if,
    exp.Bracket: _bracket,
    exp.Dot: _dot,
}
