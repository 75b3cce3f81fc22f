"""Every option there is, in one table: its kind of value, its default, and where it may be set.

`WITH (…)`, `SET`, `tidegate.toml` and the documentation all read this table, so that an option has one name, one
meaning and one message. Connectors describe their own options in the same terms (`model/connectors.py`).
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from tidegate.model.policies import MissingEventTime, PreEpoch, SideKind, TimeMode
from tidegate.model.time import DurationError, format_duration, parse_duration

OptionValue = str | int | float | bool


class Scope(StrEnum):
    SOURCE = "source"
    TABLE = "table"
    STREAM = "stream"
    SINK = "sink"
    SESSION = "session"


class BadValue(ValueError):
    """The text says what is wrong with the value, fit to follow `name = value:`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSpec:
    name: str
    kind: str
    doc: str
    scopes: frozenset[Scope] = frozenset()
    default: OptionValue | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    aliases: tuple[str, ...] = ()

    def read(self, value: OptionValue) -> OptionValue:
        """The value in its normal form: durations in microseconds, sizes in bytes. Raises `BadValue`."""
        return _READERS[self.kind](self, value)


def _text(spec: OptionSpec, value: OptionValue) -> OptionValue:
    if not isinstance(value, str):
        raise BadValue("expected a string")
    return value


def _duration(spec: OptionSpec, value: OptionValue) -> OptionValue:
    if not isinstance(value, str):
        raise BadValue("expected a duration such as '5s'")
    try:
        duration_us = parse_duration(value)
    except DurationError:
        raise BadValue("expected a duration such as '5s' or '1 hour 30 minutes'") from None
    if duration_us < 0:
        raise BadValue("a duration cannot be negative here")
    return duration_us


def _count(spec: OptionSpec, value: OptionValue) -> OptionValue:
    digits = isinstance(value, str) and len(value) < _MOST_DIGITS and value.strip().isdecimal()
    number = int(value) if digits else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise BadValue("expected a whole number above zero")
    return number


_MOST_DIGITS = 100
_SIZE = re.compile(r"\s*([0-9]{1,18})\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


def _bytes(spec: OptionSpec, value: OptionValue) -> OptionValue:
    match = _SIZE.fullmatch(str(value)) if not isinstance(value, (bool, float)) else None
    if match is None or int(match[1]) == 0:
        raise BadValue("expected a size such as '512MB'")
    power: int = 1024 ** " kmgt".index(match[2].lower() or " ")
    return int(match[1]) * power


def _flag(spec: OptionSpec, value: OptionValue) -> OptionValue:
    lowered = str(value).strip().lower()
    if lowered not in ("true", "false"):
        raise BadValue("expected true or false")
    return lowered == "true"


def _choice(spec: OptionSpec, value: OptionValue) -> OptionValue:
    if str(value).lower() not in spec.choices:
        raise BadValue(f"expected one of {', '.join(spec.choices)}")
    return str(value).lower()


_RATE = re.compile(r"\s*([0-9]+)\s*/\s*(s|min|h)\s*", re.IGNORECASE)


def _rate(spec: OptionSpec, value: OptionValue) -> OptionValue:
    if not isinstance(value, str) or not _RATE.fullmatch(value):
        raise BadValue("expected a rate such as '1000/s'")
    return value


_ROUTE = re.compile(r"metrics_only|sink:[\w.]+|dlq_\w+|reinject:[\w.]+|\w+")


def _route(spec: OptionSpec, value: OptionValue) -> OptionValue:
    if not isinstance(value, str) or not _ROUTE.fullmatch(value):
        raise BadValue("expected metrics_only, sink:<name>, dlq_<name> or reinject:<source>")
    return value


_READERS = {
    "text": _text,
    "duration": _duration,
    "count": _count,
    "bytes": _bytes,
    "flag": _flag,
    "choice": _choice,
    "rate": _rate,
    "route": _route,
}

_SOURCE = frozenset({Scope.SOURCE, Scope.SESSION})
_STREAM = frozenset({Scope.STREAM, Scope.SESSION})
_BOTH = _SOURCE | _STREAM


def _values(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


def _option(
    name: str,
    kind: str,
    doc: str,
    scopes: frozenset[Scope],
    default: OptionValue | None = None,
    *,
    choices: tuple[str, ...] = (),
) -> OptionSpec:
    return OptionSpec(
        name=name, kind=kind, doc=doc, scopes=scopes, default=default, choices=choices
    )


def _side_outputs() -> tuple[OptionSpec, ...]:
    specs: list[OptionSpec] = []
    for kind in SideKind:
        rows = f"{kind} rows"
        specs += (
            _option(f"{kind}.sink", "route", f"where {rows} go", _STREAM, "metrics_only"),
            _option(
                f"{kind}.include_original",
                "flag",
                f"whether {rows} carry the original event",
                _STREAM,
                default=True,
            ),
            _option(
                f"{kind}.rate_limit", "rate", f"how many {rows} are forwarded at most", _STREAM
            ),
        )
    return tuple(specs)


OPTIONS: dict[str, OptionSpec] = {
    spec.name: spec
    for spec in (
        _option("event_time_field", "text", "the column that holds the event time", _BOTH),
        _option(
            "watermark_lag",
            "duration",
            "how far the watermark stays behind the latest event time",
            _BOTH,
        ),
        _option(
            "allowed_lateness", "duration", "how long a due window still takes rows", _STREAM, "0s"
        ),
        _option(
            "idle_timeout",
            "duration",
            "after how long without rows an input no longer holds the watermark back",
            _BOTH,
        ),
        _option(
            "max_future_skew", "duration", "how far ahead of the clock an event time may be", _BOTH
        ),
        _option(
            "on_missing_event_time",
            "choice",
            "what happens to a row without event time: `fallback` takes that of its record or file, then the clock",
            _BOTH,
            choices=_values(MissingEventTime),
        ),
        _option(
            "pre_epoch",
            "choice",
            "whether event times before 1970 are accepted",
            _BOTH,
            "allow",
            choices=_values(PreEpoch),
        ),
        _option(
            "time",
            "choice",
            "what windows run on when the query names no time",
            _BOTH,
            "event",
            choices=_values(TimeMode),
        ),
        _option(
            "session_gap",
            "choice",
            "whether rows exactly one gap apart share a session",
            _STREAM,
            "exclusive",
            choices=("exclusive", "inclusive"),
        ),
        _option(
            "time_zone",
            "text",
            "whose clock the marks of windows are on, such as 'Europe/Berlin' or '+05:30', where they name none",
            _STREAM,
            "UTC",
        ),
        _option(
            "max_groups",
            "count",
            "how many groups a query may hold; rows of further ones are evicted",
            _STREAM,
        ),
        _option(
            "max_open_windows",
            "count",
            "how many windows may be open; rows of further ones are evicted",
            _STREAM,
        ),
        _option(
            "max_state_bytes",
            "bytes",
            "how large the state may get before new groups are evicted",
            _STREAM,
        ),
        _option(
            "dedup_key", "text", "columns (comma-separated) whose values identify a row", _BOTH
        ),
        _option(
            "dedup_within",
            "duration",
            "up to what distance in time rows of one dedup_key are duplicates (default: any)",
            _BOTH,
        ),
        _option(
            "fuse_sliding",
            "flag",
            "whether sliding windows may be computed incrementally",
            _STREAM,
            default=True,
        ),
        *_side_outputs(),
    )
}


SPARK_OPTIONS: dict[str, OptionSpec] = {
    spec.name: spec
    for spec in (
        _option("master", "text", "the cluster's address", frozenset(), "local[*]"),
        _option(
            "state",
            "choice",
            "where state lives",
            frozenset(),
            "auto",
            choices=("driver", "executors", "auto"),
        ),
        _option("shards", "count", "how many parts state on executors has", frozenset(), 8),
        _option(
            "driver_state",
            "count",
            "bytes of state per stream from which on `auto` moves it to the executors",
            frozenset(),
            512 << 20,
        ),
        _option(
            "profile",
            "choice",
            "start quickly, or run fast",
            frozenset(),
            "dev",
            choices=("dev", "prod"),
        ),
    )
}


def describe_default(spec: OptionSpec) -> str:
    """The default as a person would write it."""
    return "" if spec.default is None else describe_value(spec, spec.read(spec.default))


def describe_value(spec: OptionSpec, value: OptionValue) -> str:
    """A value in its normal form, as a person would write it."""
    if spec.kind == "duration":
        return format_duration(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)
