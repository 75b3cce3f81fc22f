"""The laws of a stage's operator.

Any sharding of an epoch's rows gives the same outcome and the same state; a state that is restored is the state that
was saved, and goes on in the same way.
"""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.local.ways import lanes
from tests.oracle.values import identity
from tests.planning import planned
from tidegate.engines.embedded.executor import EmbeddedExecutor
from tidegate.engines.operators import operator_spec
from tidegate.engines.values import rows_of
from tidegate.engines.views import as_seen
from tidegate.kernel.steps import Brought, Step
from tidegate.plan.physical import Stage
from tidegate.plan.planner import plan_query

pytestmark = pytest.mark.thorough

SECOND = 1_000_000
SOURCE = "CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND);"
CALLS = (
    "SUM(v) AS s, COUNT(DISTINCT v) AS d, LAST_VALUE(v) AS l, ARRAY_AGG(v) AS a, VAR_POP(v) AS m"
)
WINDOWS = {
    "none": "",
    "tumbling": ", TUMBLE(ts, INTERVAL '5' SECOND)",
    "hopping": ", HOP(ts, INTERVAL '3' SECOND, INTERVAL '7' SECOND)",
    "cumulating": ", CUMULATE(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND)",
    "session": ", SESSION(ts, INTERVAL '3' SECOND)",
}
MODES = ("ON UPDATE", "CHANGES", "EVERY INTERVAL '4' SECOND")
CASES = [(window, mode) for window in WINDOWS for mode in MODES] + [
    (window, mode)
    for window in WINDOWS
    if window != "none"
    for mode in ("ON WINDOW CLOSE", "AFTER WATERMARK")
]
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64()), ("ts", pa.timestamp("us", "UTC"))])

row = st.builds(
    lambda k, v, second: {"k": k, "v": v, "ts": second * SECOND},
    st.sampled_from(["a", "b", None]),
    st.sampled_from([0, 1, 5, -2, None]),
    st.integers(0, 25),
)
epochs = st.lists(st.lists(row, min_size=1, max_size=6), min_size=1, max_size=5)


class Run:
    """A stage's operator with its row SQL. Every epoch is a second of the clock."""

    def __init__(self, stage: Stage, plan_id: str) -> None:
        executor = EmbeddedExecutor(lanes(1))
        self._spec = operator_spec(stage, plan_id)
        self._project = executor.projection(stage, lambda: 0)
        self._rows = executor.rows(stage, stage.branches[0], {})
        self.operator: Any = self._spec.build(self._project, since_us=0)
        self.clock_us = 0

    def epoch(self, pieces: list[list[dict[str, Any]]]) -> tuple[Counter[Any], Counter[int], int]:
        """What comes out when the rows are sharded so."""
        self.clock_us += SECOND
        bounds = self.operator.begin(self.clock_us)[0]
        batches = [
            batch
            for piece in pieces
            if piece
            for batch in self._rows.crossing(
                [pa.RecordBatch.from_pylist(piece, schema=SCHEMA)], bounds, self.clock_us
            )
        ]
        outcome = self.operator.step(Step(inputs=[Brought(batches=batches)], now_us=self.clock_us))
        counts = Counter(
            {code: rows for code, rows in outcome.account.rows_by_code.items() if rows}
        )
        return bag(as_seen(outcome.emitted)), counts, outcome.watermark_us

    def restored(self) -> None:
        """Go on with a copy that was made of the state."""
        state = self.operator.snapshot()
        again: Any = self._spec.build(self._project, since_us=0)
        again.restore(state)
        assert held(again) == held(self.operator)
        self.operator = again


def bag(batch: pa.RecordBatch) -> Counter[Any]:
    rounded = (
        {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in one.items()
        }
        for one in rows_of(batch)
    )
    return Counter(identity(one) for one in rounded)


def held(operator: Any) -> dict[str, Any]:
    """A state, without the order of what is in it."""
    state = operator.snapshot()
    bags = {name: Counter(map(repr, part.to_pylist())) for name, part in state.parts.items()}
    return {**state.facts, **bags}


def stage_of(window: str, mode: str) -> tuple[Stage, str]:
    sql = f"{SOURCE} CREATE STREAM out AS SELECT k, {CALLS} FROM ev GROUP BY k{WINDOWS[window]} EMIT {mode};"
    program = planned(sql, prelude="")
    plan = plan_query(program.queries[0], program)
    return plan.stages[0], "plan"


@pytest.mark.parametrize(("window", "mode"), CASES)
@settings(max_examples=max(5, settings().max_examples // 10))
@given(given_epochs=epochs, draw=st.randoms(use_true_random=False))
def test_sharding_and_restoring_change_nothing(
    window: str, mode: str, given_epochs: list[list[dict[str, Any]]], draw: Any
) -> None:
    stage, plan_id = stage_of(window, mode)
    whole, sharded = Run(stage, plan_id), Run(stage, plan_id)
    for rows in given_epochs:
        pieces: list[list[dict[str, Any]]] = [[], [], []]
        for one in draw.sample(rows, len(rows)):
            draw.choice(pieces).append(one)
        assert whole.epoch([rows]) == sharded.epoch(pieces)
        sharded.restored()
