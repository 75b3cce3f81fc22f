"""Choices between plans that mean the same: one rule, one file; their order is `RULES`.

Each rule takes a stage, settles one question, and records what it chose and why. None of them changes an answer;
`tests/plan/rules` holds them to it.
"""

from collections.abc import Callable, Mapping

from tidegate.model.options import OptionValue
from tidegate.plan.physical import Stage
from tidegate.plan.rules.panes import choose_panes
from tidegate.plan.rules.placement import choose_placement
from tidegate.plan.rules.predicates import push_predicates
from tidegate.plan.rules.projections import push_projections
from tidegate.plan.rules.routing import choose_routing
from tidegate.plan.rules.sliding import choose_sliding

Rule = Callable[[Stage, Mapping[str, OptionValue]], Stage]

RULES: tuple[Rule, ...] = (
    push_predicates,
    push_projections,
    choose_routing,
    choose_panes,
    choose_sliding,
    choose_placement,
)


def apply_rules(stage: Stage, engine_options: Mapping[str, OptionValue]) -> Stage:
    """The stage with every question settled. `engine_options` are those of the Spark engine."""
    for rule in RULES:
        stage = rule(stage, engine_options)
    return stage
