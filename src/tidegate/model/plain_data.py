"""Python values as text, and back: the form in which the states of Python aggregates are logged, kept and sent.

Decided here: the closed set of values, and a text for each from which exactly the same value is read again, by whatever
process. The text is JSON; what JSON has no word for is an object with one key that begins with `$`. Nothing is pickled:
a snapshot is data, and reading it runs no code.

>>> to_text({"seen": {2, 1}, "span": (0.5, float("inf"))})
'{"seen":{"$set":[1,2]},"span":{"$tuple":[0.5,{"$float":"inf"}]}}'
>>> from_text(_)
{'seen': {1, 2}, 'span': (0.5, inf)}
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

_KINDS = "None, bool, int, float, str, bytes, Decimal, date, datetime, timedelta, list, tuple, set and dict"


class NotPlain(Exception):
    """The value is not one of the closed set."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What takes the place of a state that a user's code could not make."""

    message: str


def to_text(value: Any) -> str:
    """The value as JSON; raises `NotPlain`."""
    try:
        return _ENCODER.encode(_tagged(value))
    except (RecursionError, ValueError) as problem:
        raise NotPlain(f"it cannot be written as text: {problem}") from None


def from_text(text: str) -> Any:
    return _DECODER.decode(text)


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind in _WRITERS:
        return _WRITERS[kind](value)
    if isinstance(value, float):  # numpy's float64 is one, and behaves like one
        return _float(float(value))
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    raise NotPlain(f"it holds a {name}; a state is made of {_KINDS}")


def _float(value: float) -> Any:
    return value if math.isfinite(value) else {"$float": repr(value)}


def _list(values: list[Any]) -> list[Any]:
    return [_tagged(value) for value in values]


def _dict(mapping: dict[Any, Any]) -> Any:
    if all(type(key) is str and not key.startswith("$") for key in mapping):
        return {key: _tagged(value) for key, value in mapping.items()}
    return {"$dict": [[_tagged(key), _tagged(value)] for key, value in mapping.items()]}


def _set(values: set[Any]) -> Any:
    """In an order that does not depend on hashes."""
    return {"$set": sorted(map(_tagged, values), key=json.dumps)}


_AS_IT_IS = frozenset({type(None), bool, int, str})
_WRITERS: dict[type, Callable[[Any], Any]] = {
    float: _float,
    list: _list,
    dict: _dict,
    set: _set,
    tuple: lambda value: {"$tuple": _list(list(value))},
    bytes: lambda value: {"$bytes": value.hex()},
    Decimal: lambda value: {"$decimal": str(value)},
    date: lambda value: {"$date": value.isoformat()},
    datetime: lambda value: {"$datetime": value.isoformat()},
    timedelta: lambda value: {"$timedelta_us": value // timedelta(microseconds=1)},
    Failed: lambda value: {"$failed": value.message},
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "$float": float,
    "$dict": dict,
    "$set": set,
    "$tuple": tuple,
    "$bytes": bytes.fromhex,
    "$decimal": Decimal,
    "$date": date.fromisoformat,
    "$datetime": datetime.fromisoformat,
    "$timedelta_us": lambda value: timedelta(microseconds=value),
    "$failed": Failed,
}


def _untagged(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        ((key, value),) = found.items()
        if key.startswith("$"):
            return _READERS[key](value)
    return found


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(object_hook=_untagged)
