"""State lives where the configuration says, and on the driver where it cannot be cut into shards."""

import pytest

from tests.plan.rules.stages import choice, decisions, lowered
from tidegate.plan.rules import RULES, apply_rules
from tidegate.plan.rules.placement import RULE, choose_placement

DAILY = "TUMBLE(ts, INTERVAL '1' DAY)"
GROUPED = lowered(f"SELECT symbol, COUNT(*) FROM trades GROUP BY symbol, {DAILY}")
BOUND = {
    "one group": f"SELECT COUNT(*) FROM trades GROUP BY {DAILY}",
    "Top-N": f"SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, {DAILY} ORDER BY n LIMIT 3",
    "quotas": f"SELECT symbol, COUNT(*) FROM trades GROUP BY symbol, {DAILY} WITH (max_groups = 5)",
    "dedup_key": f"SELECT symbol, COUNT(*) FROM trades GROUP BY symbol, {DAILY} WITH (dedup_key = 'symbol')",
    "one by one": "SELECT symbol, COUNT(*) FROM trades GROUP BY symbol, slidingwindow('ss', 10)",
}


@pytest.mark.parametrize("state", ["driver", "executors", "auto"])
def test_as_configured(state: str) -> None:
    stage = choose_placement(GROUPED, {"state": state})
    assert stage.placement == choice(stage, RULE) == state


@pytest.mark.parametrize(("reason", "sql"), BOUND.items())
@pytest.mark.parametrize("state", ["executors", "auto"])
def test_what_looks_at_several_groups_stays_on_the_driver(
    reason: str, sql: str, state: str
) -> None:
    stage = choose_placement(lowered(sql), {"state": state})
    assert stage.placement == choice(stage, RULE) == "driver"
    (decision,) = (it for it in stage.decisions if it.rule == RULE)
    assert reason in decision.reason


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
