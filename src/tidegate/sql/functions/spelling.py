"""How each engine writes names, types and constants.

The one place where quoting is decided: what reaches an engine as text was either written by a template of ours or
went through here. Spark replaces `${…}` even inside strings and reads backslashes, so both are written as `\\uXXXX`
there.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import assert_never

from tidegate.model.time import DAY, MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.sql.functions.signature import Engine, Template

_DATAFUSION_NAMES = {
    Scalar.REAL: "REAL",
    Scalar.BINARY: "BYTEA",
    Scalar.TIMESTAMP: "TIMESTAMP(6)",
    Scalar.INTERVAL: "BIGINT",
}
_SPARK_NAMES = {
    Scalar.REAL: "FLOAT",
    Scalar.VARCHAR: "STRING",
    Scalar.INTEGER: "INT",
    Scalar.INTERVAL: "BIGINT",
    Scalar.NULL: "VOID",
}
_FIRST_DAY = MIN_EVENT_TIME_US // DAY
_LAST_DAY = MAX_EVENT_TIME_US // DAY
_ESCAPED = re.compile(r"[\\'$\x00-\x1f\x7f]")
_UNESCAPED = re.compile(r"\\u([0-9a-f]{4})")


def type_name(kind: DataType, engine: Engine) -> str:
    """The type as the engine writes it in CAST."""
    match kind:
        case Scalar():
            names = _SPARK_NAMES if engine is Engine.SPARK else _DATAFUSION_NAMES
            return names.get(kind, kind.value)
        case Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case Array(element):
            return f"ARRAY<{type_name(element, engine)}>"
        case Map(key, value):
            return f"MAP<{type_name(key, engine)}, {type_name(value, engine)}>"
        case Struct(fields):
            colon = ":" if engine is Engine.SPARK else ""
            parts = (
                f"{quote(name, engine)}{colon} {type_name(part, engine)}" for name, part in fields
            )
            return f"STRUCT<{', '.join(parts)}>"
        case _:
            assert_never(kind)


def quote(name: str, engine: Engine) -> str:
    """An identifier, quoted always: no name is reserved, and case is kept."""
    if engine is Engine.SPARK:
        return "`" + name.replace("`", "``") + "`"
    return '"' + name.replace('"', '""') + '"'


def string(value: str, engine: Engine) -> str:
    """A VARCHAR constant.

    >>> print(string("it's", Engine.DATAFUSION), string("it's", Engine.SPARK))
    'it''s' 'it\\u0027s'
    """
    if engine is Engine.SPARK:
        return "'" + _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", value) + "'"
    return "'" + value.replace("'", "''") + "'"


def string_value(sql: str, engine: Engine) -> str | None:
    """The value of a constant that `string` wrote, None for NULL: templates that translate patterns need it back."""
    if sql.startswith("CAST(NULL"):
        return None
    assert sql[:1] == sql[-1:] == "'", f"not a literal: {sql}"
    if engine is Engine.SPARK:
        return _UNESCAPED.sub(lambda found: chr(int(found[1], 16)), sql[1:-1])
    return sql[1:-1].replace("''", "'")


def bigint(value: int, engine: Engine) -> str:
    suffix = "L" if engine is Engine.SPARK else ""
    if value >= 0:
        return f"{value}{suffix}"
    if value == -(2**63):
        return f"(-{2**63 - 1}{suffix} - 1{suffix})"
    return f"(-{-value}{suffix})"


def bigint_value(sql: str) -> int | None:
    """The value of a constant that `bigint` wrote, or None where the text is something else."""
    found = re.fullmatch(r"\(?(-?[0-9]+)L?\)?", sql)
    return int(found[1]) if found else None


def bigint_literal(sql: str) -> int | None:
    """As `bigint_value`, of what must be a literal; None for NULL."""
    value = bigint_value(sql)
    assert value is not None or sql.startswith("CAST(NULL"), f"not a literal: {sql}"
    return value


def null(kind: DataType, engine: Engine) -> str:
    return f"CAST(NULL AS {type_name(kind, engine)})"


def double(value: float) -> str:
    """A DOUBLE constant; the exponent keeps engines from reading it as DECIMAL."""
    if math.isnan(value) or math.isinf(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"CAST('{name}' AS DOUBLE)"
    text = repr(abs(value))
    number = text if "e" in text else f"{text}e0"
    return f"(-{number})" if math.copysign(1.0, value) < 0 else number


def timestamp_micros(sql: str, engine: Engine) -> str:
    """The instant that a BIGINT of microseconds stands for."""
    function = "timestamp_micros" if engine is Engine.SPARK else "to_timestamp_micros"
    return f"{function}({sql})"


def micros(sql: str, engine: Engine) -> str:
    """The microseconds of an instant, as BIGINT."""
    return f"unix_micros({sql})" if engine is Engine.SPARK else f"CAST({sql} AS BIGINT)"


def within(sql: str, low: int, high: int) -> str:
    """A BIGINT where it lies between two bounds, NULL elsewhere; it names its operand once."""
    clamped = f"GREATEST(LEAST({sql}, {high + 1}), {low - 1})"
    return f"NULLIF(NULLIF({clamped}, {high + 1}), {low - 1})"


def instant(sql: str, engine: Engine) -> str:
    """A TIMESTAMP in the years 1 to 9999, NULL where it is not: beyond, engines raise or disagree."""
    return timestamp_micros(instant_us(sql, engine), engine)


def instant_us(sql: str, engine: Engine) -> str:
    """The microseconds of such a TIMESTAMP."""
    return within(micros(sql, engine), MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)


def day(sql: str, engine: Engine) -> str:
    """A DATE in the years 1 to 9999, NULL where it is not."""
    if engine is Engine.SPARK:
        return f"date_from_unix_date({within(f'unix_date({sql})', _FIRST_DAY, _LAST_DAY)})"
    return f"CAST(CAST({within(f'CAST({sql} AS INT)', _FIRST_DAY, _LAST_DAY)} AS INT) AS DATE)"


Writer = Callable[[Sequence[str], Sequence[DataType], Engine], str]


def written(writer: Writer) -> dict[str, Template]:
    """Templates of both engines from one function, as arguments of `overload`."""

    def template(engine: Engine) -> Template:
        return lambda args, types, _result: writer(args, types, engine)

    return {engine.value: template(engine) for engine in Engine}


def per_engine(text: Callable[[Engine], str]) -> dict[str, str]:
    """The same construction for both engines, as arguments of `overload`."""
    return {"datafusion": text(Engine.DATAFUSION), "spark": text(Engine.SPARK)}
