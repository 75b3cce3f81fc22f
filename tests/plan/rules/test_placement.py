"""State lives where the configuration says."""

import pytest

from tests.plan.rules.stages import choice, decisions, lowered
from tidegate.plan.rules import RULES, apply_rules
from tidegate.plan.rules.placement import RULE, choose_placement

GROUPED = lowered("SELECT COUNT(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' DAY)")


@pytest.mark.parametrize("state", ["driver", "executors", "auto"])
def test_as_configured(state: str) -> None:
    stage = choose_placement(GROUPED, {"state": state})
    assert stage.placement == choice(stage, RULE) == state


def test_automatic_by_default() -> None:
    assert choose_placement(GROUPED, {}).placement == "auto"


def test_a_stage_without_state_has_no_place_for_it() -> None:
    stage = choose_placement(lowered("SELECT price FROM trades"), {"state": "driver"})
    assert stage.placement == "none"
    assert decisions(stage, RULE) == []


def test_rules_leave_alone_what_the_query_means() -> None:
    """They may choose how, but not what: keys, aggregates, window and output are the same afterwards."""
    ruled = apply_rules(GROUPED, {})
    for name in ("name", "kind", "window", "keys", "aggregates", "partials", "finishes", "output"):
        assert getattr(ruled, name) == getattr(GROUPED, name)
    assert len({rule.__name__ for rule in RULES}) == len(RULES)
