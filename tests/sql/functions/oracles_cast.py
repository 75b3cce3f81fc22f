"""What CAST should give, in plain Python."""

import datetime as dt
import decimal
import math
import re
import struct
from collections.abc import Callable
from typing import Any

from tests.sql.functions.oracles_time import in_time, micros, moment
from tidegate.model.time import DAY
from tidegate.model.types import DataType, Decimal, Scalar

Oracle = Callable[..., Any]
_EXACT = decimal.Context(prec=80, rounding=decimal.ROUND_HALF_UP)
_SPACE = " \t\n\x0b\f\r"


_INTEGER_SIZES: dict[DataType, int] = {
    Scalar.TINYINT: 8,
    Scalar.SMALLINT: 16,
    Scalar.INTEGER: 32,
    Scalar.BIGINT: 64,
}


_FIXED = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"


_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:(?<=:[0-9]{2}:[0-9]{2})\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def cast_of(source: DataType, target: DataType) -> Oracle:
    """What CAST should give for a value that is not NULL."""
    if source is Scalar.VARCHAR:
        return _from_text(target)
    if target is Scalar.VARCHAR:
        return _to_text(source)
    if target is Scalar.BOOLEAN:
        return lambda value: value != 0
    if target is Scalar.TIMESTAMP:
        return lambda value: value * DAY
    if target is Scalar.DATE:
        return lambda value: value // DAY
    return _to_number(target)


def _to_number(target: DataType) -> Oracle:
    if isinstance(target, Decimal):
        return lambda value: _to_decimal(value, target)
    if target is Scalar.DOUBLE:
        return float
    if target is Scalar.REAL:
        return lambda value: _to_real(float(value))
    limit = 2 ** (_INTEGER_SIZES[target] - 1)

    def oracle(value: Any) -> int | None:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return int(value) if -limit <= int(value) < limit else None

    return oracle


def _to_real(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _to_decimal(value: Any, target: Decimal) -> decimal.Decimal | None:
    if isinstance(value, float):
        scaled = value * float(f"1e{target.scale}")
        if not math.isfinite(scaled):
            return None
        whole = decimal.Decimal(scaled).to_integral_value(decimal.ROUND_HALF_UP)
        number = whole.scaleb(-target.scale, _EXACT)
    else:
        number = decimal.Decimal(value).quantize(
            decimal.Decimal(1).scaleb(-target.scale), context=_EXACT
        )
    limit = decimal.Decimal(10) ** (target.precision - target.scale)
    return number if number.copy_abs() < limit else None


def _to_text(source: DataType) -> Oracle:
    if source is Scalar.BOOLEAN:
        return lambda value: str(value).lower()
    if source is Scalar.DATE:
        return lambda value: moment(value * DAY).date().isoformat()
    if source is Scalar.TIMESTAMP:
        return lambda value: moment(value).replace(tzinfo=None).isoformat(" ", "microseconds")
    if source is Scalar.BINARY:
        return _decoded
    if isinstance(source, Decimal):
        unit = decimal.Decimal(1).scaleb(-source.scale)
        return lambda value: f"{value.quantize(unit, context=_EXACT):f}"
    return str


def _decoded(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _from_text(target: DataType) -> Oracle:
    if target is Scalar.BINARY:
        return str.encode
    readers: dict[DataType, Oracle] = {
        Scalar.BOOLEAN: _read_boolean,
        Scalar.DATE: _read_date,
        Scalar.TIMESTAMP: _read_time,
    }
    reader = readers.get(target) or _number_reader(target)
    return lambda value: reader(value.strip(_SPACE))


def _number_reader(target: DataType) -> Oracle:
    if target in (Scalar.REAL, Scalar.DOUBLE):
        form = rf"{_FIXED}([eE][+-]?[0-9]+)?|[+-]?(?i:inf|infinity)|(?i:nan)"
        make: Oracle = float
    elif isinstance(target, Decimal):
        form, make = _FIXED, decimal.Decimal
    else:
        form, make = r"[+-]?[0-9]+", int
    finish = _to_number(target)
    return lambda text: finish(make(text)) if re.fullmatch(form, text) else None


def _read_boolean(text: str) -> bool | None:
    if text.lower() in ("true", "t", "yes", "y", "on", "1") and text.isascii():
        return True
    return False if text.lower() in ("false", "f", "no", "n", "off", "0") else None


def _read_date(text: str) -> int | None:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    us = _read_time(text)
    return None if us is None else us // DAY


def _read_time(text: str) -> int | None:
    found = _TIME.fullmatch(text)
    if not found:
        return None
    day, clock, seconds, fraction, zone = found.groups()
    try:
        when = dt.datetime.fromisoformat(f"{day}T{clock or '00:00'}{seconds or ':00'}Z")
    except ValueError:
        return None
    us = micros(when) + int((fraction or "")[:6].ljust(6, "0"))
    if zone and zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:])
        if hours > 18 or minutes > 59:
            return None
        us -= (hours * 60 + minutes) * 60_000_000 * (-1 if zone[0] == "-" else 1)
    return in_time(us)
