"""Runs of rows within one batch: where they are cut, per what, and that other rows make no runs."""

from dataclasses import replace
from typing import Any

import pytest

from tests.plan.row_sql.running import Case, Planned, on_datafusion, plan
from tidegate.model.expressions import Field
from tidegate.model.time import MAX_EVENT_TIME_US, SECOND
from tidegate.model.types import Scalar
from tidegate.sql.functions.signature import Engine

_OPEN = {"open_from_us": 0, "latest_us": MAX_EVENT_TIME_US, "clock_us": 0}
_BY_SYMBOL = "SELECT symbol, COUNT(*) FROM trades WHERE ok IS NULL GROUP BY symbol, {}"


def groups(made: Planned, *rows: dict[str, Any]) -> list[tuple[int, Any, int, int]]:
    """Code, symbol, first time in seconds and count of every group."""
    blank = dict.fromkeys(Case(made, 0, [], {}).schema.names)
    case = Case(made, 0, [{**blank, **row} for row in rows], _OPEN)
    main, _ = case.run(on_datafusion, Engine.DATAFUSION)
    return sorted(
        (row["$code"], row["$k0"], row["$first_ts"] // SECOND, row["$rows"]) for row in main.rows
    )


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ("SESSION(ts, INTERVAL '2' SECOND)", [(0, "A", 1, 1), (0, "A", 3, 2)]),
        ("session_window(ts, '2 seconds')", [(0, "A", 1, 3)]),
    ],
)
def test_rows_exactly_one_gap_apart(session: str, expected: list[tuple[Any, ...]]) -> None:
    times = [{"symbol": "A", "ts": at * SECOND} for at in (4, 1, 3)]
    assert groups(plan(_BY_SYMBOL.format(session)), *times) == expected


def test_rows_that_are_not_aggregated_are_one_run_per_group() -> None:
    made = plan(_BY_SYMBOL.format("SESSION(ts, INTERVAL '2' SECOND)"))
    removed = [{"symbol": "A", "ok": True, "ts": at * 100 * SECOND} for at in range(5)]
    assert groups(made, *removed) == [(1, "A", 0, 5)]


def test_sessions_are_kept_per_partition_even_if_it_is_no_key() -> None:
    made = plan(_BY_SYMBOL.format("SESSION(ts, INTERVAL '2' SECOND)"))
    partition = Field("$x9", Scalar.BIGINT)
    (branch,) = made.ruled.branches
    by_qty = replace(branch.columns[0], name="$x9", expr=Field("qty", Scalar.BIGINT))
    columns = (*branch.input.columns, ("qty", "qty"))
    wider = replace(
        branch, input=replace(branch.input, columns=columns), columns=(*branch.columns, by_qty)
    )
    stage = replace(made.ruled, partition_by=(partition,), branches=(wider,))
    rows = [{"symbol": "A", "ts": SECOND * at, "qty": at % 2} for at in (1, 2, 3, 4)]
    made = replace(made, ruled=stage)
    assert groups(made, *rows) == [(0, "A", 1, 1), (0, "A", 2, 1), (0, "A", 3, 1), (0, "A", 4, 1)]
