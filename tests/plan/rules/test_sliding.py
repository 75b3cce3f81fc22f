"""Fused only where the incremental plan equals the buffered one."""

import pytest

from tests.plan.rules.stages import decisions, lowered
from tidegate.plan.rules.sliding import RULE, choose_sliding

FRAME = "ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW"
OVER = f"SELECT {{}} OVER (PARTITION BY symbol {FRAME}) FROM trades"
WINDOW = "SELECT {} FROM trades GROUP BY slidingwindow('ss', 5)"


@pytest.mark.parametrize(
    ("query", "fused", "reason"),
    [
        (WINDOW.format("SUM(qty), MAX(price)"), True, "combines from pieces"),
        (OVER.format("SUM(qty)"), True, "combines from pieces"),
        (OVER.format("MIN(DISTINCT qty)"), True, "combines from pieces"),
        (WINDOW.format("MEDIAN(price)"), False, "MEDIAN needs all values"),
        (WINDOW.format("COUNT(DISTINCT qty)"), False, "COUNT(DISTINCT) needs all values"),
        (WINDOW.format("symbol, SUM(qty)") + ", symbol", False, "a row per group"),
        (WINDOW.format("price"), False, "no aggregates"),
        (WINDOW.format("SUM(qty)") + " WITH (fuse_sliding = false)", False, "fuse_sliding is off"),
    ],
)
def test_the_choice(query: str, fused: bool, reason: str) -> None:
    stage = choose_sliding(lowered(query), {})
    (made,) = decisions(stage, RULE)
    assert stage.fused is fused
    assert made.choice == ("fused" if fused else "buffered")
    assert reason in made.reason


def test_other_windows_are_left_alone() -> None:
    stage = lowered("SELECT COUNT(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' DAY)")
    assert choose_sliding(stage, {}) == stage
