"""EXPLAIN, to the byte: every query of cases/ against what golden/ says it looks like.

`make golden` writes golden/ anew; read the difference before you keep it. A case is a file of SQL behind catalog.sql,
with a `.toml` of the same name where it needs settings. `.txt` has the logical and the physical tree of every query,
`.json` the same as objects.
"""

import json
import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import pytest

from tidegate import config
from tidegate.plan.explain.json import as_object
from tidegate.plan.explain.logical import logical_tree
from tidegate.plan.explain.physical import physical_tree
from tidegate.plan.explain.text import as_text
from tidegate.plan.explain.tree import Node
from tidegate.plan.planner import plan_query
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

HERE = Path(__file__).parent
CASES = sorted(path.stem for path in (HERE / "cases").glob("*.sql"))
GOLDEN = HERE / "golden"


def trees(name: str) -> list[Node]:
    """Logical and physical tree of each query, in their order."""
    text = (HERE / "catalog.sql").read_text() + (HERE / "cases" / f"{name}.sql").read_text()
    program = plan_script(parse_script(SourceText(text, f"{name}.sql")), settings(name))
    assert program.errors == []
    made = []
    for query in program.queries:
        made += [logical_tree(query.logical), physical_tree(plan_query(query, program))]
    return made


def settings(name: str) -> Settings:
    path = HERE / "cases" / f"{name}.toml"
    if not path.exists():
        return Settings()
    loaded = config.load(path, {})
    assert loaded.errors == []
    return loaded.settings


def compare(path: Path, text: str) -> None:
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; `make golden`, and read"


@pytest.mark.parametrize("name", CASES)
def test_text(name: str) -> None:
    compare(GOLDEN / f"{name}.txt", "\n".join(map(as_text, trees(name))))


@pytest.mark.parametrize("name", CASES)
def test_json(name: str) -> None:
    shown = json.dumps([as_object(tree) for tree in trees(name)], indent=2, ensure_ascii=False)
    compare(GOLDEN / f"{name}.json", shown + "\n")


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


ROOT = HERE.parents[2]
PRINT = "from tests.plan.explain.test_golden import *; print(digest())"
OTHERS = sorted(Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python"))


def digest() -> str:
    """Of everything that EXPLAIN shows."""
    shown = [as_text(tree) + json.dumps(as_object(tree)) for name in CASES for tree in trees(name)]
    return blake2b("".join(shown).encode()).hexdigest()


def printed_by(python: str | Path, **environment: str) -> str:
    ran = subprocess.run(
        [python, "-c", PRINT],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return ran.stdout.strip()


def test_a_fresh_process_shows_the_same() -> None:
    other = printed_by(sys.executable, PYTHONHASHSEED="12345", TZ="Asia/Tokyo", LC_ALL="C")
    assert other == digest()


@pytest.mark.slow
@pytest.mark.skipif(not OTHERS, reason="no other Python in ~/.pyenv")
@pytest.mark.parametrize("python", OTHERS, ids=lambda path: path.parts[-3])
def test_another_python_shows_the_same(python: Path) -> None:
    """Its own interpreter, with the pure Python packages of this one."""
    packages = [path for path in sys.path if path.endswith("site-packages")]
    assert (
        printed_by(python, PYTHONPATH=os.pathsep.join([str(ROOT / "src"), *packages])) == digest()
    )
