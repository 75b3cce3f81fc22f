"""What becomes of single rows, written down by hand: one row, one outcome."""

from typing import Any

import pytest

from tests.plan.row_sql.running import Case, on_datafusion, plan
from tidegate.model.policies import AGGREGATED, DISPOSITION, FILTERED, Reason
from tidegate.model.time import MAX_EVENT_TIME_US, SECOND
from tidegate.sql.functions.signature import Engine

pytestmark = pytest.mark.thorough

_BY_TEN = "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
_LIMITS = {"open_from_us": 10 * SECOND, "latest_us": 100 * SECOND, "clock_us": 50 * SECOND}
LATE, FUTURE = Reason.ALLOWED_LATENESS_EXCEEDED, Reason.FUTURE_EVENT_TIME
DIVISION, CAST = Reason.DIVISION_BY_ZERO, Reason.INVALID_CAST


def outcomes(sql: str, opened: int, row: dict[str, Any]) -> tuple[int, int]:
    """The codes of the row in the main query and among the diverted rows (0 where it is not there)."""
    made = plan(sql)
    names = Case(made, 0, [], {}).schema.names
    whole = {**dict.fromkeys(names), "ts": 20 * SECOND, **row}
    case = Case(made, 0, [whole], {**_LIMITS, "open_from_us": opened})
    main, diverted = case.run(on_datafusion, Engine.DATAFUSION)
    assert len(main.rows) == 1
    first = main.rows[0]
    code = first["$code"] if "$code" in first else -min(first["$pane"], 0)
    return code, diverted.rows[0]["$code"] if diverted.rows else 0


def check(
    sql: str, expected: Reason | int, *, opened: int = _LIMITS["open_from_us"], **row: Any
) -> None:
    code = DISPOSITION[expected] if isinstance(expected, Reason) else expected
    assert outcomes(sql, opened, row) == (code, code if code > FILTERED else 0)


@pytest.mark.parametrize(
    ("ts", "expected"),
    [
        (10 * SECOND, AGGREGATED),
        (10 * SECOND - 1, LATE),
        (100 * SECOND, AGGREGATED),
        (100 * SECOND + 1, FUTURE),
        (None, Reason.MISSING_EVENT_TIME),
        (MAX_EVENT_TIME_US + 1, Reason.OVERFLOW),
    ],
)
def test_the_event_time_decides(ts: int | None, expected: Reason | int) -> None:
    check(f"SELECT COUNT(*) FROM trades {_BY_TEN}", expected, ts=ts)


def test_what_where_removes_is_no_error() -> None:
    sql = f"SELECT SUM(qty DIV small) FROM trades WHERE ok {_BY_TEN}"
    check(sql, FILTERED, ok=False, qty=1, small=0, ts=None)
    check(sql, FILTERED, ok=None, ts=0)


def test_a_failing_condition_comes_before_the_time_and_a_failing_argument_after_it() -> None:
    check(
        f"SELECT COUNT(*) FROM trades WHERE qty DIV small > 0 {_BY_TEN}",
        DIVISION,
        qty=1,
        small=0,
        ts=0,
    )
    check(f"SELECT SUM(qty DIV small) FROM trades {_BY_TEN}", LATE, qty=1, small=0, ts=0)
    check(f"SELECT SUM(qty DIV small) FROM trades {_BY_TEN}", DIVISION, qty=1, small=0)


def test_nothing_fails_where_an_operand_is_missing() -> None:
    check(f"SELECT SUM(qty DIV small) FROM trades {_BY_TEN}", AGGREGATED, qty=None, small=0)
    check(f"SELECT SUM(qty DIV NULL) FROM trades {_BY_TEN}", AGGREGATED, qty=1)


@pytest.mark.parametrize(
    "guarded",
    [
        "CASE WHEN small <> 0 THEN qty DIV small END",
        "COALESCE(qty, qty DIV small)",
        "CAST(small <> 0 AND qty DIV small > 0 AS INT)",
        "CAST(small = 0 OR qty DIV small > 0 AS INT)",
        "IF(small = 0, 0, qty DIV small)",
        "TRY_CAST(note AS INT)",
    ],
)
def test_what_is_guarded_is_no_error(guarded: str) -> None:
    row: dict[str, Any] = {"qty": 1, "small": 0, "note": "x"}
    check(f"SELECT SUM({guarded}) FROM trades {_BY_TEN}", AGGREGATED, **row)
    check(
        f"SELECT COUNT(*) FROM trades GROUP BY {guarded}, TUMBLE(ts, INTERVAL '10' SECOND)",
        AGGREGATED,
        **row,
    )


def test_guards_are_read_from_left_to_right() -> None:
    check(
        f"SELECT COUNT(*) FROM trades WHERE qty DIV small > 0 AND small <> 0 {_BY_TEN}",
        DIVISION,
        qty=1,
        small=0,
    )


def test_an_argument_counts_only_where_its_filter_holds() -> None:
    sql = f"SELECT SUM(qty DIV small) FILTER (WHERE ok), COUNT(*) FROM trades {_BY_TEN}"
    check(sql, AGGREGATED, qty=1, small=0, ok=False)
    check(sql, AGGREGATED, qty=1, small=0, ok=None)
    check(sql, DIVISION, qty=1, small=0, ok=True)


def test_a_filter_guards_neither_keys_nor_itself_nor_what_others_read() -> None:
    row: dict[str, Any] = {"qty": 1, "small": 0, "ok": False}
    value = "SUM(qty DIV small) FILTER (WHERE ok)"
    by = "TUMBLE(ts, INTERVAL '10' SECOND)"
    check(f"SELECT {value} FROM trades GROUP BY qty DIV small, {by}", DIVISION, **row)
    check(f"SELECT {value}, MAX(qty DIV small) FROM trades {_BY_TEN}", DIVISION, **row)
    check(
        f"SELECT COUNT(*) FILTER (WHERE qty DIV small > 0) FROM trades {_BY_TEN}", DIVISION, **row
    )


def test_the_first_thing_that_goes_wrong_is_the_reason() -> None:
    row: dict[str, Any] = {"qty": 1, "small": 0, "note": "x"}
    check(f"SELECT SUM(qty DIV small + CAST(note AS INT)) FROM trades {_BY_TEN}", DIVISION, **row)
    check(f"SELECT SUM(CAST(note AS INT) + qty DIV small) FROM trades {_BY_TEN}", CAST, **row)
    check(f"SELECT SUM(qty + 1) FROM trades {_BY_TEN}", Reason.OVERFLOW, qty=2**63 - 1)


def test_a_row_without_match_is_filtered_by_an_inner_join_only() -> None:
    joined = "symbols s ON t.symbol = s.symbol GROUP BY TUMBLE(t.ts, INTERVAL '10' SECOND)"
    check(f"SELECT COUNT(*) FROM trades t JOIN {joined}", FILTERED, symbol="nope")
    check(f"SELECT COUNT(*) FROM trades t LEFT JOIN {joined}", AGGREGATED, symbol="nope")
    check(f"SELECT COUNT(*) FROM trades t JOIN {joined}", FILTERED, symbol=None)
    check(f"SELECT COUNT(*) FROM trades t JOIN {joined}", AGGREGATED, symbol="A")


def test_a_join_condition_may_fail() -> None:
    joined = "symbols s ON t.qty DIV t.small = s.lot GROUP BY TUMBLE(t.ts, INTERVAL '10' SECOND)"
    check(f"SELECT COUNT(*) FROM trades t JOIN {joined}", DIVISION, qty=1, small=0)
    check(f"SELECT COUNT(*) FROM trades t LEFT JOIN {joined}", DIVISION, qty=1, small=0)
    check(f"SELECT COUNT(*) FROM trades t JOIN {joined}", AGGREGATED, qty=7, small=1)


def test_rows_without_a_time_get_the_clock_or_not() -> None:
    sql = f"SELECT COUNT(*) FROM trades {_BY_TEN} WITH (on_missing_event_time = '%s')"
    check(sql % "fallback", AGGREGATED, ts=None)
    check(sql % "divert", Reason.MISSING_EVENT_TIME, ts=None)
    check(sql % "fail", Reason.MISSING_EVENT_TIME, ts=None)


def test_only_fallback_looks_below_the_first_rung() -> None:
    sql = "SELECT COUNT(*) FROM feed GROUP BY tumblingwindow('ss', 10) WITH (on_missing_event_time = '%s')"
    check(sql % "fallback", AGGREGATED, millis=None, received_at=30 * SECOND)
    check(sql % "divert", Reason.MISSING_EVENT_TIME, millis=None, received_at=30 * SECOND)


def test_before_1970() -> None:
    plain = f"SELECT COUNT(*) FROM trades {_BY_TEN}"
    diverting = f"{plain} WITH (pre_epoch = 'divert')"
    check(plain, AGGREGATED, opened=-SECOND, ts=-1)
    check(diverting, Reason.PRE_EPOCH_EVENT_TIME, opened=-SECOND, ts=-1)
    check(diverting, AGGREGATED, opened=-SECOND, ts=0)


def test_counting_and_state_windows_ask_for_no_time() -> None:
    check("SELECT SUM(qty) FROM trades GROUP BY countwindow(3)", AGGREGATED, ts=None)
    check("SELECT SUM(qty) FROM trades GROUP BY statewindow(qty > 0, ok)", AGGREGATED, ts=0)
    check("SELECT SUM(qty DIV small) FROM trades GROUP BY countwindow(3)", DIVISION, qty=1, small=0)


def test_a_stateless_query_diverts_rows_that_cannot_be_computed() -> None:
    sql = "SELECT qty DIV small AS q FROM trades WHERE price > 0"
    check(sql, FILTERED, price=-1.0, qty=1, small=0)
    check(sql, DIVISION, price=1.0, qty=1, small=0, ts=None)
    check(sql, AGGREGATED, price=1.0, qty=1, small=1, ts=None)


def test_diverted_rows_are_whole_even_where_little_is_read() -> None:
    made = plan(f"SELECT COUNT(*) FROM trades JOIN symbols USING (symbol) {_BY_TEN}")
    assert len(made.ruled.branches[0].input.columns) == 2
    row = {
        **dict.fromkeys(Case(made, 0, [], {}).schema.names),
        "symbol": "A",
        "price": 1.5,
        "tags": ["a", None],
    }
    _, diverted = Case(made, 0, [row], _LIMITS).run(on_datafusion, Engine.DATAFUSION)
    assert diverted.rows == [{"$code": DISPOSITION[Reason.MISSING_EVENT_TIME], "$ts": None, **row}]


def test_conditions_of_subqueries_hold_together() -> None:
    inner = "(SELECT price * 2 AS p, qty, ts FROM trades WHERE ok) AS t"
    sql = f"SELECT SUM(qty) FROM {inner} WHERE p > 10 {_BY_TEN}"
    check(sql, AGGREGATED, ok=True, price=6.0)
    check(sql, FILTERED, ok=False, price=6.0)
    check(sql, FILTERED, ok=True, price=4.0)
