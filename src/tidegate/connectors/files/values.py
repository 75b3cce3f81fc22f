"""Values of JSON in the types of their columns, one by one.

What a scalar may look like is what it may look like in a scenario file (`scenarios.values`): nothing is guessed, a
string is no number, 1.0 is no BIGINT. On top of that: BINARY is base64, as Flink and Spark write it, instants are
within the years 1 to 9999, and fields that a STRUCT does not have are passed over.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from decimal import Decimal as Number
from typing import Any

from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct, is_float
from tidegate.scenarios.values import Misfit, typed

__all__ = ["Misfit", "found", "value_of"]


def value_of(raw: Any, kind: DataType) -> Any:
    """What Arrow makes a value of the type from; raises `Misfit`.

    >>> value_of({"A": [1, None], "more": 0}, Struct((("a", Array(Scalar.BIGINT)),)))
    {'a': [1, None]}
    """
    if raw is None:
        return None
    match kind, raw:
        case Array(element), list():
            return [value_of(item, element) for item in raw]
        case Struct(fields), dict():
            return {name: value_of(found(raw, name), part) for name, part in fields}
        case Map(key, value), dict():
            return [
                (typed(_key(name, key), key), value_of(item, value)) for name, item in raw.items()
            ]
        case ((Array() | Struct() | Map()), _):
            raise Misfit(f"{raw!r} is no {kind}")
        case _:
            return _leaf(raw, kind)


def _key(name: str, kind: DataType) -> Any:
    """The parts of an entry: keys of JSON are strings, those of a MAP may be numbers."""
    return int(name) if name.lstrip("-").isdecimal() and kind is not Scalar.VARCHAR else name


def _leaf(raw: Any, kind: DataType) -> Any:
    if isinstance(raw, (list, dict)):
        raise Misfit(f"{raw!r} is no {kind}")
    if isinstance(raw, Number):
        raw = (
            float(raw) if is_float(kind) else str(raw) if isinstance(kind, Decimal) else float(raw)
        )
    if kind is Scalar.BINARY:
        return _bytes(raw)
    value = typed(raw, kind)
    if kind is Scalar.TIMESTAMP and not MIN_EVENT_TIME_US <= value <= MAX_EVENT_TIME_US:
        raise Misfit(f"{raw!r} is outside the years 1 to 9999")
    if isinstance(value, str) and not value.isascii():
        _encodable(value)
    return value


def _bytes(raw: Any) -> bytes:
    try:
        return b64decode(raw, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise Misfit(f"{raw!r} is no base64") from None


def _encodable(text: str) -> None:
    """JSON can spell half a character; no column can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Misfit(f"{text!r} is no text: it has half a surrogate pair") from None


def found(record: Mapping[str, Any], name: str) -> Any:
    """The value of that name, by exact name first, otherwise regardless of case; None if there is none, or several."""
    if name in record:
        return record[name]
    lowered = name.lower()
    loose = [value for key, value in record.items() if key.lower() == lowered]
    return loose[0] if len(loose) == 1 else None
