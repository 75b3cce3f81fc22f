"""`tidegate init`: what it writes runs, does what its README says, and nothing of one's own is touched."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Tidegate


@pytest.fixture
def project(tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Written, and entered."""
    assert tidegate("init", "mine").code == 0
    monkeypatch.chdir("mine")
    return Path()


def run(tidegate: Tidegate, *arguments: str) -> list[str]:
    """What is said; rows must be those of the README."""
    ran = tidegate("run", "pipeline.sql", "--batch-rows", "8", "--engine", "local", *arguments)
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 6
    return ran.err.splitlines()


def test_it_runs_as_its_readme_says(tidegate: Tidegate, project: Path) -> None:
    told = run(tidegate)
    shown = re.search(r"```text\n(.*?)```", (project / "README.md").read_text(), re.DOTALL)
    assert shown is not None
    assert told[1:] == shown[1].splitlines()
    kept = [
        json.loads(line)
        for path in Path("out").glob("*/*.json")
        for line in path.read_text().splitlines()
    ]
    assert len(kept) == 4


def test_with_lateness_nothing_is_late_as_the_readme_says(
    tidegate: Tidegate, project: Path
) -> None:
    sql = (project / "pipeline.sql").read_text()
    changed = sql.replace("LATE DATA TO", "ALLOWED LATENESS INTERVAL '2' MINUTE\nLATE DATA TO")
    (project / "pipeline.sql").write_text(changed)
    told = run(tidegate)
    assert "20 aggregated + 1 filtered + 2 diverted" in told[2]


def test_its_scenarios_hold_and_can_fail(tidegate: Tidegate, project: Path) -> None:
    assert tidegate("test", "scenarios").code == 0
    sql = (project / "pipeline.sql").read_text()
    (project / "pipeline.sql").write_text(sql.replace("'10' SECOND", "'20' SECOND"))
    assert tidegate("test", "scenarios").code == 5


@pytest.mark.parametrize("command", ["check", "explain"])
def test_it_can_be_looked_at(tidegate: Tidegate, project: Path, command: str) -> None:
    assert (tidegate(command, "pipeline.sql").code, (project / "out").exists()) == (0, False)


def test_nothing_is_written_over(tidegate: Tidegate) -> None:
    Path("mine").mkdir()
    Path("mine/tidegate.toml").write_text("# mine\n")
    ran = tidegate("init", "mine")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("Error: mine has tidegate.toml already; nothing was written\n")
    assert [path.name for path in Path("mine").iterdir()] == ["tidegate.toml"]
    assert Path("mine/tidegate.toml").read_text() == "# mine\n"


def test_other_files_are_no_hindrance(tidegate: Tidegate) -> None:
    Path("notes.txt").touch()
    ran = tidegate("init", ".")
    assert (ran.code, "cd " in ran.out) == (0, False)
    assert Path("pipeline.sql").exists()
