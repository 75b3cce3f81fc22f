"""A shard's part of an epoch, in a Spark task: take up its state, run the kernel, write what came, send what it made.

In: the partials of a shard's groups, and a `Turn`, the same for all shards. Out: one parcel. Decided here: how a task
comes by its state. A Python worker keeps the operators of shards that it has had, but Spark gives a shard to any
worker; so an operator is taken up where the worker left it, or from files, and the turns that it has missed are
replayed from the files of these turns. Whether a kept operator may be trusted is told by the file of its last turn: a
task that ran twice has two of them, and only one was adopted. What a worker has not been asked for in a while it drops:
the run may be over, or the shard be others' for good.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.operators import operator_spec
from tidegate.engines.spark.afterwards import Judge
from tidegate.engines.spark.parcels import Parcel, attempt_facts, refusal, row_of, sent, unsure
from tidegate.engines.stage import logged_parts, step_of
from tidegate.errors import TidegateError
from tidegate.kernel.arrivals import read
from tidegate.kernel.operator import Operator, OperatorSpec
from tidegate.kernel.steps import Brought, Seen, State, Step
from tidegate.plan.physical import Stage
from tidegate.state import Attempt, Entry, ShardFiles

INPUT, TASK = "$input", "$task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What does not change: the stage, where its files are, and how its shards are numbered in them.

    `token` is new with every run: workers outlive it.
    """

    token: str
    stage: Stage
    plan_id: str
    files: ShardFiles
    first_shard: int
    since_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An epoch's step without its rows. `judges` of its inputs say what is late in them; none: that is known."""

    number: int
    facts: Mapping[str, Any]
    now_us: int
    seen: tuple[Seen, ...]
    judges: tuple[Judge | None, ...] = ()

    def step(self, parts: Mapping[str, pa.Table]) -> Step:
        step = step_of(parts, self.facts, inputs=len(self.seen), now_us=self.now_us)
        inputs = [replace(one, seen=seen) for one, seen in zip(step.inputs, self.seen, strict=True)]
        return replace(step, inputs=inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A turn that is over, with what shards had written of it."""

    turn: Turn
    entries: Mapping[int, Entry]
    attempts: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """All state after a turn, and what shards had written of that turn."""

    number: int
    facts: Mapping[str, Any]
    entries: Mapping[int, Entry]
    attempts: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """How a shard comes to be what it is."""

    base: Base
    past: tuple[Past, ...]

    @property
    def number(self) -> int:
        return self.past[-1].turn.number if self.past else self.base.number

    @property
    def attempts(self) -> Mapping[int, str]:
        """What shards had written of the last turn."""
        return self.past[-1].attempts if self.past else self.base.attempts

    def has(self, number: int, shard: int, attempt: str | None) -> bool:
        """Whether that is what the shard had written of that turn, None being nothing."""
        turns = [(self.base.number, self.base.attempts)]
        turns += [(past.turn.number, past.attempts) for past in self.past]
        return any(made == number and of.get(shard) == attempt for made, of in turns)


@dataclass(slots=True)
class _Held:
    """An operator after a turn. `attempt`: the file that it wrote then; `used_s`: when, by this process's clock."""

    operator: Operator
    clock: list[int]
    number: int
    attempt: str | None
    used_s: float = field(default_factory=monotonic)


_KEPT_S = 300.0
_held: dict[tuple[str, str, int], _Held] = {}

Batches = Iterator[pa.RecordBatch]


def turn_task(
    shape: Shape, history: History, turn: Turn, columns: Mapping[int, Mapping[str, str]]
) -> Callable[[Batches], Batches]:
    """What each task of a turn does. `columns` of partials, by the inputs that bring any: by what names they come."""

    def task(shard: int, batches: Batches) -> pa.RecordBatch:
        parts = _judged(_parts(batches, columns), turn.judges)
        if parts is None:
            return unsure(shard)
        held = _taken_up(shape, history, shard)
        held.clock[0] = turn.now_us
        step = turn.step(parts)
        outcome = held.operator.step(step)
        attempt = _written(shape, shard, logged_parts(step))
        held.number, held.attempt = turn.number, None if attempt is None else attempt.file
        _keep(shape, shard, held)
        return sent(
            Parcel(
                shard=shard,
                outcome=outcome,
                attempt=attempt,
                seen=[_seen(one) for one in step.inputs],
                next_end_us=held.operator.next_end_us,
                bytes=held.operator.bytes,
                windows=held.operator.open_windows,
            )
        )

    return _telling(task)


def snapshot_task(shape: Shape, history: History) -> Callable[[Batches], Batches]:
    """Each task writes all that its shard holds."""

    def task(shard: int, _batches: Batches) -> pa.RecordBatch:
        held = _taken_up(shape, history, shard)
        state = held.operator.snapshot()
        _keep(shape, shard, held)
        parts = {name: pa.Table.from_batches([batch]) for name, batch in state.parts.items()}
        attempt = _written(shape, shard, parts, always=True)
        return row_of(shard, {"attempt": attempt_facts(attempt)}, {})

    return _telling(task)


def _telling(
    work: Callable[[int, Batches], pa.RecordBatch],
) -> Callable[[Batches], Batches]:
    """A task that sends what its work gives, or what it refuses."""

    def task(batches: Batches) -> Batches:
        shard = _partition()
        try:
            yield work(shard, batches)
        except TidegateError as problem:
            yield refusal(shard, problem)

    return task


def _seen(brought: Brought) -> Seen:
    arrived = read(brought.batches)
    return Seen(rows=arrived.rows, latest_us=arrived.latest_us)


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _parts(batches: Batches, columns: Mapping[int, Mapping[str, str]]) -> dict[str, pa.Table]:
    """Partials by input, as they are logged. Each batch of them has a group once."""
    found: dict[str, list[pa.RecordBatch]] = {}
    for batch in batches:
        for piece in _pieces(batch) if columns else ():  # else others made the task run
            place = _input(piece, columns)
            found.setdefault(f"{place}.rows", []).append(_named(piece, columns[place]))
    return {name: pa.Table.from_batches(pieces) for name, pieces in found.items()}


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Rows of one input and one task; Spark hands on what a task made as one piece, or as several."""
    if batch.num_rows == 0:
        return
    there = [name for name in (INPUT, TASK) if name in batch.schema.names]
    marks = [batch.column(name).to_numpy() for name in there]
    changes = np.any([mark[1:] != mark[:-1] for mark in marks], axis=0)
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), batch.num_rows]
    for start, end in pairwise(edges):
        yield batch.slice(start, end - start)


def _input(piece: pa.RecordBatch, columns: Mapping[int, Mapping[str, str]]) -> int:
    """Marked only where there are several."""
    if INPUT not in piece.schema.names:
        (place,) = columns
        return place
    marked: int = piece.column(INPUT)[0].as_py()
    return marked


def _named(piece: pa.RecordBatch, columns: Mapping[str, str]) -> pa.RecordBatch:
    arrays = [piece.column(own) for own in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _judged(
    parts: dict[str, pa.Table], judges: Sequence[Judge | None]
) -> dict[str, pa.Table] | None:
    """The parts with late rows known as such; None: that is not to be told from them."""
    found = dict(parts)
    for place, judge in enumerate(judges):
        table = parts.get(f"{place}.rows")
        if judge is None or table is None:
            continue
        batches = judge.all(table.to_batches())
        if batches is None:
            return None
        found[f"{place}.rows"] = pa.Table.from_batches(batches)
    return found


def _written(
    shape: Shape, shard: int, parts: Mapping[str, pa.Table], *, always: bool = False
) -> Attempt | None:
    if not parts and not always:
        return None
    named = {f"{shape.stage.name}/{name}": table for name, table in parts.items()}
    return shape.files.attempt(shape.first_shard + shard, named)


def _taken_up(shape: Shape, history: History, shard: int) -> _Held:
    """The operator of a shard as it is before the turn. It is not kept: if a step fails, nobody knows what it holds."""
    held = _held.pop((shape.token, shape.stage.name, shard), None)
    if held is None or not history.has(held.number, shard, held.attempt):
        held = _restored(shape, history.base, shard)
    for past in history.past:
        if past.turn.number > held.number:
            held.clock[0] = past.turn.now_us
            entry = past.entries.get(shard)
            parts = {} if entry is None else _read(shape, entry)
            held.operator.step(past.turn.step(parts), replayed=True)
            held.number, held.attempt = past.turn.number, past.attempts.get(shard)
    return held


def _keep(shape: Shape, shard: int, held: _Held) -> None:
    now_s = monotonic()
    for key in [key for key, one in _held.items() if now_s - one.used_s > _KEPT_S]:
        del _held[key]
    held.used_s = now_s
    _held[shape.token, shape.stage.name, shard] = held


def _restored(shape: Shape, base: Base, shard: int) -> _Held:
    clock = [shape.since_us]
    project = EmbeddedExecutor(_workers()).projection(shape.stage, lambda: clock[0])
    spec = operator_spec(shape.stage, shape.plan_id)
    assert isinstance(spec, OperatorSpec), spec  # others stay on the driver
    operator = spec.build(project, since_us=shape.since_us)
    nothing = operator.snapshot().parts
    entry = base.entries.get(shard)
    found = {} if entry is None else _read(shape, entry)
    parts = {
        name: _batch(found[name], like) if name in found else like for name, like in nothing.items()
    }
    operator.restore(State(base.facts, parts))
    return _Held(operator, clock, base.number, base.attempts.get(shard))


def _read(shape: Shape, entry: Entry) -> dict[str, pa.Table]:
    prefix = f"{shape.stage.name}/"
    parts = shape.files.read(entry)
    return {name.removeprefix(prefix): table for name, table in parts.items()}


def _batch(table: pa.Table, like: pa.RecordBatch) -> pa.RecordBatch:
    found = table.combine_chunks().to_batches()
    return found[0] if found else like


_one: list[Workers] = []


def _workers() -> Workers:
    """One core: Spark keeps the others busy."""
    if not _one:
        _one.append(Workers(1))
    return _one[0]
