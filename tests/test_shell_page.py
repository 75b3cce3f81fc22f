"""docs/shell.md: its file, fed to the shell, prints what stands below it, and its commands are those that there are."""

import re
import subprocess
import sys
from pathlib import Path

from tests.test_tutorial import missing
from tidegate.cli.shells.interpreter import COMMANDS

PAGE = (Path(__file__).parents[1] / "docs" / "shell.md").read_text(encoding="utf-8")


def test_the_file_prints_what_the_page_says() -> None:
    found = re.search(r"```sql shell\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    ran = subprocess.run(
        [sys.executable, "-m", "tidegate", "shell"],
        input=found[1],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert missing(found[2], ran.stdout) == []
    assert len(ran.stdout.splitlines()) < 30


def test_every_command_is_told_of() -> None:
    assert {name for name in COMMANDS if f"`{name}" not in PAGE and f"{name}`" not in PAGE} == set()
