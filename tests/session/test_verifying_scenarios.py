"""The rows of every scenario, judged by DuckDB: a second opinion on what all scenarios end with."""

from pathlib import Path

import pyarrow as pa
import pytest

from tidegate.engines.inputs import sources_of
from tidegate.engines.values import batch_of
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program
from tidegate.scenarios.loader import load
from tidegate.scenarios.steps import Insert, Scenario
from tidegate.scenarios.values import typed_row
from tidegate.session.feeding import Given
from tidegate.session.trials import _planned
from tidegate.session.verifying import verify

PLACE = Path(__file__).parents[1] / "scenarios"
FILES = sorted(PLACE.rglob("*.yaml"))
# A session that loses the row it began with keeps that beginning.
KNOWN = {"cascades/sessions-take-rows-back.yaml: out"}


def given_of(scenario: Scenario, program: Program) -> Given:
    """All rows that the scenario inserts, in order."""
    rows: dict[str, list[dict[str, object]]] = {}
    for step in scenario.steps:
        if isinstance(step, Insert):
            target = program.catalog.find(step.source)
            assert isinstance(target, (SourceDef, TableDef))
            rows.setdefault(target.name.lower(), []).extend(
                typed_row(
                    row, target.physical, of=step.source, at=scenario.place(row.line), whole=True
                )
                for row in step.rows
            )

    def table(each: SourceDef | TableDef) -> pa.Table:
        return pa.Table.from_batches([batch_of(rows.get(each.name.lower(), []), each.physical)])

    tables = [each for each in program.catalog.all_of("table") if isinstance(each, TableDef)]
    return Given(
        sources={each.name.lower(): table(each) for each in sources_of(program)},
        tables={each.name.lower(): table(each) for each in tables},
        malformed=0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted({path.parent.name for path in FILES}))
def test_duckdb_agrees(folder: str) -> None:
    wrong: set[str] = set()
    for path in (path for path in FILES if path.parent.name == folder):
        scenario = load(path)
        program = _planned(scenario)
        if scenario.error is not None or program.errors:
            continue
        found = verify(program, runs=3, seed=1, now_us=0, given=given_of(scenario, program))
        wrong |= {
            f"{path.relative_to(PLACE)}: {verdict.name}"
            for verdict in found.verdicts
            if verdict.wrong
        }
    assert wrong == {name for name in KNOWN if name.startswith(f"{folder}/")}
