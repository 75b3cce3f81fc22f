"""The command as a process: terminals, pipes, signals, help, and the examples that help gives."""

import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.conftest import ROOT, Tidegate
from tests.cli.test_state import checkpoint
from tidegate.cli.main import root

pytestmark = pytest.mark.thorough

COMMANDS = tuple(
    "demo init shell run check explain functions test why advise verify warmup state dlq".split()
)
TIDEGATE = [sys.executable, "-m", "tidegate"]
ESCAPE = "\x1b["
LETTER = """\
{"kind": "error", "reason": "malformed_record", "stream": "s", "original_event": {"k": "a", "ts": 1000}}
"""
PIPELINE = """\
CREATE SOURCE s (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector = 'generator', rows = 100);
CREATE STREAM minutes AS SELECT k, COUNT(*) AS n FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
SELECT k, n FROM minutes;
"""


def environment(**changes: str) -> dict[str, str]:
    plain = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    return {**plain, "TERM": "xterm", **changes}


def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TIDEGATE, *arguments],
        cwd=ROOT,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def on_a_terminal(*arguments: str, **changes: str) -> str:
    """What a person sees who runs it."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*TIDEGATE, *arguments], cwd=ROOT, env=environment(**changes), stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux says EIO where the other side is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    process.wait(timeout=60)
    return seen.decode()


# Exit codes and where words go


def test_exit_codes_reach_the_shell() -> None:
    assert run("check", "examples/vwap.sql").returncode == 0
    wrong = run("check", "-e", "SELEC")
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert wrong.stderr.startswith("<command line>:1:1: TG-1003")


def test_an_unknown_command_is_refused_with_the_nearest(tidegate: Tidegate) -> None:
    ran = tidegate("chekc")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("Error: No such command 'chekc'; did you mean check?\n")
    assert tidegate("xyz").err.endswith("Error: No such command 'xyz'.\n")


def test_without_a_command_it_shows_its_help(tidegate: Tidegate) -> None:
    ran = tidegate()
    assert ran.code == 2
    assert ran.err.startswith("Usage: tidegate ")


def test_version(tidegate: Tidegate) -> None:
    assert re.fullmatch(r"tidegate \d+\.\d+\.\d+\n", tidegate("--version").out)


# Runs on a terminal


def test_a_terminal_sees_a_table_and_how_far_the_run_is() -> None:
    sql = PIPELINE.replace("rows = 100", "rows = 1500, rate = '1000/s'")
    seen = on_a_terminal("run", "-e", sql)
    assert "k | " in seen
    assert re.search(r"\r\x1b\[Kepoch \d+ · [\d,]+ rows · [\d,]+ rows/s · watermark ", seen)
    last = re.split(r"\r\x1b\[K", seen)[-1]
    assert "source s: 1,500 rows read" in last
    assert "stream minutes: 1,500 rows = 1,500 aggregated + 0 filtered + 0 diverted" in last


# Colours


def test_a_pipe_gets_no_colours() -> None:
    assert ESCAPE not in run("check", "-e", "SELEC").stderr


def test_a_terminal_gets_colours() -> None:
    seen = on_a_terminal("check", "-e", "SELEC")
    assert f"{ESCAPE}31m{ESCAPE}1mTG-1003{ESCAPE}0m" in seen


@pytest.mark.parametrize(
    "changes", [{"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}]
)
def test_a_terminal_without_colours(changes: dict[str, str]) -> None:
    assert ESCAPE not in on_a_terminal("check", "-e", "SELEC", **changes)


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": ""}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_variables_beat_the_pipe(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (ESCAPE in tidegate("check", "-e", "SELEC").err) is coloured
    assert (ESCAPE in tidegate("functions", "sum").out) is coloured


# Pipes and full disks


@pytest.mark.parametrize(
    "command", ["functions", "explain examples/vwap.sql --sql", "check examples/vwap.sql"]
)
def test_a_reader_that_goes_away_is_no_error(command: str) -> None:
    ran = subprocess.run(
        f"({shlex.join(TIDEGATE)} {command}; echo $? >&2) | true",
        shell=True,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stderr in ("0\n", "1\n")  # it may have written all before the pipe was closed


def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*TIDEGATE, "functions"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (1, "Error: No space left on device\n")


def test_an_encoding_without_lines_gets_escapes() -> None:
    ran = run("explain", "examples/vwap.sql", "--logical", PYTHONIOENCODING="latin-1")
    assert ran.returncode == 0
    assert r"\u2514\u2500 Project" in ran.stdout


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_same_for_both_options(command: str) -> None:
    runner = CliRunner()
    asked = [runner.invoke(root, [command, option]).output for option in ("-h", "--help")]
    assert asked[0] == asked[1]
    assert asked[0].startswith(f"Usage: root {command} ")


def examples(command: str) -> list[str]:
    shown = CliRunner().invoke(root, [command, "--help"]).output
    return [line.strip() for line in shown.partition("Examples:")[2].splitlines() if line.strip()]


def test_every_command_has_examples() -> None:
    assert all(len(examples(command)) >= 2 for command in COMMANDS)


def marks(example: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.spark, pytest.mark.slow] if example.startswith("tidegate warmup") else []


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=marks(example))
        for command in COMMANDS
        for example in examples(command)
        if "kafka://" not in example  # test_dlq.py asks a broker
    ],
)
def test_the_examples_of_help_work(
    tidegate: Tidegate, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_ENGINE", "local")
    sql = (ROOT / "examples/vwap.sql").read_text()
    Path("pipelines").mkdir()
    shutil.copytree(ROOT / "tests/scenarios/windows", "scenarios")
    for name in ("query.sql", "pipelines/one.sql", "pipelines/two.sql"):
        Path(name).write_text(sql)
    Path("pipeline.sql").write_text(PIPELINE)
    Path("late_rows").mkdir()
    Path("late_rows/1.json").write_text(LETTER)
    checkpoint("checkpoint", sql=sql)
    piped = PIPELINE.encode() if example.startswith("tidegate shell") else b""
    program, *arguments = shlex.split(example.partition(" <")[0])
    if arguments[0] == "why":
        tidegate("run", "pipeline.sql", "--checkpoint", "state")
    assert program == "tidegate"
    expanded = [
        str(path)
        for word in arguments
        for path in (sorted(Path().glob(word)) if "*" in word else [word])
    ]
    ran = tidegate(*expanded, stdin=piped)
    says_what_it_did = arguments[0] == "run"
    assert (ran.code, bool(ran.err)) == (0, says_what_it_did)
    assert ran.out


def test_the_list_of_commands_is_what_there_is() -> None:
    shown = CliRunner().invoke(root, ["--help"]).output
    assert re.findall(r"^  (\w+)  ", shown.partition("Commands:")[2], re.MULTILINE) == list(
        COMMANDS
    )
