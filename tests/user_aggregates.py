"""Python aggregates to test with: exact ones, whose order does not matter, and some that go wrong."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from tidegate.model.user_aggregates import UserAggregate
from tidegate.plan.user_aggregates import user_aggregate


class Product:
    """Exact, so that batches and shards cannot show. Its states are changed in place."""

    arguments = ("DOUBLE",)
    returns = "DOUBLE"

    def init(self) -> list[int]:
        return [1, 1]

    def accumulate(self, state: list[int], value: float) -> None:
        part = Fraction(value)
        state[0] *= part.numerator
        state[1] *= part.denominator

    def merge(self, one: list[int], other: list[int]) -> None:
        one[0] *= other[0]
        one[1] *= other[1]

    def finish(self, state: list[int]) -> float:
        return float(Fraction(*state))


class Path:
    """Which values were seen, by the second argument: a state of dicts, tuples and sets, made anew each time."""

    arguments = ["VARCHAR", "BIGINT"]  # noqa: RUF012  (a list will do)
    returns = "ARRAY<VARCHAR>"

    def init(self) -> dict[Any, Any]:
        return {}

    def accumulate(self, state: dict[Any, Any], name: str, at: int) -> dict[Any, Any]:
        return self.merge(state, {(at,): {name}})

    def merge(self, one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
        return {key: one.get(key, set()) | other.get(key, set()) for key in {**one, **other}}

    def finish(self, state: dict[Any, Any]) -> list[str]:
        return [name for _, names in sorted(state.items()) for name in sorted(names)]


class Picky:
    """Does not like negative values, nor an even number of zeros."""

    arguments = ("BIGINT",)
    returns = "TINYINT"

    def init(self) -> dict[str, int]:
        return {"sum": 0, "zeros": 0}

    def accumulate(self, state: dict[str, int], value: int) -> None:
        if value < 0:
            raise ValueError("negative")
        state["sum"] += value
        state["zeros"] += value == 0

    def merge(self, one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        return {name: one[name] + other[name] for name in one}

    def finish(self, state: dict[str, int]) -> int:
        return state["sum"] // (state["zeros"] % 2)


class Newest:
    """Depends on the order of rows in a batch; its first state is None."""

    arguments = ("VARCHAR",)
    returns = "VARCHAR"

    def init(self) -> None:
        return None

    def accumulate(self, _state: str | None, value: str) -> str:
        return value

    def merge(self, _one: str | None, other: str | None) -> str | None:
        return other

    def finish(self, state: str | None) -> str | None:
        return state


class Cents:
    arguments = ("DECIMAL(38, 2)", "TIMESTAMP")
    returns = "DECIMAL(10, 1)"

    def init(self) -> Decimal:
        return Decimal(0)

    def accumulate(self, state: Decimal, amount: Decimal, _at: object) -> Decimal:
        return state + amount

    def merge(self, one: Decimal, other: Decimal) -> Decimal:
        return one + other

    def finish(self, state: Decimal) -> Decimal:
        return state


CLASSES: dict[str, type[Any]] = {
    "product": Product,
    "path": Path,
    "picky": Picky,
    "newest": Newest,
    "cents": Cents,
}
USERS: dict[str, UserAggregate] = {
    name: user_aggregate(name, made) for name, made in CLASSES.items()
}
