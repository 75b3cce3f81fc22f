"""The in-process engine: who drives epochs.

In: a planned program, a clock, a log. Out: emitted rows, to sinks and to whoever watches. Decided here: in which order
an epoch touches the outside, which is what makes it exactly once:

1. intend   what will be read and the clock that will be used are written down
2. read     the sources, up to what was intended; row SQL; the window operators
3. sinks    get all rows of the epoch, under its number
4. commit   what crossed the seam and where the inputs stand; the epoch is real

A crash before 4 repeats the epoch: it reads the same rows, emits the same rows, and sinks replace what they had of it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.protocols import Delivery, Offset, SinkWriter, SourceReader
from tidegate.engines.clock import Clock
from tidegate.engines.dataflow import Dataflow, Delivered, Running
from tidegate.engines.local.executor import LocalExecutor
from tidegate.engines.local.queries import Workers
from tidegate.engines.sides import Circumstances, Payload, malformed
from tidegate.engines.stage import Epoch, Made, WindowStage
from tidegate.engines.views import as_seen
from tidegate.kernel.operator import State
from tidegate.model.policies import SideKind
from tidegate.model.time import NEVER_US
from tidegate.plan.script import Program
from tidegate.state import Log, Parts, Recovered

Watcher = Callable[[str, Made], None]
_TABLE = "table:"


@dataclass(slots=True)
class Totals:
    """Counts of a run, kept with the state, so that they are those of all its epochs."""

    read: Counter[str] = field(default_factory=Counter)
    malformed: Counter[str] = field(default_factory=Counter)
    emitted: Counter[str] = field(default_factory=Counter)
    rows_by_code: dict[str, Counter[int]] = field(default_factory=dict)
    broken: dict[str, Counter[int]] = field(default_factory=dict)
    stamped: Counter[str] = field(default_factory=Counter)

    def add(self, stage: str, made: Made) -> None:
        """Every row must have become something (semantics §8)."""
        accounted = made.rows_by_code.total()
        assert made.rows_in in (None, accounted), (stage, made.rows_in, made.rows_by_code)
        self.rows_by_code.setdefault(stage, Counter()).update(made.rows_by_code)
        self.broken.setdefault(stage, Counter()).update(made.broken)
        self.stamped[stage] += made.stamped
        self.emitted[stage] += made.emitted.visible.rows.num_rows

    def facts(self) -> dict[str, Any]:
        return {
            "read": dict(self.read),
            "malformed": dict(self.malformed),
            "emitted": dict(self.emitted),
            "rows_by_code": {name: dict(counts) for name, counts in self.rows_by_code.items()},
            "broken": {name: dict(counts) for name, counts in self.broken.items()},
            "stamped": dict(self.stamped),
        }

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Totals":
        def by_code(counts: Mapping[str, Mapping[str, int]]) -> dict[str, Counter[int]]:
            return {
                name: Counter({int(code): rows for code, rows in given.items()})
                for name, given in counts.items()
            }

        return cls(
            Counter(facts["read"]),
            Counter(facts["malformed"]),
            Counter(facts["emitted"]),
            by_code(facts["rows_by_code"]),
            by_code(facts["broken"]),
            Counter(facts["stamped"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What an engine reads and writes. Readers and tables are by lower-case name, sinks by that of their stream."""

    readers: Mapping[str, SourceReader] = field(default_factory=dict)
    sinks: Mapping[str, Sequence[SinkWriter]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(slots=True)
class _Plan:
    """What an epoch is going to do; `offsets` are where its ranges end."""

    now_us: int
    offsets: dict[str, Offset] = field(default_factory=dict)
    rows: Mapping[str, Sequence[pa.RecordBatch]] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    ended: bool = False

    def intent(self, since_us: int) -> dict[str, Any]:
        return {
            "since_us": since_us,
            "clock_us": self.now_us,
            "offsets": self.offsets,
            "watermarks": dict(self.watermarks),
            "ended": self.ended,
            "replayable": not self.rows and not self.tables,
        }


class LocalEngine:
    """Runs a program. Every call returns when its epoch is done and durable."""

    def __init__(
        self,
        program: Program,
        *,
        clock: Clock,
        log: Log,
        outside: Outside,
        workers: Workers,
        watch: Watcher | None = None,
        batch_rows: int = 1_000_000,
    ) -> None:
        self.program, self._clock, self._log = program, clock, log
        self._outside, self._workers, self._batch_rows = outside, workers, batch_rows
        self._watch = watch
        self._tables: dict[str, pa.Table] = dict(outside.tables)
        self._offsets: dict[str, Offset] = {}
        self.totals = Totals()
        self.epoch = -1
        self.ended = False
        found = log.recover()
        self._since_us = self.now_us = clock.now_us() if found is None else _since_us(found)
        self.dataflow = self._build(self._since_us)
        self.watermarks: dict[str, int] = {}
        if found is not None:
            self._recover(found)

    def _build(self, since_us: int) -> Dataflow:
        return Dataflow(
            self.program, LocalExecutor(self._workers), tables=self._tables, since_us=since_us
        )

    # What a run does

    def insert(self, source: str, rows: Sequence[pa.RecordBatch]) -> None:
        """One micro-batch."""
        self._run(self._plan(rows={source.lower(): rows}))

    def insert_into_table(self, table: str, rows: pa.Table) -> None:
        """Rows of a static table; they count for what comes after them."""
        self._run(self._plan(tables={table.lower(): rows}))

    def watermark(self, source: str, at_us: int) -> None:
        self._run(self._plan(watermarks={source.lower(): at_us}))

    def tick(self) -> None:
        """An epoch without rows: the clock went on."""
        self._run(self._plan())

    def end(self) -> None:
        """The inputs have ended: everything that is open closes."""
        if not self.ended:
            self._run(self._plan(ended=True))

    def poll(self) -> int | None:
        """An epoch of what sources have. The number of rows, or None if there is nothing new."""
        plan = self._plan()
        for name, reader in self._outside.readers.items():
            until = reader.latest(
                self._offsets.get(name), max_rows=self._batch_rows, now_us=plan.now_us
            )
            if until is not None:
                plan.offsets[name] = until
        return self._run(plan) if plan.offsets else None

    @property
    def exhausted(self) -> bool:
        """Whether no source will ever have anything new."""
        return bool(self._outside.readers) and all(
            reader.ended(self._offsets.get(name)) for name, reader in self._outside.readers.items()
        )

    def close(self) -> None:
        for reader in self._outside.readers.values():
            reader.close()
        for sinks in self._outside.sinks.values():
            for sink in sinks:
                sink.close()
        self._log.close()

    # Epochs

    def _plan(self, **given: Any) -> _Plan:
        if self.ended:
            raise errors.input_has_ended()
        return _Plan(now_us=max(self._clock.now_us(), self.now_us), **given)

    def _run(self, plan: _Plan) -> int:
        epoch = self.epoch + 1
        self._log.intend(epoch, plan.intent(self._since_us))
        return self._perform(plan, epoch)

    def _perform(self, plan: _Plan, number: int) -> int:
        """Everything after the intent."""
        rows = {**plan.rows}
        payloads: list[Payload] = []
        for name, until in plan.offsets.items():
            delivery = self._outside.readers[name].read(self._offsets.get(name), until)
            rows[name] = delivery.rows.to_batches()
            self.totals.malformed[name] += len(delivery.malformed)
            payloads += self._malformed(name, delivery, plan, number)
        count: int = sum(batch.num_rows for batches in rows.values() for batch in batches)
        for name, batches in rows.items():
            self.totals.read[name] += sum(batch.num_rows for batch in batches)
        if plan.tables:
            self._add_to_tables(plan.tables)
        epoch = Epoch(
            number=number,
            now_us=plan.now_us,
            ended=plan.ended,
            wanted=frozenset(SideKind),
        )
        made = self.dataflow.step(Delivered(rows=rows, watermarks=plan.watermarks), epoch)
        self._deliver(number, made, rows)
        self._commit(plan, number, made)
        self._seen(made)
        return count

    def _malformed(self, name: str, delivery: Delivery, plan: _Plan, number: int) -> list[Payload]:
        around = Circumstances(
            stream=name, plan_id="", epoch=number, now_us=plan.now_us, watermark_us=NEVER_US
        )
        return [malformed(one.text, one.detail, around) for one in delivery.malformed]

    def _add_to_tables(self, added: Mapping[str, pa.Table]) -> None:
        for name, rows in added.items():
            self._tables[name] = pa.concat_tables([self._tables[name], rows])
        self.dataflow.use_tables(self._tables)

    def _deliver(
        self, number: int, made: Mapping[str, Made], rows: Mapping[str, Sequence[pa.RecordBatch]]
    ) -> None:
        for name, sinks in self._outside.sinks.items():
            query = self._query(name)
            if query is not None:
                seen = pa.Table.from_batches([as_seen(made[query.name].emitted)])
            else:
                batches = rows.get(name, ())
                seen = pa.Table.from_batches(batches) if batches else None
            for sink in sinks:
                if seen is not None:
                    sink.write(number, seen)

    def _query(self, name: str) -> Running | None:
        return next((one for one in self.dataflow.queries if one.name.lower() == name), None)

    def _commit(self, plan: _Plan, number: int, made: Mapping[str, Made]) -> None:
        parts: dict[str, pa.Table] = {
            f"{stage}/{part}": table
            for stage, done in made.items()
            for part, table in done.parts.items()
        }
        parts |= {f"{_TABLE}{name}": rows for name, rows in plan.tables.items()}
        offsets = {**self._offsets, **plan.offsets}
        for stage, done in made.items():
            self.totals.add(stage, done)
        facts = {
            "since_us": self._since_us,
            "clock_us": plan.now_us,
            "ended": plan.ended,
            "offsets": offsets,
            "stages": {stage: done.facts for stage, done in made.items() if done.facts},
            "watermarks": {stage: done.watermark_us for stage, done in made.items()},
            "totals": self.totals.facts(),
        }
        entry = self._log.write(number, 0, parts)
        self._log.commit(number, facts, [entry])
        self.epoch, self._offsets, self.now_us = number, offsets, plan.now_us
        self.ended = plan.ended
        if self._log.wants_snapshot():
            self.checkpoint()

    def _seen(self, made: Mapping[str, Made]) -> None:
        for stage, done in made.items():
            self.watermarks[stage] = done.watermark_us
            if self._watch is not None:
                self._watch(stage, done)

    # State

    def checkpoint(self) -> None:
        """Write all state, so that a restart needs nothing before it."""
        if self.epoch < 0:
            return
        parts: dict[str, pa.Table] = {}
        facts: dict[str, Any] = {}
        for stage in self._windowed:
            state = stage.snapshot()
            facts[stage.stage.name] = state.facts
            for name, batch in state.parts.items():
                parts[f"{stage.stage.name}/{name}"] = pa.Table.from_batches([batch])
        parts |= {f"{_TABLE}{name}": rows for name, rows in self._tables.items()}
        self._log.snapshot(self.epoch, {"stages": facts}, shards=[parts])

    @property
    def _windowed(self) -> list[WindowStage]:
        return [stage for stage in self.dataflow.stages if isinstance(stage, WindowStage)]

    def _recover(self, found: Recovered) -> None:
        if found.snapshot is not None:
            self._restore(found.snapshot.facts["stages"], found.snapshot.shards)
        for delta in found.deltas():
            self._replay(delta.facts, delta.shards)
        if found.epoch >= 0:
            self.epoch = found.epoch
            self._offsets = dict(found.facts["offsets"])
            self.now_us = found.facts["clock_us"]
            self.ended = found.facts["ended"]
            self.watermarks = dict(found.facts["watermarks"])
            self.totals = Totals.of(found.facts["totals"])
        if found.intent is not None and found.intent["replayable"]:
            plan = _Plan(
                now_us=found.intent["clock_us"],
                offsets=dict(found.intent["offsets"]),
                watermarks=found.intent["watermarks"],
                ended=found.intent["ended"],
            )
            self._perform(plan, self.epoch + 1)

    def _restore(self, facts: Mapping[str, Any], shards: Sequence[Parts]) -> None:
        (parts,) = shards
        for name, rows in parts.items():
            if name.startswith(_TABLE):
                self._tables[name.removeprefix(_TABLE)] = rows
        self.dataflow.use_tables(self._tables)
        for stage in self._windowed:
            own = _of(stage.stage.name, parts)
            batches = {name: _one(table) for name, table in own.items()}
            stage.restore(State(facts[stage.stage.name], batches))

    def _replay(self, facts: Mapping[str, Any], shards: Sequence[Parts]) -> None:
        parts: dict[str, pa.Table] = {}
        for shard in shards:
            parts |= shard
        added = {
            name.removeprefix(_TABLE): rows
            for name, rows in parts.items()
            if name.startswith(_TABLE)
        }
        if added:
            self._add_to_tables(added)
        for stage in self._windowed:
            name = stage.stage.name
            stage.replay(_of(name, parts), facts["stages"][name], facts["clock_us"])


def _since_us(found: Recovered) -> int:
    """The clock when all began: replayed epochs begin with that, whenever they are replayed."""
    facts = found.facts if found.epoch >= 0 else found.intent
    assert facts is not None
    since_us: int = facts["since_us"]
    return since_us


def _of(stage: str, parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    prefix = f"{stage}/"
    return {
        name.removeprefix(prefix): table for name, table in parts.items() if name.startswith(prefix)
    }


def _one(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
