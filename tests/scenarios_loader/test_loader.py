"""Scenario files: every step is read, and every mistake is named with its line."""

from pathlib import Path

import pytest

from tests.scenarios_loader.texts import HEAD, scenario, steps
from tidegate.errors import TidegateError
from tidegate.scenarios.loader import load, read
from tidegate.scenarios.steps import (
    Checkpoint,
    Clock,
    End,
    Expect,
    ExpectCount,
    ExpectedError,
    ExpectSide,
    ExpectTable,
    Insert,
    RawRow,
    Restart,
    Step,
    Watermark,
)

LINE = len(HEAD.splitlines()) + 2  # of the first step


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            "insert: ev\n    rows:\n      - {k: a, ts: 1000}\n      - {v: null}",
            Insert(
                source="ev",
                rows=(RawRow({"k": "a", "ts": 1000}, LINE + 2), RawRow({"v": None}, LINE + 3)),
                line=LINE,
            ),
        ),
        (
            "insert: ev\n    columns: [k, v]\n    rows: [[a, 1], [no, 2.5]]",
            Insert(
                source="ev",
                rows=(
                    RawRow({"k": "a", "v": 1}, LINE + 2),
                    RawRow({"k": "no", "v": 2.5}, LINE + 2),
                ),
                line=LINE,
            ),
        ),
        ("insert: ev\n    rows: []", Insert(source="ev", rows=(), line=LINE)),
        ("watermark: {ev: 19000}", Watermark(sources={"ev": 19_000_000}, line=LINE)),
        ("watermark: {ev: 1970-01-01T00:00:01Z}", Watermark(sources={"ev": 1_000_000}, line=LINE)),
        ("clock: -1", Clock(at_us=-1_000, line=LINE)),
        ("checkpoint", Checkpoint(line=LINE)),
        ("restart", Restart(line=LINE)),
        ("end", End(line=LINE)),
        ("expect: out\n    rows: []", Expect(stream="out", rows=(), line=LINE)),
        ("expect: out\n    ignore: true", Expect(stream="out", rows=None, line=LINE)),
        (
            "expect: out\n    rows: [{a: [1, x]}]\n    ordered: true",
            Expect(
                stream="out", rows=(RawRow({"a": (1, "x")}, LINE + 1),), ordered=True, line=LINE
            ),
        ),
        (
            "expect_table: out\n    rows: [{s: {b: 1}}]\n    unordered: [s]",
            ExpectTable(
                stream="out",
                rows=(RawRow({"s": {"b": 1}}, LINE + 1),),
                unordered=("s",),
                line=LINE,
            ),
        ),
        ("expect_count: {out: 0, b: 2}", ExpectCount(counts={"out": 0, "b": 2}, line=LINE)),
        (
            "expect_side: late\n    rows: [{reason: x}]",
            ExpectSide(kind="late", rows=(RawRow({"reason": "x"}, LINE + 1),), line=LINE),
        ),
    ],
    ids=lambda value: value.split("\n")[0] if isinstance(value, str) else "",
)
def test_steps(text: str, step: Step) -> None:
    assert read(steps(text), file="s.yaml").steps == (step,)


def test_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    text = scenario("engines: [spark]", "config: {defaults: {allowed_lateness: 5s}}", "steps: []")
    path.write_text(text, encoding="utf-8")
    found = load(path)
    assert (found.name, found.file, found.engines) == ("a name", str(path), ("spark",))
    assert found.config == {"defaults": {"allowed_lateness": "5s"}}
    assert found.sql == "SELECT 1;\n"
    assert found.sql_name == f"{found.file}, sql"


def test_sql_of_a_file_beside_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "tests" / "one.yaml"
    path.parent.mkdir()
    path.write_text("name: a\nsql_file: ../q.sql\nsteps: []")
    with pytest.raises(TidegateError, match=r"q\.sql cannot be read: No such file"):
        load(path)
    (tmp_path / "q.sql").write_text("SELECT 1")
    found = load(path)
    assert (found.sql, Path(found.sql_name).resolve()) == ("SELECT 1", tmp_path / "q.sql")
    assert found.steps == ()


def test_both_engines_by_default() -> None:
    assert read(scenario("steps: []"), file="").engines == ("local", "spark")


def test_an_expected_error() -> None:
    found = read(scenario("error: {code: TG-3004, contains: 'two', line: 3, column: 12}"), file="")
    assert found.error == ExpectedError(code="TG-3004", contains="two", line=3, column=12)


def test_scalars_are_those_of_yaml_1_2() -> None:
    row = "[yes, 'no', true, 1:30, 2026-01-01, 007, 1_000, 1e3, .5, ~, -.inf, 0x1f]"
    text = f"insert: ev\n    columns: [a, b, c, d, e, f, g, h, i, j, k, l]\n    rows: [{row}]"
    (step,) = read(steps(text), file="").steps
    assert isinstance(step, Insert)
    wanted = ["yes", "no", True, "1:30", "2026-01-01", 7, "1_000", 1000.0, 0.5, None, -float("inf")]
    assert list(step.rows[0].values.values()) == [*wanted, "0x1f"]


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("", 1, "the file is empty", ""),
        ("- a", 1, "a scenario must be a mapping", ""),
        ("name: [", 1, "this is no YAML", ""),
        ("name: a\nsql: b\nname: c\nsteps: []", 3, "key name is given twice", ""),
        ("name: !x a\nsql: b\nsteps: []", 1, "the tag !x has no meaning", ""),
        ("sql: b\nsteps: []", 1, "a scenario needs name", ""),
        ("name: a\nsql: b", 1, "either steps or error", ""),
        ("name: a\nsteps: []", 1, "either sql or sql_file", ""),
        ("name: a\nsql: b\nsql_file: c\nsteps: []", 1, "either sql or sql_file", ""),
        (scenario("steps: []", "error: {line: 1}"), 1, "either steps or error", ""),
        (scenario("stps: []"), 4, "a scenario has no key stps", "did you mean steps?"),
        (scenario("engines: [locl]", "steps: []"), 4, "there is no locl", "did you mean local?"),
        (scenario("engines: []", "steps: []"), 4, "at least one engine", ""),
        (scenario("config: 5", "steps: []"), 4, "config must be a mapping", ""),
        (scenario("error: {}"), 4, "error needs at least one of", ""),
        (scenario("error: {line: one}"), 4, "line must be a whole number", ""),
        (scenario("error: {cod: x}"), 4, "error has no key cod", "did you mean code?"),
        (scenario("steps: 5"), 4, "steps must be a list", ""),
        (steps("restrat"), LINE, "there is no step restrat", "did you mean restart?"),
        (steps("inser: ev"), LINE, "there is no step inser", "did you mean insert?"),
        (steps("clock: 5\n    end: 1"), LINE + 1, "clock has no key end", ""),
        (steps("{}"), LINE, "an empty step", "steps are"),
        (steps("clock: 5\n    expect: out"), LINE, "clock and expect are two", ""),
        (steps("clock: soon"), LINE, "clock must be milliseconds", ""),
        (steps("clock: true"), LINE, "clock must be milliseconds", ""),
        (steps("watermark: {}"), LINE, "watermark names a source", ""),
        (steps("insert: ev"), LINE, "insert needs rows", ""),
        (steps("insert: ev\n    rows: [5]"), LINE + 1, "a row is a mapping", "columns"),
        (steps("insert: ev\n    rows: [{a: 1, a: 2}]"), LINE + 1, "a is given twice", ""),
        (
            steps("insert: ev\n    columns: [a, b]\n    rows:\n    - [1]"),
            LINE + 3,
            "1 values for 2 columns",
            "",
        ),
        (steps("insert: ev\n    columns: [a, a]\n    rows: []"), LINE + 1, "a column twice", ""),
        (steps("insert: ev\n    row: []\n    rows: []"), LINE + 1, "no key row", "rows?"),
        (steps("expect: out"), LINE, "either rows or ignore", ""),
        (steps("expect: out\n    ignore: true\n    rows: []"), LINE, "either rows or ignore", ""),
        (steps("expect: out\n    ignore: true\n    ordered: true"), LINE, "no other keys", ""),
        (steps("expect: out\n    rows: []\n    ordered: 1"), LINE + 2, "true or false", ""),
        (steps("expect_count: {}"), LINE, "expect_count names a stream", ""),
        (steps("expect_count: {out: x}"), LINE, "out must be a whole number", ""),
        (steps("expect_side: lat\n    rows: []"), LINE, "there is no lat", "did you mean late?"),
    ],
)
def test_mistakes(text: str, line: int, message: str, hint: str) -> None:
    with pytest.raises(TidegateError) as refused:
        read(text, file="bad.yaml")
    error = refused.value
    assert message in error.message
    assert hint in error.hint
    assert error.exit_code == 2
    assert error.location is not None
    assert (error.location.file, error.code[:5]) == ("bad.yaml", "TG-41")
    assert error.line == line


def test_places_are_exact() -> None:
    with pytest.raises(TidegateError) as refused:
        read(steps("insert: ev\n    row: []\n    rows: []"), file="bad.yaml")
    location = refused.value.location
    assert location is not None
    assert (location.line, location.column, location.width) == (LINE + 1, 5, 3)
    assert location.line_text == "    row: []"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TidegateError, match="cannot be read"):
        load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9")
    with pytest.raises(TidegateError, match="not UTF-8"):
        load(tmp_path / "latin.yaml")


def test_an_anchor_inside_itself_ends() -> None:
    with pytest.raises(TidegateError, match="contains itself"):
        read("name: &a [*a]\nsql: x\nsteps: []", file="")
