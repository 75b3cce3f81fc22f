"""Which streams can be joined, and what is said of those that cannot."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, planned, the
from tidegate.model.policies import EmitMode, StreamKind
from tidegate.plan.logical import Having, WindowJoin
from tidegate.plan.physical import InputKind, StageKind
from tidegate.plan.planner import plan_query

STREAMS = """\
CREATE STREAM t AS SELECT symbol, COUNT(*) AS n, window_start, window_end FROM trades
  GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);
CREATE STREAM q AS SELECT symbol, MAX(bid) AS bid, window_start, window_end, window_time FROM quotes
  GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);
CREATE STREAM longer AS SELECT symbol, window_start, window_end FROM quotes
  GROUP BY symbol, TUMBLE(ts, INTERVAL '2' MINUTE);
CREATE STREAM visits AS SELECT symbol, window_start, window_end FROM quotes
  GROUP BY symbol, SESSION(ts, INTERVAL '2' MINUTE);
CREATE STREAM changing AS SELECT symbol, COUNT(*) AS n, window_start, window_end FROM trades
  GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE) EMIT CHANGES;
CREATE STREAM slid AS SELECT symbol, COUNT(*) AS n, window_start, window_end FROM trades
  GROUP BY symbol, slidingwindow('ss', 10);
CREATE STREAM totals AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol EMIT CHANGES;
"""
SAME = "t.window_start = q.window_start AND t.window_end = q.window_end"


def join_of(query: str) -> WindowJoin:
    return the(WindowJoin, logical(STREAMS + query))


@pytest.mark.parametrize(
    ("written", "manner"),
    [
        ("JOIN", "inner"),
        ("LEFT OUTER JOIN", "left"),
        ("RIGHT JOIN", "right"),
        ("FULL JOIN", "full"),
    ],
)
def test_edges_are_told_from_keys(written: str, manner: str) -> None:
    join = join_of(f"SELECT n, bid FROM t {written} q ON t.symbol = q.symbol AND {SAME}")
    assert (join.manner, len(join.keys)) == (manner, 1)
    assert [meaning for *_, meaning in join.edges] == ["window_start", "window_end"]


def test_one_edge_tells_windows_of_one_size_apart() -> None:
    join = join_of("SELECT n FROM t JOIN q ON q.window_end = t.window_end")
    assert [(meaning, left.name) for left, _, meaning in join.edges] == [  # type: ignore[union-attr]
        ("window_end", "t.window_end")
    ]
    assert join.keys == ()


def test_what_is_no_equality_is_tested_on_joined_rows() -> None:
    plan = logical(STREAMS + f"SELECT n FROM t JOIN q ON {SAME} AND n > bid AND t.symbol <> 'x'")
    assert len(nodes(Having, plan)) == 1
    assert the(WindowJoin, plan).keys == ()


def test_a_join_is_an_append_stream_of_its_windows() -> None:
    made = planned(
        STREAMS
        + f"CREATE STREAM j AS SELECT t.symbol, n, t.window_start, t.window_end FROM t LEFT JOIN q ON {SAME};"
        "SELECT MAX(n), window_start FROM j GROUP BY window_start, window_end"
    )
    joined = next(query for query in made.queries if query.name == "j").logical
    assert (joined.kind, joined.emit.mode) == (StreamKind.APPEND, EmitMode.ON_WINDOW_CLOSE)
    last = plan_query(made.queries[-1], made).last
    assert [meaning for _, meaning in last.inherited] == ["window_start", "window_end"]


def test_columns_of_a_side_that_may_be_absent_do_not_say_the_window() -> None:
    made = planned(
        STREAMS + f"CREATE STREAM j AS SELECT n, q.window_end FROM t LEFT JOIN q ON {SAME};"
        "SELECT SUM(n), window_end FROM j GROUP BY window_end"
    )
    last = plan_query(made.queries[-1], made).last
    assert (last.window, last.inherited) == (None, ())


def test_a_select_around_a_join_is_its_stage() -> None:
    made = planned(STREAMS + f"SELECT t.symbol FROM t JOIN q ON {SAME} WHERE n > 1")
    (stage,) = plan_query(made.queries[-1], made).stages
    assert stage.kind is StageKind.JOIN
    assert [branch.input.kind for branch in stage.branches] == [InputKind.STREAM] * 2


@cases(
    ("SELECT n FROM t «JOIN» quotes q ON t.symbol = q.symbol", "TG-3019",
     "a join of two streams without windows", "GROUP BY k, TUMBLE"),
    ("SELECT n FROM t «JOIN» q ON t.symbol = q.symbol", "TG-3019",
     "without equality of their windows", "a.window_start = b.window_start"),
    ("SELECT n FROM t LEFT «JOIN» q ON t.window_start = q.window_end", "TG-3019", "without equality of their windows"),
    ("SELECT n FROM t CROSS «JOIN» q", "TG-3019", "a CROSS join of two streams", "JOIN, LEFT JOIN"),
    ("SELECT n FROM t «JOIN» longer q ON t.symbol = q.symbol AND " + SAME, "TG-3019", "of different windows",
     "same kind, size and offset"),
    ("SELECT t.symbol FROM visits t «JOIN» visits q ON t.window_end = q.window_end", "TG-3019",
     "without equality of their windows"),
    ("SELECT q.n FROM slid t «JOIN» slid q ON " + SAME, "TG-3019", "of sliding windows", "tumbling, hopping"),
    ("SELECT q.n FROM t «JOIN» changing q ON " + SAME, "TG-3018", "changing"),
    ("SELECT q.n FROM t «JOIN» totals q ON t.symbol = q.symbol", "TG-3019", "without windows"),
    ("SELECT n FROM t LEFT «JOIN» q ON n > bid AND " + SAME, "TG-3019", "that is not an equality", "WHERE"),
    ("SELECT n FROM t FULL «JOIN» q USING (symbol, window_start)", "TG-3019", "USING in a FULL join", "COALESCE"),
    ("SELECT n FROM t JOIN q ON " + SAME + " «EMIT» CHANGES", "TG-3014", "a join of two streams", "ON WINDOW CLOSE"),
    ("SELECT n FROM t JOIN q ON " + SAME + " «ALLOWED» LATENESS INTERVAL '1' SECOND", "TG-3015", "ALLOWED LATENESS"),
    ("SELECT n FROM t «JOIN» q ON " + SAME + " WITH (dedup_key = 'symbol')", "TG-3019", "dedup_key in a join"),
)  # fmt: skip
def test_refused_joins(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(STREAMS + marked, code, message, hint)
