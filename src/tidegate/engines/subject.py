"""A scenario's view of an engine: rows and clocks by hand, one epoch per step.

Rows are dicts of plain values, as `scenarios/values.py` makes them. A restart drops the engine and builds another one
on the same log; what was emitted before and not yet asked for is not lost by that, as it would not be in a sink.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tidegate.engines.clock import ManualClock
from tidegate.engines.embedded.constants import constant_rows
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.sides import Payload
from tidegate.engines.stage import Made
from tidegate.engines.values import batch_of, rows_of
from tidegate.engines.views import CurrentRows, as_seen
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program
from tidegate.state import Identity, Log, MemoryLog

_MOST_ROWS = 1_000_000
Build = Callable[[Program, Surroundings], Engine]


class ScenarioSubject:
    """A `scenarios.runner.Subject` on the engine that `build` makes."""

    def __init__(self, program: Program, build: Build, *, log: Log | None = None) -> None:
        self._program, self._build = program, build
        self._clock = ManualClock()
        self._fresh: dict[str, list[dict[str, Any]]] = {}
        self._views: dict[str, CurrentRows] = {}
        self._sides: list[Payload] = []
        self._log = log or MemoryLog(Identity(plans={}))
        self.engine = self._engine()
        self._insert_constants()

    def _engine(self) -> Engine:
        tables = {
            each.name.lower(): _empty(each)
            for each in self._program.catalog.all_of("table")
            if isinstance(each, TableDef)
        }
        around = Surroundings(
            clock=self._clock,
            log=self._log,
            listener=Listener(made=self._watch, diverted=self._sides.extend),
            tables=tables,
        )
        return self._build(self._program, around)

    def _watch(self, stage: str, made: Made) -> None:
        query = self._program.query(stage)
        if query is None:
            return
        name = stage.lower()
        self._fresh.setdefault(name, []).extend(rows_of(as_seen(made.emitted)))
        if name not in self._views:
            schema = made.emitted.rows.schema
            self._views[name] = CurrentRows(schema, most=_MOST_ROWS)
        self._views[name].add(made.emitted)

    # What a scenario does

    def insert(self, source: str, rows: Sequence[dict[str, Any]]) -> None:
        definition = self._program.catalog.find(source)
        assert isinstance(definition, (SourceDef, TableDef)), source
        self._insert(definition, batch_of(rows, definition.physical))

    def _insert(self, definition: SourceDef | TableDef, batch: pa.RecordBatch) -> None:
        if isinstance(definition, TableDef):
            self.engine.insert_into_table(definition.name, pa.Table.from_batches([batch]))
        else:
            self.engine.insert(definition.name, [batch])

    def watermark(self, source: str, at_us: int) -> None:
        self.engine.watermark(source, at_us)

    def clock(self, at_us: int) -> None:
        self._clock.set_us(at_us)
        self.engine.tick()

    def checkpoint(self) -> None:
        self.engine.checkpoint()

    def restart(self, *, build: Build | None = None, log: Log | None = None) -> None:
        """Another engine; `build` and `log` are those that it has instead, on the same state."""
        self._build, self._log = build or self._build, log or self._log
        self.engine = self._engine()

    def end(self) -> None:
        self.engine.end()

    def take(self, stream: str) -> Sequence[Mapping[str, Any]]:
        return self._fresh.pop(stream.lower(), [])

    def table(self, stream: str) -> Sequence[Mapping[str, Any]]:
        view = self._views.get(stream.lower())
        if view is None:
            return []
        return [row for batch in view.table().to_batches() for row in rows_of(batch)]

    def take_side(self, kind: str) -> Sequence[Mapping[str, Any]]:
        taken = [payload for payload in self._sides if payload["kind"] == kind]
        self._sides[:] = (payload for payload in self._sides if payload["kind"] != kind)
        return taken

    def _insert_constants(self) -> None:
        for inserted in self._program.inserts:
            definition = self._program.catalog.find(inserted.source)
            assert isinstance(definition, (SourceDef, TableDef))
            batch = constant_rows(inserted, definition.physical)
            self._insert(definition, batch)


def _empty(table: TableDef) -> pa.Table:
    return _schema(table.physical).empty_table()


def _schema(schema: Schema) -> pa.Schema:
    return pa.schema([(column.name, arrow_type(column.type)) for column in schema])
