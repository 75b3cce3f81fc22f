"""Rows that a stage has taken, and what comes out of a window of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from tests.oracle.aggregates import Input, aggregate
from tests.oracle.arrivals import Arrival
from tests.oracle.evaluate import Env, Row, derived, evaluate, holds
from tests.oracle.joining import joined_rows, side_keys
from tests.oracle.shape import Shape
from tests.oracle.values import RowError, Value, Values, identity, ranking
from tidegate.model.policies import Reason
from tidegate.model.windows import Conditional
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.logical import NamedAggregate


@dataclass(frozen=True)
class Window:
    """`[start, end)`, for sliding both ends in. `owner` tells apart windows that are kept per group or per row."""

    start_us: int | None
    end_us: int | None
    time_us: int | None
    owner: Value = ()

    @property
    def columns(self) -> Values:
        text = f"{self.start_us}:{self.end_us}"
        return {
            "$window_start": self.start_us,
            "$window_end": self.end_us,
            "$window_time": self.time_us,
            "$window_id": blake2b(text.encode(), digest_size=8).hexdigest(),
        }


def half_open(start_us: int | None, end_us: int, owner: Value = ()) -> Window:
    return Window(start_us, end_us, end_us - 1, owner)


NO_WINDOW = Window(None, None, None)


@dataclass(frozen=True)
class Member:
    """A row with its group and its arguments, evaluated when it came."""

    arrival: Arrival
    place: int
    keys: tuple[Value, ...] = ()
    inputs: tuple[Input | None, ...] = ()
    partition: tuple[Value, ...] = ()

    @property
    def ts_us(self) -> int:
        assert self.arrival.ts_us is not None
        return self.arrival.ts_us

    @property
    def group(self) -> Value:
        return identity(self.keys)

    def equals(self, other: "Member") -> bool:
        """Whether taking back one is taking back the other."""
        one, two = (
            (member.arrival.ts_us, member.group, identity([i and i.args for i in member.inputs]))
            for member in (self, other)
        )
        return one == two


def member_of(arrival: Arrival, shape: Shape, place: int) -> Member:
    """Everything that is computed per row; raises `RowError`."""
    env = arrival.env
    keys: tuple[Value, ...] = ()
    inputs: tuple[Input | None, ...] = ()
    if shape.grouped is not None:
        keys = tuple(evaluate(named.expr, env) for named in shape.grouped.keys)
        inputs = tuple(_input(named.call, arrival) for named in shape.grouped.aggregates)
    if shape.joined is not None:
        keys = side_keys(shape, shape.joined, env)
    for frame in shape.over.frames if shape.over else ():
        for named in frame.aggregates:
            _input(named.call, arrival)
        for expr in frame.partition_by:
            evaluate(expr, env)
    if shape.output is None:
        for name in shape.names:
            env.get(name)
    for expr in shape.row_exprs():
        evaluate(expr, env)
    if shape.windowed is not None and isinstance(shape.windowed.window, Conditional):
        evaluate(shape.windowed.window.open, env)
        evaluate(shape.windowed.window.close, env)
    partition = shape.windowed.partition_by if shape.windowed else ()
    kept = tuple(evaluate(expr, env) for expr in partition)
    return Member(arrival, place, keys, inputs, kept)


def _input(call: AggregateCall, arrival: Arrival) -> Input | None:
    env = arrival.env
    if call.filter is not None and not holds(call.filter, env):
        return None
    return Input(
        arrival.ts_us,
        tuple(evaluate(arg, env) for arg in call.args),
        tuple(evaluate(key.expr, env) for key in call.order),
    )


@dataclass(frozen=True)
class Result:
    """One row of a window: of a group, or of a row that was kept. It has `values`, or failed."""

    group: Value
    keys: tuple[Value, ...] = ()
    values: Values | None = None
    failed: Reason | None = None


@dataclass(frozen=True)
class _Candidate:
    group: Value
    keys: tuple[Value, ...]
    env: Env


def results(shape: Shape, window: Window, members: Sequence[Member]) -> list[Result]:
    """What the window holds: aggregated, filtered by HAVING, cut to the first rows, projected."""
    failed: list[Result] = []
    passed: list[_Candidate] = []
    if shape.joined is not None:
        envs = joined_rows(shape.joined, members)
        return _chosen(shape, [_Candidate(place, (), env) for place, env in enumerate(envs)])
    for group in _groups(shape, members):
        try:
            candidate = _candidate(shape, window, group)
            if all(holds(predicate, candidate.env) for predicate in shape.having):
                passed.append(candidate)
        except RowError as error:
            failed.append(Result(group[0].group, group[0].keys, failed=error.reason))
    return [*failed, *_limited(shape, passed)]


def _chosen(shape: Shape, candidates: Iterable[_Candidate]) -> list[Result]:
    """The same of rows that are joined."""
    failed: list[Result] = []
    passed: list[_Candidate] = []
    for candidate in candidates:
        try:
            if all(holds(predicate, candidate.env) for predicate in shape.having):
                passed.append(candidate)
        except RowError as error:
            failed.append(Result(candidate.group, failed=error.reason))
    return [*failed, *_limited(shape, passed)]


def _limited(shape: Shape, passed: list[_Candidate]) -> list[Result]:
    if shape.order:
        passed = _numbered(shape, passed)
    return [_projected(shape, candidate) for candidate in passed]


def _groups(shape: Shape, members: Iterable[Member]) -> list[list[Member]]:
    groups: dict[Value, list[Member]] = {}
    for member in sorted(members, key=lambda member: (member.arrival.ts_us or 0, member.place)):
        key = member.group if shape.grouped is not None else member.place
        groups.setdefault(key, []).append(member)
    return list(groups.values())


def _candidate(shape: Shape, window: Window, group: list[Member]) -> _Candidate:
    first = group[0]
    if shape.grouped is None:
        return _Candidate(first.place, (), Row(window.columns, first.arrival.env))
    values = {
        named.name: value for named, value in zip(shape.grouped.keys, first.keys, strict=True)
    }
    for place, named in enumerate(shape.grouped.aggregates):
        given = [member.inputs[place] for member in group]
        values[named.name] = aggregate(named.call, [one for one in given if one is not None])
    return _Candidate(first.group, first.keys, Row({**values, **window.columns}))


def _numbered(shape: Shape, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The first rows of each part of the window, each with its place."""
    parts: dict[Value, list[_Candidate]] = {}
    for candidate in candidates:
        part = identity(tuple(evaluate(expr, candidate.env) for expr in shape.within))
        parts.setdefault(part, []).append(candidate)
    first: list[_Candidate] = []
    for part in parts.values():
        ranked = ranking(
            part, shape.order, lambda item, place: evaluate(shape.order[place].expr, item.env)
        )
        for place, one in enumerate(ranked[: shape.limit], start=1):
            first.append(replace(one, env=Row({"$rank": place}, one.env)))
    return first


def _projected(shape: Shape, candidate: _Candidate) -> Result:
    assert shape.output is not None
    env = derived(shape.output, candidate.env)
    try:
        values = {name: env.get(name) for name in shape.names}
    except RowError as error:
        return Result(candidate.group, candidate.keys, failed=error.reason)
    return Result(candidate.group, candidate.keys, values)


def over_result(shape: Shape, trigger: Member, frames: Sequence[Sequence[Member]]) -> Result:
    """A row with the aggregates of its own frames."""
    assert shape.over is not None
    values: Values = {}
    try:
        for frame, members in zip(shape.over.frames, frames, strict=True):
            for named in frame.aggregates:
                values[named.name] = _framed(named, members)
    except RowError as error:
        return Result(trigger.place, failed=error.reason)
    return _projected(shape, _Candidate(trigger.place, (), Row(values, trigger.arrival.env)))


def _framed(named: NamedAggregate, members: Sequence[Member]) -> Value:
    given = [_input(named.call, member.arrival) for member in members]
    return aggregate(named.call, [one for one in given if one is not None])
