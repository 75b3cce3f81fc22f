"""A stage before its rules, to apply one rule to."""

from tests.planning import planned
from tidegate.plan.lower import Lowering
from tidegate.plan.physical import Decision, Stage


def lowered(sql: str) -> Stage:
    program = planned(sql)
    query = program.queries[-1]
    lowering = Lowering(
        catalog=program.catalog, name=query.name, defaults=program.settings.defaults
    )
    return lowering.query(query.logical)[-1]


def decisions(stage: Stage, rule: str) -> list[Decision]:
    return [made for made in stage.decisions if made.rule == rule]


def choice(stage: Stage, rule: str) -> str:
    (made,) = decisions(stage, rule)
    assert made.reason
    return made.choice
