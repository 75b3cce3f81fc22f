"""From SQL text to physical plans, once everything is imported; compared with sqlglot reading the same queries."""

from pathlib import Path

import sqlglot

from benchmarks.case import Case, Result, typical_ms
from tidegate.plan.planner import plan_query
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

EXAMPLES = Path(__file__).parents[1] / "examples"
LIMIT_MS = 30


def measure(quick: bool) -> Result:
    text = max((path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.sql")), key=len)
    plain = sqlglot.parse_one(_QUERY).sql()
    repetitions = 5 if quick else 50
    return Result(
        case="planning",
        baseline="sqlglot parses one plain query",
        ours=typical_ms(lambda: _plan(text), repetitions),
        baseline_value=typical_ms(lambda: sqlglot.parse_one(plain), repetitions),
        to_reach=LIMIT_MS,
        aim=f"the longest example in under {LIMIT_MS} ms",
        unit="ms",
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


CASE = Case("planning", measure)
