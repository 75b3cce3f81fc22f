"""The tutorial: every command runs, in order, and prints what the page says it does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """Commands, each with what is shown of their output."""
    found: list[tuple[str, str]] = []
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "sh":
            found.append((text, ""))
        else:
            commands, shown = found.pop()
            assert not shown, text
            found.append((commands, text))
    return found


def missing(shown: str, said: str) -> list[str]:
    """Lines that are shown and were not said, or not in this order; `…` stands for anything."""
    lines = iter(said.splitlines())
    return [
        line
        for line in shown.splitlines()
        if line != "…" and not any(_fits(line, other) for other in lines)
    ]


def _fits(shown: str, said: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, said) is not None


def test_lines_are_looked_for_in_order() -> None:
    assert missing("a\n…\nb …\n", "a\nx\nb c\n") == []
    assert missing("b\na\n", "a\nb\n") == ["a"]


@pytest.mark.thorough
def test_every_command_says_what_the_page_says(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tidegate"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tidegate "$@"\n')
    program.chmod(0o755)
    surroundings = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    shell = subprocess.Popen(
        ["bash", "-e"], cwd=tmp_path, env=surroundings, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert shell.stdin is not None
    script = "".join(
        f"{commands}echo '=== {place}'\n" for place, (commands, _) in enumerate(steps())
    )
    said, _ = shell.communicate(script, timeout=300)
    parts = re.split(r"^=== \d+\n", said, flags=re.MULTILINE)
    assert len(parts) == len(steps()) + 1, said
    for (commands, shown), part in zip(steps(), parts, strict=False):
        assert missing(shown, part) == [], f"{commands}\n{part}"
