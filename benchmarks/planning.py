"""From SQL text to physical plans, once everything is imported; compared with sqlglot reading the same queries."""

from pathlib import Path

import sqlglot

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn, seconds
from tidegate.plan.planner import plan_query
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

EXAMPLES = Path(__file__).parents[1] / "examples"


def _measure(scale: Scale) -> Measured:
    text = max((path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.sql")), key=len)
    plain = sqlglot.parse_one(_QUERY).sql()
    found = in_turn(
        {
            "ours": seconds(lambda: _plan(text)),
            "theirs": seconds(lambda: sqlglot.parse_one(plain)),
        },
        5 * scale.repeats,
    )
    return Measured(
        ours=found["ours"] * 1_000,
        baseline="sqlglot parses one plain query",
        baseline_value=found["theirs"] * 1_000,
    )


_QUERY = """
SELECT t.symbol, s.sector, SUM(t.price * t.qty) / SUM(t.qty) AS vwap, COUNT(*) AS trades
FROM trades AS t JOIN symbols AS s ON t.symbol = s.symbol WHERE t.price > 0 GROUP BY t.symbol, s.sector
"""


def _plan(text: str) -> None:
    program = plan_script(parse_script(SourceText(text)), Settings())
    assert not program.errors
    for query in program.queries:
        plan_query(query, program)


CASES = (
    Case(
        name="planning",
        about="the longest example, from text to physical plans",
        unit="ms",
        target=Target(Bound.AT_MOST, 30, 15),
        measure=_measure,
    ),
)
