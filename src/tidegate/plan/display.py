"""Bound expressions, windows and aggregates as a person would write them.

One canonical text per meaning, independent of any engine and of any library's version: EXPLAIN shows it, and
fingerprints are made of it. `names` replaces the planner's own names by what they stand for.
"""

from collections.abc import Mapping
from typing import assert_never

from tidegate.model.expressions import (
    Call,
    Case,
    Cast,
    Expr,
    Field,
    Literal,
    Named,
    Parameter,
    SortKey,
)
from tidegate.model.partials import PartialSpec
from tidegate.model.time import format_duration, format_instant
from tidegate.model.types import Scalar
from tidegate.model.windows import (
    Conditional,
    Counting,
    Cumulating,
    Hopping,
    Inherited,
    Session,
    Sliding,
    Tumbling,
    Window,
)
from tidegate.plan.aggregates import AggregateCall

Names = Mapping[str, str]
_LEVELS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (1, ("or",)),
    (2, ("and",)),
    (
        4,
        (
            "=",
            "<>",
            "<",
            "<=",
            ">",
            ">=",
            "is_distinct",
            "is_not_distinct",
            "like",
            "ilike",
            "rlike",
        ),
    ),
    (5, ("|", "^", "&")),
    (6, ("<<", ">>")),
    (7, ("+", "-", "||")),
    (8, ("*", "/", "div", "%")),
)
_INFIX = {name: level for level, names in _LEVELS for name in names}
_SYMBOLS = {"is_distinct": "IS DISTINCT FROM", "is_not_distinct": "IS NOT DISTINCT FROM"}
_NOT, _POSTFIX, _ATOM = 3, 4, 10
_NO_NAMES: Names = {}


def show(expr: Expr, names: Names = _NO_NAMES) -> str:
    """The expression, with as few parentheses as its meaning needs."""
    return _show(expr, names)[0]


def _show(expr: Expr, names: Names) -> tuple[str, int]:
    match expr:
        case Field(name=name):
            return names.get(name, name), _ATOM
        case Parameter(name=name):
            return f":{name}", _ATOM
        case Literal():
            return _literal(expr), _ATOM
        case Cast(operand=operand, type=kind, strict=strict):
            return f"{'CAST' if strict else 'TRY_CAST'}({show(operand, names)} AS {kind})", _ATOM
        case Case():
            return _case(expr, names), _ATOM
        case Call():
            return _call(expr, names)
        case _:
            assert_never(expr)


def _literal(literal: Literal) -> str:
    match literal.value, literal.type:
        case None, _:
            return "NULL"
        case bool(value), _:
            return str(value).upper()
        case int(value), Scalar.TIMESTAMP:
            return f"TIMESTAMP '{format_instant(value)}'"
        case int(value), Scalar.INTERVAL:
            return f"INTERVAL '{format_duration(value)}'"
        case str(value), _:
            return "'" + value.replace("'", "''") + "'"
        case bytes(value), _:
            return f"X'{value.hex()}'"
        case value, Scalar.DOUBLE | Scalar.REAL:
            return repr(value)
        case value, _:
            return str(value)


def _case(expr: Case, names: Names) -> str:
    branches = " ".join(
        f"WHEN {show(when, names)} THEN {show(then, names)}" for when, then in expr.branches
    )
    return f"CASE {branches} ELSE {show(expr.otherwise, names)} END"


def _call(expr: Call, names: Names) -> tuple[str, int]:
    name, args = expr.function, expr.args
    if name in _INFIX and len(args) == 2:
        return _infix(expr, names), _INFIX[name]
    match name:
        case "not":
            return f"NOT {_inner(args[0], names, _NOT)}", _NOT
        case "is_null" | "is_not_null":
            suffix = "IS NULL" if name == "is_null" else "IS NOT NULL"
            return f"{_inner(args[0], names, _POSTFIX + 1)} {suffix}", _POSTFIX
        case "in":
            return f"{_inner(args[0], names, _POSTFIX + 1)} IN ({_list(args[1:], names)})", _POSTFIX
        case "neg":
            return f"-{_inner(args[0], names, 9)}", 9
        case "field":
            field = args[1]
            assert isinstance(field, Literal)
            return f"{_inner(args[0], names, _ATOM)}.{field.value!s}", _ATOM
        case _:
            return f"{name.upper()}({_list(args, names)})", _ATOM


def _infix(expr: Call, names: Names) -> str:
    level = _INFIX[expr.function]
    symbol = _SYMBOLS.get(expr.function, expr.function.upper())
    left, right = (_inner(arg, names, level + place) for place, arg in enumerate(expr.args))
    return f"{left} {symbol} {right}"


def _inner(expr: Expr, names: Names, level: int) -> str:
    text, own = _show(expr, names)
    return text if own >= level else f"({text})"


def _list(exprs: tuple[Expr, ...], names: Names) -> str:
    return ", ".join(show(expr, names) for expr in exprs)


def show_named(named: Named, names: Names = _NO_NAMES) -> str:
    """`name = expression`, or just the name where they are the same."""
    text = show(named.expr, names)
    return named.name if text == named.name else f"{named.name} = {text}"


def show_key(key: SortKey, names: Names = _NO_NAMES) -> str:
    direction = " DESC" if key.descending else ""
    return f"{show(key.expr, names)}{direction}{' NULLS FIRST' if key.nulls_first else ''}"


def show_aggregate(call: AggregateCall, names: Names = _NO_NAMES) -> str:
    """`SUM(DISTINCT x ORDER BY y) FILTER (WHERE z)`."""
    args = ", ".join(show(arg, names) for arg in call.args) or (
        "*" if call.function == "count" else ""
    )
    order = (
        f" ORDER BY {', '.join(show_key(key, names) for key in call.order)}" if call.order else ""
    )
    suffix = f" FILTER (WHERE {show(call.filter, names)})" if call.filter is not None else ""
    return f"{call.function.upper()}({'DISTINCT ' if call.distinct else ''}{args}{order}){suffix}"


def show_partial(spec: PartialSpec, names: Names = _NO_NAMES) -> str:
    suffix = f" FILTER (WHERE {show(spec.filter, names)})" if spec.filter is not None else ""
    return f"{spec.op}({', '.join(show(arg, names) for arg in spec.args)}){suffix}"


def window_facts(window: Window, names: Names = _NO_NAMES) -> dict[str, str]:
    """Kind and parameters of a window, in a fixed order."""
    match window:
        case Tumbling(size_us=size, offset_us=offset):
            facts = {"size": format_duration(size), "offset": format_duration(offset)}
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            facts = {
                "size": format_duration(size),
                "slide": format_duration(slide),
                "offset": format_duration(offset),
            }
        case Cumulating(step_us=step, size_us=size, offset_us=offset):
            facts = {
                "step": format_duration(step),
                "size": format_duration(size),
                "offset": format_duration(offset),
            }
        case Session(gap_us=gap, inclusive=inclusive):
            facts = {"gap": format_duration(gap), "inclusive": str(inclusive).lower()}
        case Sliding(lookback_us=lookback, lookahead_us=lookahead):
            ahead = "none" if lookahead is None else format_duration(lookahead)
            facts = {"lookback": format_duration(lookback), "lookahead": ahead}
        case Inherited():
            facts = {}
        case Counting(rows=rows, step=step):
            facts = {"rows": str(rows), "step": str(step)}
        case Conditional(open=opened, close=closed):
            facts = {"open": show(opened, names), "close": show(closed, names)}
        case _:
            assert_never(window)
    plain = {
        name: value
        for name, value in facts.items()
        if (name, value) not in (("offset", "0s"), ("inclusive", "false"))
    }
    return {"kind": window.kind, **plain}
