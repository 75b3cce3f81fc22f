"""`agg OVER (…)`: which frames streams can keep, and how they are shared."""

from tests.planning import cases, check_refusal, logical, the, written
from tidegate.model.time import MINUTE, SECOND
from tidegate.plan.logical import EventTime, OverAggregate, Project

RANGE = "RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"
LONG = "RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW"


def test_equal_frames_are_shared() -> None:
    plan = logical(
        f"SELECT symbol, SUM(qty) OVER (PARTITION BY symbol ORDER BY ts {RANGE}) AS a, "
        f"COUNT(*) FILTER (WHERE ok) OVER (PARTITION BY symbol ORDER BY ts {RANGE}) AS b, "
        f"SUM(qty) OVER (PARTITION BY symbol ORDER BY ts {LONG}) AS c, "
        f"SUM(qty) OVER (ORDER BY ts {RANGE}) + 1 AS d, SUM(qty) OVER (PARTITION BY symbol ORDER BY "
        f"ts {RANGE}) * 2 AS e "
        "FROM trades WHERE qty > 0"
    )
    frames = the(OverAggregate, plan).frames
    assert [
        (frame.window.lookback_us, [written(key) for key in frame.partition_by]) for frame in frames
    ] == [
        (10 * SECOND, ["symbol"]),
        (MINUTE, ["symbol"]),
        (10 * SECOND, []),
    ]
    assert [[named.name for named in frame.aggregates] for frame in frames] == [
        ["$o0", "$o1"],
        ["$o2"],
        ["$o3"],
    ]
    assert isinstance(plan.input, Project)
    assert [written(named.expr) for named in plan.input.columns] == [
        "symbol",
        "$o0",
        "$o1",
        "$o2",
        "($o3 + 1)",
        "($o0 * 2)",
    ]
    assert [written(step.expr) for step in the(EventTime, plan).ladder if step.expr] == ["ts"]


def test_a_named_window() -> None:
    plan = logical(
        f"SELECT SUM(qty) OVER w AS a, MAX(qty) OVER W AS b FROM trades WINDOW w AS (PARTITION BY "
        f"symbol ORDER BY ts {RANGE})"
    )
    (frame,) = the(OverAggregate, plan).frames
    assert len(frame.aggregates) == 2


def select(call: str, over: str, more: str = "") -> str:
    return f"SELECT {call} OVER ({over}) AS x{more} FROM trades"


@cases(
    (select("«SUM»(qty)", "ORDER BY ts"),
     "TG-3026", "no RANGE, so it would hold every row", "RANGE BETWEEN INTERVAL"),
    (select("«SUM»(qty)", ""), "TG-3026", "ORDER BY must be the event time"),
    (select("«SUM»(qty)", f"ORDER BY ts, qty {RANGE}"), "TG-3026", "ORDER BY must be the event time"),
    (select("SUM(qty)", f"ORDER BY «ts» DESC {RANGE}"), "TG-3026", "ascending, not DESC"),
    (select("SUM(qty)", f"ORDER BY «qty» {RANGE}"),
     "TG-3023", "the time argument of OVER must be a TIMESTAMP, this is BIGINT", "event time"),
    (select("SUM(qty)", "ORDER BY ts «ROWS» BETWEEN 5 PRECEDING AND CURRENT ROW"), "TG-3026", "ROWS counts rows"),
    (select("SUM(qty)", "ORDER BY ts «RANGE» BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
     "TG-3026", "UNBOUNDED PRECEDING would hold every row"),
    (select("SUM(qty)", "ORDER BY ts «RANGE» BETWEEN INTERVAL '1' SECOND PRECEDING AND UNBOUNDED FOLLOWING"),
     "TG-3026", "UNBOUNDED FOLLOWING"),
    (select("SUM(qty)", "ORDER BY ts RANGE BETWEEN «INTERVAL '1' SECOND» FOLLOWING AND INTERVAL '2' SECOND FOLLOWING"),
     "TG-3026", "it must begin with PRECEDING"),
    (select("SUM(qty)", "ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND «INTERVAL '1' SECOND» PRECEDING"),
     "TG-3026", "it must end with FOLLOWING"),
    (select("SUM(qty)", "ORDER BY ts «RANGE» BETWEEN CURRENT ROW AND CURRENT ROW"),
     "TG-3026", "it must begin at INTERVAL … PRECEDING"),
    (select("SUM(qty)", "ORDER BY ts RANGE BETWEEN «5» PRECEDING AND CURRENT ROW"),
     "TG-3026", "its ends are literal INTERVALs"),
    (select("SUM(qty)", "ORDER BY ts RANGE BETWEEN «INTERVAL '1' MONTH» PRECEDING AND CURRENT ROW"),
     "TG-3011", "MONTH"),
    (select("SUM(qty)", "ORDER BY ts RANGE BETWEEN «INTERVAL '0' SECOND» PRECEDING AND CURRENT ROW"),
     "TG-3006", "lookback of sliding must be positive"),
    (select("SUM(qty)", "ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND «INTERVAL '-1' SECOND» FOLLOWING"),
     "TG-3007", "lookahead"),
    (select("SUM(qty)", f"ORDER BY ts {RANGE}", f", MAX(qty) OVER (ORDER BY «TIMESTAMP '2026-01-01 "
     f"00:00:00' {RANGE}) AS y"),
     "TG-3026", "the same time"),
    (select("SUM(qty)", f"PARTITION BY «nope» ORDER BY ts {RANGE}"), "TG-2002", "nope"),
    ("SELECT SUM(qty) OVER «w2» AS x FROM trades WINDOW w AS (ORDER BY ts)", "TG-2001", "window w2"),
    (select("«ROW_NUMBER»()", "ORDER BY ts"), "TG-3022", "ROW_NUMBER() OVER", "ORDER BY … LIMIT n"),
    (select("«LAG»(qty)", "ORDER BY ts"), "TG-3022", "LAG() OVER"),
    (select("«UPPER»(symbol)", f"ORDER BY ts {RANGE}"), "TG-3026", "UPPER is no aggregate"),
    (select("«SUMM»(qty)", f"ORDER BY ts {RANGE}"), "TG-2004", "SUMM", "did you mean SUM?"),
    (select("SUM(«MAX»(qty))", f"ORDER BY ts {RANGE}"), "TG-3002", "MAX"),
    # what cannot stand beside it
    (f"SELECT «SUM(qty) OVER (ORDER BY ts {RANGE}) AS x FROM trades GROUP BY TUMBLE(ts, '1m')",
     "TG-3027", "an OVER aggregate and GROUP BY", "subquery"),
    (f"SELECT «SUM(qty) OVER (ORDER BY ts {RANGE}) AS x FROM TUMBLE(trades, ts, '1m')",
     "TG-3027", "an OVER aggregate and a window"),
    (f"SELECT DISTINCT «SUM(qty) OVER (ORDER BY ts {RANGE}) AS x FROM trades", "TG-3027", "DISTINCT"),
    (f"SELECT «SUM(qty) OVER (ORDER BY ts {RANGE}) AS x FROM trades ORDER BY x LIMIT 1", "TG-3027", "ORDER BY"),
    (f"SELECT «SUM(qty) OVER (ORDER BY ts {RANGE}) AS x FROM trades HAVING x > 1", "TG-3027", "HAVING"),
    (f"SELECT «SUM»(qty), MAX(qty) OVER (ORDER BY ts {RANGE}) AS x FROM trades", "TG-3001", "SUM"),
)  # fmt: skip
def test_frames_that_streams_cannot_keep(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
