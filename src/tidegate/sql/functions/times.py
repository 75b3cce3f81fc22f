"""Instants, dates and their parts, all in UTC, over the years 1 to 9999, alike before and after 1970.

Decided here: truncating and every division of time floors toward the past, so that nothing is special about 1970;
weeks begin on Monday and count as ISO 8601 has it; the difference between two instants is in whole units elapsed,
toward zero; adding months ends on the last day where the month is shorter. An instant that leaves the years 1 to
9999 is `overflow`.
"""

from collections.abc import Callable, Sequence
from functools import partial

from tidegate.model.policies import Reason
from tidegate.model.time import (
    DAY,
    HOUR,
    MAX_DURATION_US,
    MICROSECOND,
    MILLISECOND,
    MINUTE,
    SECOND,
    WEEK,
)
from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions import calendar, patterns
from tidegate.sql.functions.arithmetic import instant_within
from tidegate.sql.functions.signature import (
    BIGINT,
    DATE,
    TIMESTAMP,
    VARCHAR,
    Engine,
    Function,
    Overload,
    Template,
    choice,
    constant,
    entry,
    overload,
)
from tidegate.sql.functions.spelling import (
    day,
    instant,
    instant_us,
    micros,
    null,
    per_engine,
    string,
    string_value,
    timestamp_micros,
    type_name,
    within,
    written,
)

_FIXED = {
    "microsecond": MICROSECOND,
    "millisecond": MILLISECOND,
    "second": SECOND,
    "minute": MINUTE,
    "hour": HOUR,
    "day": DAY,
    "week": WEEK,
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_function = partial(entry, "times")
_UNIT = choice("a unit of time", *_FIXED, *_MONTHS)


def _by_unit(writer: Callable[[str, Sequence[str], Engine], str]) -> dict[str, Template]:
    """Templates that depend on the unit, which is their first argument."""

    def template(engine: Engine) -> Template:
        def text(args: Sequence[str], _types: Sequence[DataType], result: DataType) -> str:
            unit = string_value(args[0], engine)
            if unit is None:
                return null(result, engine)
            return writer(unit.lower(), args[1:], engine)

        return text

    return {engine.value: template(engine) for engine in Engine}


def _truncated(unit: str, args: Sequence[str], engine: Engine) -> str:
    if engine is Engine.SPARK:
        return f"date_trunc('{unit}', {instant(args[0], engine)})"
    if unit in _MONTHS:
        return calendar.month_start(instant(args[0], engine), _MONTHS[unit])
    us, unit_us = instant_us(args[0], engine), _FIXED[unit]
    monday = 3 * DAY if unit == "week" else 0  # 1970-01-01 was a Thursday
    return timestamp_micros(f"({us} - {calendar.remainder(us, unit_us, shift=monday)})", engine)


def _difference(unit: str, args: Sequence[str], engine: Engine) -> str:
    if unit in _MONTHS:
        positions = [calendar.position(arg, engine) for arg in args]
        length = calendar.MONTH_POSITIONS * _MONTHS[unit]
    else:
        positions = [instant_us(arg, engine) for arg in args]
        length = _FIXED[unit]
    elapsed = f"({positions[1]} - {positions[0]})"
    return f"({elapsed} {f'DIV {length}L' if engine is Engine.SPARK else f'/ {length}'})"


def _shifted(unit: str, args: Sequence[str], engine: Engine) -> str:
    """First the count is held to what two instants can be apart, so that no sum leaves 64 bits."""
    if unit in _MONTHS:
        months = calendar.counted_months(args[0], _MONTHS[unit], engine)
        return instant_within(
            micros(calendar.months_later(instant(args[1], engine), months, engine), engine), engine
        )
    unit_us = _FIXED[unit]
    limit = MAX_DURATION_US // unit_us
    count = within(args[0], -limit, limit)
    added = f"{count} * {unit_us}{'L' if engine is Engine.SPARK else ''}"
    total = (
        f"try_add({micros(args[1], engine)}, {added})"
        if engine is Engine.SPARK
        else f"{micros(args[1], engine)} + {added}"
    )
    return instant_within(total, engine)


def _month_shifted(kind: Scalar) -> dict[str, Template]:
    def template(engine: Engine) -> Template:
        def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
            when = args[0]
            if kind is Scalar.DATE:
                when = f"CAST({day(when, engine)} AS {type_name(Scalar.TIMESTAMP, engine)})"
            later = _shifted("month", (args[1], when), engine)
            return f"CAST({later} AS DATE)" if kind is Scalar.DATE else later

        return text

    return {engine.value: template(engine) for engine in Engine}


def _part(name: str, doc: str, spark: str, *, aliases: tuple[str, ...] = ()) -> Function:
    example = f"EXTRACT({name.upper()} FROM ts)"
    return _function(f"extract_{name}", doc, example, _part_overload(name, spark), aliases=aliases)


def _part_overload(datafusion: str, spark: str, *, plus: int = 0) -> Overload:
    """`datafusion` is the name of a part, `spark` a template."""
    added = f" + {plus}" if plus else ""
    part = f"date_part('{datafusion}', {instant('{0}', Engine.DATAFUSION)})"
    return overload(
        [TIMESTAMP],
        Scalar.BIGINT,
        datafusion=f"CAST({part}{added} AS BIGINT)",
        spark=f"CAST({spark.format(instant('{0}', Engine.SPARK))} AS BIGINT)",
    )


def _inside_minute(divisor: int) -> dict[str, str]:
    def text(engine: Engine) -> str:
        inside = calendar.remainder(instant_us("{0}", engine), MINUTE)
        if divisor == 1:
            return inside
        return f"{inside} DIV {divisor}L" if engine is Engine.SPARK else f"({inside} / {divisor})"

    return per_engine(text)


def _formatted(args: Sequence[str], _types: Sequence[DataType], engine: Engine) -> str:
    pattern = string_value(args[1], engine)
    if pattern is None:
        return null(Scalar.VARCHAR, engine)
    when = instant(args[0], engine)
    if engine is Engine.SPARK:
        return f"date_format({when}, {args[1]})"
    return f"to_char({when}, {string(patterns.strftime(pattern), engine)})"


_FORMAT = constant("a date pattern (VARCHAR)", VARCHAR, patterns.date_pattern_problem)


TIMES = (
    _function(
        "date_trunc",
        "The beginning of the unit that the instant lies in; weeks begin on Monday.",
        "date_trunc('hour', ts)",
        overload([_UNIT, TIMESTAMP], Scalar.TIMESTAMP, **_by_unit(_truncated)),
    ),
    _part("year", "The year.", "year({0})", aliases=("year",)),
    _part("quarter", "The quarter, 1 to 4.", "quarter({0})", aliases=("quarter",)),
    _part("month", "The month, 1 to 12.", "month({0})", aliases=("month",)),
    _part("week", "The ISO week, 1 to 53.", "weekofyear({0})", aliases=("week", "weekofyear")),
    _part("isoyear", "The year that the ISO week belongs to.", "extract(YEAROFWEEK FROM {0})"),
    _part(
        "day", "The day of the month.", "day({0})", aliases=("day", "dayofmonth", "day_of_month")
    ),
    _part("dow", "The day of the week, Sunday 0 to Saturday 6.", "dayofweek({0}) - 1"),
    _part("isodow", "The day of the week, Monday 1 to Sunday 7.", "weekday({0}) + 1"),
    _part("doy", "The day of the year.", "dayofyear({0})", aliases=("dayofyear", "day_of_year")),
    _part("hour", "The hour, 0 to 23.", "hour({0})", aliases=("hour",)),
    _part("minute", "The minute, 0 to 59.", "minute({0})", aliases=("minute",)),
    _part("second", "The whole second, 0 to 59.", "second({0})", aliases=("second",)),
    _function(
        "extract_millisecond",
        "Milliseconds since the minute began, 0 to 59999 (as in PostgreSQL).",
        "EXTRACT(MILLISECOND FROM ts)",
        overload([TIMESTAMP], Scalar.BIGINT, **_inside_minute(MILLISECOND)),
    ),
    _function(
        "extract_microsecond",
        "Microseconds since the minute began, 0 to 59999999 (as in PostgreSQL).",
        "EXTRACT(MICROSECOND FROM ts)",
        overload([TIMESTAMP], Scalar.BIGINT, **_inside_minute(1)),
    ),
    _function(
        "dayofweek",
        "The day of the week, Sunday 1 to Saturday 7 (as in Spark).",
        "dayofweek(ts)",
        _part_overload("dow", "dayofweek({0})", plus=1),
        aliases=("day_of_week",),
    ),
    _function(
        "timestampdiff",
        "Whole units from the first instant to the second, toward zero.",
        "timestampdiff(SECOND, opened, closed)",
        overload([_UNIT, TIMESTAMP, TIMESTAMP], Scalar.BIGINT, **_by_unit(_difference)),
        aliases=("datediff", "date_diff"),
    ),
    _function(
        "timestampadd",
        "The instant so many units later. `overflow` outside the years 1 to 9999.",
        "timestampadd(MONTH, 1, ts)",
        overload(
            [_UNIT, BIGINT, TIMESTAMP],
            Scalar.TIMESTAMP,
            fails=Reason.OVERFLOW,
            **_by_unit(_shifted),
        ),
        aliases=("dateadd", "date_add"),
    ),
    _function(
        "add_months",
        "So many months later, or the last day where the month is shorter. `overflow` outside the years 1 to 9999.",
        "add_months(ts, 1)",
        overload([DATE, BIGINT], Scalar.DATE, fails=Reason.OVERFLOW, **_month_shifted(Scalar.DATE)),
        overload(
            [TIMESTAMP, BIGINT],
            Scalar.TIMESTAMP,
            fails=Reason.OVERFLOW,
            **_month_shifted(Scalar.TIMESTAMP),
        ),
    ),
    _function(
        "last_day",
        "The last day of the month.",
        "last_day(ts)",
        overload([TIMESTAMP], Scalar.DATE, **written(calendar.last_day)),
    ),
    _function(
        "date_format",
        "The instant as text, by a literal pattern such as yyyy-MM-dd HH:mm:ss.SSS.",
        "date_format(ts, 'yyyy-MM-dd')",
        overload([TIMESTAMP, _FORMAT], Scalar.VARCHAR, **written(_formatted)),
    ),
)
