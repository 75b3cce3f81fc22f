"""Which streams without windows can be joined, and what is said of those that cannot."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, planned, the
from tidegate.model.policies import EmitMode, StreamKind
from tidegate.model.time import SECOND
from tidegate.model.windows import Interval
from tidegate.plan.logical import Emission, Having, IntervalJoin
from tidegate.plan.physical import StageKind
from tidegate.plan.planner import plan_query

JOIN = "SELECT t.symbol, price, bid FROM trades t {how} quotes q ON t.symbol = q.symbol AND {times}"
S = SECOND


def interval(times: str, how: str = "JOIN") -> tuple[int, int]:
    found = the(IntervalJoin, logical(JOIN.format(how=how, times=times))).interval
    return found.lower_us, found.upper_us


@pytest.mark.parametrize(
    ("times", "lower_us", "upper_us"),
    [
        ("q.ts BETWEEN t.ts - INTERVAL '2' SECOND AND t.ts + INTERVAL '5' SECOND", -2 * S, 5 * S),
        ("t.ts BETWEEN q.ts - INTERVAL '2' SECOND AND q.ts + INTERVAL '5' SECOND", -5 * S, 2 * S),
        ("q.ts = t.ts", 0, 0),
        ("t.ts = INTERVAL '1' SECOND + q.ts", -S, -S),
        ("q.ts > t.ts AND q.ts < t.ts + INTERVAL '1' SECOND", 1, S - 1),
        ("t.ts < q.ts AND t.ts > q.ts - INTERVAL '1' SECOND", 1, S - 1),
        ("q.ts - INTERVAL '3' SECOND <= t.ts + INTERVAL '1' SECOND AND t.ts <= q.ts", 0, 4 * S),
        (
            "q.ts >= t.ts AND q.ts >= t.ts - INTERVAL '9' SECOND AND q.ts <= t.ts + INTERVAL '1' SECOND",
            0,
            S,
        ),
    ],
)
def test_bounds(times: str, lower_us: int, upper_us: int) -> None:
    assert interval(times) == (lower_us, upper_us)


def test_rows_come_as_they_are_joined() -> None:
    made = planned(
        JOIN.format(how="LEFT JOIN", times="q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' SECOND")
    )
    query = made.queries[-1]
    assert (query.logical.emit.mode, query.logical.kind) == (EmitMode.ON_UPDATE, StreamKind.APPEND)
    stage = plan_query(query, made).last
    assert (stage.kind, stage.window) == (StageKind.MEETING, Interval(lower_us=0, upper_us=S))
    assert stage.join is not None
    assert stage.join.manner == "left"


def test_conditions_of_a_comma_join_stand_in_where() -> None:
    plan = logical(
        "SELECT price, bid FROM trades t, quotes q WHERE t.symbol = q.symbol AND price > bid "
        "AND t.ts BETWEEN q.ts - INTERVAL '1' HOUR AND q.ts"
    )
    join = the(IntervalJoin, plan)
    assert (join.interval.lower_us, len(join.keys)) == (0, 1)
    assert len(nodes(Having, plan)) == 1


def test_rows_of_windows_are_of_their_last_instant() -> None:
    plan = logical(
        "SELECT t.symbol FROM trades t JOIN (SELECT MAX(bid) AS best, window_end AS at FROM quotes "
        "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)) q ON t.price = q.best "
        "WHERE t.ts BETWEEN q.at - INTERVAL '1' MINUTE AND q.at"
    )
    found = the(IntervalJoin, plan).interval
    assert (found.lower_us, found.upper_us) == (-1, 60 * S - 1)


def test_joined_rows_go_on_into_windows() -> None:
    plan = logical(
        "SELECT t.symbol, COUNT(*) AS n FROM trades t JOIN quotes q ON t.symbol = q.symbol AND t.ts = q.ts "
        "GROUP BY t.symbol, TUMBLE(q.ts, INTERVAL '1' MINUTE)"
    )
    assert len(nodes(Emission, plan)) == 2


NEAR = "t.ts BETWEEN q.ts - INTERVAL '1' SECOND AND q.ts"


@cases(
    ("SELECT bid FROM trades t «JOIN» quotes q ON t.symbol = q.symbol", "TG-3019", "without windows", "BETWEEN"),
    ("SELECT bid FROM trades t «JOIN» quotes q ON q.ts >= t.ts", "TG-3019", "without windows", "BETWEEN"),
    ("SELECT bid FROM trades t «JOIN» quotes q ON q.ts - t.ts < INTERVAL '1' SECOND", "TG-3019", "without windows"),
    ("SELECT bid FROM trades t «JOIN» quotes q ON q.ts BETWEEN t.ts AND t.ts - INTERVAL '1' SECOND",
     "TG-3036", "at least 0s and at most -1s later", "signs"),
    ("CREATE SOURCE clicks (symbol VARCHAR, p AS PROCTIME()); SELECT price FROM trades t «JOIN» clicks c "
     "ON t.ts BETWEEN c.p AND c.p + INTERVAL '1' SECOND", "TG-3019", "without windows", "event times"),
    ("SELECT bid FROM trades t LEFT «JOIN» quotes q ON " + NEAR + " AND price > bid", "TG-3019", "not an equality"),
    ("SELECT bid FROM trades t «JOIN» quotes q ON " + NEAR + " WITH (dedup_key = 'symbol')", "TG-3019", "dedup_key"),
    ("SELECT bid FROM trades t JOIN quotes q ON " + NEAR + " WITH («max_groups» = 5)", "TG-3033", "max_groups"),
    ("SELECT bid FROM trades t JOIN quotes q ON " + NEAR + " «EMIT» ON WINDOW CLOSE",
     "TG-3014", "a join of two streams without windows", "leave it out"),
    ("SELECT bid FROM trades t JOIN quotes q ON " + NEAR + " «ALLOWED» LATENESS INTERVAL '1' SECOND",
     "TG-3015", "ALLOWED LATENESS"),
    ("«SELECT» bid FROM trades t JOIN quotes q ON " + NEAR + " ORDER BY bid LIMIT 3", "TG-3020", "LIMIT"),
)  # fmt: skip
def test_refused(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
