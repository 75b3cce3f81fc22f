"""TIMESTAMP columns as files spell them, turned into the kernel's instants.

Decided here: an integer is milliseconds since the epoch, as in scenario files; a text is ISO 8601, in UTC unless it
names a zone; digits below a microsecond are cut off. An instant outside the years 1 to 9999 is none. What the kernels
of Arrow do not read, `parse_instant` may (basic formats, weeks): it has the last word, text by text.
"""

import pyarrow as pa
import pyarrow.compute as pc

from tidegate.model.time import (
    MAX_EVENT_TIME_US,
    MILLISECOND,
    MIN_EVENT_TIME_US,
    parse_instant,
)

INSTANT = pa.timestamp("us", tz="UTC")
_ZONED = r"[T ]\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_DIGITS = r"^[+-]?\d+$"
_TOO_FINE = r"(\.\d{6})\d+"


def from_texts(texts: pa.Array, *, digits: bool) -> pa.Array:
    """Instants of ISO texts; with `digits`, a text of digits only is milliseconds. Raises for what is neither.

    >>> texts = pa.array(["1970-01-01 00:00:01", "1970-01-01T01:00:00.5+01:00", "-5"])
    >>> from_texts(texts, digits=True).cast(pa.int64()).to_pylist()
    [1000000, 500000, -5000]
    """
    if not digits:
        return within_range(_iso(texts))
    numeric = pc.match_substring_regex(texts, _DIGITS)
    if not pc.any(numeric).as_py():
        return within_range(_iso(texts))
    nothing = pa.nulls(len(texts), pa.string())
    stripped = pc.replace_substring(pc.if_else(numeric, texts, nothing), "+", "")
    instants = from_milliseconds(pc.cast(stripped, pa.int64()))
    return pc.coalesce(instants, within_range(_iso(pc.if_else(numeric, nothing, texts))))


def _iso(texts: pa.Array) -> pa.Array:
    try:
        return _cast(pc.replace_substring_regex(texts, _TOO_FINE, r"\1"))
    except pa.ArrowInvalid:
        if len(texts) > 1:
            raise
        return pa.array([parse_instant(texts[0].as_py())], pa.int64()).cast(INSTANT)


def _cast(texts: pa.Array) -> pa.Array:
    zoned = pc.match_substring_regex(texts, _ZONED)
    if not pc.any(zoned).as_py():
        return texts.cast(pa.timestamp("us")).cast(INSTANT)
    if pc.all(zoned).as_py() and not zoned.null_count:
        return texts.cast(INSTANT)
    nothing = pa.nulls(len(texts), pa.string())
    naive = pc.if_else(zoned, nothing, texts).cast(pa.timestamp("us")).cast(INSTANT)
    return pc.coalesce(pc.if_else(zoned, texts, nothing).cast(INSTANT), naive)


def from_milliseconds(numbers: pa.Array) -> pa.Array:
    """Instants of milliseconds since the epoch."""
    _check(numbers, MILLISECOND)
    return pc.multiply(numbers, MILLISECOND).cast(INSTANT)


def from_timestamps(array: pa.Array) -> pa.Array:
    """Instants of Arrow timestamps of any unit; those without a zone are UTC."""
    if array.type.unit == "ns":
        array = pc.floor_temporal(array.cast(pa.timestamp("ns")), unit="microsecond")
    return within_range(array.cast(pa.timestamp("us", tz=array.type.tz)).cast(INSTANT))


def within_range(instants: pa.Array) -> pa.Array:
    _check(instants.cast(pa.int64()), 1)
    return instants


def _check(numbers: pa.Array, unit_us: int) -> None:
    bounds = pc.min_max(numbers).as_py()
    if bounds["min"] is None:
        return
    if bounds["min"] * unit_us < MIN_EVENT_TIME_US or bounds["max"] * unit_us > MAX_EVENT_TIME_US:
        raise pa.ArrowInvalid("outside the years 1 to 9999")
