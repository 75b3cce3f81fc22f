"""Joins of two streams: every row of the one side beside every row of the other, tested one by one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.oracle.arrivals import Arrival
from tests.oracle.evaluate import Env, Row, evaluate
from tests.oracle.shape import Shape
from tests.oracle.values import Value, identity
from tidegate.model.expressions import fields_of
from tidegate.plan.logical import IntervalJoin, WindowJoin


class Kept(Protocol):
    """A row that is kept, with what it must agree in."""

    @property
    def arrival(self) -> Arrival: ...

    @property
    def keys(self) -> tuple[Value, ...]: ...


@dataclass(frozen=True)
class _Both:
    """A joined row: a column is of whichever side has it."""

    left: Env
    right: Env
    on_left: frozenset[str]

    def get(self, name: str) -> Value:
        return (self.left if name in self.on_left else self.right).get(name)


def side_keys(shape: Shape, join: WindowJoin | IntervalJoin, env: Env) -> tuple[Value, ...]:
    """What a row must agree in; raises `RowError`, as all does that is computed of it below the join."""
    side = env.get("$side")
    schema = (join.left, join.right)[side].schema
    exprs = [named.expr for named in shape.output or ()]
    exprs += [*shape.having, *(key.expr for key in shape.order)]
    for name in sorted(fields_of(*exprs) & set(schema.names)):
        env.get(name)
    pairs = (*join.keys, *((left, right) for left, right, _ in join.edges))
    return tuple(evaluate(pair[side], env) for pair in pairs)


def joined_rows(join: WindowJoin | IntervalJoin, members: Sequence[Kept]) -> Iterator[Env]:
    """The rows that the members of one window make."""
    sides: tuple[list[Kept], list[Kept]] = ([], [])
    for member in members:
        sides[member.arrival.env.get("$side")].append(member)
    pairs = [(one, other) for one in sides[0] for other in sides[1] if _match(one, other)]
    for one, other in pairs:
        yield _beside(join, one.arrival.env, other.arrival.env)
    if join.keeps_left:
        for one in _without(sides[0], (id(one) for one, _ in pairs)):
            yield _beside(join, one.arrival.env, _nobody(join.right.schema.names))
    if join.keeps_right:
        for other in _without(sides[1], (id(other) for _, other in pairs)):
            yield _beside(join, _nobody(join.left.schema.names), other.arrival.env)


def _match(one: Kept, other: Kept) -> bool:
    return None not in one.keys and identity(one.keys) == identity(other.keys)


def _without(rows: Iterable[Kept], matched: Iterable[int]) -> list[Kept]:
    seen = set(matched)
    return [row for row in rows if id(row) not in seen]


def _nobody(names: Iterable[str]) -> Env:
    return Row(dict.fromkeys(names))


def _beside(join: WindowJoin | IntervalJoin, left: Env, right: Env) -> Env:
    return _Both(left, right, frozenset(join.left.schema.names))
