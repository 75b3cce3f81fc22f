"""Calls about time that are short for an expression of ours: days, epochs, buckets, and texts in a format.

A text in a format is read by a regular expression that makes it ISO 8601, which CAST reads: one reader of instants,
the same on every engine, and what is no such text is an `invalid_cast` like any other.
"""

from sqlglot import exp

from tidegate import errors
from tidegate.sql.intervals import is_interval
from tidegate.sql.lengths import CalendarLength, interval_us, length_us
from tidegate.sql.places import span_of
from tidegate.sql.respelled.building import (
    Arguments,
    Respelling,
    call,
    case,
    cast,
    constant_text,
    number,
    string,
)
from tidegate.sql.respelled.formats import FormatProblem, from_oracle, from_strftime, reader_of
from tidegate.sql.source import SourceText

_TO_THE_SECOND = "yyyy-MM-dd HH:mm:ss"
_UNITS = {
    "yy": "year", "yyyy": "year", "mm": "month", "mon": "month", "q": "quarter", "dd": "day", "hh": "hour",
    "mi": "minute", "ss": "second",
}  # fmt: skip
_TRUNCATED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")


def _days_later(sign: int) -> "Respelling":
    names = ("date_add", "adddate") if sign > 0 else ("date_sub", "subdate")

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        if len(given) != 2:
            return None
        day, count = given
        days = count if sign > 0 else exp.Neg(this=exp.Paren(this=count))
        return cast(call("timestampadd", string("day"), days, cast(day, "date")), "date")

    symbol = "+" if sign > 0 else "-"
    return Respelling(
        names=names,
        form=f"{names[0]}(date, n)",
        means=f"the DATE {symbol} n days",
        rewrite=rewrite,
    )


def _days_between(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """Spark's and MySQL's: the later one first."""
    if len(given) != 2:
        return None
    return call("timestampdiff", string("day"), cast(given[1], "date"), cast(given[0], "date"))


# Texts


def _read_as(kind: str) -> "_Read":
    return _Read(kind)


class _Read:
    """`f(text, format)` as an instant or a day."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self, given: Arguments, source: SourceText) -> exp.Expression | None:
        if len(given) != 2:
            return None
        text, pattern = given
        known = constant_text(pattern)
        if known is None:
            raise errors.argument_not_constant(
                source.location(span_of(pattern, source)),
                argument="the format",
                function=f"TO_{self._kind.upper()}",
                expected="text such as 'yyyy-MM-dd HH:mm:ss'",
            )
        return self.read(text, pattern, known, source)

    def read(
        self, text: exp.Expression, pattern: exp.Expression, known: str, source: SourceText
    ) -> exp.Expression:
        try:
            regex, iso = reader_of(known)
        except FormatProblem as problem:
            raise errors.bad_literal(
                source.location(span_of(pattern, source)),
                text=f"'{known}'",
                type="date format",
                form=str(problem),
            ) from None
        matches = call("rlike", text.copy(), string(regex))
        rewritten = call("regexp_replace", text.copy(), string(regex), string(iso))
        unread = exp.DPipe(this=string("not in the format: "), expression=text)
        instant = cast(case(matches, rewritten, unread), "timestamp")
        return instant if self._kind == "timestamp" else cast(instant, self._kind)


_INSTANT, _DAY = _read_as("timestamp"), _read_as("date")


def _strptime(given: Arguments, source: SourceText) -> exp.Expression | None:
    known = constant_text(given[1]) if len(given) == 2 else None
    if known is None:
        return None
    return _INSTANT.read(given[0], given[1], from_strftime(known), source)


def _seconds_of_text(given: Arguments, source: SourceText) -> exp.Expression | None:
    """Of an instant, too."""
    instant = call("to_timestamp", given[0]) if len(given) == 1 else _INSTANT(given, source)
    return None if instant is None else call("unix_seconds", instant)


def _millis_of_text(given: Arguments, source: SourceText) -> exp.Expression | None:
    instant = _INSTANT(given, source)
    return None if instant is None else call("unix_millis", instant)


def _written(given: Arguments, _source: SourceText) -> exp.Expression | None:
    return call("date_format", *given) if len(given) == 2 else None


def _strftime(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """SQLite has the format first, DuckDB the instant."""
    if len(given) != 2:
        return None
    when, pattern = given if constant_text(given[1]) is not None else reversed(given)
    known = constant_text(pattern)
    return None if known is None else _formatted(when, pattern, from_strftime(known))


def _to_char(given: Arguments, _source: SourceText) -> exp.Expression | None:
    known = constant_text(given[1]) if len(given) == 2 else None
    return None if known is None else _formatted(given[0], given[1], from_oracle(known))


def _formatted(when: exp.Expression, written: exp.Expression, pattern: str) -> exp.Expression:
    text = string(pattern)
    text.meta.update(written.meta)
    return call("date_format", when, text)


def _from_unix(given: Arguments, _source: SourceText) -> exp.Expression | None:
    if len(given) not in (1, 2):
        return None
    pattern = given[1] if len(given) == 2 else string(_TO_THE_SECOND)
    return call("date_format", call("to_timestamp_s", given[0]), pattern)


def _of_precision(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """Flink's `TO_TIMESTAMP_LTZ(n, 3)` counts milliseconds, with 0 seconds."""
    if len(given) == 1:
        return call("to_timestamp_ms", given[0])
    precision = given[1].name if len(given) == 2 and isinstance(given[1], exp.Literal) else ""
    name = {"0": "to_timestamp_s", "3": "to_timestamp_ms"}.get(precision)
    return call(name, given[0]) if name else None


def _from_millis(given: Arguments, _source: SourceText) -> exp.Expression | None:
    if len(given) != 2:
        return None
    return call("date_format", call("to_timestamp_ms", given[0]), given[1])


# Beginnings of units, and buckets


def _unit(node: exp.Expression) -> str | None:
    word = (constant_text(node) or "").lower()
    unit = _UNITS.get(word, word.removesuffix("s"))
    return unit if unit in _TRUNCATED else None


def _floored(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """Calcite's `FLOOR(ts TO HOUR)`, whose tokens are those of `FLOOR(ts, 'HOUR')` by now."""
    unit = _unit(given[1]) if len(given) == 2 else None
    return call("date_trunc", string(unit), given[0]) if unit else None


def _ceiled(given: Arguments, source: SourceText) -> exp.Expression | None:
    floor = _floored([part.copy() for part in given], source)
    if floor is None:
        return None
    unit = _unit(given[1])
    assert unit is not None
    later = call("timestampadd", string(unit), number(1), floor.copy())
    return case(exp.EQ(this=floor, expression=given[0]), given[0].copy(), later)


def _truncated_day(given: Arguments, source: SourceText) -> exp.Expression | None:
    """Spark's `TRUNC(date, 'MM')` and Oracle's."""
    return _floored(given, source)


def _length(node: exp.Expression, source: SourceText) -> exp.Expression | None:
    """Microseconds of an INTERVAL, or of a text such as '5 minutes'."""
    span = span_of(node, source)
    try:
        if is_interval(node):
            length = interval_us(node, source)
        elif (text := constant_text(node)) is not None:
            length = length_us(text, "", source=source, span=span)
        else:
            return None
    except CalendarLength as calendar:
        raise errors.unsupported_expression(
            source.location(span),
            what=f"a bucket of calendar length ({calendar.unit})",
            instead="write DATE_TRUNC('month', ts)",
        ) from None
    if length <= 0:
        raise errors.length_not_positive(
            source.location(span), argument="the length", window="TIME_BUCKET", value=length
        )
    return number(length)


def _bucket(given: Arguments, source: SourceText) -> exp.Expression | None:
    """The beginning of the bucket of that length; from the origin, or from 1970."""
    if len(given) not in (2, 3):
        return None
    length, when, *origin = given
    size = _length(length, source)
    if size is None:
        return None
    position: exp.Expression = call("unix_micros", when.copy())
    if origin:
        first = cast(origin[0], "timestamp")
        position = exp.Sub(this=position, expression=call("unix_micros", first))
    into = exp.Mod(
        this=exp.Paren(
            this=exp.Add(
                this=exp.Mod(this=exp.Paren(this=position), expression=size), expression=size.copy()
            )
        ),
        expression=size.copy(),
    )
    begins = exp.Sub(this=call("unix_micros", when), expression=exp.Paren(this=into))
    return call("to_timestamp_us", begins)


TIMES = (
    _days_later(1),
    _days_later(-1),
    Respelling(
        names=("datediff",),
        form="datediff(end, start)",
        means="TIMESTAMPDIFF(DAY, start, end), of days",
        rewrite=_days_between,
    ),
    Respelling(
        names=("to_timestamp", "parse_timestamp", "try_to_timestamp"),
        form="to_timestamp(x, 'dd.MM.yyyy HH:mm')",
        means="the instant that a text in this format names; else `invalid_cast`",
        rewrite=_INSTANT,
    ),
    Respelling(
        names=("to_date", "parse_date", "stringtodate"),
        form="to_date(x, 'dd.MM.yyyy')",
        means="the day that a text in this format names; else `invalid_cast`",
        rewrite=_DAY,
    ),
    Respelling(
        names=("strptime",),
        form="strptime(x, '%d.%m.%Y')",
        means="TO_TIMESTAMP(x, 'dd.MM.yyyy')",
        rewrite=_strptime,
    ),
    Respelling(
        names=("unix_timestamp", "to_unix_timestamp"),
        form="unix_timestamp(x, 'yyyy-MM-dd')",
        means="UNIX_SECONDS(TO_TIMESTAMP(x, 'yyyy-MM-dd'))",
        rewrite=_seconds_of_text,
    ),
    Respelling(
        names=("stringtotimestamp",),
        form="stringtotimestamp(x, 'yyyy-MM-dd')",
        means="UNIX_MILLIS(TO_TIMESTAMP(x, 'yyyy-MM-dd'))",
        rewrite=_millis_of_text,
    ),
    Respelling(
        names=("format_timestamp", "format_date"),
        form="format_timestamp(ts, 'yyyy-MM-dd')",
        means="DATE_FORMAT(ts, 'yyyy-MM-dd')",
        rewrite=_written,
    ),
    Respelling(
        names=("timestamptostring",),
        form="timestamptostring(ms, 'yyyy-MM-dd')",
        means="DATE_FORMAT(TO_TIMESTAMP_MS(ms), 'yyyy-MM-dd')",
        rewrite=_from_millis,
    ),
    Respelling(
        names=("to_timestamp_ltz",),
        form="to_timestamp_ltz(n, 3)",
        means="TO_TIMESTAMP_MS(n); with 0, TO_TIMESTAMP_S(n)",
        rewrite=_of_precision,
    ),
    Respelling(
        names=("from_unixtime",),
        form="from_unixtime(s [, format])",
        means="DATE_FORMAT(TO_TIMESTAMP_S(s), 'yyyy-MM-dd HH:mm:ss')",
        rewrite=_from_unix,
    ),
    Respelling(
        names=("strftime",),
        form="strftime(ts, '%Y-%m-%d')",
        means="DATE_FORMAT(ts, 'yyyy-MM-dd')",
        rewrite=_strftime,
    ),
    Respelling(
        names=("to_char",),
        form="to_char(ts, 'YYYY-MM-DD HH24:MI:SS')",
        means="DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')",
        rewrite=_to_char,
    ),
    Respelling(
        names=("floor",),
        form="FLOOR(ts TO HOUR)",
        means="DATE_TRUNC('hour', ts)",
        rewrite=_floored,
    ),
    Respelling(
        names=("ceil", "ceiling"),
        form="CEIL(ts TO HOUR)",
        means="the next full hour, or ts if it is one",
        rewrite=_ceiled,
    ),
    Respelling(
        names=("trunc",),
        form="trunc(date, 'MM')",
        means="DATE_TRUNC('month', date)",
        rewrite=_truncated_day,
    ),
    Respelling(
        names=("time_bucket", "date_bin"),
        form="time_bucket(length, ts [, origin])",
        means="the beginning of the bucket of that length, counted from the origin, or from 1970",
        rewrite=_bucket,
    ),
)
