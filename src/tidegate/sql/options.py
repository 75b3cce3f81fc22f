"""`WITH (key = value, …)` and the values that options take."""

import math

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.sql.cursor import Cursor, Name
from tidegate.sql.dialect import span_of_token
from tidegate.sql.source import Span
from tidegate.sql.statements import Option, OptionValue

_TRUTH = {"TRUE": True, "FALSE": False}


def read_options(cursor: Cursor) -> tuple[Option, ...]:
    """`WITH ( 'key' = 'value', key = 5, a.b = true )`. A key may be given once."""
    cursor.expect("WITH")
    options = cursor.comma_separated(lambda: read_option(cursor))
    seen: set[str] = set()
    for option in options:
        if option.key.text.lower() in seen:
            raise errors.duplicate_name(
                cursor.source.location(option.key.span), what="option", name=option.key
            )
        seen.add(option.key.text.lower())
    return tuple(options)


def read_option(cursor: Cursor) -> Option:
    key = _read_key(cursor)
    cursor.expect("=")
    value, span = _read_value(cursor)
    return Option(key=key, value=value, span=span)


def _read_key(cursor: Cursor) -> Name:
    if cursor.kind() is TokenType.STRING:
        text, span = cursor.string("an option")
        return Name(text, span)
    name = cursor.name("the name of an option")
    text = name.text
    while cursor.accept("."):
        text += "." + cursor.name("the rest of the name").text
    return Name(text, cursor.since(name.span))


def _read_value(cursor: Cursor) -> tuple[OptionValue, Span]:
    start = cursor.here()
    if cursor.kind() is TokenType.STRING:
        return cursor.string("a value")
    negative = cursor.accept("-")
    if cursor.kind() is TokenType.NUMBER:
        token = cursor.take()
        number = _number(cursor, token)
        return (-number if negative else number), cursor.since(start)
    if not negative and cursor.accept("INTERVAL"):
        return _interval_text(cursor), cursor.since(start)
    if not negative and cursor.word() in _TRUTH:
        token = cursor.take()
        return _TRUTH[token.text.upper()], span_of_token(token)
    raise cursor.unexpected("a value: a string, a number, TRUE or FALSE")


def _number(cursor: Cursor, token: Token) -> int | float:
    """Whole numbers stay whole; what no option can mean is refused here, before anything computes with it."""
    try:
        number = int(token.text) if token.text.isdecimal() else float(token.text)
        if math.isfinite(number):
            return number
    except (ValueError, OverflowError):
        pass
    at = cursor.source.location(span_of_token(token))
    raise errors.bad_literal(at, text=token.text[:40], type="number", form="")


def _interval_text(cursor: Cursor) -> str:
    """INTERVAL '5' SECOND as the text `5 SECOND`, which durations are read from."""
    text, _span = cursor.string("an interval such as INTERVAL '5' SECOND")
    return text if cursor.word() in (",", ")", "") else f"{text} {cursor.take().text}"
