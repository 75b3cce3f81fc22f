"""All queries of a program, stage by stage: one epoch of the whole.

In: what sources delivered. Out: what every stream emitted. Decided here: the order (as written; a stream can only read
what stands before it) and what one stage hands to the next: rows with the last instant of their window as `$time`, rows
that are taken back, and how far it is certain that none will come behind.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from tidegate.engines.executor import Executor, Rows
from tidegate.engines.passing import PassingStage
from tidegate.engines.stage import Epoch, Fed, Made, WindowStage
from tidegate.kernel.arrow import array_of, arrow_type, numbers
from tidegate.kernel.changes import Emitted
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema, schema_of
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.model.types import Scalar
from tidegate.plan.event_time import UPSTREAM_TIME
from tidegate.plan.fingerprint import Fingerprint, fingerprint
from tidegate.plan.physical import Branch, InputKind, Plan, StageKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import NamedQuery, Program

_INSTANT = arrow_type(Scalar.TIMESTAMP)
RunningStage = WindowStage | PassingStage


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """What an epoch reads: rows of sources by lower-case name, watermarks that are set, partitions that there are."""

    rows: Mapping[str, Rows] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Running:
    """A query with its stages, the last of which makes its rows."""

    name: str
    stages: tuple[RunningStage, ...]
    schema: Schema
    kind: StreamKind
    fingerprint: Fingerprint
    anonymous: bool


class Dataflow:
    """The queries of a program. `tables` are by lower-case name, `seconds` what each stage took so far."""

    def __init__(
        self,
        program: Program,
        executor: Executor,
        *,
        tables: Mapping[str, pa.Table],
        since_us: int,
        kept: Mapping[str, Running] | None = None,
    ) -> None:
        """`kept`: what runs already, by name; queries that mean the same go on with their state."""
        self._program, self._executor = program, executor
        self._tables, self._since_us = tables, since_us
        self._kept = kept or {}
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.queries = tuple(self._running(query) for query in program.queries)
        branches = [branch for stage in self.stages for branch in stage.stage.branches]
        self._read = {
            branch.input.name.lower()
            for branch in branches
            if branch.input.kind is not InputKind.SOURCE
        }

    def _running(self, query: NamedQuery) -> Running:
        plan = plan_query(query, self._program)
        identity = fingerprint(plan)
        before = self._kept.get(query.name)
        if before is not None and before.fingerprint == identity:
            if tuple(stage.stage for stage in before.stages) == plan.stages:
                return before
            return _moved(before, self._made(query, plan, identity))
        return self._made(query, plan, identity)

    def _made(self, query: NamedQuery, plan: Plan, identity: Fingerprint) -> Running:
        stages: list[RunningStage] = []
        for stage in plan.stages:
            common = (stage, identity.plan_id, self._executor)
            if stage.kind is StageKind.STATELESS and stage.dedup is None:
                stages.append(PassingStage(*common, stream=query.name, tables=self._tables))
                continue
            made = WindowStage(
                *common, stream=query.name, tables=self._tables, since_us=self._since_us
            )
            stages.append(made)
        return Running(
            name=query.name,
            stages=tuple(stages),
            schema=schema_of(plan.last.output),
            kind=plan.last.stream_kind,
            fingerprint=identity,
            anonymous=query.anonymous,
        )

    @property
    def stages(self) -> Iterator[RunningStage]:
        for query in self.queries:
            yield from query.stages

    def step(self, delivered: Delivered, epoch: Epoch) -> dict[str, Made]:
        """One epoch; what each stage made, by its name."""
        made: dict[str, Made] = {}
        handed: dict[str, Fed] = {}
        for query in self.queries:
            for stage in query.stages:
                fed = [
                    self._fed(branch, delivered, handed, ended=epoch.ended)
                    for branch in stage.stage.branches
                ]
                began = time.perf_counter()
                done = made[stage.stage.name] = stage.step(fed, epoch)
                self.seconds[stage.stage.name] += time.perf_counter() - began
                name = stage.stage.name.lower()
                if name in self._read:
                    handed[name] = hand_on(done)
        return made

    def _fed(
        self,
        branch: Branch,
        delivered: Delivered,
        handed: Mapping[str, Fed],
        *,
        ended: bool,
    ) -> Fed:
        name = branch.input.name.lower()
        if branch.input.kind is not InputKind.SOURCE:
            return handed[name]
        explicit_us = FOREVER_US if ended else delivered.watermarks.get(name, NEVER_US)
        return Fed(
            rows=delivered.rows.get(name, ()),
            explicit_us=explicit_us,
            partitions=delivered.partitions.get(name) if _is_partitioned(branch) else None,
        )

    def use_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Rows are joined with these from now on."""
        for stage in self.stages:
            stage.use_tables(tables)


def _is_partitioned(branch: Branch) -> bool:
    return branch.time is not None and branch.time.partitioned


def _moved(before: Running, after: Running) -> Running:
    """State of a query goes on under other lateness, limits or routes."""
    for old, new in zip(before.stages, after.stages, strict=True):
        if isinstance(old, WindowStage) and isinstance(new, WindowStage):
            new.restore(old.snapshot())
    return after


def rows_of(source: str, stages: Iterable[RunningStage], made: Mapping[str, Made]) -> int:
    """How many rows the first stage that reads the source made something of; it reads nothing else in this epoch."""
    for stage in stages:
        if any(_reads(branch, source) for branch in stage.stage.branches):
            return made[stage.stage.name].rows_by_code.total()
    return 0


def _reads(branch: Branch, source: str) -> bool:
    return branch.input.kind is InputKind.SOURCE and branch.input.name.lower() == source


def hand_on(made: Made) -> Fed:
    """What the next stage reads."""
    emitted = made.emitted
    rows = _timed(emitted)
    signs = emitted.signs
    if emitted.ops is None or (signs > 0).all():
        return Fed(rows=(rows,) if rows.num_rows else (), upstream_us=made.behind_us)
    come, gone = (rows.filter(pa.array(wanted)) for wanted in (signs > 0, signs < 0))
    return Fed(
        rows=(come,) if come.num_rows else (),
        taken_back=(gone,) if gone.num_rows else (),
        upstream_us=made.behind_us,
    )


def _timed(emitted: Emitted) -> pa.RecordBatch:
    """With the last instant of their window, or what the window itself says its time is."""
    told = "$window_time" in emitted.units.schema.names
    found = numbers(emitted.units.column("$window_time" if told else "$window_end"))
    values = found.filled(0) - (0 if told else 1)
    times = array_of(values, found.valid, _INSTANT)
    return emitted.rows.append_column(UPSTREAM_TIME.name, times)
