"""What each function should give, in plain Python. Instants and intervals are microseconds, dates are days.

An oracle sees arguments as the overload takes them and is not asked where one is NULL, unless it is in `SEES_NULLS`. It shares
nothing with the templates but the documentation.
"""

import datetime as dt
import decimal
import hashlib
import math
import operator
import re
import struct
from collections.abc import Callable
from typing import Any

from tidegate.model.time import DAY, MAX_DURATION_US, MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import DataType, Decimal, Scalar

Oracle = Callable[..., Any]
_EXACT = decimal.Context(prec=80, rounding=decimal.ROUND_HALF_UP)
EPOCH = dt.datetime(1970, 1, 1)
_LONGEST = 1_000_000


def converted(value: Any, source: DataType, target: DataType) -> Any:
    """The implicit conversions of arguments."""
    if value is None or source == target:
        return value
    if target is Scalar.DOUBLE:
        return float(value)
    if isinstance(target, Decimal):
        return decimal.Decimal(value)
    return value * DAY if (source, target) == (Scalar.DATE, Scalar.TIMESTAMP) else value


def _in_bigint(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def _in_time(value: int) -> int | None:
    return value if MIN_EVENT_TIME_US <= value <= MAX_EVENT_TIME_US else None


def _in_interval(value: int) -> int | None:
    return value if abs(value) <= MAX_DURATION_US else None


_RANGES = {Scalar.BIGINT: _in_bigint, Scalar.TIMESTAMP: _in_time, Scalar.INTERVAL: _in_interval}


def arithmetic(symbol: str, result: DataType) -> Oracle:
    plain = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
    exact = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}[symbol]
    if isinstance(result, Decimal):
        return exact
    if result is Scalar.DOUBLE:
        return lambda left, right: plain(float(left), float(right))
    inside = _RANGES[Scalar(result)]
    return lambda left, right: inside(plain(left, right))


def _remainder(left: Any, right: Any) -> Any:
    if right == 0:
        return None
    if isinstance(left, int):
        return left - right * _quotient(left, right)
    return math.fmod(left, right) if math.isfinite(left) else math.nan


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def key(value: Any) -> Any:
    """Order of SQL: NaN is the largest, and equal to itself."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value


def _compared(compare: Callable[[Any, Any], bool]) -> Oracle:
    return lambda left, right: compare(key(left), key(right))


def _in(value: Any, *listed: Any) -> bool | None:
    if value is None:
        return None
    if any(item is not None and key(item) == key(value) for item in listed):
        return True
    return None if None in listed else False


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _like(value: str, pattern: str) -> bool:
    tokens = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    parts = [wild.get(token) or re.escape(token[-1]) for token in tokens]
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def _to_whole(rounding: str) -> Oracle:
    def oracle(value: Any, *digits: int) -> Any:
        places = digits[0] if digits else 0
        if isinstance(value, decimal.Decimal):
            rounded = value.quantize(decimal.Decimal(1).scaleb(-places), rounding, _EXACT)
            return (
                None if digits and rounded.copy_abs() >= 10**28 else rounded
            )  # DECIMAL(38, 10) is full
        if isinstance(value, int) or not math.isfinite(value):
            return value
        power = 10.0 ** abs(places)
        scaled = value * power if places >= 0 else value / power
        if abs(scaled) >= 2**52:
            return value
        whole = float(decimal.Decimal(scaled).to_integral_value(rounding))
        return whole / power if places >= 0 else whole * power

    return oracle


def _real(function: Callable[..., float], *, too_large: float = math.inf) -> Oracle:
    """Outside the domain NULL, too large is infinite."""

    def oracle(*args: float) -> float | None:
        try:
            return function(*args)
        except ValueError:
            return math.nan if any(math.isinf(arg) for arg in args) else None
        except OverflowError:
            return math.copysign(too_large, args[0]) if function is math.sinh else too_large

    return oracle


def _log(function: Callable[[float], float]) -> Oracle:
    return lambda value: None if value <= 0 else function(value)


def _log_base(base: float, value: float) -> float | None:
    if base <= 0 or value <= 0 or base == 1:
        return None
    one, other = math.log(value), math.log(base)
    return math.nan if math.isinf(one) and math.isinf(other) else one / other


def _power(base: float, exponent: float) -> float | None:
    if (base == 0 and exponent < 0) or (
        base == -math.inf and exponent % 1 != 0 and math.isfinite(exponent)
    ):
        return None
    try:
        return math.pow(base, exponent)
    except ValueError:
        return None
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _substring(value: str, start: int, length: int | None = None) -> str:
    limit = 2**31 - 1
    start = min(max(start, -limit), limit)
    length = None if length is None else min(length, limit)
    begin = start - 1 if start > 0 else len(value) + start if start < 0 else 0
    end = len(value) if length is None else begin + max(length, 0)
    return value[max(begin, 0) : max(end, 0)]


def _pad(value: str, size: int, fill: str = " ", *, left: bool) -> str | None:
    if size > _LONGEST:
        return None
    size = max(size, 0)
    missing = (fill * size)[: max(size - len(value), 0)]
    return missing + value[:size] if left else value[:size] + missing


def _repeat(value: str, times: int) -> str | None:
    return None if len(value.encode()) * max(times, 0) > _LONGEST else value * times


def _translate(value: str, source: str, target: str) -> str:
    table: dict[int, str | None] = {}
    for place, letter in enumerate(source):
        table.setdefault(ord(letter), target[place] if place < len(target) else None)
    return value.translate(table)


def _split_part(value: str, delimiter: str, number: int) -> str | None:
    pieces = value.split(delimiter) if delimiter else [value]
    if number == 0:
        return None
    place = number - 1 if number > 0 else len(pieces) + number
    return pieces[place] if 0 <= place < len(pieces) else ""


def _split_index(value: str, delimiter: str, number: int) -> str | None:
    pieces = value.split(delimiter) if delimiter else []
    return pieces[number] if 0 <= number < len(pieces) else None


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _hex(value: Any) -> str:
    return f"{value & (2**64 - 1):x}" if isinstance(value, int) else _bytes(value).hex()


def _chr(code: int) -> str | None:
    return chr(code) if 1 <= code < 0xD800 or 0xE000 <= code < 0x110000 else None


def _extract(value: str, pattern: str, group: int = 0) -> str | None:
    found = re.search(pattern.replace("$", r"\Z"), value)
    if found is None or group > (found.re.groups):
        return None
    return found[group] or ""


def _replace(value: str, pattern: str, replacement: str) -> str:
    groups = re.compile(pattern).groups

    def one(found: re.Match[str]) -> str:
        def part(reference: re.Match[str]) -> str:
            if reference[0] == r"\$":
                return "$"
            number = int(reference[0][1])
            return (found[number] or "") if number <= groups else ""

        return re.sub(r"\\\$|[\\$][0-9]", part, replacement)

    return re.sub(pattern, one, value)


def moment(us: int) -> dt.datetime:
    return EPOCH + dt.timedelta(microseconds=us)


def micros(value: dt.datetime) -> int:
    return (value - EPOCH) // dt.timedelta(microseconds=1)


_LENGTHS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 10**6,
    "minute": 60 * 10**6,
    "hour": 3600 * 10**6,
    "day": DAY,
    "week": 7 * DAY,
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _truncate_time(unit: str, us: int) -> int:
    unit = unit.lower()
    if unit in _MONTHS:
        when = moment(us)
        month = (when.month - 1) // _MONTHS[unit] * _MONTHS[unit] + 1
        return micros(dt.datetime(when.year, month, 1))
    if unit == "week":
        day = us // DAY
        return (day - moment(us).weekday()) * DAY
    return us // _LENGTHS[unit] * _LENGTHS[unit]


def _add_time(unit: str, count: int, us: int) -> int | None:
    unit = unit.lower()
    if unit not in _MONTHS:
        return _in_time(us + count * _LENGTHS[unit])
    when = moment(us)
    months = when.year * 12 + when.month - 1 + count * _MONTHS[unit]
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        return None
    return micros(
        when.replace(year=year, month=month + 1, day=min(when.day, _days_in(year, month + 1)))
    )


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _difference(unit: str, one: int, other: int) -> int:
    unit = unit.lower()
    if unit not in _MONTHS:
        return _quotient(other - one, _LENGTHS[unit])
    if other < one:
        return -_difference(unit, other, one)
    first, second = moment(one), moment(other)
    months = (second.year - first.year) * 12 + second.month - first.month
    before = (second.day, second.time()) < (first.day, first.time())
    return (months - before) // _MONTHS[unit]


def _number_to_time(us: int) -> Oracle:
    return lambda number: _in_time(number * us)


def _last_day(us: int) -> int:
    when = moment(us)
    return us // DAY + _days_in(when.year, when.month) - when.day


def _element(container: Any, index: Any) -> Any:
    if container and isinstance(container[0], tuple):
        return dict(container).get(index)
    if not isinstance(index, int) or not 1 <= abs(index) <= len(container):
        return None
    return container[index - 1 if index > 0 else index]


def _date_format(us: int, pattern: str) -> str:
    when = moment(us)
    known = {
        "yyyy": f"{when.year:04}",
        "MMMM": when.strftime("%B"),
        "MMM": when.strftime("%b"),
        "MM": f"{when.month:02}",
        "dd": f"{when.day:02}",
        "DDD": f"{when.timetuple().tm_yday:03}",
        "EEEE": when.strftime("%A"),
        "EEE": when.strftime("%a"),
        "HH": f"{when.hour:02}",
        "hh": f"{(when.hour + 11) % 12 + 1:02}",
        "mm": f"{when.minute:02}",
        "ss": f"{when.second:02}",
        "SSSSSS": f"{when.microsecond:06}",
        "SSS": f"{when.microsecond // 1000:03}",
        "a": "AM" if when.hour < 12 else "PM",
    }
    tokens = re.findall(r"''|'(?:[^']|'')*'|[A-Za-z]+|[^A-Za-z']+", pattern)
    runs = [
        run[0]
        for token in tokens
        for run in (
            [(token,)]
            if not token[0].isalpha()
            else [(m[0],) for m in re.finditer(r"([A-Za-z])\1*", token)]
        )
    ]
    return "".join(known.get(run) or ("'" if run == "''" else run.strip("'")) for run in runs)


SEES_NULLS = frozenset(
    {
        "is_distinct",
        "is_not_distinct",
        "in",
        "and",
        "or",
        "is_null",
        "is_not_null",
        "coalesce",
        "nullif",
        "greatest",
        "least",
        "concat",
        "concat_ws",
        "make_array",
        "nanvl",
    }
)


def _skipping(choose: Callable[..., Any]) -> Oracle:
    def oracle(*args: Any) -> Any:
        present = [arg for arg in args if arg is not None]
        return choose(present, key=key) if present else None

    return oracle


def _nullif(left: Any, right: Any) -> Any:
    return None if left is not None and right is not None and key(left) == key(right) else left


_HALF_AWAY = _to_whole(decimal.ROUND_HALF_UP)
ORACLES: dict[str, Oracle] = {
    "/": lambda left, right: None if right == 0 else left / right,
    "div": lambda left, right: None if right == 0 else _in_bigint(_quotient(left, right)),
    "%": _remainder,
    "neg": lambda value: (
        _in_bigint(-value)
        if isinstance(value, int)
        else value.copy_negate()
        if isinstance(value, decimal.Decimal)
        else -value
    ),
    "=": _compared(operator.eq),
    "<>": _compared(operator.ne),
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
    "is_distinct": lambda left, right: key(left) != key(right),
    "is_not_distinct": lambda left, right: key(left) == key(right),
    "in": _in,
    "and": _and,
    "or": _or,
    "not": operator.not_,
    "is_null": lambda value: value is None,
    "is_not_null": lambda value: value is not None,
    "||": operator.add,
    "like": _like,
    "ilike": lambda value, pattern: _like(value.lower(), pattern.lower()),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "~": operator.invert,
    "<<": lambda value, count: _signed(value << (count & 63)),
    ">>": lambda value, count: value >> (count & 63),
    "coalesce": lambda *args: next((arg for arg in args if arg is not None), None),
    "nullif": _nullif,
    "greatest": _skipping(max),
    "least": _skipping(min),
    "nanvl": lambda value, other: other if value is not None and math.isnan(value) else value,
    "abs": lambda value: (
        _in_bigint(abs(value))
        if isinstance(value, int)
        else value.copy_abs()
        if isinstance(value, decimal.Decimal)
        else abs(value)
    ),
    "sign": lambda value: value if value != value else (value > 0) - (value < 0),
    "ceil": _to_whole(decimal.ROUND_CEILING),
    "floor": _to_whole(decimal.ROUND_FLOOR),
    "round": _HALF_AWAY,
    "truncate": _to_whole(decimal.ROUND_DOWN),
    "sqrt": lambda value: None if value < 0 else math.sqrt(value),
    "cbrt": math.cbrt,
    "exp": _real(math.exp),
    "ln": _log(math.log),
    "log10": _log(math.log10),
    "log2": _log(math.log2),
    "log": _log_base,
    "power": _power,
    **{
        name: _real(getattr(math, name))
        for name in ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "radians")
    },
    "atan2": lambda y, x: math.atan2(y + 0.0, x + 0.0),
    "asin": lambda value: (
        value if math.isnan(value) else math.asin(value) if abs(value) <= 1 else None
    ),
    "acos": lambda value: (
        value if math.isnan(value) else math.acos(value) if abs(value) <= 1 else None
    ),
    "degrees": math.degrees,
    "pi": lambda: math.pi,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "upper": str.upper,
    "lower": str.lower,
    "length": len,
    "reverse": lambda value: value[::-1],
    "ascii": lambda value: ord(value[0]) if value else 0,
    "btrim": lambda value, chars=" ": value.strip(chars) if chars else value,
    "ltrim": lambda value, chars=" ": value.lstrip(chars) if chars else value,
    "rtrim": lambda value, chars=" ": value.rstrip(chars) if chars else value,
    "octet_length": lambda value: len(_bytes(value)),
    "substring": _substring,
    "left": lambda value, size: value[: max(size, 0)],
    "right": lambda value, size: value[max(len(value) - max(size, 0), 0) :],
    "lpad": lambda *args: _pad(*args, left=True),
    "rpad": lambda *args: _pad(*args, left=False),
    "repeat": _repeat,
    "replace": lambda value, old, new="": value.replace(old, new) if old else value,
    "translate": _translate,
    "concat": lambda *args: "".join(arg for arg in args if arg is not None),
    "concat_ws": lambda sep, *args: (
        None if sep is None else sep.join(arg for arg in args if arg is not None)
    ),
    "strpos": lambda value, part: value.find(part) + 1,
    "locate": lambda part, value: value.find(part) + 1,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda value, part: part in value,
    "split_part": _split_part,
    "split_index": _split_index,
    "chr": _chr,
    "md5": lambda value: hashlib.md5(_bytes(value)).hexdigest(),
    "sha256": lambda value: hashlib.sha256(_bytes(value)).hexdigest(),
    "to_hex": _hex,
    "hex": lambda value: _hex(value).upper(),
    "rlike": lambda value, pattern: re.search(pattern.replace("$", r"\Z"), value) is not None,
    "regexp_replace": _replace,
    "regexp_extract": _extract,
    "regexp_count": lambda value, pattern: len(re.findall(pattern, value)),
    "date_trunc": _truncate_time,
    "extract_year": lambda us: moment(us).year,
    "extract_quarter": lambda us: (moment(us).month + 2) // 3,
    "extract_month": lambda us: moment(us).month,
    "extract_week": lambda us: moment(us).isocalendar().week,
    "extract_isoyear": lambda us: moment(us).isocalendar().year,
    "extract_day": lambda us: moment(us).day,
    "extract_dow": lambda us: moment(us).isoweekday() % 7,
    "extract_isodow": lambda us: moment(us).isoweekday(),
    "extract_doy": lambda us: moment(us).timetuple().tm_yday,
    "extract_hour": lambda us: moment(us).hour,
    "extract_minute": lambda us: moment(us).minute,
    "extract_second": lambda us: moment(us).second,
    "extract_millisecond": lambda us: us // 1000 % 60_000,
    "extract_microsecond": lambda us: us % 60_000_000,
    "dayofweek": lambda us: moment(us).isoweekday() % 7 + 1,
    "unix_seconds": lambda us: us // 10**6,
    "unix_millis": lambda us: us // 1000,
    "unix_micros": lambda us: us,
    "last_day": _last_day,
    "to_timestamp_s": _number_to_time(10**6),
    "to_timestamp_ms": _number_to_time(1000),
    "to_timestamp_us": _number_to_time(1),
    "to_timestamp_ns": lambda number: number // 1000,
    "timestampdiff": _difference,
    "timestampadd": _add_time,
    "date_format": _date_format,
    "element_at": _element,
    "cardinality": len,
    "array_contains": lambda values, value: value in values,
    "map_keys": lambda entries: [entry[0] for entry in entries],
    "map_values": lambda entries: [entry[1] for entry in entries],
    "field": lambda struct, name: struct[name],
    "make_array": lambda *args: list(args),
}


_SPACE = " \t\n\x0b\f\r"
_INTEGER_SIZES = {Scalar.TINYINT: 8, Scalar.SMALLINT: 16, Scalar.INTEGER: 32, Scalar.BIGINT: 64}
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
    limit = 2 ** (_INTEGER_SIZES[Scalar(target)] - 1)

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
        return lambda value: moment(value).isoformat(" ", "microseconds")
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
        when = dt.datetime.fromisoformat(f"{day}T{clock or '00:00'}{seconds or ':00'}")
    except ValueError:
        return None
    us = micros(when) + int((fraction or "")[:6].ljust(6, "0"))
    if zone and zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:])
        if hours > 18 or minutes > 59:
            return None
        us -= (hours * 60 + minutes) * 60_000_000 * (-1 if zone[0] == "-" else 1)
    return _in_time(us)


def oracle_of(function: str, types: tuple[DataType, ...], result: DataType) -> Oracle | None:
    """The oracle of an overload; `None` where CAST is the same thing and has its own proof."""
    if function in ("+", "-", "*"):
        return arithmetic(function, result)
    match function, types:
        case "epoch_ms", (Scalar.BIGINT,):
            return ORACLES["to_timestamp_ms"]
        case "epoch_ms", _:
            return ORACLES["unix_millis"]
        case "add_months", (Scalar.DATE, _):
            return lambda day, count: (
                None if (us := _add_time("month", count, day * DAY)) is None else us // DAY
            )
        case "add_months", _:
            return lambda us, count: _add_time("month", count, us)
        case (("to_timestamp" | "date"), _):
            return None
        case _:
            return ORACLES[function]
