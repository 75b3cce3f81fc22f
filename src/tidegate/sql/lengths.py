"""Durations in SQL: INTERVAL literals, `5s`-style strings, and a number with a unit.

One home for what a length may look like; windows, clauses and interval arithmetic all read it here.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import TokenType, exp

from tidegate import errors
from tidegate.model.time import (
    MAX_DURATION_US,
    DurationError,
    format_duration,
    parse_duration,
    unit_length_us,
)
from tidegate.sql.places import own_span, span_of
from tidegate.sql.source import SourceText, Span

if TYPE_CHECKING:
    from tidegate.sql.cursor import Cursor

_UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "week")
UNITS_HINT = f"units are {', '.join(_UNITS).upper()}"
_CLAUSE_WORDS = frozenset(
    "ON WATERMARK EMIT ALLOW ALLOWED LATE WITH ADVANCE SLIDE SIZE GROUP HAVING ORDER LIMIT UNION GRACE "
    "RETENTION".split()
)
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_NUMBER = re.compile(r"\s*[+-]?[0-9]+(?:\.[0-9]+)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """A duration that a clause was given."""

    value_us: int
    span: Span


class CalendarLength(Exception):
    """A length in months or years: its microseconds depend on when it starts."""

    def __init__(self, text: str, unit: str) -> None:
        super().__init__(text, unit)
        self.text = text
        self.unit = unit


def length_us(
    text: str, unit: str, *, source: SourceText, span: Span, unit_span: Span | None = None
) -> int:
    """Microseconds of `INTERVAL 'text' unit`; `unit` may be empty, or `HOUR TO SECOND`."""
    try:
        return _parse(text, unit.upper())
    except DurationError as refusal:
        if refusal.calendar:
            raise CalendarLength(text, refusal.unit or unit) from None
        if refusal.unit:
            at = source.location(unit_span or _inside(source, span, refusal.unit))
            hint = errors.nearest(refusal.unit, _UNITS, otherwise=UNITS_HINT)
            raise errors.unknown_unit(at, unit=refusal.unit, known=hint) from None
        at = source.location(span)
        if refusal.too_large:
            limit = format_duration(MAX_DURATION_US)
            raise errors.length_too_large(
                at, argument="the length", window="an interval", limit=limit
            ) from None
        problem = ": it has no unit" if _NUMBER.fullmatch(text) and not unit else ""
        raise errors.bad_interval(at, text=f"'{text[:40]}'", problem=problem) from None


def _parse(text: str, unit: str) -> int:
    if " TO " in unit:
        return _fields_us(text, unit)
    if not unit:
        return parse_duration(text)
    unit_length_us(unit)
    if not _NUMBER.fullmatch(text):
        raise DurationError(text)
    return parse_duration(f"{text.strip()} {unit}")


def _inside(source: SourceText, span: Span, unit: str) -> Span:
    found = source.text.lower().find(unit.lower(), span.start, span.end)
    return Span(found, found + len(unit)) if found >= 0 else span


def _fields_us(text: str, unit: str) -> int:
    first, _, last = unit.partition(" TO ")
    for name in (first, last):
        unit_length_us(name)
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        raise DurationError(text, unit=unit)
    names = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    stripped = text.strip()
    parts = re.split(r"[\s:]+", stripped.lstrip("+-"))
    if len(parts) != len(names):
        raise DurationError(text)
    total = parse_duration(
        " ".join(f"{part} {name}" for part, name in zip(parts, names, strict=True))
    )
    return -total if stripped.startswith("-") else total


def interval_us(node: exp.Expression, source: SourceText) -> int:
    """Microseconds of an INTERVAL literal in an expression (`intervals.py` made it a call)."""
    value, unit = node.expressions
    return length_us(
        value.name,
        unit.name,
        source=source,
        span=span_of(node, source),
        unit_span=own_span(unit) if unit.name else None,
    )


def read_length(cursor: "Cursor") -> Length:
    """`INTERVAL '5' SECOND`, `'5s'`, or `5 SECONDS`, in a clause."""
    start = cursor.here()
    explicit = cursor.accept("INTERVAL")
    sign = "-" if cursor.accept("-") else ""
    quoted = cursor.kind() is TokenType.STRING
    number = cursor.kind() is TokenType.NUMBER and (explicit or _is_unit(cursor.word(1)))
    if not (number or (quoted and (explicit or not sign))):
        raise cursor.unexpected("a literal interval such as INTERVAL '5' SECOND")
    text = sign + cursor.take().text
    unit_span = cursor.here()
    unit = _read_unit(cursor) if explicit or number else ""
    span = cursor.since(start)
    try:
        value_us = length_us(
            text, unit, source=cursor.source, span=span, unit_span=unit_span if unit else None
        )
    except CalendarLength as calendar:
        raise errors.calendar_length(cursor.source.location(span), unit=calendar.unit) from None
    return Length(value_us=value_us, span=span)


def _is_unit(word: str) -> bool:
    return word.isalpha() and word not in _CLAUSE_WORDS


def _read_unit(cursor: "Cursor") -> str:
    word = cursor.word()
    if not _is_unit(word):
        return ""
    cursor.position += 1
    if cursor.accept("TO"):
        return f"{word} TO {cursor.name('a time unit').text.upper()}"
    return word
