"""Bound expressions, windows and aggregates as a person would write them.

One canonical text per meaning, independent of any engine and of any library's version: EXPLAIN shows it, and
fingerprints are made of it. `names` replaces the planner's own names by what they stand for. Every text is one line.
"""

import decimal
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, assert_never

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
from tidegate.model.time import DAY, format_duration, format_instant
from tidegate.model.types import Scalar
from tidegate.model.windows import (
    Calendar,
    Conditional,
    Counting,
    Cumulating,
    Hopping,
    Inherited,
    Interval,
    Session,
    Sliding,
    Tumbling,
    Window,
)
from tidegate.plan.decompositions import AggregateCall

_NOT, _POSTFIX, _NEGATIVE, _ATOM = 3, 4, 9, 10
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
_TIMES: Mapping[Scalar, Callable[[int], str]] = {
    Scalar.TIMESTAMP: format_instant,
    Scalar.DATE: lambda day: format_instant(day * DAY)[:10],
    Scalar.INTERVAL: format_duration,
}
_PARAMETERS = {"clock_us": "PROCTIME()"}


class Shown(NamedTuple):
    """A text, and how tightly it holds together."""

    text: str
    level: int = _ATOM


Names = Mapping[str, Shown]
_NO_NAMES: Names = {}


def show(expr: Expr, names: Names = _NO_NAMES) -> str:
    """The expression, with as few parentheses as its meaning needs."""
    return shown(expr, names).text


def shown(expr: Expr, names: Names = _NO_NAMES) -> Shown:
    """The expression, fit to stand for a name in others."""
    match expr:
        case Field(name=name):
            return names.get(name) or Shown(show_name(name))
        case Parameter(name=name):
            return Shown(_PARAMETERS.get(name, f":{name}"))
        case Literal():
            return _literal(expr)
        case Cast(operand=operand, type=kind, strict=strict):
            function = "CAST" if strict else "TRY_CAST"
            return Shown(f"{function}({show(operand, names)} AS {kind})")
        case Case():
            return Shown(_case(expr, names))
        case Call():
            return _call(expr, names)
        case _:
            assert_never(expr)


_PLAIN_NAME = re.compile(r"\$\w+(\.\w+)*|[^\W\d]\w*(\.[^\W\d]\w*)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def show_name(name: str) -> str:
    """The name, in quotes where it could be taken for an expression."""
    return name if _PLAIN_NAME.fullmatch(name) else _one_line('"' + name.replace('"', '""') + '"')


def _one_line(quoted: str) -> str:
    """The quoted text as it is, or with what would break the line escaped, as PostgreSQL's E'…' writes it."""
    if not _CONTROL.search(quoted):
        return quoted
    escaped = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted.replace("\\", r"\\"))
    return f"E{escaped}"


def _literal(literal: Literal) -> Shown:
    """A negative number is no atom: `a - -1`, but `(-1).x`."""
    text = _literal_text(literal)
    return Shown(text, _NEGATIVE if text.startswith("-") else _ATOM)


def _literal_text(literal: Literal) -> str:
    match literal.value, literal.type:
        case None, _:
            return "NULL"
        case bool(value), _:
            return str(value).upper()
        case int(value), Scalar() as kind if kind in _TIMES:
            return f"{kind} '{_TIMES[kind](value)}'"
        case str(value), _:
            return _one_line("'" + value.replace("'", "''") + "'")
        case bytes(value), _:
            return f"X'{value.hex()}'"
        case decimal.Decimal() as value, _:
            return f"{value:f}"
        case value, _:
            return repr(value)


def _case(expr: Case, names: Names) -> str:
    branches = " ".join(
        f"WHEN {show(when, names)} THEN {show(then, names)}" for when, then in expr.branches
    )
    return f"CASE {branches} ELSE {show(expr.otherwise, names)} END"


def _call(expr: Call, names: Names) -> Shown:
    name, args = expr.function, expr.args
    if name in _INFIX and len(args) == 2:
        return Shown(_infix(expr, names), _INFIX[name])
    match name:
        case "not" if isinstance(args[0], Call) and args[0].function == "is_null":
            return Shown(f"{_inner(args[0].args[0], names, _POSTFIX + 1)} IS NOT NULL", _POSTFIX)
        case "not":
            return Shown(f"NOT {_inner(args[0], names, _NOT)}", _NOT)
        case "is_null" | "is_not_null":
            suffix = "IS NULL" if name == "is_null" else "IS NOT NULL"
            return Shown(f"{_inner(args[0], names, _POSTFIX + 1)} {suffix}", _POSTFIX)
        case "in":
            tested = _inner(args[0], names, _POSTFIX + 1)
            return Shown(f"{tested} IN ({_list(args[1:], names)})", _POSTFIX)
        case "neg":
            return Shown(f"-{_inner(args[0], names, _NEGATIVE + 1)}", _NEGATIVE)
        case "field":
            field = args[1]
            assert isinstance(field, Literal)
            return Shown(f"{_inner(args[0], names, _ATOM)}.{show_name(str(field.value))}")
        case _:
            return Shown(f"{name.upper()}({_list(args, names)})")


def _infix(expr: Call, names: Names) -> str:
    level = _INFIX[expr.function]
    symbol = _SYMBOLS.get(expr.function, expr.function.upper())
    left, right = (_inner(arg, names, level + place) for place, arg in enumerate(expr.args))
    return f"{left} {symbol} {right}"


def _inner(expr: Expr, names: Names, level: int) -> str:
    text, own = shown(expr, names)
    return text if own >= level else f"({text})"


def _list(exprs: tuple[Expr, ...], names: Names) -> str:
    return ", ".join(show(expr, names) for expr in exprs)


def show_named(named: Named, names: Names = _NO_NAMES) -> str:
    """`name = expression`, or just the name where they are the same."""
    name, text = show_name(named.name), show(named.expr, names)
    return name if text == name else f"{name} = {text}"


def show_key(key: SortKey, names: Names = _NO_NAMES) -> str:
    direction = " DESC" if key.descending else ""
    return f"{show(key.expr, names)}{direction}{' NULLS FIRST' if key.nulls_first else ''}"


class Top(Protocol):
    """What Top-N is by, in the logical plan and in a stage."""

    @property
    def order(self) -> tuple[SortKey, ...]: ...

    @property
    def within(self) -> tuple[Expr, ...]: ...

    @property
    def limit(self) -> int | None: ...


def show_top(top: Top, names: Names = _NO_NAMES) -> str:
    """`3 by n DESC within k`; without a limit all are numbered."""
    order = ", ".join(show_key(key, names) for key in top.order)
    within = f" within {', '.join(show(expr, names) for expr in top.within)}" if top.within else ""
    return f"{'all' if top.limit is None else top.limit} by {order}{within}"


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
        case Calendar():
            facts = _calendar_facts(window)
        case Session(gap_us=gap, inclusive=inclusive):
            facts = {"gap": format_duration(gap), "inclusive": str(inclusive).lower()}
        case Sliding(lookback_us=lookback, lookahead_us=lookahead):
            ahead = format_duration(lookahead) if lookahead else "none"
            facts = {"lookback": format_duration(lookback), "lookahead": ahead}
        case Inherited():
            facts = {}
        case _:
            facts = _other_facts(window, names)
    plain = {
        name: value
        for name, value in facts.items()
        if (name, value) not in (("offset", "0s"), ("inclusive", "false"))
    }
    return {"kind": window.kind, **plain}


def _other_facts(window: Interval | Counting | Conditional, names: Names) -> dict[str, str]:
    match window:
        case Interval(lower_us=lower, upper_us=upper):
            return {"lower": format_duration(lower), "upper": format_duration(upper)}
        case Counting(rows=rows, step=step):
            return {"rows": str(rows), "step": str(step)}
        case Conditional(open=opened, close=closed):
            return {"open": show(opened, names), "close": show(closed, names)}
        case _:
            assert_never(window)


def _calendar_facts(window: Calendar) -> dict[str, str]:
    step = {"tumbling": {}, "hopping": {"slide": str(window.step)}}.get(
        window.kind, {"step": str(window.step)}
    )
    lengths = {"size": str(window.size), **step, "offset": str(window.offset)}
    return {**lengths, "time_zone": window.zone.name}
