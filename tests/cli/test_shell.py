"""`tidegate shell`: from a pipe, on a terminal, and what its editor offers."""

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from tests.cli.conftest import ROOT, Ran, Tidegate
from tests.planning import planned
from tidegate.cli.shells import prompt
from tidegate.cli.shells.interpreter import COMMANDS
from tidegate.cli.shells.prompt import Editor, PlainReader, coloured, reader, suggestions
from tidegate.cli.shells.statements import Typed

DEFINED = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM sums AS SELECT k, SUM(v) AS total FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
"""
ROWS = "INSERT INTO ev VALUES ('a', 1, TIMESTAMP '1970-01-01 00:00:01'), ('b', 2, TIMESTAMP '1970-01-01 00:00:12');\n"
FILE = "CREATE SOURCE f (k VARCHAR) WITH (connector = 'file', path = 'f.csv', format = 'csv');\n"


def shell(tidegate: Tidegate, text: str, *arguments: str) -> Ran:
    return tidegate("shell", *arguments, stdin=text.encode())


# From a pipe


def test_a_select_stays_and_the_end_of_the_pipe_is_that_of_the_input(tidegate: Tidegate) -> None:
    ran = shell(tidegate, DEFINED + "SELECT k, total FROM sums;" + ROWS)
    assert (ran.code, ran.err) == (0, "")
    assert [json.loads(line) for line in ran.out.splitlines()] == [
        {"k": "a", "total": 1},
        {"k": "b", "total": 2},
    ]


def test_statements_are_done_one_after_the_other(tidegate: Tidegate) -> None:
    assert (
        shell(tidegate, DEFINED + ROWS + "SELECT k, total FROM sums;").out
        == '{"k":"b","total":2}\n'
    )
    assert shell(tidegate, DEFINED + ROWS + "SELECT k, v FROM ev;").out == ""


def test_a_select_over_files_runs_by_itself_as_often_as_it_is_asked(tidegate: Tidegate) -> None:
    Path("f.csv").write_text("k\na\nb\n")
    sink = "CREATE STREAM s AS SELECT k FROM f; CREATE SINK o FROM s WITH (connector = 'file', path = 'out');"
    ran = shell(
        tidegate, FILE + sink + "SELECT k FROM s; SELECT k FROM s WHERE k = 'b'", "-o", "csv"
    )
    assert (ran.code, ran.out) == (0, '"k"\n"a"\n"b"\n"k"\n"b"\n')
    assert not Path("out").exists()


def test_run_writes_the_sinks(tidegate: Tidegate) -> None:
    Path("f.csv").write_text("k\na\n")
    sink = (
        "CREATE STREAM s AS SELECT k FROM f;"
        "CREATE SINK o FROM s WITH (connector = 'file', path = 'out', format = 'json');"
    )
    ran = shell(tidegate, FILE + sink + "\n\\run\n")
    assert ran.code == 0
    assert "stream s: 1 row = 1 passed on" in ran.err
    assert "".join(path.read_text() for path in Path("out").glob("*.json")) == '{"k":"a"}\n'


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("\\watermark", "sums: 1970-01-01T00:00:12Z; 1 open windows\n"),
        ("\\watermark ev 1970-01-01T00:00:20Z\n\\watermark", "sums: 1970-01-01T00:00:20Z; 0 open windows\n"),
        ("\\side", "nothing was diverted\n"),
        ("\\clock 1970-01-02", "1970-01-02T00:00:00Z\n"),
        ("\\o table\n\\table sums", "k | total\n--+------\na |     1\n"),
        ("\\end\n\\o csv\n\\table sums", '"k","total"\n"a",1\n"b",2\n'),
        ("SHOW SINKS;", ""),
        ("\\why sums 1970-01-01T00:00:15Z", "a row of ev with the event time 1970-01-01T00:00:20Z or later"),
        ("EXPLAIN WHY sums;", "a row of ev with the event time 1970-01-01T00:00:20Z or later"),
        ("\\help", "\\watermark [SOURCE TIME]"),
        ("\\q\nSELEC", ""),
    ],
)  # fmt: skip
def test_commands(tidegate: Tidegate, command: str, told: str) -> None:
    ran = shell(tidegate, DEFINED + ROWS + command, "--clock")
    assert (ran.code, ran.err) == (0, "")
    assert told in ran.out


def test_rows_that_were_diverted(tidegate: Tidegate) -> None:
    ran = shell(tidegate, DEFINED + ROWS + ROWS + "\\side late\n\\side late")
    first, second = ran.out.splitlines()
    assert first.startswith("late/allowed_lateness_exceeded 1970-01-01T00:00:01Z {'k': 'a'")
    assert second == "nothing was diverted"


def test_timing_goes_beside_the_rows(tidegate: Tidegate) -> None:
    ran = shell(tidegate, "\\timing\nSHOW SINKS;", "-o", "json")
    assert ran.out == "timing is on\n[]\n"
    assert ran.err.endswith(" ms\n")


def test_another_file_is_read_from_where_it_is(tidegate: Tidegate) -> None:
    Path("defs.sql").write_text(DEFINED + ROWS)
    assert shell(tidegate, "\\i defs.sql\n\\table sums").out == '{"k":"a","total":1}\n'


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("SHOW SINKS;\n\nSELECT nope FROM ev;", 3, "<stdin>:3:"),
        (DEFINED + "\n  SELECT nope FROM ev;", 3, "<stdin>:4:10: TG-2002"),
        ("\\tabel x", 2, "did you mean \\table?"),
        ("\\table", 2, "write it so: \\table STREAM"),
        ("\\o xml", 2, "\\o takes one of table,"),
        ("\\table sums", 3, "TG-2001"),
    ],
)  # fmt: skip
def test_a_mistake_ends_a_pipe_at_its_line(
    tidegate: Tidegate, text: str, code: int, said: str
) -> None:
    ran = shell(tidegate, text + "\nSHOW SOURCES;")
    assert ran.code == code
    assert said in ran.err
    assert '"connector"' not in ran.out


# On a terminal


@pytest.mark.thorough
def test_tidegate_alone_is_the_shell_and_goes_on_after_mistakes(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    surroundings = {**os.environ, "TERM": "dumb", "XDG_STATE_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate"],
        cwd=ROOT, env=surroundings, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    try:
        seen = _until(ours, "tidegate> ")
        assert "\\help for commands" in seen
        os.write(ours, b"SELECT nope\nFROM nowhere;\n")
        assert "TG-2001" in _until(ours, "tidegate> ", times=1)
        os.write(ours, (DEFINED + ROWS).encode())
        _until(ours, "INSERT 2")
        os.write(ours, b"\\table sums\n")
        assert "a |     1" in _until(ours, "a |     1")
        os.write(ours, b"\\q\n")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        os.close(ours)


def _until(terminal: int, text: str, *, times: int = 1) -> str:
    """What came until the text did."""
    seen, until = "", time.monotonic() + 60
    while seen.count(text) < times:
        assert time.monotonic() < until, seen
        seen += os.read(terminal, 65536).decode()
    return seen


def test_the_editor_takes_several_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        editor = Editor(lambda: planned(DEFINED, prelude=""), tuple(COMMANDS))
        keys.send_text("SELECT k\rFROM ev;\r")
        assert editor.read() == "SELECT k\nFROM ev;"
        keys.send_text("\\timing\r")
        assert editor.read() == "\\timing"
        keys.send_text("SELECT \x03")
        with pytest.raises(KeyboardInterrupt):
            editor.read()
    assert "+FROM ev;" in prompt.history_file().read_text()  # type: ignore[union-attr]


def test_without_the_extra_lines_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "find_spec", lambda _name: None)
    lines = iter(["SELECT 1", "FROM x;"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    plain = reader(lambda: planned(DEFINED, prelude=""), COMMANDS)
    assert isinstance(plain, PlainReader)
    assert plain.read() == "SELECT 1\nFROM x;"


# What the editor knows


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("SELECT tot", ["total"]),
        ("SELECT * FROM su", ["sums"]),
        ("SELECT sums.to", ["sums.total"]),
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("SELECT DATE_T", ["DATE_TRUNC"]),
        ("SELECT window_s", ["window_start"]),
        ("CREATE SINK o FROM sums WITH (connec", ["connector"]),
        ("… WITH (connector = 'file', late.si", ["late.sink"]),
        ("SET allowed", ["allowed_lateness"]),
        ("\\wa", ["\\watermark"]),
        ("SELECT ", []),
    ],
)
def test_completion(text: str, offered: list[str]) -> None:
    program = planned(DEFINED, prelude="")
    found = [name for name, _ in suggestions(text, program, COMMANDS)]
    assert found[: len(offered)] == offered
    assert bool(found) is bool(offered)


def test_options_are_offered_for_names_alone() -> None:
    program = planned(DEFINED, prelude="")
    found = suggestions("WITH (connector = 'fi", program, COMMANDS)
    assert "option" not in {what for _, what in found}


def test_colours() -> None:
    pieces = [
        piece for line in coloured("SELECT sum(x), 'a -- b' -- end\nFROM ev") for piece in line
    ]
    assert [(style, text) for style, text, *_ in pieces if style] == [
        ("class:keyword", "SELECT"),
        ("class:function", "sum"),
        ("class:string", "'a -- b'"),
        ("class:comment", "-- end"),
        ("class:keyword", "FROM"),
    ]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT ';", False),
        ("SELECT ';';", True),
        ("SELECT 1; -- more", True),
        ("/* SELECT 1;", False),
        ("\\timing", True),
        ('SELECT "a;', False),
    ],
)
def test_what_is_complete(text: str, complete: bool) -> None:
    assert Typed.of(text).is_complete is complete
