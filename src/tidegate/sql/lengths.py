"""Durations in SQL: INTERVAL literals, `5s`-style strings, and a number with a unit.

One home for what a length may look like; windows, clauses and interval arithmetic all read it here.
"""

import re
from dataclasses import dataclass

from sqlglot import TokenType, exp

from tidegate import errors
from tidegate.model.time import DurationError, parse_duration, unit_length_us
from tidegate.sql.cursor import Cursor
from tidegate.sql.places import span_of
from tidegate.sql.source import SourceText, Span

UNITS_HINT = "units are MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR, DAY and WEEK"
_CLAUSE_WORDS = frozenset(
    "ON WATERMARK EMIT ALLOW ALLOWED LATE WITH ADVANCE SLIDE SIZE GROUP HAVING ORDER LIMIT UNION GRACE RETENTION".split()
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
        self.unit = unit


def length_us(text: str, unit: str, *, source: SourceText, span: Span) -> int:
    """Microseconds of `INTERVAL 'text' unit`; `unit` may be empty, or `HOUR TO SECOND`."""
    try:
        if " TO " in unit:
            return _fields_us(text, unit)
        if not unit:
            return parse_duration(text)
        if not _NUMBER.fullmatch(text):
            raise DurationError(text)
        unit_length_us(unit)
        return parse_duration(f"{text.strip()} {unit}")
    except DurationError as refusal:
        if refusal.calendar:
            raise CalendarLength(text, refusal.unit or unit) from None
        if refusal.unit:
            at = _unit_place(source, span, refusal.unit)
            hint = errors.nearest(refusal.unit, ("second", "minute", "hour", "day", "week", "millisecond"), otherwise=UNITS_HINT)
            raise errors.unknown_unit(source.location(at), unit=refusal.unit, known=hint) from None
        raise errors.bad_interval(source.location(span), text=repr(text)) from None


def _unit_place(source: SourceText, span: Span, unit: str) -> Span:
    found = source.text.lower().find(unit.lower(), span.start, span.end + len(unit) + 20)
    return Span(found, found + len(unit)) if found >= 0 else span


def _fields_us(text: str, unit: str) -> int:
    first, _, last = unit.partition(" TO ")
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        raise DurationError(text, unit=unit)
    names = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    stripped = text.strip()
    parts = re.split(r"[\s:]+", stripped.lstrip("+-"))
    if len(parts) != len(names):
        raise DurationError(text)
    total = parse_duration(" ".join(f"{part} {name}" for part, name in zip(parts, names, strict=True)))
    return -total if stripped.startswith("-") else total


def interval_us(node: exp.Interval, source: SourceText) -> int:
    """Microseconds of an INTERVAL literal in an expression."""
    span = span_of(node, source)
    operand = node.this
    sign = 1
    while isinstance(operand, (exp.Neg, exp.Paren)):
        sign = -sign if isinstance(operand, exp.Neg) else sign
        operand = operand.this
    if not isinstance(operand, exp.Literal):
        raise errors.bad_interval(source.location(span), text="this")
    return sign * length_us(operand.name, _unit_text(node.args.get("unit")), source=source, span=span)


def _unit_text(unit: exp.Expression | None) -> str:
    if isinstance(unit, exp.IntervalSpan):
        return f"{unit.this.name.upper()} TO {unit.expression.name.upper()}"
    return unit.name if unit is not None else ""


def read_length(cursor: Cursor) -> Length:
    """`INTERVAL '5' SECOND`, `'5s'`, or `5 SECONDS`, in a clause."""
    start = cursor.here()
    explicit = cursor.accept("INTERVAL")
    sign = "-" if cursor.accept("-") else ""
    if cursor.kind() not in (TokenType.STRING, TokenType.NUMBER) or (cursor.kind() is TokenType.STRING and sign):
        raise cursor.unexpected("an interval such as INTERVAL '5' SECOND")
    quoted = cursor.kind() is TokenType.STRING
    text = sign + cursor.take().text
    unit = _read_unit(cursor) if explicit or not quoted else ""
    if not quoted and not unit:
        raise cursor.unexpected("a time unit such as SECOND")
    span = cursor.since(start)
    try:
        return Length(value_us=length_us(text, unit, source=cursor.source, span=span), span=span)
    except CalendarLength as calendar:
        raise errors.calendar_length(cursor.source.location(span), unit=calendar.unit) from None


def _read_unit(cursor: Cursor) -> str:
    word = cursor.word()
    if not word.isalpha() or word in _CLAUSE_WORDS:
        return ""
    cursor.position += 1
    if cursor.accept("TO"):
        return f"{word} TO {cursor.name('a time unit').text.upper()}"
    return word
