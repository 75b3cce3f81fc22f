"""Durations in SQL: INTERVAL literals, `5s`-style strings, and a number with a unit.

One home for what a length may look like; windows, clauses and interval arithmetic all read it here.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import TokenType, exp

from tidegate import errors
from tidegate.model.calendar import Period
from tidegate.model.time import (
    CALENDAR_UNITS,
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
_YEARS_AND_MONTHS = re.compile(r"([+-]?)([0-9]{1,6})-([0-9]{1,6})")
_TERM = re.compile(r"(?<![0-9.])([+-]?\s*[0-9]{1,9})\s*([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+")


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


def read_period(
    text: str, unit: str, *, source: SourceText, span: Span, unit_span: Span | None = None
) -> Period:
    """As `length_us`, where months, quarters and years may stand, too."""
    try:
        return Period(us=length_us(text, unit, source=source, span=span, unit_span=unit_span))
    except CalendarLength:
        months, rest = _months(text, unit.upper())
        if months is None:
            problem = ": months come in whole numbers"
            at = source.location(span)
            raise errors.bad_interval(at, text=f"'{text[:40]}'", problem=problem) from None
        us = length_us(rest, "", source=source, span=span) if rest.strip() else 0
        return Period(months=months, us=us)


def _months(text: str, unit: str) -> tuple[int | None, str]:
    """The months of a text, and what is left of it; None if it has others than whole ones."""
    if unit == "YEAR TO MONTH":
        both = _YEARS_AND_MONTHS.fullmatch(text.strip())
        if both is None:
            return None, ""
        months = int(both[2]) * 12 + int(both[3])
        return -months if both[1] == "-" else months, ""
    written = f"{text} {unit}" if unit else text
    found = 0
    for count, name in _TERM.findall(written):
        if name.lower() in CALENDAR_UNITS:
            found += int(count.replace(" ", "")) * CALENDAR_UNITS[name.lower()]
    rest = _TERM.sub(lambda term: "" if term[2].lower() in CALENDAR_UNITS else term[0], written)
    left = any(word.lower() in CALENDAR_UNITS for word in _WORD.findall(rest))
    return (None, "") if left else (found, rest)


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
    span, unit_span = span_of(node, source), own_span(unit) if unit.name else None
    return length_us(value.name, unit.name, source=source, span=span, unit_span=unit_span)


def interval_period(node: exp.Expression, source: SourceText) -> Period:
    """As `interval_us`, where months may stand, too."""
    value, unit = node.expressions
    span, unit_span = span_of(node, source), own_span(unit) if unit.name else None
    return read_period(value.name, unit.name, source=source, span=span, unit_span=unit_span)


def read_length(cursor: "Cursor") -> Length:
    """`INTERVAL '5' SECOND`, `'5s'`, or `5 SECONDS`, in a clause."""
    period, span = read_any_length(cursor)
    if period.is_calendar:
        raise errors.calendar_length(cursor.source.location(span), unit=period)
    return Length(value_us=period.us, span=span)


def read_any_length(cursor: "Cursor") -> tuple[Period, Span]:
    """As `read_length`, where months may stand, too."""
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
    unit_at = unit_span if unit else None
    return read_period(text, unit, source=cursor.source, span=span, unit_span=unit_at), span


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
