"""Plays a scenario to whatever can run a query, and collects what is not as expected.

In: a scenario, its planned program and a `Subject`. Out: one text per failed expectation; none if all hold. All steps
are played, whatever fails on the way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, assert_never

from tidegate.errors import TidegateError, bad_scenario, nearest
from tidegate.model.schema import Column, Schema
from tidegate.model.types import Scalar
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program
from tidegate.scenarios.compare import difference, row_matcher, same_json, show_row
from tidegate.scenarios.steps import (
    Checkpoint,
    Clock,
    End,
    Expect,
    ExpectCount,
    ExpectSide,
    ExpectTable,
    Insert,
    RawRow,
    Restart,
    Scenario,
    Step,
    Watermark,
)
from tidegate.scenarios.values import typed_row

Rows = Sequence[Mapping[str, Any]]


class Subject(Protocol):
    """What runs the query. Rows are dicts of plain values, as `values` makes them.

    Every call returns when its epoch is done.
    """

    def insert(self, source: str, rows: Sequence[dict[str, Any]]) -> None: ...

    def watermark(self, source: str, at_us: int) -> None: ...

    def clock(self, at_us: int) -> None: ...

    def checkpoint(self) -> None: ...

    def restart(self) -> None: ...

    def end(self) -> None: ...

    def take(self, stream: str) -> Rows:
        """Rows emitted since the last call; upsert and changelog rows have `_op`."""
        ...

    def table(self, stream: str) -> Rows: ...

    def take_side(self, kind: str) -> Rows:
        """Payloads of diverted rows since the last call, as JSON has them."""
        ...


def play(scenario: Scenario, program: Program, subject: Subject) -> list[str]:
    """What is not as expected."""
    player = _Player(scenario, program, subject)
    for step in scenario.steps:
        player.step(step)
    return player.failures


def error_differences(scenario: Scenario, refused: Sequence[TidegateError]) -> list[str]:
    """How the refusals of a script differ from the one that the scenario expects."""
    wanted = scenario.error
    if wanted is None:
        return [f"{scenario.file}: the query is refused: {error}" for error in refused]
    if not refused:
        return [f"{scenario.file}: the query is accepted, and should be refused"]
    for error in refused:
        text = f"{error.message} {error.hint}".lower()
        if (
            wanted.code in (None, error.code)
            and (wanted.contains or "").lower() in text
            and wanted.line in (None, error.line)
            and wanted.column in (None, error.column)
        ):
            return []
    return [f"{scenario.file}: refused in another way: {error}" for error in refused]


@dataclass
class _Player:
    scenario: Scenario
    program: Program
    subject: Subject
    failures: list[str] = field(default_factory=list)
    fresh: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)

    def step(self, step: Step) -> None:
        match step:
            case Insert() | Watermark() | Clock():
                self._move(step)
            case Checkpoint():
                self.subject.checkpoint()
            case Restart():
                self.subject.restart()
            case End():
                self.subject.end()
            case Expect():
                self._expect(step)
            case ExpectTable():
                equal = row_matcher(step.unordered)
                self._compare(step, step.rows, self.subject.table(step.stream), equal=equal)
            case ExpectCount():
                self._expect_count(step)
            case ExpectSide():
                self._expect_side(step)
            case _:
                assert_never(step)

    def _move(self, step: Insert | Watermark | Clock) -> None:
        match step:
            case Insert():
                schema = self._physical(step)
                rows = self._typed(step.rows, schema, of=step.source, whole=True)
                self.subject.insert(step.source, rows)
            case Watermark(sources=sources):
                for source, at_us in sources.items():
                    self.subject.watermark(source, at_us)
            case Clock(at_us=at_us):
                self.subject.clock(at_us)

    def _expect_count(self, step: ExpectCount) -> None:
        for stream, count in step.counts.items():
            found = len(self._emitted(stream, step.line))
            if found != count:
                lines = [f"{found} rows, {count} expected"]
                self._fail(step.line, f"expect_count {stream}", lines)

    def _expect(self, step: Expect) -> None:
        rows = self._emitted(step.stream, step.line)
        self.fresh[step.stream] = []
        if step.rows is not None:
            equal = row_matcher(step.unordered)
            self._compare(step, step.rows, rows, equal=equal, ordered=step.ordered)

    def _expect_side(self, step: ExpectSide) -> None:
        found = self.subject.take_side(step.kind)
        expected = [row.values for row in step.rows]
        lines = difference(expected, found, equal=same_json, show=lambda row: show_row(row, {}))
        self._fail(step.line, f"expect_side {step.kind}", lines)

    def _compare(
        self,
        step: Expect | ExpectTable,
        expected: Sequence[RawRow],
        actual: Rows,
        *,
        equal: Any,
        ordered: bool = False,
    ) -> None:
        schema = self._output(step.stream, step.line)
        wanted = self._typed(expected, schema, of=step.stream, whole=False)
        kinds = {column.name: column.type for column in schema}
        lines = difference(
            wanted, actual, equal=equal, show=lambda row: show_row(row, kinds), ordered=ordered
        )
        name = "expect" if isinstance(step, Expect) else "expect_table"
        self._fail(step.line, f"{name} {step.stream}", lines)

    def _fail(self, line: int, what: str, lines: Sequence[str]) -> None:
        if lines:
            self.failures.append(
                "\n".join([f"{self.scenario.file}:{line}: {what}: {lines[0]}", *lines[1:]])
            )

    def _emitted(self, stream: str, line: int) -> list[Mapping[str, Any]]:
        self._output(stream, line)
        self.fresh.setdefault(stream, []).extend(self.subject.take(stream))
        return self.fresh[stream]

    def _typed(
        self, rows: Sequence[RawRow], schema: Schema, *, of: str, whole: bool
    ) -> list[dict[str, Any]]:
        return [
            typed_row(row, schema, of=of, at=self.scenario.place(row.line), whole=whole)
            for row in rows
        ]

    def _physical(self, step: Insert) -> Schema:
        definition = self.program.catalog.find(step.source)
        if isinstance(definition, (SourceDef, TableDef)):
            return definition.physical
        catalog = self.program.catalog
        known = [each.name for kind in ("source", "table") for each in catalog.all_of(kind)]
        raise self._unknown(step.source, "source", known, step.line)

    def _output(self, stream: str, line: int) -> Schema:
        query = self.program.query(stream)
        if query is None:
            known = [each.name for each in self.program.queries]
            raise self._unknown(stream, "stream", known, line)
        return Schema((*query.logical.schema, Column("_op", Scalar.VARCHAR)))

    def _unknown(self, name: str, kind: str, known: Sequence[str], line: int) -> TidegateError:
        hint = nearest(name, known, otherwise=f"there are {', '.join(known)}")
        place = self.scenario.place(line)
        return bad_scenario(place, problem=f"the SQL has no {kind} named {name}", hint=hint)
