"""Python aggregates, from a class to what a query can call.

Decided here: what is refused before a query runs. A class must have the four methods, taking what they will be given,
and types that SQL knows; its first state must be plain data and a new object each time; and its name must be one that a
query can call and that means nothing else. Names of other libraries' aggregates come from the entry points of the group
`tidegate.aggregates`, and each is loaded when a query first calls it.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sqlglot import exp

from tidegate import errors
from tidegate.model.plain_data import NotPlain, to_text
from tidegate.model.types import DataType
from tidegate.model.user_aggregates import Aggregation, UserAggregate
from tidegate.plan.calls import is_function
from tidegate.plan.types import read_type
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.sql.statements import Select

GROUP = "tidegate.aggregates"
_NAME = re.compile(r"[^\W\d]\w*")


def user_aggregate(name: str, implementation: type[Any] | object) -> UserAggregate:
    """The aggregate that a query calls by this name; the class, or an object of it, is checked."""
    _check_name(name)
    made: Any = implementation
    if isinstance(implementation, type):
        made = _object(name, implementation)
    arguments = _argument_types(name, made)
    returns = _type(name, "returns", getattr(made, "returns", None))
    _check_methods(name, made, len(arguments))
    _check_first_state(name, made)
    return UserAggregate(
        name=name.lower(), arguments=arguments, returns=returns, implementation=made
    )


class Installed(Mapping[str, UserAggregate]):
    """Aggregates that installed packages bring, by lower-case name; nothing is looked for before a query asks."""

    def __init__(self) -> None:
        self._loaded: dict[str, UserAggregate] = {}

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        return {point.name.lower(): point for point in entry_points(group=GROUP)}

    def __getitem__(self, name: str) -> UserAggregate:
        if name not in self._loaded:
            point = self._points[name]
            try:
                implementation = point.load()
            except Exception as problem:
                raise errors.unloadable_aggregate(
                    name=name, where=point.value, problem=f"{type(problem).__name__}: {problem}"
                ) from problem
            self._loaded[name] = user_aggregate(name, implementation)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._points

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)


# The name


def _check_name(name: str) -> None:
    if is_function(name):
        raise errors.aggregate_name_taken(name=name)
    if not _NAME.fullmatch(name) or not _is_called(name):
        raise errors.bad_aggregate_name(name=name)


def _is_called(name: str) -> bool:
    """Whether `name(x)` is read as a call of that name, and not as syntax."""
    script = parse_script(SourceText(f"SELECT {name}(x) FROM t"))
    match script.statements:
        case (Select(query=query),):
            read = query.tree.expressions[0]
            return isinstance(read, exp.Anonymous) and read.name == name
        case _:
            return False


# The class


def _refused(name: str, problem: str, hint: str = "") -> errors.TidegateError:
    return errors.bad_aggregate(name=name, problem=problem, hint=hint)


def _object(name: str, implementation: type[Any]) -> object:
    try:
        made: object = implementation()
    except Exception as problem:
        what = f"{implementation.__name__}() raises {type(problem).__name__}: {problem}"
        hint = "register an object of it instead"
        raise _refused(name, what, hint) from problem
    return made


def _argument_types(name: str, made: object) -> tuple[DataType, ...]:
    given = getattr(made, "arguments", None)
    if not isinstance(given, (tuple, list)) or not given:
        hint = 'write arguments = ("DOUBLE",), with one type or more'
        raise _refused(name, "arguments is no tuple of types", hint)
    return tuple(_type(name, f"arguments[{place}]", written) for place, written in enumerate(given))


def _type(name: str, where: str, written: object) -> DataType:
    if not isinstance(written, str):
        raise _refused(name, f"{where} is no type", 'write types as text, such as "DOUBLE"')
    try:
        return read_type(written)
    except errors.TidegateError as refusal:
        raise _refused(name, f"{where}: {refusal.message}", refusal.hint) from None


def _check_methods(name: str, made: object, arguments: int) -> None:
    for method, count in (("init", 0), ("accumulate", 1 + arguments), ("merge", 2), ("finish", 1)):
        found = getattr(made, method, None)
        if not callable(found):
            raise _refused(name, f"it has no method {method}")
        if not _takes(found, count):
            what = f"{count} argument{'' if count == 1 else 's'}"
            raise _refused(name, f"{method} does not take {what} besides self")


def _takes(method: Callable[..., Any], count: int) -> bool:
    try:
        signature = inspect.signature(method)
    except ValueError:  # built in, and does not say
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _check_first_state(name: str, made: Aggregation) -> None:
    try:
        one, other = made.init(), made.init()
        to_text(one)
    except NotPlain as problem:
        raise _refused(name, f"the state that init gives: {problem}") from None
    except Exception as problem:
        raise _refused(name, f"init raises {type(problem).__name__}: {problem}") from problem
    if one is other and isinstance(one, (list, dict, set)):
        hint = "make it inside init: groups must not share their states"
        raise _refused(name, f"init gives the same {type(one).__name__} each time", hint)
