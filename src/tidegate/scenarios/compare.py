"""Expected against actual rows, and what to say where they differ.

Decided here: doubles are equal within 1e-9 of each other, relatively, NaN equals NaN, NULL only NULL; columns that the
expectation does not name are not compared, so expected rows are matched to actual ones as a whole, never greedily.
"""

import decimal
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidegate.model.time import MILLISECOND, format_instant, parse_instant
from tidegate.model.types import Array, DataType, Map, Scalar, Struct

TOLERANCE = 1e-9
Values = Mapping[str, Any]
Same = Callable[[Any, Any], bool]


def same(expected: Any, actual: Any) -> bool:
    """Equality of typed values."""
    match expected, actual:
        case (None, _) | (_, None):
            return expected is actual
        case (float(), _) | (_, float()) if not (_is_other(expected) or _is_other(actual)):
            return _close(float(expected), float(actual))
        case list(), list() if expected and isinstance(expected[0], tuple):
            return same_bag(expected, actual)
        case ((list() | tuple()), (list() | tuple())):
            return len(expected) == len(actual) and all(map(same, expected, actual))
        case dict(), dict():
            return expected.keys() == actual.keys() and all(
                same(value, actual[name]) for name, value in expected.items()
            )
        case _:
            return bool(expected == actual) and isinstance(expected, bool) == isinstance(
                actual, bool
            )


def _is_other(value: Any) -> bool:
    """No number: nothing that a double could be equal to."""
    return isinstance(value, bool) or not isinstance(value, (int, float, decimal.Decimal))


def _close(expected: float, actual: float) -> bool:
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    return expected == actual or math.isclose(expected, actual, rel_tol=TOLERANCE)


def same_bag(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    """Equality of multisets."""
    if len(expected) != len(actual):
        return False
    return not any(place is None for place in matching(expected, actual, same))


def same_json(expected: Any, actual: Any) -> bool:
    """Equality with what a side output wrote: given keys only, instants and decimals are strings there."""
    match expected, actual:
        case Mapping(), Mapping():
            return all(
                name in actual and same_json(value, actual[name])
                for name, value in expected.items()
            )
        case tuple(), list():
            return len(expected) == len(actual) and all(map(same_json, expected, actual))
        case ((int() | float() | str()), str()) if not isinstance(expected, bool):
            return expected == actual or _same_text(expected, actual)
        case _:
            return same(expected, actual)


def _same_text(expected: int | float | str, actual: str) -> bool:
    try:
        instant_us = parse_instant(actual)
        if isinstance(expected, str):
            return parse_instant(expected) == instant_us
        return expected * MILLISECOND == instant_us
    except (ValueError, OverflowError):
        pass
    try:
        return decimal.Decimal(str(expected)) == decimal.Decimal(actual)
    except decimal.InvalidOperation:
        return False


def row_matcher(unordered: Sequence[str] = ()) -> Same:
    """Compares the columns that the expected row has; those in `unordered` as multisets."""
    loose = {name.lower() for name in unordered}

    def matches(expected: Values, actual: Values) -> bool:
        for name, value in expected.items():
            bag = name.lower() in loose and isinstance(value, list)
            equal = same_bag if bag and isinstance(actual.get(name), list) else same
            if name not in actual or not equal(value, actual[name]):
                return False
        return True

    return matches


def matching(expected: Sequence[Any], actual: Sequence[Any], equal: Same) -> list[int | None]:
    """For each expected item the place of an actual one of its own, for as many as possible."""
    fits = [[place for place, item in enumerate(actual) if equal(one, item)] for one in expected]
    taken: dict[int, int] = {}

    def assign(number: int, tried: set[int]) -> bool:
        for place in fits[number]:
            if place in tried:
                continue
            tried.add(place)
            if place not in taken or assign(taken[place], tried):
                taken[place] = number
                return True
        return False

    for number in range(len(expected)):
        assign(number, set())
    found = {number: place for place, number in taken.items()}
    return [found.get(number) for number in range(len(expected))]


Show = Callable[[Values], str]


def difference(
    expected: Sequence[Values],
    actual: Sequence[Values],
    *,
    equal: Same,
    show: Show,
    ordered: bool = False,
) -> list[str]:
    """Lines that say what is missing (`-`) and what nobody expected (`+`); none where nothing differs."""
    if ordered and len(expected) == len(actual) and all(map(equal, expected, actual)):
        return []
    found = matching(expected, actual, equal)
    if None not in found and len(actual) == len(expected):
        if not ordered:
            return []
        lines = ["the rows are right, their order is not; it should be"]
        return [*lines, *(f"  {show(actual[place])}" for place in found if place is not None)]
    used = set(found)
    left = [row for place, row in enumerate(actual) if place not in used]
    lines = [f"{len(actual)} rows, {len(expected)} expected"]
    for row, place in zip(expected, found, strict=True):
        if place is None:
            lines.append(f"  - {show(row)}")
            near = _nearest(row, left)
            if near is not None:
                lines.append(f"  + {show(near)}")
                left = [other for other in left if other is not near]
    return [*lines, *(f"  + {show(row)}" for row in left)]


def _nearest(expected: Values, actual: Sequence[Values]) -> Values | None:
    """The row that agrees in most columns, to be shown beside the one that is missing."""

    def agreeing(row: Values) -> int:
        return sum(name in row and same(value, row[name]) for name, value in expected.items())

    return max(actual, key=agreeing, default=None)


def show_value(value: Any, kind: DataType | None) -> str:
    """A value as a scenario would write it; instants readable."""
    match kind:
        case _ if value is None:
            return "null"
        case Scalar.TIMESTAMP if isinstance(value, int):
            exact = value % MILLISECOND == 0
            return str(value // MILLISECOND) if exact else format_instant(value)
        case Array(element):
            return f"[{', '.join(show_value(item, element) for item in value)}]"
        case Map(key, item_kind):
            pairs = (f"{show_value(k, key)}: {show_value(v, item_kind)}" for k, v in value)
            return f"{{{', '.join(pairs)}}}"
        case Struct(fields):
            parts = (f"{name}: {show_value(value[name], field)}" for name, field in fields)
            return f"{{{', '.join(parts)}}}"
        case _:
            return str(value).lower() if isinstance(value, bool) else str(value)


def show_row(row: Values, kinds: Mapping[str, DataType]) -> str:
    return f"{{{', '.join(f'{name}: {show_value(value, kinds.get(name))}' for name, value in row.items())}}}"
