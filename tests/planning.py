"""Planning in tests: a small catalogue to write queries against, and refusals whose place is marked in the text.

`refusal("SELECT «nope» FROM trades")` plans the text without the marks, and checks that the one error stands on them;
without the closing one, its width is not the point.
"""

import decimal
from dataclasses import fields
from typing import TypeVar

import pytest

from tidegate.errors import TidegateError
from tidegate.model.calendar import Period
from tidegate.model.expressions import Call, Case, Cast, Expr, Field, Literal, Parameter
from tidegate.model.time import format_duration, format_instant
from tidegate.model.types import Scalar
from tidegate.model.windows import Calendar, Conditional, Inherited, Window
from tidegate.plan.catalog import Catalog, StreamDef
from tidegate.plan.logical import (
    Emission,
    Logical,
    OverAggregate,
    Project,
    StreamRef,
    Windowed,
    walk,
)
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

T = TypeVar("T")

PRELUDE = """\
CREATE SOURCE trades (symbol VARCHAR NOT NULL, price DOUBLE, qty BIGINT, small INT, amount DECIMAL(10, 2), ok BOOLEAN,
  day DATE, tags ARRAY<VARCHAR>, counts MAP<VARCHAR, BIGINT>, place STRUCT<city VARCHAR, at STRUCT<x DOUBLE, y DOUBLE>>,
  raw BINARY, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE SOURCE quotes (symbol VARCHAR, bid DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND);
CREATE TABLE symbols (symbol VARCHAR, sector VARCHAR, lot BIGINT) WITH (connector = 'file', path = 'symbols.csv');
"""


def program(sql: str, *, prelude: str = PRELUDE, settings: Settings | None = None) -> Program:
    return plan_script(parse_script(SourceText(prelude + sql)), settings or Settings())


def planned(sql: str, *, prelude: str = PRELUDE, settings: Settings | None = None) -> Program:
    """The program of a script that must not be refused."""
    made = program(sql, prelude=prelude, settings=settings)
    assert made.errors == []
    return made


def logical(sql: str, *, prelude: str = PRELUDE, settings: Settings | None = None) -> Emission:
    """The plan of the last query."""
    return planned(sql, prelude=prelude, settings=settings).queries[-1].logical


def nodes(kind: type[T], plan: Logical) -> list[T]:
    """All nodes of one kind, top first."""
    return [node for node in walk(plan) if isinstance(node, kind)]


def the(kind: type[T], plan: Logical) -> T:
    found = nodes(kind, plan)
    assert len(found) == 1, found
    return found[0]


def bound(expression: str) -> Expr:
    """An expression over the rows of `trades`."""
    plan = logical(f"SELECT {expression} AS it FROM trades")
    assert isinstance(plan.input, Project)
    return plan.input.columns[0].expr


# Refusals


def refusal(
    marked: str, *, prelude: str = PRELUDE, settings: Settings | None = None
) -> TidegateError:
    """The one error of the text, which must stand at «…»; without marks its place is not the point."""
    text = marked.replace("«", "").replace("»", "")
    refused = program(text, prelude=prelude, settings=settings).errors
    assert len(refused) == 1, [str(error) for error in refused] or "it plans"
    if "«" in marked:
        _check_place(refused[0], prelude + marked)
    return refused[0]


def _check_place(error: TidegateError, marked: str) -> None:
    before, _, rest = marked.partition("«")
    inside, closed, _ = rest.partition("»")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    assert (error.line, error.column) == (line, column), str(error)
    assert error.location is not None
    if closed:
        assert error.location.width == max(1, len(inside)), str(error)


def check_refusal(
    marked: str,
    code: str,
    message: str = "",
    hint: str = "",
    *,
    prelude: str = PRELUDE,
    settings: Settings | None = None,
) -> None:
    """Code, place, and words of the message and of the hint, which are compared as they are."""
    error = refusal(marked, prelude=prelude, settings=settings)
    assert error.code == code, str(error)
    assert message in error.message
    assert hint in error.hint


# Plans as text


def written(expr: Expr) -> str:
    """An expression in short: operators between their operands, conversions as `x::TYPE`."""
    match expr:
        case Field(name=name) | Parameter(name=name):
            return name
        case Literal(value=value, type=kind):
            return _literal(value, kind)
        case Call(function=function, args=(left, right)) if not function[
            0
        ].isalpha() or function in ("and", "or"):
            return f"({written(left)} {function} {written(right)})"
        case Call(function=function, args=args):
            return f"{function}({', '.join(map(written, args))})"
        case Cast(operand=operand, type=kind, strict=strict):
            return f"{written(operand)}::{kind}{'' if strict else '?'}"
        case Case(branches=branches, otherwise=otherwise):
            parts = "".join(f"{written(when)}: {written(then)}, " for when, then in branches)
            return f"case({parts}{written(otherwise)})"


def _literal(value: object, kind: object) -> str:
    match value:
        case None:
            return f"NULL::{kind}"
        case bool():
            return str(value).upper()
        case int() if kind is Scalar.TIMESTAMP:
            return format_instant(value)
        case int() if kind is Scalar.INTERVAL:
            return format_duration(value)
        case int() if kind is Scalar.DATE:
            return f"day {value}"
        case int() | float() | decimal.Decimal():
            return str(value)
        case _:
            return repr(value)


def windows_of(plan: Logical, catalog: Catalog) -> list[dict[str, object]]:
    """The windows that rows go through on their way, innermost first, those of earlier streams included."""
    found: list[dict[str, object]] = []
    for node in reversed(list(walk(plan))):
        match node:
            case StreamRef(name=name):
                upstream = catalog.find(name)
                assert isinstance(upstream, StreamDef)
                found += windows_of(upstream.logical, catalog)
            case Windowed(window=window, partition_by=partition_by):
                keys = (
                    {"partition_by": [written(key) for key in partition_by]} if partition_by else {}
                )
                found.append(window_facts(window) | keys)
            case OverAggregate(frames=frames):
                found += [window_facts(frame.window) for frame in frames]
            case _:
                pass
    return found


def window_facts(window: Window) -> dict[str, object]:
    """A window as the corpus writes it; what has its default is left out."""
    facts: dict[str, object]
    if isinstance(window, Inherited):
        return {"kind": "same"}
    if isinstance(window, Calendar):
        facts = {"kind": window.kind, "size": str(window.size), "time_zone": window.zone.name}
        own = {"hopping": "slide", "cumulating": "step"}.get(window.kind)
        facts |= {own: str(window.step)} if own else {}
        return facts | ({"offset": str(window.offset)} if window.offset != Period() else {})
    facts = {"kind": window.kind}
    for part in fields(window):
        value = getattr(window, part.name)
        if isinstance(window, Conditional):
            facts[part.name] = written(value)[1:-1].replace(".0", "")
        elif value != part.default:
            facts[part.name.removesuffix("_us")] = (
                format_duration(value) if part.name.endswith("_us") else value
            )
    return facts


def cases(*rows: tuple[str, ...]) -> pytest.MarkDecorator:
    """One test per row, named by its first text."""
    names = ("marked", "code", "message", "hint")
    padded = [(*row, *[""] * (len(names) - len(row))) for row in rows]
    ids = [f"{row[1]}-{row[0]}" for row in rows]
    return pytest.mark.parametrize(names, padded, ids=ids)
