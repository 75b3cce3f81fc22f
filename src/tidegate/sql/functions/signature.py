"""How a function is described: parameters, result type, and its text on each engine.

Decided here: argument types are settled once, at binding. A parameter either takes a type as it is, or names the type
that the argument is converted to (always without loss); so engines never coerce on their own, and cannot differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tidegate.model.expressions import LiteralValue
from tidegate.model.policies import Reason
from tidegate.model.types import (
    Array,
    DataType,
    Decimal,
    Map,
    Scalar,
    Struct,
    common_type,
    is_comparable,
    is_float,
    is_integer,
    is_numeric,
)


class Engine(StrEnum):
    DATAFUSION = "datafusion"
    SPARK = "spark"


def _no_problem(_value: LiteralValue) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Param:
    """`accepts` gives the type that an argument is converted to, or None. Params with one `variable` get one type.

    A `literal` must be written as a constant, because the template depends on its value; `problem` says what is wrong
    with a value, or gives "". `choices` are string literals, taken in any case.
    """

    label: str
    accepts: Callable[[DataType], DataType | None]
    variable: str = ""
    choices: tuple[str, ...] = ()
    literal: bool = False
    problem: Callable[[LiteralValue], str] = _no_problem


def _exactly(kind: Scalar) -> Callable[[DataType], DataType | None]:
    return lambda given: kind if given in (kind, Scalar.NULL) else None


def _when(
    test: Callable[[DataType], bool], target: DataType | None = None
) -> Callable[[DataType], DataType | None]:
    def accepts(given: DataType) -> DataType | None:
        if given is Scalar.NULL:
            return target or Scalar.NULL
        return (target or given) if test(given) else None

    return accepts


ANY = Param("any value", lambda given: given)
BOOLEAN = Param("BOOLEAN", _exactly(Scalar.BOOLEAN))
BIGINT = Param("an integer", _when(is_integer, Scalar.BIGINT))
DOUBLE = Param("a number", _when(is_numeric, Scalar.DOUBLE))
FLOAT = Param("DOUBLE", _when(is_float, Scalar.DOUBLE))
DECIMAL = Param("DECIMAL", _when(lambda given: isinstance(given, Decimal)))
EXACT = Param(
    "an integer or DECIMAL", _when(lambda given: is_integer(given) or isinstance(given, Decimal))
)
VARCHAR = Param("VARCHAR", _exactly(Scalar.VARCHAR))
_WRITTEN = (Scalar.VARCHAR, Scalar.BOOLEAN, Scalar.DATE, Scalar.TIMESTAMP)
TEXTUAL = Param(
    "VARCHAR, or what is written in one way",
    _when(
        lambda given: given in _WRITTEN or is_integer(given) or isinstance(given, Decimal),
        Scalar.VARCHAR,
    ),
)
BINARY = Param("BINARY", _exactly(Scalar.BINARY))
DATE = Param("DATE", _exactly(Scalar.DATE))
TIMESTAMP = Param(
    "TIMESTAMP", _when(lambda given: given in (Scalar.TIMESTAMP, Scalar.DATE), Scalar.TIMESTAMP)
)
INTERVAL = Param("INTERVAL", _exactly(Scalar.INTERVAL))
ARRAY = Param("ARRAY", _when(lambda given: isinstance(given, Array)))
MAP = Param("MAP", _when(lambda given: isinstance(given, Map)))
STRUCT = Param("STRUCT", _when(lambda given: isinstance(given, Struct)))
SAME = Param("values of one type", lambda given: given, variable="T")
COMPARABLE = Param("values of one comparable type", _when(is_comparable), variable="T")
NUMBER = Param("numbers", _when(is_numeric), variable="T")


def choice(label: str, *values: str) -> Param:
    """A parameter that must be one of these string literals (in any case)."""
    return Param(label, _exactly(Scalar.VARCHAR), choices=values, literal=True)


def constant(
    label: str, kind: Param, problem: Callable[[LiteralValue], str] = _no_problem
) -> Param:
    """A parameter that must be a literal, because the text on the engine depends on its value."""
    return replace(kind, label=label, literal=True, problem=problem)


Template = str | Callable[[Sequence[str], Sequence[DataType], DataType], str]
Returns = DataType | Callable[[Sequence[DataType]], DataType]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overload:
    """One way of calling a function.

    `datafusion` and `spark` are templates: {0}, {1} … are the arguments, {args} all of them, {rest} all but the first.
    `fails` is why a row is diverted whose arguments are there and whose result is not.
    """

    params: tuple[Param, ...]
    returns: Returns
    datafusion: Template
    spark: Template
    variadic: bool = False
    fails: Reason | None = None

    def fit(self, given: Sequence[DataType]) -> tuple[DataType, ...] | None:
        """The types that arguments of the given types are converted to, or None where the call does not fit."""
        params = self._params_for(len(given))
        if params is None:
            return None
        targets = [param.accepts(kind) for param, kind in zip(params, given, strict=True)]
        if any(target is None for target in targets):
            return None
        return _unified(params, [target for target in targets if target is not None])

    def _params_for(self, count: int) -> tuple[Param, ...] | None:
        if self.variadic and count >= len(self.params):
            return self.params + (self.params[-1],) * (count - len(self.params))
        return self.params if count == len(self.params) else None

    def result(self, targets: Sequence[DataType]) -> DataType:
        return self.returns(targets) if callable(self.returns) else self.returns


def _unified(params: Sequence[Param], targets: list[DataType]) -> tuple[DataType, ...] | None:
    shared: dict[str, DataType] = {}
    for param, target in zip(params, targets, strict=True):
        if param.variable:
            merged = common_type(shared.get(param.variable, Scalar.NULL), target)
            if merged is None:
                return None
            shared[param.variable] = merged
    return tuple(
        shared.get(param.variable, target) for param, target in zip(params, targets, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """An entry of the catalogue. `name` is canonical and lower case; operators are entries like any other."""

    name: str
    overloads: tuple[Overload, ...]
    doc: str
    example: str = ""
    aliases: tuple[str, ...] = ()
    family: str = ""

    def resolve(self, given: Sequence[DataType]) -> tuple[Overload, tuple[DataType, ...]] | None:
        """The first overload that takes arguments of these types, and what they are converted to."""
        for overload in self.overloads:
            targets = overload.fit(given)
            if targets is not None:
                return overload, targets
        return None

    @property
    def arities(self) -> tuple[int, ...]:
        return tuple(sorted({len(overload.params) for overload in self.overloads}))


def overload(
    params: Sequence[Param], returns: Returns, text: Template = "", **rest: Any
) -> Overload:
    """An overload whose text is the same on both engines unless `datafusion` or `spark` says otherwise."""
    engines = {"datafusion": rest.pop("datafusion", text), "spark": rest.pop("spark", text)}
    return Overload(params=tuple(params), returns=returns, **engines, **rest)


def first(targets: Sequence[DataType]) -> DataType:
    """Result type: that of the first argument."""
    return targets[0]


def last(targets: Sequence[DataType]) -> DataType:
    """Result type: that of the last argument."""
    return targets[-1]


def entry(
    family: str,
    name: str,
    doc: str,
    example: str,
    *overloads: Overload,
    aliases: tuple[str, ...] = (),
) -> Function:
    """An entry of a family's table; families bind the first argument."""
    return Function(
        name=name, overloads=overloads, doc=doc, example=example, aliases=aliases, family=family
    )
