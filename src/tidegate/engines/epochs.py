"""Epochs of a program: what every engine does between reading rows and asking for more.

In: a planned program, an executor, a log. Out: emitted rows, to sinks and to whoever watches. Next: the engines, which
know where rows come from. Decided here: in which order an epoch touches the outside, which makes it exactly once:

1. intend   what will be read and the clock that will be used are written down
2. read     rows, as they were intended; row SQL; the window operators
3. sinks    get all rows of the epoch, under its number
4. commit   what crossed the seam and where the inputs stand; the epoch is real

A crash before 4 repeats the epoch: it reads the same rows, emits the same rows, and sinks replace what they had of it.
What cannot be read again by its offset (rows handed over by a program) is not repeated: it was never acknowledged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.protocols import Offset, Resumable, Resumed, SinkWriter
from tidegate.engines.dataflow import Dataflow, Delivered, Running, rows_of
from tidegate.engines.executor import Executor, Rows
from tidegate.engines.intents import Intent, Read, Reader, Told
from tidegate.engines.routes import Routes
from tidegate.engines.sides import Payload
from tidegate.engines.stage import Epoch, Made, WindowStage
from tidegate.engines.totals import Totals
from tidegate.engines.views import as_seen
from tidegate.kernel.operator import State
from tidegate.model.policies import SideKind
from tidegate.plan.script import Program
from tidegate.state import Identity, Log, Parts, Recovered


def _nobody(*_: Any) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who hears of epochs that are real: what each stage made, and what is told of diverted rows.

    Rows of kinds that are not `wanted` are counted only.
    """

    made: Callable[[str, Made], None] = _nobody
    diverted: Callable[[Sequence[Payload]], None] = _nobody
    wanted: frozenset[SideKind] = frozenset(SideKind)


_TABLE = "table:"


class Epochs:
    """The state of a run, and how an epoch changes it.

    After `Epochs(…)` the caller asks for `interrupted`, the epoch that was begun and not finished, if there is one that
    can be repeated; it repeats it by `perform`, before any other.
    """

    def __init__(
        self,
        program: Program,
        executor: Executor,
        *,
        log: Log,
        now_us: int,
        sinks: Mapping[str, Sequence[SinkWriter]],
        tables: Mapping[str, pa.Table],
        listener: Listener,
        routes: Routes | None = None,
    ) -> None:
        self._log, self._sinks, self._listener, self._routes = log, sinks, listener, routes
        self._tables: dict[str, pa.Table] = dict(tables)
        self.offsets: dict[str, Offset] = {}
        self.totals = Totals()
        self.number = -1
        self.ended = False
        self.watermarks: dict[str, int] = {}
        found = log.recover()
        self._executor = executor
        self._since_us = self.now_us = now_us if found is None else _since_us(found)
        self.dataflow = Dataflow(program, executor, tables=self._tables, since_us=self._since_us)
        self.interrupted: Intent | None = None
        if found is not None:
            self._recover(found)
        self._resumed: set[int] = set()
        self._resume_sinks(repeats=self.interrupted is not None)

    def _resume_sinks(self, *, repeats: bool) -> None:
        """Tells sinks that remember epochs, each of them once, which one is the last."""
        resumed = Resumed(run=self._log.run, epoch=self.number, repeats=repeats)
        writers: list[object] = [sink for sinks in self._sinks.values() for sink in sinks]
        writers += self._routes.writers if self._routes is not None else ()
        for writer in writers:
            if isinstance(writer, Resumable) and id(writer) not in self._resumed:
                writer.resume(resumed)
        self._resumed = {id(writer) for writer in writers}

    def adopt(
        self,
        program: Program,
        *,
        identity: Identity,
        sinks: Mapping[str, Sequence[SinkWriter]],
        tables: Mapping[str, pa.Table],
        routes: Routes | None,
    ) -> None:
        """Another program from the next epoch on; queries that stay go on with their state, new ones begin empty."""
        kept = {query.name: query for query in self.dataflow.queries}
        held = {name: self._tables.get(name, rows) for name, rows in tables.items()}
        dataflow = Dataflow(program, self._executor, tables=held, since_us=self.now_us, kept=kept)
        dataflow.seconds.update(self.dataflow.seconds)
        self._log.extend(identity)
        self.dataflow, self._tables = dataflow, held
        self._sinks, self._routes = sinks, routes
        self._resume_sinks(repeats=False)
        self.dataflow.use_tables(held)

    # An epoch

    def run(self, intent: Intent, read: Reader) -> Told:
        """From the intent to the commit."""
        if self.ended:
            raise errors.input_has_ended()
        self._log.intend(self.number + 1, intent.facts(self._since_us))
        return self.perform(intent, read)

    def perform(self, intent: Intent, read: Reader) -> Told:
        """Everything after the intent."""
        number = self.number + 1
        self.interrupted = None
        got = read(intent, number)
        try:
            return self._perform(intent, number, got)
        finally:
            got.done()

    def _perform(self, intent: Intent, number: int, got: Read) -> Told:
        if intent.tables:
            self._add_to_tables(intent.tables)
        wanted = self._listener.wanted | (self._routes.wanted if self._routes else frozenset())
        epoch = Epoch(number=number, now_us=intent.now_us, ended=intent.ended, wanted=wanted)
        delivered = Delivered(
            rows=got.rows, watermarks=intent.watermarks, partitions=got.partitions
        )
        made = self.dataflow.step(delivered, epoch)
        told = got.tell()
        self._count(told, made, counted_by_stages=intent.offsets.keys() - told.counts.keys())
        self._deliver(number, made, got.rows)
        payloads = _payloads(told, made)
        self._divert(number, payloads, intent.now_us)
        self._commit(intent, number, made)
        self._seen(made)
        heard = [one for one in payloads if one["kind"] in self._listener.wanted]
        if heard:
            self._listener.diverted(heard)
        return told

    def _count(
        self, told: Told, made: Mapping[str, Made], *, counted_by_stages: Iterable[str]
    ) -> None:
        for name, payloads in told.malformed.items():
            self.totals.malformed[name] += len(payloads)
        for name, count in told.counts.items():
            self.totals.read[name] += count
        for name in counted_by_stages:
            self.totals.read[name] += rows_of(name, self.dataflow.stages, made)
        for stage, done in made.items():
            self.totals.add(stage, done)

    def _add_to_tables(self, added: Mapping[str, pa.Table]) -> None:
        for name, rows in added.items():
            self._tables[name] = pa.concat_tables([self._tables[name], rows])
        self.dataflow.use_tables(self._tables)

    def _deliver(self, number: int, made: Mapping[str, Made], rows: Mapping[str, Rows]) -> None:
        for name, sinks in self._sinks.items():
            query = self._query(name)
            if query is not None:
                seen = pa.Table.from_batches([as_seen(made[query.name].emitted)])
            else:
                whole = self._executor.table(rows.get(name, ()))
                seen = None if whole is None else _own_columns(whole)
            for sink in sinks:
                if seen is not None:
                    sink.write(number, seen)

    def _divert(self, number: int, payloads: Sequence[Payload], now_us: int) -> None:
        if self._routes is not None:
            done = self._routes.deliver(number, payloads, now_us=now_us)
            self.totals.delivered.update(done.delivered)
            self.totals.dropped.update(done.dropped)

    def _query(self, name: str) -> Running | None:
        return next((one for one in self.dataflow.queries if one.name.lower() == name), None)

    def _commit(self, intent: Intent, number: int, made: Mapping[str, Made]) -> None:
        parts: dict[str, pa.Table] = {
            f"{stage}/{part}": table
            for stage, done in made.items()
            for part, table in done.parts.items()
        }
        parts |= {f"{_TABLE}{name}": rows for name, rows in intent.tables.items()}
        offsets = {**self.offsets, **intent.offsets}
        facts = {
            "since_us": self._since_us,
            "clock_us": intent.now_us,
            "ended": intent.ended,
            "offsets": offsets,
            "stages": {stage: done.facts for stage, done in made.items() if done.facts},
            "plans": self._plans,
            "watermarks": {stage: done.watermark_us for stage, done in made.items()},
            "totals": self.totals.facts(),
        }
        entry = self._log.write(number, 0, parts)
        self._log.commit(number, facts, [entry, *self._executor.written(number)])
        self.number, self.offsets = number, offsets
        self.now_us, self.ended = intent.now_us, intent.ended
        if self._log.wants_snapshot() or self._executor.wants_snapshot():
            self.checkpoint()

    def _seen(self, made: Mapping[str, Made]) -> None:
        for stage, done in made.items():
            self.watermarks[stage] = done.watermark_us
            self._listener.made(stage, done)

    # State

    def checkpoint(self) -> None:
        """Write all state, so that a restart needs nothing before it."""
        if self.number < 0:
            return
        parts: dict[str, pa.Table] = {}
        facts: dict[str, Any] = {}
        for stage in self._windowed:
            state = stage.snapshot()
            facts[stage.stage.name] = state.facts
            for name, batch in state.parts.items():
                parts[f"{stage.stage.name}/{name}"] = pa.Table.from_batches([batch])
        parts |= {f"{_TABLE}{name}": rows for name, rows in self._tables.items()}
        self._log.snapshot(
            self.number,
            {"stages": facts, "plans": self._plans},
            shards=[parts],
            more=lambda: self._executor.snapshot(self.number),
        )

    @property
    def _plans(self) -> dict[str, str]:
        """By what plan each stage runs: a stream that was replaced must not take the state of the old one."""
        return {stage.stage.name: stage.plan_id for stage in self._windowed}

    def _has_state(self, facts: Mapping[str, Any], stage: WindowStage) -> bool:
        return bool(facts["plans"].get(stage.stage.name) == stage.plan_id)

    @property
    def _windowed(self) -> list[WindowStage]:
        return [stage for stage in self.dataflow.stages if isinstance(stage, WindowStage)]

    def _recover(self, found: Recovered) -> None:
        if found.snapshot is not None:
            self._restore(found.snapshot.facts, found.snapshot.shards)
        for delta in found.deltas():
            self._replay(delta.facts, delta.shards)
        if found.epoch >= 0:
            self.number = found.epoch
            self.offsets = dict(found.facts["offsets"])
            self.now_us = found.facts["clock_us"]
            self.ended = found.facts["ended"]
            self.watermarks = dict(found.facts["watermarks"])
            self.totals = Totals.of(found.facts["totals"])
        if found.intent is not None and found.intent["replayable"]:
            self.interrupted = Intent.of(found.intent)

    def _restore(self, facts: Mapping[str, Any], shards: Sequence[Parts]) -> None:
        parts = joined(shards)
        for name, rows in parts.items():
            if name.startswith(_TABLE):
                self._tables[name.removeprefix(_TABLE)] = rows
        self.dataflow.use_tables(self._tables)
        for stage in self._windowed:
            if self._has_state(facts, stage):
                own = _of(stage.stage.name, parts)
                batches = {name: _one(table) for name, table in own.items()}
                stage.restore(State(facts["stages"][stage.stage.name], batches))

    def _replay(self, facts: Mapping[str, Any], shards: Sequence[Parts]) -> None:
        parts = joined(shards)
        added = {
            name.removeprefix(_TABLE): rows
            for name, rows in parts.items()
            if name.startswith(_TABLE)
        }
        if added:
            self._add_to_tables(added)
        for stage in self._windowed:
            if self._has_state(facts, stage):
                name = stage.stage.name
                stage.replay(_of(name, parts), facts["stages"][name], facts["clock_us"])

    def close(self) -> None:
        for sinks in self._sinks.values():
            for sink in sinks:
                sink.close()
        if self._routes is not None:
            self._routes.close()
        self._log.close()


def _own_columns(rows: pa.Table) -> pa.Table:
    """Rows of a source without what a connector adds for us."""
    return rows.select([name for name in rows.column_names if not name.startswith("$")])


def _payloads(told: Told, made: Mapping[str, Made]) -> list[Payload]:
    """Side outputs, of sources and of stages."""
    payloads = [payload for of in told.malformed.values() for payload in of]
    return payloads + [payload for done in made.values() for payload in done.payloads]


def _since_us(found: Recovered) -> int:
    """The clock when all began: replayed epochs begin with that, whenever they are replayed."""
    facts = found.facts if found.epoch >= 0 else found.intent
    assert facts is not None
    since_us: int = facts["since_us"]
    return since_us


def joined(shards: Sequence[Parts]) -> dict[str, pa.Table]:
    """The parts of all shards: those of one name have different groups, and belong together."""
    found: dict[str, list[pa.Table]] = {}
    for shard in shards:
        for name, table in shard.items():
            found.setdefault(name, []).append(table)
    return {name: pa.concat_tables(tables) for name, tables in found.items()}


def _of(stage: str, parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    prefix = f"{stage}/"
    return {
        name.removeprefix(prefix): table for name, table in parts.items() if name.startswith(prefix)
    }


def _one(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
