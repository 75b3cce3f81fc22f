"""State on executors: an operator that is cut into shards, each of which a task of every epoch takes up.

In: what an operator gets, its rows as frames of partials. Out: what an operator gives. Decided here:

* An operator begins on the driver, restored from whatever log there is, and moves: its state is cut by a hash of the
  group and left in files beside the log, where tasks find it. The log does not know of moves; after a restart, shards
  of any number are merged on the driver, and move again.
* An epoch has two turns, as its watermark is only known when all partials are there. In the first, each shard takes in
  its partials, by the watermark that held before; it is one job, and tells how far the rows have come. The second is
  the watermark's: it is a job only if a window ends by it. Otherwise shards hear of it when they have their next turn.
* How a shard came to be what it is goes with every job, for its task may be at a worker that has to read it all. So
  there is a snapshot after `_MOST_TURNS` turns at the latest, however little they brought.
* What a task writes has a name of its own until the driver adopts it. So a task that runs twice leaves a file that
  nobody reads.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from tidegate.engines.epochs import joined
from tidegate.engines.executor import Spec, StageOperator
from tidegate.engines.spark.afterwards import Judge
from tidegate.engines.spark.frames import frame_of
from tidegate.engines.spark.parcels import (
    SCHEMA,
    Parcel,
    accepted,
    any_unsure,
    batch_of,
    merged,
    received,
    seen_by_all,
    sent_attempts,
)
from tidegate.engines.spark.shard_task import (
    INPUT,
    TASK,
    Base,
    History,
    Past,
    Shape,
    Turn,
    snapshot_task,
    turn_task,
)
from tidegate.engines.stage import logged_facts
from tidegate.engines.stage_parts import keys_of
from tidegate.kernel.course import Course
from tidegate.kernel.emission import horizon_us
from tidegate.kernel.finishing import Projection
from tidegate.kernel.steps import Bounds, Outcome, Seen, State, Step
from tidegate.model.expressions import Field
from tidegate.model.policies import EmitMode
from tidegate.model.time import NEVER_US
from tidegate.model.windows import Session
from tidegate.plan.physical import Stage
from tidegate.plan.rules.placement import AUTO, EXECUTORS
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import type_name
from tidegate.state import Attempt, Entry, ShardFiles, layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_NUMBER = "$number"
_MOST_TASKS = 1 << 16
_MOST_TURNS = 512
Task: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where state may be. `files` None: there is no place that executors could reach, so it stays.

    `most_bytes`: an operator that may choose moves when it is larger.
    """

    spark: "SparkSession"
    files: ShardFiles | None
    count: int
    most_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeBy:
    """Partials of an input. `columns` says by what names the frames have them.

    `by_task`: each group is there once for every task of a frame, else once.
    """

    frames: Sequence["DataFrame"]
    columns: Mapping[str, str]
    by_task: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """What an input brings. Shards judge it, if they can; else it is made anew, `with_care`."""

    partials: MadeBy
    judge: Judge | None = None
    with_care: Callable[[], MadeBy] | None = None


@dataclass(slots=True)
class _Away:
    """What the driver knows of an operator that has moved. No two of its turns have one number.

    `pending`: what its shards wrote, not yet adopted.
    """

    shape: Shape
    history: History
    turns: int = 0
    parcels: Sequence[Parcel] = ()
    next_end_us: int = NEVER_US
    pending: Mapping[int, Attempt] = field(default_factory=dict)

    def next_number(self) -> int:
        self.turns += 1
        return self.turns

    def add(self, turn: Turn, parcels: Sequence[Parcel]) -> None:
        """The turn is over. Until they are adopted, files of its rows are known by the names they have."""
        attempts = {it.shard: it.attempt for it in parcels if it.attempt is not None}
        entries = {
            shard: replace(attempt.entry, file=attempt.file) for shard, attempt in attempts.items()
        }
        files = {shard: attempt.file for shard, attempt in attempts.items()}
        past = Past(turn=turn, entries=entries, attempts=files)
        self.history = replace(self.history, past=(*self.history.past, past))
        if attempts:
            self.pending = attempts
        if parcels:
            self.parcels = parcels
            self.next_end_us = min(parcel.next_end_us for parcel in parcels)

    def adopt(self, epoch: int) -> list[Entry]:
        """Give what is pending the names of the epoch."""
        pending, self.pending = self.pending, {}
        entries = {
            attempt.file: self.shape.files.adopt(attempt, layout.delta(epoch, attempt.entry.shard))
            for attempt in pending.values()
        }
        self.history = replace(
            self.history, past=tuple(_renamed(past, entries) for past in self.history.past)
        )
        return list(entries.values())


def _renamed(past: Past, entries: Mapping[str, Entry]) -> Past:
    if not any(entry.file in entries for entry in past.entries.values()):
        return past
    known = {shard: entries.get(entry.file, entry) for shard, entry in past.entries.items()}
    return replace(past, entries=known)


class PlacedOperator:
    """The kernel's operator on the driver, or its shards on the executors."""

    def __init__(
        self,
        stage: Stage,
        spec: Spec,
        project: Projection | None,
        *,
        since_us: int,
        first_shard: int,
        placement: Placement,
    ) -> None:
        self._stage, self._spec, self._project = stage, spec, project
        self._since_us, self._first_shard = since_us, first_shard
        self._placement = placement
        self._here: StageOperator = spec.build(project, since_us=since_us)
        self._away: _Away | None = None
        self._coming: dict[int, Coming] = {}

    # What every operator is

    @property
    def course(self) -> Course:
        return self._here.course

    @property
    def clock_us(self) -> int:
        return self._here.clock_us

    @property
    def bytes(self) -> int:
        if self._away is None:
            return self._here.bytes
        return sum(parcel.bytes for parcel in self._away.parcels)

    @property
    def open_windows(self) -> int:
        if self._away is None:
            return self._here.open_windows
        windows = [parcel.windows for parcel in self._away.parcels]
        per_group = isinstance(self._stage.window, Session)
        return sum(windows) if per_group else max(windows, default=0)

    def begin(self, now_us: int) -> tuple[Bounds, ...]:
        if self._is_to_move():
            self._move()
        return self._here.begin(now_us)

    def step(self, step: Step, *, replayed: bool = False) -> Outcome:
        if self._away is None:
            return self._here.step(step, replayed=replayed)
        assert not replayed, "a log is replayed before anything moves"
        return self._epoch(step, self._away)

    def snapshot(self) -> State:
        state = self._here.snapshot()
        return state if self._away is None else State(state.facts, {})

    def restore(self, state: State) -> None:
        self._here.restore(state)

    # Moving

    @property
    def is_away(self) -> bool:
        return self._away is not None

    def _is_to_move(self) -> bool:
        if self._away is not None or self._placement.files is None:
            return False
        if self._stage.placement == AUTO:
            return self._here.bytes > self._placement.most_bytes
        return self._stage.placement == EXECUTORS

    def _move(self) -> None:
        files, state, token = self._placement.files, self._here.snapshot(), token_hex(8)
        assert files is not None
        shape = Shape(
            token=token,
            stage=self._stage,
            plan_id=self._spec.output.plan_id,
            files=files,
            first_shard=self._first_shard,
            since_us=self._since_us,
        )
        entries = {
            shard: files.write_seed(token, self._first_shard + shard, parts)
            for shard, parts in self._cut(state).items()
        }
        self._here = self._spec.build(self._project, since_us=self._since_us)
        nothing = {name: batch.slice(0, 0) for name, batch in state.parts.items()}
        self._here.restore(State(state.facts, nothing))
        base = Base(number=0, facts=state.facts, entries=entries, attempts={})
        self._away = _Away(shape, History(base=base, past=()))

    def come_home(self) -> None:
        """Back to the driver, whose plan may change."""
        away = self._away
        if away is None:
            return
        files, state, shards = away.shape.files, self._here.snapshot(), []
        for attempt in self._whole(away).values():
            shards.append(files.read(replace(attempt.entry, file=attempt.file)))
            files.forget(attempt)
        parts = {
            name.removeprefix(f"{self._stage.name}/"): batch_of(table)
            for name, table in joined(shards).items()
        }
        self._here = self._spec.build(self._project, since_us=self._since_us)
        self._here.restore(State(state.facts, parts))
        self._away = None

    def _cut(self, state: State) -> Mapping[int, Mapping[str, pa.Table]]:
        """The parts of the state by shard; a shard without groups has none."""
        found: dict[int, dict[str, pa.Table]] = {}
        for name, batch in state.parts.items():
            shards = self._shards_of(batch)
            for shard in np.unique(shards).tolist():
                own = pa.Table.from_batches([batch.filter(pa.array(shards == shard))])
                found.setdefault(shard, {})[f"{self._stage.name}/{name}"] = own
        return found

    def _shards_of(self, batch: pa.RecordBatch) -> np.ndarray:
        """By Spark, which will say where the partials of the same groups go."""
        if batch.num_rows == 0:
            return np.zeros(0, np.int64)
        columns = {key.name: batch.column(key.name) for key in keys_of(self._stage)}
        numbered = pa.table({**columns, _NUMBER: pa.array(range(batch.num_rows))})
        frame = frame_of(self._placement.spark, numbered).data
        made = frame.selectExpr(f"{self._shard_text} AS shard", f"`{_NUMBER}`").toArrow()
        shards = np.empty(batch.num_rows, np.int64)
        shards[made.column(_NUMBER).to_numpy()] = made.column("shard").to_numpy()
        return shards

    @property
    def _shard_text(self) -> str:
        return f"pmod(hash({', '.join(map(_key, keys_of(self._stage)))}), {self._placement.count})"

    # A turn

    def bring(self, place: int, coming: Coming) -> None:
        """Partials of an input, for the step that comes."""
        self._coming[place] = coming

    def _epoch(self, step: Step, away: _Away) -> Outcome:
        """Rows first, while the watermark stands; then it moves, and what is due comes out."""
        coming, self._coming = self._coming, {}
        count, parcels = len(step.inputs), []
        seen: tuple[Seen, ...] = (Seen(rows=0, latest_us=None),) * count
        if coming:
            parcels = self._take_in(away, coming, seen)
            seen = seen_by_all(parcels)
        inputs = [replace(one, seen=saw) for one, saw in zip(step.inputs, seen, strict=True)]
        ticks = self._ticks(step)
        led = self._here.step(replace(step, inputs=inputs))
        facts, number = logged_facts(step), away.next_number()
        turn = Turn(number=number, facts=facts, now_us=step.now_us, seen=seen)
        if step.ended or ticks or self._is_due(away):
            moved = self._run(away, turn, {})
            assert moved is not None
            assert all(it.outcome.watermark_us == led.watermark_us for it in moved)
            parcels += moved
        else:
            away.add(turn, ())  # nothing comes of it, so shards may hear of it with the next one
        if not parcels:
            return led
        made = merged([parcel.outcome for parcel in parcels])
        return replace(made, watermark_us=led.watermark_us, behind_us=led.behind_us)

    def _take_in(
        self, away: _Away, coming: Mapping[int, Coming], seen: tuple[Seen, ...]
    ) -> list[Parcel]:
        facts, now_us = _standing(len(seen)), self.clock_us
        inputs = range(len(seen))
        judges = tuple(coming[place].judge if place in coming else None for place in inputs)
        turn = Turn(number=away.next_number(), facts=facts, now_us=now_us, seen=seen, judges=judges)
        rows = {place: one.partials for place, one in coming.items()}
        parcels = self._run(away, turn, rows)
        if parcels is not None:
            return parcels
        anew = {
            place: it.with_care() if it.with_care else it.partials for place, it in coming.items()
        }
        turn = Turn(number=away.next_number(), facts=facts, now_us=now_us, seen=seen)
        parcels = self._run(away, turn, anew)
        assert parcels is not None, "nothing was left to judge"
        return parcels

    def _ticks(self, step: Step) -> bool:
        """Whether it is time for what is emitted at intervals."""
        every = self._stage.emit.interval_us
        return every is not None and step.now_us // every > self.clock_us // every

    def _is_due(self, away: _Away) -> bool:
        """Whether the watermark has come to the end of a window, as far as that makes it emit."""
        emit, upto_us = self._stage.emit, self.course.watermark.at_us
        if emit.mode in (EmitMode.ON_UPDATE, EmitMode.CHANGES):
            return False
        if emit.mode is not EmitMode.AFTER_WATERMARK:
            upto_us = horizon_us(upto_us, self._stage.lateness_us)
        return upto_us >= away.next_end_us

    def _run(self, away: _Away, turn: Turn, rows: Mapping[int, MadeBy]) -> list[Parcel] | None:
        """Partials by input. None: a shard cannot judge what it got, so nothing of it counts."""
        columns = {place: made.columns for place, made in rows.items()}
        task = turn_task(away.shape, away.history, turn, columns)
        made = self._tasks(task, _marked(rows))
        if any_unsure(made):
            return None
        parcels = received(made)
        away.add(turn, parcels)
        return parcels

    def _tasks(self, task: Task, rows: "DataFrame | None") -> pa.Table:
        """One task per shard, whether it has rows or not."""
        from pyspark.sql.functions import expr
        from pyspark.sql.pandas.types import from_arrow_schema

        count = self._placement.count
        if rows is None:
            placed = self._placement.spark.range(0, count, 1, count)
        else:
            placed = rows.repartitionById(count, expr(self._shard_text))
        return accepted(placed.mapInArrow(task, from_arrow_schema(SCHEMA)).toArrow())

    # What shards have written

    def written(self, epoch: int) -> list[Entry]:
        """Files of the last rows, which from now on are those of the epoch."""
        return [] if self._away is None else self._away.adopt(epoch)

    @property
    def wants_snapshot(self) -> bool:
        return self._away is not None and len(self._away.history.past) >= _MOST_TURNS

    def write_snapshot(self, epoch: int) -> list[Entry]:
        """All that shards hold, as files of the epoch."""
        away = self._away
        if away is None:
            return []
        entries = {
            shard: away.shape.files.adopt(attempt, layout.snapshot(epoch, attempt.entry.shard))
            for shard, attempt in self._whole(away).items()
        }
        base = Base(
            number=away.history.number,
            facts=self._here.snapshot().facts,
            entries=entries,
            attempts=away.history.attempts,
        )
        away.history = History(base=base, past=())
        return list(entries.values())

    def _whole(self, away: _Away) -> dict[int, Attempt]:
        """All that shards hold, written."""
        rows = self._tasks(snapshot_task(away.shape, away.history), None)
        return sent_attempts(rows)


def _marked(rows: Mapping[int, MadeBy]) -> "DataFrame | None":
    """All of them, each with its input and a number: rows of the same number are of different groups."""
    from pyspark.sql import functions as f

    every: list[DataFrame] = []
    for place, made in rows.items():
        for frame in made.frames:
            first = f.lit(len(every) * _MOST_TASKS)
            task = f.spark_partition_id() + first if made.by_task else first
            marks = [f.lit(place).alias(INPUT)] if len(rows) > 1 else []
            every.append(frame.select("*", *marks, task.alias(TASK)))
    if not every:
        return None
    return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), every)


def _standing(count: int) -> Mapping[str, Any]:
    """Of a step in which no watermark moves."""
    never = [NEVER_US] * count
    return {"explicit_us": never, "upstream_us": never, "ended": False, "crowded": False}


def _key(key: Field) -> str:
    return f"CAST(`{key.name}` AS {type_name(key.type, Engine.SPARK)})"
