"""Whatever we show to people works: examples/, and every block of SQL in README.md and docs/."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.engines.local.build import local_build
from tidegate.plan.explain.logical import logical_tree
from tidegate.plan.explain.text import as_text
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.scenarios.loader import load
from tidegate.session.trials import attempt
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.sql"))
TIMELINES = sorted((ROOT / "docs" / "timelines").glob("*.yaml"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)


def plan(source: SourceText) -> Program:
    """The program of a text that must plan, all of its queries to the end."""
    program = plan_script(parse_script(source), Settings())
    assert [str(error) for error in program.errors] == []
    for query in program.queries:
        plan_query(query, program)
    return program


def blocks() -> Iterator[object]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            name = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 2}"
            yield pytest.param(SourceText(found[1], name), id=name)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_plan(path: Path) -> None:
    program = plan(SourceText(path.read_text(encoding="utf-8"), path.name))
    assert program.queries


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_say_how_to_run_them(path: Path) -> None:
    head = path.read_text(encoding="utf-8").split("\n\n")[0]
    assert all(line.startswith("-- ") for line in head.splitlines())
    assert f"-- tidegate check   examples/{path.name}" in head


@pytest.mark.parametrize("source", list(blocks()))
def test_sql_in_documents_plans(source: SourceText) -> None:
    plan(source)


def python_blocks(page: Path) -> str:
    """All of a page, since later blocks go on with what earlier ones have made."""
    found = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return "\n".join(found)


@pytest.mark.parametrize("page", ["README.md", "docs/sessions.md"])
def test_python_in_documents_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = python_blocks(ROOT / page)
    assert "tidegate.connect(" in text
    exec(compile(text, page, "exec"), {})
    assert re.search(r"ACME|502", capsys.readouterr().out)


def test_the_readme_has_sql() -> None:
    assert BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_plan_in_the_readme_is_what_explain_shows() -> None:
    example = ROOT / "examples" / "vwap.sql"
    program = plan(SourceText(example.read_text(encoding="utf-8"), example.name))
    shown = as_text(logical_tree(program.queries[0].logical))
    assert f"```text\n{shown}```" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_timelines_are_what_their_scenarios_say() -> None:
    trials = [attempt(load(path), "local", local_build()) for path in TIMELINES]
    assert [trial.message for trial in trials] == [""] * len(TIMELINES)
    assert len(TIMELINES) >= 4


def test_every_timeline_is_shown_and_every_picture_is_there() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    shown = set(re.findall(r"images/([\w-]+\.\w+)", pages))
    there = {path.name for path in (ROOT / "docs" / "images").iterdir()}
    assert {f"{path.stem}.svg" for path in TIMELINES} <= shown
    assert shown == there


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
