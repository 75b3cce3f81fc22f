"""A query of a script, planned: lowered, its rules applied."""

from tidegate.plan.lower import Lowering
from tidegate.plan.physical import Plan
from tidegate.plan.rules import apply_rules
from tidegate.plan.script import NamedQuery, Program
from tidegate.sql.nesting import deep_stack


def plan_query(query: NamedQuery, program: Program) -> Plan:
    """The physical plan of one query."""
    lowering = Lowering(
        catalog=program.catalog, name=query.name, defaults=program.settings.defaults
    )
    with deep_stack():
        stages = lowering.query(query.logical)
        ruled = tuple(apply_rules(stage, program.settings.spark) for stage in stages)
    return Plan(name=query.name, stages=ruled, output=query.logical.schema)
