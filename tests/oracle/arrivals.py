"""From what a query reads to rows that have a time: the part of a plan below its window and aggregates.

Every row that comes in stays, whatever becomes of it: a row that WHERE removes is marked, and still moves the
watermark. Nothing is decided here about windows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.oracle.evaluate import Env, Row, derived, evaluate, holds
from tests.oracle.values import RowError, Value, Values
from tests.oracle.watermarks import InputClock
from tidegate.model.policies import Reason
from tidegate.model.schema import Schema
from tidegate.plan.logical import (
    Emission,
    EventTime,
    Filter,
    IntervalJoin,
    Logical,
    Project,
    Source,
    StaticTable,
    StreamRef,
    TableJoin,
    UnionAll,
    WindowJoin,
)

FILTERED = "filtered"


@dataclass(frozen=True)
class Arrival:
    """A row on its way in. `fate` is set once it is known that it will not be aggregated.

    `sign` -1 takes an earlier equal row back. `clock` is the input that gave the row its time.
    """

    env: Env
    original: Values
    columns: Schema
    sign: int = 1
    upstream_us: int | None = None
    fate: str | Reason = ""
    ts_us: int | None = None
    stamped: bool = False
    clock: InputClock | None = None


@dataclass(frozen=True)
class Fed:
    """A row that a stage reads: of a source, or emitted by another stage at `time_us`."""

    values: Values
    sign: int = 1
    time_us: int | None = None


@dataclass(frozen=True)
class Inputs:
    """What there is to read in this epoch."""

    sources: Mapping[str, Sequence[Values]]
    tables: Mapping[str, Sequence[Values]]
    emitted: Callable[[StreamRef | Emission], Sequence[Fed]]
    clock_us: int


@dataclass
class Reader:
    """Reads one stage's input; remembers the watermark of each of its inputs."""

    node: Logical
    clocks: dict[int, InputClock] = field(default_factory=dict)

    def arrivals(self, inputs: Inputs) -> list[Arrival]:
        return list(self._read(self.node, inputs))

    def _read(self, node: Logical, inputs: Inputs) -> Iterator[Arrival]:
        match node:
            case Source() | StreamRef() | Emission():
                yield from _bottom(node, inputs)
            case Project(input=input, columns=named):
                for row in self._read(input, inputs):
                    yield replace(row, env=derived(named, row.env))
            case Filter(input=input, predicate=predicate):
                for row in self._read(input, inputs):
                    yield row if row.fate else _filtered(row, holds, predicate)
            case EventTime(input=input):
                clock = self.clocks[id(node)]
                for row in self._read(input, inputs):
                    yield _timed(row, node, clock, inputs.clock_us)
            case _:
                yield from self._read_several(node, inputs)

    def _read_several(self, node: Logical, inputs: Inputs) -> Iterator[Arrival]:
        match node:
            case TableJoin():
                yield from self._joined(node, inputs)
            case WindowJoin(left=left, right=right) | IntervalJoin(left=left, right=right):
                for side, part in enumerate((left, right)):
                    for row in self._read(part, inputs):
                        yield replace(row, env=Row({"$side": side}, row.env))
            case UnionAll():
                yield from self._united(node, inputs)
            case _:
                raise AssertionError(node)

    def _united(self, node: UnionAll, inputs: Inputs) -> Iterator[Arrival]:
        """Columns go by their places."""
        for part in node.inputs:
            names = dict(zip(node.schema.names, part.schema.names, strict=True))
            for row in self._read(part, inputs):
                yield replace(row, env=_Renamed(names, row.env))

    def _joined(self, node: TableJoin, inputs: Inputs) -> Iterator[Arrival]:
        table = [row.env for row in _table_rows(node.table, inputs)]
        nothing = Row(dict.fromkeys(node.table.schema.names))
        for row in self._read(node.input, inputs):
            pairs = [_Beside(row.env, other) for other in table]
            matches = [pair for pair in pairs if not row.fate and _matches(node, pair)]
            for match in matches:
                yield replace(row, env=match)
            if not matches:
                lost = row.fate or ("" if node.outer else FILTERED)
                yield replace(row, env=_Beside(row.env, nothing), fate=lost)


@dataclass(frozen=True)
class _Renamed:
    names: Mapping[str, str]
    below: Env

    def get(self, name: str) -> Value:
        return self.below.get(self.names.get(name, name))


@dataclass(frozen=True)
class _Beside:
    left: Env
    right: Env

    def get(self, name: str) -> Value:
        try:
            return self.left.get(name)
        except KeyError:
            return self.right.get(name)


def _bottom(node: Source | StreamRef | Emission, inputs: Inputs) -> Iterator[Arrival]:
    if isinstance(node, Source):
        for values in inputs.sources.get(node.name.lower(), ()):
            yield _entered(Fed(values), node.columns, node.prefix, inputs)
        return
    prefix = node.prefix if isinstance(node, StreamRef) else ""
    columns = node.columns if isinstance(node, StreamRef) else node.schema
    for fed in inputs.emitted(node):
        yield _entered(fed, columns, prefix, inputs)


def _entered(fed: Fed, columns: Schema, prefix: str, inputs: Inputs) -> Arrival:
    values = {prefix + column.name: fed.values[column.name] for column in columns}
    engine = Row({"clock_us": inputs.clock_us, "$time": fed.time_us, "$source_time": None})
    return Arrival(
        env=Row(values, engine),
        original={column.name: fed.values[column.name] for column in columns},
        columns=columns,
        sign=fed.sign,
        upstream_us=fed.time_us,
    )


def _filtered(row: Arrival, test: Callable[..., bool], *args: object) -> Arrival:
    try:
        return row if test(*args, row.env) else replace(row, fate=FILTERED)
    except RowError as failed:
        return replace(row, fate=failed.reason)


def _matches(node: TableJoin, pair: Env) -> bool:
    try:
        return holds(node.on, pair)
    except RowError:
        return False


def _table_rows(node: Logical, inputs: Inputs) -> Iterable[Arrival]:
    match node:
        case StaticTable(name=name, columns=columns, prefix=prefix):
            return [
                _entered(Fed(values), columns, prefix, inputs)
                for values in inputs.tables.get(name.lower(), ())
            ]
        case Project(input=input, columns=named):
            below = _table_rows(input, inputs)
            return [replace(row, env=derived(named, row.env)) for row in below]
        case Filter(input=input, predicate=predicate):
            return [row for row in _table_rows(input, inputs) if holds(predicate, row.env)]
        case _:
            raise AssertionError(node)


def _timed(row: Arrival, node: EventTime, clock: InputClock, clock_us: int) -> Arrival:
    """The first rung of the ladder that has a time; below them all the clock, if that is asked for."""
    for step in node.ladder:
        assert step.expr is not None
        try:
            found = evaluate(step.expr, row.env)
        except RowError:
            found = None
        if found is not None:
            return clock.seen(replace(row, ts_us=found, clock=clock))
    if clock.falls_back:
        return clock.seen(replace(row, ts_us=clock_us, stamped=True, clock=clock))
    return clock.seen(replace(row, clock=clock))
