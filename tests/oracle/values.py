"""Values as the oracle holds them: instants µs, dates days, DECIMAL `decimal.Decimal`, MAP pairs, STRUCT a dict."""

import decimal
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tidegate.model.expressions import SortKey
from tidegate.model.policies import Reason
from tidegate.model.time import DAY, format_instant
from tidegate.model.types import Array, DataType, Map, Scalar, Struct

Value = Any
Values = dict[str, Value]


class RowError(Exception):
    """The expression has no value for this row."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def identity(value: Value) -> Value:
    """What is equal for equal group keys: all NaNs are one, -0.0 is 0.0, NULL equals NULL, 1 is not TRUE."""
    match value:
        case bool():
            return ("bool", value)
        case float():
            return ("float", "nan" if math.isnan(value) else value + 0.0)
        case decimal.Decimal():
            return ("decimal", value + 0)
        case list() | tuple():
            return tuple(identity(item) for item in value)
        case dict():
            return tuple((name, identity(item)) for name, item in value.items())
        case _:
            return value


def order(value: Value) -> Value:
    """Sorts as SQL does: NaN last, text by code points; NULL is not for this function."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value


Item = TypeVar("Item")


def ranking(
    items: Sequence[Item], keys: Sequence[SortKey], value: Callable[[Item, int], Value]
) -> list[Item]:
    """The items by the sort keys; equal ones stay as they are. `value` gives the value of a key by its place."""
    ranked = list(items)
    for place, key in reversed(list(enumerate(keys))):
        nulls = [item for item in ranked if value(item, place) is None]
        others = [item for item in ranked if value(item, place) is not None]
        others.sort(key=lambda item: order(value(item, place)), reverse=key.descending)
        ranked = nulls + others if key.nulls_first else others + nulls
    return ranked


def instant(us: int) -> str:
    """RFC 3339; a number outside of the years that a date can have."""
    try:
        return format_instant(us)
    except OverflowError:
        return str(us)


def as_json(value: Value, kind: DataType) -> Value:
    """A value as a side output writes it."""
    match kind:
        case _ if value is None:
            return None
        case Scalar.TIMESTAMP:
            return instant(value)
        case Scalar.DATE:
            return format_instant(value * DAY)[:10]
        case Scalar.BINARY:
            return value.hex()
        case Array(element):
            return [as_json(item, element) for item in value]
        case Map(key, item_type):
            return {str(as_json(key_, key)): as_json(item, item_type) for key_, item in value}
        case Struct(fields):
            return {name: as_json(value[name], field) for name, field in fields}
        case _:
            no_number = isinstance(value, float) and not math.isfinite(value)  # in JSON
            return str(value) if no_number or isinstance(value, decimal.Decimal) else value
