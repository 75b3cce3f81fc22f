"""A scenario on the oracle."""

from pathlib import Path

from tests.oracle.engine import Oracle
from tidegate import config
from tidegate.plan.script import Program, plan_script
from tidegate.scenarios.config import document
from tidegate.scenarios.runner import error_differences, play
from tidegate.scenarios.steps import Scenario
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def planned(scenario: Scenario) -> Program:
    loaded = config.checked(document(scenario.config), file=scenario.file)
    assert loaded.errors == [], loaded.errors
    return plan_script(parse_script(SourceText(scenario.sql, scenario.name)), loaded.settings)


def differences(scenario: Scenario) -> list[str]:
    """What the oracle does otherwise than the scenario says; the conservation law is checked on the way."""
    program = planned(scenario)
    refusals = error_differences(scenario, program.errors)
    if refusals or scenario.error is not None:
        return refusals
    return play(scenario, program, Oracle(program))
