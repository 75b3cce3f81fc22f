"""Playing a scenario: what the subject is asked, and what is reported."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.planning import program
from tests.scenarios_loader.texts import steps
from tidegate.errors import TidegateError
from tidegate.plan.script import Program
from tidegate.scenarios.loader import read
from tidegate.scenarios.runner import error_differences, play

SQL = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts);
CREATE STREAM out AS SELECT k, SUM(v) AS s FROM ev GROUP BY k;
"""


def made(sql: str = SQL) -> Program:
    return program(sql, prelude="")


@dataclass
class Script:
    """Remembers what it is told, and answers with what it was given."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    told: list[object] = field(default_factory=list)

    def insert(self, source: str, rows: object) -> None:
        self.told.append(("insert", source, rows))

    def watermark(self, source: str, at_us: int) -> None:
        self.told.append(("watermark", source, at_us))

    def clock(self, at_us: int) -> None:
        self.told.append(("clock", at_us))

    def checkpoint(self) -> None:
        self.told.append("checkpoint")

    def restart(self) -> None:
        self.told.append("restart")

    def end(self) -> None:
        self.told.append("end")

    def take(self, stream: str) -> list[dict[str, Any]]:
        taken, self.rows = self.rows, []
        return taken

    def table(self, stream: str) -> list[dict[str, Any]]:
        return [{"k": "a", "s": 1}]

    def take_side(self, kind: str) -> list[dict[str, Any]]:
        return [{"kind": kind, "event_time": "1970-01-01T00:00:01Z"}]


def played(subject: Script, *written: str) -> list[str]:
    return play(read(steps(*written), file="f.yaml"), made(), subject)


def test_steps_reach_the_subject() -> None:
    subject = Script()
    row = "insert: ev\n    rows: [{k: a, ts: 1}]"
    assert (
        played(subject, row, "watermark: {ev: 2}", "clock: 3", "checkpoint", "restart", "end") == []
    )
    assert subject.told == [
        ("insert", "ev", [{"k": "a", "v": None, "ts": 1000}]),
        ("watermark", "ev", 2000),
        ("clock", 3000),
        "checkpoint",
        "restart",
        "end",
    ]


def test_counting_does_not_consume() -> None:
    subject = Script([{"_op": "+U", "k": "a", "s": 1}])
    expected = "expect: out\n    rows: [{_op: +U, k: a}]"
    assert played(subject, "expect_count: {out: 1}", expected, "expect_count: {out: 0}") == []


def test_ignored_rows_are_forgotten() -> None:
    subject = Script([{"_op": "+U", "k": "a", "s": 1}])
    assert played(subject, "expect: out\n    ignore: true", "expect: out\n    rows: []") == []


def test_tables_and_sides() -> None:
    table = "expect_table: out\n    rows: [{k: a}]"
    side = "expect_side: late\n    rows: [{event_time: 1000}]"
    assert played(Script(), table, side) == []


def test_all_failures_are_reported_with_their_lines() -> None:
    failures = played(
        Script(),
        "expect: out\n    rows: [{k: a}]",
        "expect_count: {out: 2}",
        "expect_side: error\n    rows: []",
        "expect_table: out\n    rows: [{k: b}]",
    )
    assert failures == [
        "f.yaml:5: expect out: 0 rows, 1 expected\n  - {k: a}",
        "f.yaml:7: expect_count out: 0 rows, 2 expected",
        "f.yaml:8: expect_side error: 1 rows, 0 expected\n"
        "  + {kind: error, event_time: 1970-01-01T00:00:01Z}",
        "f.yaml:10: expect_table out: 1 rows, 1 expected\n  - {k: b}\n  + {k: a, s: 1}",
    ]


@pytest.mark.parametrize(
    ("step", "line", "message", "hint"),
    [
        ("insert: evv\n    rows: []", 5, "no source named evv", "did you mean ev?"),
        ("expect: ott\n    rows: []", 5, "no stream named ott", "did you mean out?"),
        ("expect: out\n    rows: [{z: 1}]", 6, "out has no column z", "columns are k, s, _op"),
    ],
)
def test_names_that_the_sql_does_not_have(step: str, line: int, message: str, hint: str) -> None:
    with pytest.raises(TidegateError) as refused:
        played(Script(), step)
    assert message in refused.value.message
    assert hint in refused.value.hint
    assert refused.value.line == line
    assert refused.value.location is not None
    assert refused.value.location.line_text.strip() in f"- {step}"


def refusal(error: str, sql: str) -> list[str]:
    scenario = read(f"name: a\nsql: x\nerror: {error}", file="f.yaml")
    return error_differences(scenario, made(sql).errors)


def test_expected_refusals() -> None:
    assert refusal("{code: TG-2001, contains: 'named NOPE', line: 1}", "SELECT 1 FROM nope;") == []
    assert "in another way" in refusal("{code: TG-3001}", "SELECT 1 FROM nope;")[0]
    assert "in another way" in refusal("{line: 2}", "SELECT 1 FROM nope;")[0]
    assert "should be refused" in refusal("{line: 2}", SQL)[0]


def test_unexpected_refusals() -> None:
    scenario = read("name: a\nsql: x\nsteps: []", file="f")
    assert "is refused" in error_differences(scenario, made("SELECT 1 FROM nope;").errors)[0]
