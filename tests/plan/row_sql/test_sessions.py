"""Sessions put together from panes as wide as the gap: what a batch gives, and that they are those of §2."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan.row_sql.oracle import sessions
from tests.plan.row_sql.running import Case, Planned, on_datafusion, plan
from tidegate.model.expressions import Field
from tidegate.model.time import MAX_EVENT_TIME_US, SECOND
from tidegate.model.types import Scalar
from tidegate.sql.functions.signature import Engine

_OPEN = {"open_from_us": -(10**15), "latest_us": MAX_EVENT_TIME_US, "clock_us": 0}
_BY_SYMBOL = "SELECT symbol, COUNT(*) FROM trades WHERE ok IS NULL GROUP BY symbol, {}"
_EXCLUSIVE = _BY_SYMBOL.format("SESSION(ts, INTERVAL '2' SECOND)")
_INCLUSIVE = _BY_SYMBOL.format("session_window(ts, '2 seconds')")
Stretch = tuple[Any, int, int, int]


def panes(made: Planned, *rows: dict[str, Any]) -> list[Stretch]:
    """Symbol, first and last time in microseconds, and count of every pane with rows to be aggregated."""
    blank = dict.fromkeys(Case(made, 0, [], {}).schema.names)
    case = Case(made, 0, [{**blank, **row} for row in rows], _OPEN)
    main, _ = case.run(on_datafusion, Engine.DATAFUSION)
    return sorted(
        (row["$k0"], row["$first_ts"], row["$last_ts"], row["$rows"])
        for row in main.rows
        if row["$pane"] >= 0
    )


def joined(made: list[Stretch], gap_us: int, *, inclusive: bool) -> list[Stretch]:
    """Panes of one key that touch, as the kernel joins them."""
    found: list[Stretch] = []
    for symbol, first, last, rows in made:
        if found and found[-1][0] == symbol:
            _, begin, end, before = found[-1]
            if first - end < gap_us or (inclusive and first - end == gap_us):
                found[-1] = (symbol, begin, max(end, last), before + rows)
                continue
        found.append((symbol, first, last, rows))
    return found


def at(*seconds: float, **others: Any) -> list[dict[str, Any]]:
    return [{"symbol": "A", "ts": int(second * SECOND), **others} for second in seconds]


def test_a_pane_holds_only_rows_that_share_a_session() -> None:
    """Panes of 2 s:   |0   1   |2   3   |4      and rows at 1, 3, 4."""
    made = panes(plan(_EXCLUSIVE), *at(4, 1, 3))
    assert made == [
        ("A", 1 * SECOND, 1 * SECOND, 1),
        ("A", 3 * SECOND, 3 * SECOND, 1),
        ("A", 4 * SECOND, 4 * SECOND, 1),
    ]
    assert joined(made, 2 * SECOND, inclusive=False) == [
        ("A", 1 * SECOND, 1 * SECOND, 1),
        ("A", 3 * SECOND, 4 * SECOND, 2),
    ]


def test_where_an_exact_gap_joins_a_pane_is_one_microsecond_wider() -> None:
    stage = plan(_INCLUSIVE).ruled
    assert stage.panes is not None
    assert stage.panes.width_us == 2 * SECOND + 1
    made = panes(plan(_INCLUSIVE), *at(4, 1, 3))
    assert joined(made, 2 * SECOND, inclusive=True) == [("A", 1 * SECOND, 4 * SECOND, 3)]


_TIMES = st.lists(st.integers(-40, 40).map(lambda step: step * SECOND // 4), max_size=25)


@pytest.mark.thorough
@pytest.mark.parametrize("inclusive", [False, True])
@given(times=_TIMES)
def test_joined_panes_are_the_sessions_by_definition(times: list[int], inclusive: bool) -> None:
    made = plan(_INCLUSIVE if inclusive else _EXCLUSIVE)
    found = joined(
        panes(made, *({"symbol": "A", "ts": time} for time in times)),
        2 * SECOND,
        inclusive=inclusive,
    )
    runs = sessions(times, 2 * SECOND, inclusive=inclusive)
    assert found == [("A", run[0], run[-1], len(run)) for run in runs]


def test_rows_that_are_not_aggregated_are_in_no_pane() -> None:
    assert panes(plan(_EXCLUSIVE), *at(1, 100, 200, ok=True)) == []


def test_sessions_are_kept_per_partition_even_if_it_is_no_key() -> None:
    made = plan(_EXCLUSIVE)
    partition = Field("$x9", Scalar.BIGINT)
    (branch,) = made.ruled.branches
    by_qty = replace(branch.columns[0], name="$x9", expr=Field("qty", Scalar.BIGINT))
    columns = (*branch.input.columns, ("qty", "qty"))
    wider = replace(
        branch, input=replace(branch.input, columns=columns), columns=(*branch.columns, by_qty)
    )
    stage = replace(made.ruled, partition_by=(partition,), branches=(wider,))
    rows = [{"symbol": "A", "ts": SECOND * at, "qty": at % 2} for at in (2, 3)]
    assert panes(made, *rows) == [("A", 2 * SECOND, 3 * SECOND, 2)]
    assert panes(replace(made, ruled=stage), *rows) == [
        ("A", 2 * SECOND, 2 * SECOND, 1),
        ("A", 3 * SECOND, 3 * SECOND, 1),
    ]
