"""Arithmetic with months, and remainders that floor: what DataFusion lacks or has for the years 1677 to 2262 only.

A month position puts every instant on a scale on which a month is always 31 days long: (months since year 0) · 31
days + time since the month began. Whole months between two instants are then a plain quotient: one more month has
passed as soon as the same day of the month and time of day are reached.
"""

from collections.abc import Sequence

from tidegate.model.time import DAY
from tidegate.model.types import DataType
from tidegate.sql.functions.signature import Engine
from tidegate.sql.functions.spelling import instant, instant_us, within

MONTH_POSITIONS = 31 * DAY
_MOST_MONTHS = 12 * 9999


def remainder(us: str, unit_us: int, *, shift: int = 0) -> str:
    """How far microseconds are past the last boundary; never negative. The operand is named once."""
    moved = f"({us} + {shift})" if shift else us
    return f"((({moved} % {unit_us}) + {unit_us}) % {unit_us})"


def month_start(sql: str, months: int) -> str:
    """DataFusion: the beginning of the month, or of the group of so many months within a year."""
    year, month = f"date_part('year', {sql})", f"date_part('month', {sql})"
    if months == 12:
        month = "1"
    elif months > 1:
        month = f"(({month} - 1) / {months}) * {months} + 1"
    return f"CAST(make_date({year}, {month}, 1) AS TIMESTAMP(6))"


def position(sql: str, engine: Engine) -> str:
    when = instant(sql, engine)
    if engine is Engine.SPARK:
        year, month, day = f"year({when})", f"month({when})", f"day({when})"
    else:
        year, month, day = (f"date_part('{part}', {when})" for part in ("year", "month", "day"))
    months = f"CAST({year} * 12 + {month} AS BIGINT) * {MONTH_POSITIONS}"
    days = f"CAST({day} AS BIGINT) * {DAY}"
    return f"({months} + {days} + {remainder(instant_us(sql, engine), DAY)})"


def counted_months(count: str, months: int, engine: Engine) -> str:
    """A number of units as months, NULL where no instant is that far from another."""
    limit = _MOST_MONTHS // months
    total = f"{within(count, -limit, limit)} * {months}"
    return f"CAST({total} AS INT)" if engine is Engine.SPARK else f"({total})"


def months_later(sql: str, months: str, engine: Engine) -> str:
    if engine is Engine.SPARK:
        return f"timestampadd(MONTH, {months}, {sql})"
    return f"({sql} + CAST(CAST({months} AS VARCHAR) || ' months' AS INTERVAL))"


def last_day(args: Sequence[str], _types: Sequence[DataType], engine: Engine) -> str:
    """DataFusion: the day before the next month begins."""
    when = instant(args[0], engine)
    if engine is Engine.SPARK:
        return f"last_day(CAST({when} AS DATE))"
    year, month = f"date_part('year', {when})", f"date_part('month', {when})"
    following = f"make_date({year} + {month} / 12, {month} % 12 + 1, 1)"
    return f"CAST({following} - INTERVAL '1 day' AS DATE)"
