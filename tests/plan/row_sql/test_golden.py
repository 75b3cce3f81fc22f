"""The rendered SQL of a dozen queries, as people read it in EXPLAIN.

`GOLDEN=write pytest tests/plan/row_sql/test_golden.py` writes golden/ anew; read the difference before you keep it.
"""

import os
from pathlib import Path

import pytest

from tests.plan.row_sql.queries import QUERIES
from tests.plan.row_sql.running import plan
from tidegate.plan.row_sql import row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

GOLDEN = Path(__file__).parent / "golden"
_SHOWN = (
    "where",
    "hop in panes",
    "hop copied thrice",
    "session",
    "no window, no keys",
    "by price",
    "arguments fail",
    "filter guards",
    "inner join",
    "union",
    "ladder",
    "over",
    "stateless",
)


def text_of(sql: str) -> str:
    """Both queries of every branch for both engines."""
    stage = plan(sql).ruled
    parts = [f"-- {sql}"]
    for place, branch in enumerate(stage.branches):
        queries = row_queries(stage, branch)
        for engine in Engine:
            for name, relation in (("main", queries.main), ("diverted", queries.diverted)):
                title = f"-- {engine}, branch {place}, {name}"
                parts.append(f"{title}\n{render_relation(relation, engine)}")
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("name", _SHOWN)
def test_rendered_sql(name: str) -> None:
    path = GOLDEN / f"{name.replace(', ', '-').replace(' ', '-')}.sql"
    text = text_of(QUERIES[name])
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name}: set GOLDEN=write, and read"


def test_every_golden_file_belongs_to_a_query() -> None:
    assert len(list(GOLDEN.iterdir())) == len(_SHOWN)
