"""Partials wherever an aggregate can be put together from pieces."""

import pytest

from tests.plan.rules.stages import choice, lowered
from tidegate.plan.physical import Routing
from tidegate.plan.rules.routing import RULE, choose_routing


@pytest.mark.parametrize(
    ("query", "routing"),
    [
        ("SELECT COUNT(*) FROM trades", Routing.PARTIALS),
        ("SELECT COUNT(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' DAY)", Routing.PARTIALS),
        ("SELECT COUNT(*) FROM trades GROUP BY SESSION(ts, INTERVAL '1' DAY)", Routing.PARTIALS),
        ("SELECT COUNT(*) FROM trades GROUP BY slidingwindow('ss', 5)", Routing.ROWS),
        ("SELECT COUNT(*) FROM trades GROUP BY countwindow(5)", Routing.ROWS),
        ("SELECT COUNT(*) FROM trades GROUP BY statewindow(ok, qty > 1)", Routing.ROWS),
        (
            "SELECT price, window_start FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
            Routing.ROWS,
        ),
        ("SELECT price FROM trades", Routing.ROWS),
        (
            "SELECT SUM(qty) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) FROM trades",
            Routing.ROWS,
        ),
    ],
)
def test_the_choice(query: str, routing: Routing) -> None:
    stage = choose_routing(lowered(query), {})
    assert stage.routing is routing
    assert choice(stage, RULE) == routing.value
