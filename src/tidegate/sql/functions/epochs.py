"""Instants from numbers and text, and numbers from instants."""

from functools import partial

from tidegate.model.policies import Reason
from tidegate.model.time import (
    MAX_EVENT_TIME_US,
    MICROSECOND,
    MILLISECOND,
    MIN_EVENT_TIME_US,
    SECOND,
)
from tidegate.model.types import Scalar
from tidegate.sql.functions import casts
from tidegate.sql.functions.signature import (
    BIGINT,
    TIMESTAMP,
    VARCHAR,
    Engine,
    Function,
    Overload,
    Param,
    entry,
    overload,
)
from tidegate.sql.functions.spelling import micros, per_engine, timestamp_micros, within

_function = partial(entry, "times")


def _floored(us: str, unit_us: int, engine: Engine) -> str:
    """Whole units of any BIGINT, toward the past; subtracting before dividing could leave 64 bits."""
    if unit_us == MICROSECOND:
        return us
    quotient = f"{us} DIV {unit_us}L" if engine is Engine.SPARK else f"{us} / {unit_us}"
    return f"({quotient} - CASE WHEN {us} % {unit_us} < 0 THEN 1 ELSE 0 END)"


def _from_number(name: str, unit: str, us: int, aliases: tuple[str, ...]) -> Function:
    def text(engine: Engine) -> str:
        number = within("{0}", MIN_EVENT_TIME_US // us, MAX_EVENT_TIME_US // us)
        return timestamp_micros(f"({number} * {us}{'L' if engine is Engine.SPARK else ''})", engine)

    doc = f"The instant that many {unit} after 1970-01-01 00:00 UTC. `overflow` outside the years 1 to 9999."
    instant = overload([BIGINT], Scalar.TIMESTAMP, fails=Reason.OVERFLOW, **per_engine(text))
    return _function(name, doc, f"{name}(n)", instant, aliases=aliases)


def _to_number(name: str, unit: str, us: int, aliases: tuple[str, ...]) -> Function:
    return _function(
        name,
        f"Whole {unit} since 1970-01-01 00:00 UTC, toward the past.",
        f"{name}(ts)",
        _number_overload(us),
        aliases=aliases,
    )


def _number_overload(us: int) -> Overload:
    text = per_engine(lambda engine: _floored(micros("{0}", engine), us, engine))
    return overload([TIMESTAMP], Scalar.BIGINT, **text)


def _converted(source: Param, kind: Scalar, target: Scalar) -> Overload:
    """CAST under the name of a function."""
    texts = {engine.value: casts.cast_template(kind, target, engine) for engine in Engine}
    fails = Reason.INVALID_CAST if casts.may_fail(kind, target) else None
    return overload([source], target, fails=fails, **texts)


def _nanos(engine: Engine) -> str:
    return timestamp_micros(_floored("{0}", 1000, engine), engine)


_MILLIS = _from_number(
    "to_timestamp_ms", "milliseconds", MILLISECOND, ("to_timestamp_millis", "timestamp_millis")
)

EPOCHS = (
    _to_number(
        "unix_seconds",
        "seconds",
        SECOND,
        ("extract_epoch", "epoch", "unix_timestamp", "to_unixtime"),
    ),
    _to_number("unix_millis", "milliseconds", MILLISECOND, ()),
    _to_number("unix_micros", "microseconds", MICROSECOND, ("epoch_us",)),
    _from_number(
        "to_timestamp_s", "seconds", SECOND, ("to_timestamp_seconds", "timestamp_seconds")
    ),
    _MILLIS,
    _from_number(
        "to_timestamp_us",
        "microseconds",
        MICROSECOND,
        ("to_timestamp_micros", "timestamp_micros", "make_timestamp"),
    ),
    _function(
        "to_timestamp_ns",
        "The instant that many nanoseconds after 1970-01-01 00:00 UTC, in whole microseconds, toward the past.",
        "to_timestamp_ns(n)",
        overload([BIGINT], Scalar.TIMESTAMP, **per_engine(_nanos)),
        aliases=("to_timestamp_nanos", "make_timestamp_ns"),
    ),
    _function(
        "epoch_ms",
        "Milliseconds as an instant, and an instant as milliseconds (as in DuckDB).",
        "epoch_ms(n)",
        *_MILLIS.overloads,
        _number_overload(MILLISECOND),
    ),
    _function(
        "to_timestamp",
        "The instant that an ISO 8601 text names; what CAST does.",
        "to_timestamp('2026-01-01T00:00:00Z')",
        _converted(VARCHAR, Scalar.VARCHAR, Scalar.TIMESTAMP),
        _converted(TIMESTAMP, Scalar.TIMESTAMP, Scalar.TIMESTAMP),
    ),
    _function(
        "date",
        "The day that the instant lies in, or that a text names; what CAST does.",
        "date(ts)",
        _converted(VARCHAR, Scalar.VARCHAR, Scalar.DATE),
        _converted(TIMESTAMP, Scalar.TIMESTAMP, Scalar.DATE),
        aliases=("to_date",),
    ),
)
