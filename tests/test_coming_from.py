"""The pages for those who come from elsewhere: both sides of each pair are one plan, and what is refused is refused."""

import re
from pathlib import Path

import pytest

from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

PAGES = sorted((Path(__file__).parents[1] / "docs" / "coming-from").glob("*.md"))
BLOCK = re.compile(r"^```sql (prelude|\w+(?: refused)?)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def planned(sql: str) -> Program:
    return plan_script(parse_script(SourceText(sql)), Settings())


def meaning(sql: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What state depends on, and what comes out."""
    program = planned(sql)
    assert [str(error) for error in program.errors] == []
    plan = plan_query(program.queries[-1], program)
    return fingerprint(plan).lines, tuple(plan.output.names)


def parts(page: Path) -> tuple[str, list[tuple[str, str]]]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    (prelude,) = (sql for kind, sql in found if kind == "prelude")
    return prelude, [(kind, sql) for kind, sql in found if kind != "prelude"]


def pairs() -> list[object]:
    made: list[object] = []
    for page in PAGES:
        prelude, blocks = parts(page)
        kept = [(kind, sql) for kind, sql in blocks if not kind.endswith("refused")]
        assert [kind for kind, _ in kept] == [page.stem, "tidegate"] * (len(kept) // 2), page
        for place in range(0, len(kept), 2):
            theirs, ours = kept[place][1], kept[place + 1][1]
            made.append(pytest.param(prelude, theirs, ours, id=f"{page.stem}-{place // 2 + 1}"))
    return made


def refused() -> list[object]:
    return [
        pytest.param(parts(page)[0], sql, id=page.stem)
        for page in PAGES
        for kind, sql in parts(page)[1]
        if kind == f"{page.stem} refused"
    ]


@pytest.mark.parametrize(("prelude", "theirs", "ours"), pairs())
def test_both_sides_are_one_plan(prelude: str, theirs: str, ours: str) -> None:
    assert meaning(prelude + theirs) == meaning(prelude + ours)


@pytest.mark.parametrize(("prelude", "sql"), refused())
def test_what_is_not_there_is_refused_with_words(prelude: str, sql: str) -> None:
    (error,) = planned(prelude + sql).errors
    assert error.hint or len(error.message) > 20


def test_there_are_pages_and_pairs() -> None:
    assert [page.stem for page in PAGES] == ["ekuiper", "flink", "ksqldb", "spark"]
    assert len(pairs()) >= 13
    assert len(refused()) == 4
