"""State on executors: an operator that is cut into shards, each of which a task of every epoch takes up.

In: what an operator gets, its rows as frames of partials. Out: what an operator gives. Decided here:

* An operator begins on the driver, restored from whatever log there is, and moves: its state is cut by a hash of the
  group and left in files beside the log, where tasks find it. The log does not know of moves; after a restart, shards
  of any number are merged on the driver, and move again.
* An epoch has two jobs. The first makes the partials, keeps them, and counts them up: only then is the watermark known
  that all shards close their windows by. The second gives each shard its partials.
* What a task writes has a name of its own until the driver adopts it. So a task that runs twice leaves a file that
  nobody reads.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.engines.executor import Spec, StageOperator
from tidegate.engines.spark.frames import frame_of
from tidegate.engines.spark.parcels import SCHEMA, Parcel, attempt_of, merged, received
from tidegate.engines.spark.shard_task import (
    INPUT,
    SHARD,
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
from tidegate.kernel.arrivals import ROWS_ONCE, STAMPED_ROWS, read
from tidegate.kernel.course import Course
from tidegate.kernel.finishing import Projection
from tidegate.kernel.groups import MAX_TS, ROWS
from tidegate.kernel.panes import PANE
from tidegate.kernel.steps import Bounds, Outcome, Seen, State, Step
from tidegate.model.expressions import Field
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US, NEVER_US
from tidegate.model.windows import Session
from tidegate.plan.physical import Stage
from tidegate.plan.rules.placement import AUTO, EXECUTORS
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import type_name
from tidegate.state import Entry, ShardFiles, layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_NUMBER = "$number"
_NOTHING_SEEN = (Seen(rows=0, latest_us=None),)
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


@dataclass(slots=True)
class _Away:
    """What the driver knows of an operator that has moved."""

    shape: Shape
    history: History
    written: tuple[Turn, Sequence[Parcel]] | None = None
    parcels: Sequence[Parcel] = ()
    watermark_us: int | None = None  # of the last turn


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
        self._frames: dict[int, list[DataFrame]] = {}

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
        return self._turn(step, self._away)

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
        base = Base(number=0, facts=state.facts, entries=entries)
        self._away = _Away(shape, History(base=base, past=()))

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

    def bring(self, place: int, frames: Sequence["DataFrame"]) -> None:
        """Partials of an input, for the step that comes."""
        self._frames.setdefault(place, []).extend(frames)

    def _turn(self, step: Step, away: _Away) -> Outcome:
        frames, self._frames = self._frames, {}
        partials = _Partials.of(frames, self._shard_text)
        try:
            return self._shared_turn(step, away, partials)
        finally:
            if partials is not None:
                partials.rows.unpersist()

    def _shared_turn(self, step: Step, away: _Away, partials: "_Partials | None") -> Outcome:
        count = len(step.inputs)
        seen = _NOTHING_SEEN * count if partials is None else partials.seen(count)
        inputs = [replace(one, seen=saw) for one, saw in zip(step.inputs, seen, strict=True)]
        led = self._here.step(replace(step, inputs=inputs))
        away.written = None
        if partials is None and led.watermark_us == away.watermark_us and not self._concerns(step):
            return led
        away.watermark_us = led.watermark_us
        turn = Turn(
            number=away.history.number + 1, facts=logged_facts(step), now_us=step.now_us, seen=seen
        )
        columns = [[] for _ in step.inputs] if partials is None else partials.columns(count)
        task = turn_task(away.shape, away.history, turn, columns)
        parcels = self._run(task, None if partials is None else partials.rows)
        assert all(it.outcome.watermark_us == led.watermark_us for it in parcels)
        away.written, away.parcels = (turn, parcels), parcels
        made = merged([parcel.outcome for parcel in parcels])
        return replace(made, watermark_us=led.watermark_us, behind_us=led.behind_us)

    def _concerns(self, step: Step) -> bool:
        """Whether shards must hear of a step without rows that moves no watermark of the stage.

        The clock alone may make them emit, and a watermark that one of several inputs is told counts later.
        """
        told = any(one.explicit_us != NEVER_US for one in step.inputs)
        return told or step.ended or self._stage.emit.interval_us is not None

    def _run(self, task: Task, rows: "DataFrame | None") -> list[Parcel]:
        return received(self._tasks(task, rows))

    def _tasks(self, task: Task, rows: "DataFrame | None") -> pa.Table:
        """One task per shard, whether it has rows or not."""
        from pyspark.sql.functions import col
        from pyspark.sql.pandas.types import from_arrow_schema

        count = self._placement.count
        if rows is None:
            placed = self._placement.spark.range(0, count, 1, count)
        else:
            placed = rows.repartitionById(count, col(f"`{SHARD}`"))
        return placed.mapInArrow(task, from_arrow_schema(SCHEMA)).toArrow()

    # What shards have written

    def written(self, epoch: int) -> list[Entry]:
        """Files of the last turn, which from now on are those of the epoch."""
        away = self._away
        if away is None or away.written is None:
            return []
        turn, parcels = away.written
        attempts = {it.shard: it.attempt for it in parcels if it.attempt is not None}
        entries = {
            shard: away.shape.files.adopt(attempt, layout.delta(epoch, attempt.entry.shard))
            for shard, attempt in attempts.items()
        }
        files = {shard: attempt.file for shard, attempt in attempts.items()}
        past = Past(turn=turn, entries=entries, attempts=files)
        away.history = replace(away.history, past=(*away.history.past, past))
        away.written = None
        return list(entries.values())

    def write_snapshot(self, epoch: int) -> list[Entry]:
        """All that shards hold, as files of the epoch."""
        away = self._away
        if away is None:
            return []
        rows = self._tasks(snapshot_task(away.shape, away.history), None)
        entries = {}
        for shard, facts in zip(
            *(rows.column(it).to_pylist() for it in ("shard", "facts")), strict=True
        ):
            attempt = attempt_of(json.loads(facts)["attempt"])
            assert attempt is not None
            file = layout.snapshot(epoch, attempt.entry.shard)
            entries[shard] = away.shape.files.adopt(attempt, file)
        number, facts = away.history.number, self._here.snapshot().facts
        base = Base(number=number, facts=facts, entries=entries)
        away.history = History(base=base, past=())
        return list(entries.values())


@dataclass(frozen=True, slots=True)
class _Partials:
    """The partials of an epoch, kept until its shards have got them; columns by input."""

    rows: "DataFrame"
    names: Mapping[int, Sequence[str]]

    @classmethod
    def of(cls, frames: Mapping[int, Sequence["DataFrame"]], shard_text: str) -> "_Partials | None":
        from pyspark.sql import functions as f

        every, names = [], {}
        for place, parts in frames.items():
            for part in parts:
                names[place] = part.columns
                marks = (f.lit(place).alias(INPUT), f.expr(shard_text).alias(SHARD))
                every.append(part.select("*", *marks))
        if not every:
            return None
        rows = every[0]
        for more in every[1:]:
            rows = rows.unionByName(more, allowMissingColumns=True)
        return cls(rows.persist(), names)

    def columns(self, count: int) -> list[Sequence[str]]:
        return [self.names.get(place, ()) for place in range(count)]

    def seen(self, count: int) -> tuple[Seen, ...]:
        """What each input has brought, as its partials count it up."""
        account = self._account().combine_chunks().to_batches()
        found = []
        for place in range(count):
            own = [it.filter(pc.equal(it.column(INPUT), place)) for it in account]
            arrived = read(batch.drop_columns([INPUT]) for batch in own)
            found.append(Seen(rows=arrived.rows, latest_us=arrived.latest_us))
        return tuple(found)

    def _account(self) -> pa.Table:
        """One partial for each input and code."""
        from pyspark.sql import functions as f

        there = set(self.rows.columns)
        sums = [name for name in (ROWS, ROWS_ONCE, STAMPED_ROWS) if name in there]
        made = [f.coalesce(f.sum(f.col(name)), f.lit(0)).alias(name) for name in sums]
        if MAX_TS in there:
            latest = f.col(MAX_TS).cast("bigint")
            inside = latest.between(MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)
            made.append(f.max(f.when(inside, latest)).alias(MAX_TS))
        code = f.least(f.col(PANE), f.lit(0)).alias(PANE)
        return self.rows.groupBy(INPUT, code).agg(*made).toArrow()


def _key(key: Field) -> str:
    return f"CAST(`{key.name}` AS {type_name(key.type, Engine.SPARK)})"
