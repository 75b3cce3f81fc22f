"""Every spelling of every window means the same plan node."""

import pytest

from tests.planning import PRELUDE, cases, check_refusal, planned, windows_of

TUMBLING = {
    "tumbling 10s": """
        FROM trades GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)
        FROM trades GROUP BY tumble(ts, '10s')
        FROM trades GROUP BY TUMBLE(ts, SIZE => INTERVAL '10' SECOND)
        FROM trades GROUP BY TUMBLE(SIZE => '10s', TIME => ts)
        FROM trades GROUP BY TUMBLE(TIMECOL => ts, SIZE => '10s')
        FROM trades GROUP BY (TUMBLE(ts, '10s'))
        FROM trades GROUP BY tumblingwindow('ss', 10)
        FROM trades GROUP BY TumblingWindow("SS", 10)
        FROM trades GROUP BY tumblingwindow('ms', 10000)
        FROM trades WINDOW TUMBLING (SIZE INTERVAL '10' SECOND)
        FROM trades WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY symbol
        FROM trades GROUP BY symbol HAVING COUNT(*) > 0 WINDOW TUMBLING (SIZE '10s')
        FROM trades WINDOW TUMBLING (SIZE '10s' ON ts)
        FROM trades WINDOW TUMBLING (SIZE '10s') ON ts
        FROM trades WINDOW TUMBLING (SIZE '10s' ON ts WATERMARK('1s', '2s'))
        FROM trades WINDOW TUMBLING (SIZE '10s') ON ts WATERMARK('1s')
        FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end
        FROM TABLE(TUMBLE(DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), SIZE => '10s')) GROUP BY window_start
        FROM TUMBLE(trades, ts, INTERVAL '10' SECOND) GROUP BY window_start, window_end
        FROM TUMBLE(TABLE trades, DESCRIPTOR(ts), '10s') GROUP BY window_end
        FROM TUMBLE((SELECT * FROM trades WHERE ok), ts, '10s') GROUP BY window_start
        FROM trades GROUP BY window(ts, '10 seconds')
        FROM trades GROUP BY WINDOW(ts, '10 seconds', '10 seconds')
        FROM trades GROUP BY symbol, window(ts, '10 seconds')
    """,
    "tumbling 10s offset 3s": """
        FROM trades GROUP BY TUMBLE(ts, '10s', INTERVAL '3' SECOND)
        FROM trades GROUP BY TUMBLE(ts, '10s', OFFSET => '3s')
        FROM trades WINDOW TUMBLING (SIZE '10s' OFFSET '3s')
        FROM trades WINDOW TUMBLING (OFFSET '3s', SIZE '10s')
        FROM TUMBLE(trades, ts, '10s', '3s') GROUP BY window_start
        FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), '10s', '3s')) GROUP BY window_start
        FROM trades GROUP BY window(ts, '10 seconds', '10 seconds', '3 seconds')
    """,
    "tumbling 10s offset -3s": """
        FROM trades GROUP BY TUMBLE(ts, '10s', INTERVAL '-3' SECOND)
        FROM trades GROUP BY TUMBLE(ts, '10s', -INTERVAL '3' SECOND)
        FROM trades GROUP BY TUMBLE(ts, '10s', '-3s')
        FROM trades GROUP BY window(ts, '10 seconds', '10 seconds', '-3 seconds')
        FROM trades WINDOW TUMBLING (SIZE '10s' OFFSET -3 SECONDS)
    """,
}
HOPPING = {
    "hopping 10s slide 5s": """
        FROM trades GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)
        FROM trades GROUP BY HOP(ts, SIZE => '10s', SLIDE => '5s')
        FROM trades GROUP BY hoppingwindow('ss', 10, 5)
        FROM trades WINDOW HOPPING (SIZE '10s' SLIDE '5s')
        FROM trades WINDOW HOPPING (SLIDE '5s', SIZE '10s')
        FROM trades WINDOW HOPPING (SIZE 10 SECONDS, ADVANCE BY 5 SECONDS)
        FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start
        FROM HOP(trades, ts, '5s', '10s') GROUP BY window_start, window_end
        FROM trades GROUP BY window(ts, '10 seconds', '5 seconds')
    """,
    "hopping 10s slide 5s offset 1s": """
        FROM trades GROUP BY HOP(ts, '5s', '10s', '1s')
        FROM trades GROUP BY HOP(ts, '5s', '10s', OFFSET => '1s')
        FROM trades WINDOW HOPPING (SIZE '10s' SLIDE '5s' OFFSET '1s')
        FROM HOP(trades, ts, '5s', '10s', '1s') GROUP BY window_start
        FROM trades GROUP BY window(ts, '10 seconds', '5 seconds', '1 second')
    """,
    "hopping 10s slide 10s": """
        FROM trades GROUP BY HOP(ts, '10s', '10s')
        FROM trades GROUP BY hoppingwindow('ss', 10, 10)
    """,
    "hopping 10s slide 3s": "FROM trades GROUP BY HOP(ts, '3s', '10s')",
}
CUMULATING = {
    "cumulating step 5s 10s": """
        FROM trades GROUP BY CUMULATE(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)
        FROM trades GROUP BY CUMULATE(ts, SIZE => '10s', STEP => '5s')
        FROM trades WINDOW CUMULATING (SIZE '10s' STEP '5s')
        FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), '5s', '10s')) GROUP BY window_start
        FROM CUMULATE(trades, ts, '5s', '10s') GROUP BY window_start, window_end
    """,
    "cumulating step 5s 10s offset 2s": """
        FROM trades GROUP BY CUMULATE(ts, '5s', '10s', '2s')
        FROM trades WINDOW CUMULATING (SIZE '10s' STEP '5s' OFFSET '2s')
        FROM CUMULATE(trades, ts, '5s', '10s', '2s') GROUP BY window_start
    """,
}
OTHERS = {
    "session gap 10s": """
        FROM trades GROUP BY SESSION(ts, INTERVAL '10' SECOND)
        FROM trades GROUP BY SESSION(ts, GAP => '10s')
        FROM trades GROUP BY sessionwindow('ss', 10)
        FROM trades WINDOW SESSION (GAP '10s')
        FROM TABLE(SESSION(TABLE trades, DESCRIPTOR(ts), '10s')) GROUP BY window_start, window_end
        FROM TABLE(SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(ts), '10s')) GROUP BY symbol, window_start
        FROM SESSION(trades PARTITION BY symbol, ts, '10s') GROUP BY symbol, window_start
        FROM SESSION(trades PARTITION BY symbol, ABS(qty), ts, '10s') GROUP BY symbol, ABS(qty), window_start
        FROM SESSION(trades PARTITION BY symbol, ok, DESCRIPTOR(ts), '10s') GROUP BY ok, symbol, window_start
    """,
    "session gap 10s inclusive": """
        FROM trades GROUP BY session_window(ts, '10 seconds')
        FROM trades GROUP BY SESSION(ts, '10s') WITH (session_gap = 'inclusive')
    """,
    "sliding lookback 10s": """
        FROM trades GROUP BY slidingwindow('ss', 10)
        FROM trades WINDOW SLIDING (LOOKBACK '10s')
        FROM trades GROUP BY SLIDINGWINDOW('ms', 10000)
    """,
    "sliding lookback 10s lookahead 5s": """
        FROM trades GROUP BY slidingwindow('ss', 10, 5)
        FROM trades WINDOW SLIDING (LOOKBACK '10s' LOOKAHEAD '5s')
    """,
    "sliding lookback 10s lookahead 0s": "FROM trades GROUP BY slidingwindow('ss', 10, 0)",
    "counting rows 5 step 5": """
        FROM trades GROUP BY countwindow(5)
        FROM trades GROUP BY countwindow(5, 5)
    """,
    "counting rows 5 step 2": """
        FROM trades GROUP BY countwindow(5, 2)
        FROM trades GROUP BY COUNTWINDOW(ROWS => 5, STEP => 2)
    """,
    "counting rows 5 step 5 partition_by ['symbol']": "FROM trades GROUP BY countwindow(5) OVER "
    "(PARTITION BY symbol), symbol",
    "state open price > 30 close price < 20": """
        FROM trades GROUP BY statewindow(price > 30, price < 20)
        FROM trades GROUP BY STATEWINDOW(CLOSE => price < 20, OPEN => price > 30)
    """,
    "state open ok = ok close qty = 4 partition_by ['symbol']":
        "FROM trades GROUP BY statewindow(ok = ok, qty = 4) OVER (PARTITION BY symbol), symbol",
    "tumbling 5m": "FROM trades GROUP BY tumblingwindow('mi', 5)",
    "tumbling 2h": "FROM trades GROUP BY tumblingwindow('hh', 2)",
    "tumbling 3d": "FROM trades GROUP BY tumblingwindow('dd', 3)",
}  # fmt: skip
SPELLINGS = [
    (described, line.strip())
    for table in (TUMBLING, HOPPING, CUMULATING, OTHERS)
    for described, lines in table.items()
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("described", "query"), SPELLINGS, ids=[query for _, query in SPELLINGS])
def test_spellings(described: str, query: str) -> None:
    made = planned(f"SELECT COUNT(*) AS n {query}")
    (facts,) = windows_of(made.queries[0].logical, made.catalog)
    assert " ".join(_described(facts)) == described


def _described(facts: dict[str, object]) -> list[str]:
    return [
        str(value) if name in ("kind", "size") else name if value is True else f"{name} {value}"
        for name, value in facts.items()
    ]


@pytest.mark.parametrize(
    ("bounds", "described"),
    [
        ("INTERVAL '10' SECOND PRECEDING AND CURRENT ROW", {"lookback": "10s"}),
        (
            "INTERVAL '10' SECOND PRECEDING AND INTERVAL '5' SECOND FOLLOWING",
            {"lookback": "10s", "lookahead": "5s"},
        ),
    ],
)
def test_over_range_is_a_sliding_window(bounds: str, described: dict[str, str]) -> None:
    made = planned(f"SELECT COUNT(*) OVER (ORDER BY ts RANGE BETWEEN {bounds}) AS n FROM trades")
    assert windows_of(made.queries[0].logical, made.catalog) == [{"kind": "sliding"} | described]


def test_a_short_frame_ends_at_the_current_row() -> None:
    made = planned(
        "SELECT COUNT(*) OVER (ORDER BY ts RANGE INTERVAL '10' SECOND PRECEDING) AS n FROM trades"
    )
    assert windows_of(made.queries[0].logical, made.catalog) == [
        {"kind": "sliding", "lookback": "10s"}
    ]


GROUPED = "SELECT COUNT(*) AS n FROM trades GROUP BY "
CLAUSE = "SELECT COUNT(*) AS n FROM trades "


@cases(
    # arity: the window, how many, and its form
    (GROUPED + "«TUMBLE»(ts)", "TG-2005", "TUMBLE takes 2 to 3 arguments, not 1", "TUMBLE(time, size [, offset])"),
    (GROUPED + "«Tumble»(ts, '1s', '1s', '1s')", "TG-2005", "Tumble takes 2 to 3 arguments, not 4"),
    (GROUPED + "«HOP»(ts, '1s')", "TG-2005", "3 to 4 arguments, not 2", "HOP(time, slide, size [, offset])"),
    (GROUPED + "«CUMULATE»(ts, '1s')", "TG-2005", "3 to 4", "CUMULATE(time, step, size [, offset])"),
    (GROUPED + "«SESSION»(ts)", "TG-2005", "takes 2 arguments, not 1", "SESSION(time, gap)"),
    (GROUPED + "«countwindow»()", "TG-2005", "takes 1 to 2 arguments, not 0", "countwindow(rows [, step])"),
    (GROUPED + "«statewindow»(ok)", "TG-2005", "takes 2 arguments, not 1", "statewindow(open, close)"),
    (GROUPED + "«slidingwindow»('ss')", "TG-2005", "2 to 3", "slidingwindow(unit, lookback [, lookahead])"),
    (GROUPED + "«window»(ts)", "TG-2005", "2 to 4", "WINDOW(time, size [, slide] [, offset])"),
    (GROUPED + "«HOP»(ts, SIZE => '5s')", "TG-2005", "not 2", "slide is missing"),
    (GROUPED + "«HOP»(SIZE => '5s')", "TG-2005", "not 1", "time, slide is missing"),
    (GROUPED + "HOP(ts, «SIZ => '5s'», SLIDE => '1s')", "TG-4001", "HOP has no option SIZ", "did you mean size?"),
    (GROUPED + "TUMBLE(ts, «ZZZ => '5s'»)", "TG-4001", "TUMBLE has no option ZZZ", "TUMBLE(time, size [, offset])"),
    (GROUPED + "TUMBLE(ts, '5s', «SIZE => '5s'»)", "TG-2015", "argument size is defined twice"),
    # lengths are literals
    (GROUPED + "TUMBLE(ts, «qty»)", "TG-2017", "size of TUMBLE must be a literal INTERVAL", "INTERVAL '10' SECOND"),
    (GROUPED + "TUMBLE(ts, «10»)", "TG-2017", "literal INTERVAL"),
    (GROUPED + "tumblingwindow('ss', «'10'»)", "TG-2017", "literal unsigned integer", "for example 10"),
    (GROUPED + "tumblingwindow('ss', «1.5»)", "TG-2017", "literal unsigned integer"),
    (GROUPED + "tumblingwindow(«ss», 10)",
     "TG-2017", "unit of tumblingwindow must be a string literal", "'dd', 'hh', 'mi', 'ss', 'ms'"),
    (GROUPED + "tumblingwindow(«'sec'», 10)", "TG-1011", "unknown time unit 'sec'", "'dd', 'hh', 'mi', 'ss', 'ms'"),
    (GROUPED + "countwindow(«qty»)", "TG-2017", "rows of countwindow"),
    (GROUPED + "countwindow(«1234567890123456789»)", "TG-2023", "does not fit"),
    (GROUPED + "SESSION(ts, «INTERVAL '1' MONTH»)", "TG-3011", "(1 month) is not fixed"),
    (GROUPED + "TUMBLE(ts, '1d', «'Europe/Wien'»)", "TG-3034", "no time zone 'Europe/Wien'", "Europe/"),
    (GROUPED + "TUMBLE(ts, '1d', «'Nowhere'»)", "TG-3034", "no time zone 'Nowhere'", "IANA name"),
    (GROUPED + "TUMBLE(ts, '1d', TIME_ZONE => «symbol»)", "TG-2017", "time_zone of TUMBLE must be a string literal"),
    (GROUPED + "TUMBLE(ts AT TIME ZONE «'UTC'», '1d', 'UTC')", "TG-2015", "time_zone is defined twice"),
    (GROUPED + "SESSION(ts, '1d', «TIME_ZONE => 'UTC'»)", "TG-4001", "SESSION has no option TIME_ZONE"),
    (GROUPED + "TUMBLE(ts, «INTERVAL '1.5' MONTH»)", "TG-1010", "whole numbers"),
    (GROUPED + "TUMBLE(ts, «'1 month 2 days'»)", "TG-3035", "size of tumble cannot be 1 month 2d", "leave"),
    (GROUPED + "HOP(ts, «INTERVAL '1' DAY», INTERVAL '1' MONTH)", "TG-3035", "slide of hop cannot be 1d", "both"),
    (GROUPED + "HOP(ts, «'1 year'», '1 month')", "TG-3008", "slide 1 year is larger than size 1 month"),
    (GROUPED + "CUMULATE(ts, '2 months', «'3 months'»)", "TG-3009", "size 3 months is not a multiple of step 2 months"),
    (GROUPED + "CUMULATE(ts, «'2 days'», '1 month')", "TG-3035", "step of cumulate cannot be 2d", "parts of a day"),
    (GROUPED + "TUMBLE(ts, «INTERVAL '0' MONTH»)", "TG-3006", "must be positive, it is 0s"),
    (GROUPED + "TUMBLE(ts, «INTERVAL '-1' YEAR»)", "TG-3006", "must be positive, it is -1 year"),
    (GROUPED + "TUMBLE(ts, '1 day', «'1 month'», 'Europe/Berlin')", "TG-3035", "offset of tumble cannot be 1 month"),
    (GROUPED + "TUMBLE(ts, «INTERVAL '999999' YEAR»)", "TG-3010", "the limit is 9999 years"),
    (GROUPED + "TUMBLE(ts, «INTERVAL '4000000' DAY»)", "TG-3010", "too large"),
    (GROUPED + "countwindow(5, «0»)", "TG-3006", "step of countwindow must be positive, it is 0"),
    (GROUPED + "countwindow(«-1»)", "TG-3006", "rows of countwindow must be positive, it is -1"),
    # lengths that make no window
    (GROUPED + "TUMBLE(ts, «INTERVAL '0' SECOND»)", "TG-3006", "size of tumble must be positive, it is 0s"),
    (GROUPED + "SESSION(ts, «INTERVAL '-1' SECOND»)", "TG-3006", "gap of session must be positive, it is -1s"),
    (GROUPED + "slidingwindow('ss', 10, «-1»)",
     "TG-3007", "lookahead of slidingwindow must not be negative, it is -1s"),
    (GROUPED + "HOP(ts, «'10s'», '5s')", "TG-3008", "slide 10s is larger than size 5s", "(time, slide, size)"),
    (GROUPED + "hoppingwindow('ss', 5, «10»)", "TG-3008", "slide 10s is larger than size 5s", "(unit, size, slide)"),
    (GROUPED + "window(ts, '5 seconds', «'10 seconds'»)", "TG-3008", "slide 10s"),
    (GROUPED + "CUMULATE(ts, '3s', «'10s'»)",
     "TG-3009", "size 10s is not a multiple of step 3s", "(time, step, size)"),
    # WINDOW clause
    (CLAUSE + "WINDOW «TUMBLING» ()",
     "TG-2005", "WINDOW TUMBLING takes SIZE, not nothing", "SIZE INTERVAL '1' MINUTE"),
    (CLAUSE + "WINDOW «HOPPING» (SIZE '5s')", "TG-2005", "takes SIZE and SLIDE, not just SIZE", "SLIDE INTERVAL"),
    (CLAUSE + "WINDOW «ROLLING» (SIZE '5s')", "TG-2004", "WINDOW ROLLING", "HOPPING"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s' SIZE «'6s'»)", "TG-1007", "SIZE is given twice"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s' ON ts) «ON» ts", "TG-1007", "ON is given twice"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s') ON «EMIT CHANGES»", "TG-1005", "not one expression"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s' ON «)»", "TG-1001", "expected an expression, got )"),
    (CLAUSE + "WINDOW TUMBLING («SLIDE» '5s')", "TG-1001", "expected SIZE or OFFSET, got SLIDE"),
    (CLAUSE + "WINDOW TUMBLING («ADVANCE» BY '5s')", "TG-1001", "expected SIZE or OFFSET, got ADVANCE"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s', «RETENTION» 7 DAYS)", "TG-1009", "RETENTION", "leave it out"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s', «RETENTION» 7 DAYS)", "TG-1009", "RETENTION", "closes"),
    (CLAUSE + "WINDOW TUMBLING (SIZE '5s', GRACE PERIOD «-1 DAYS»)", "TG-3007", "grace period"),
    (CLAUSE + "WINDOW HOPPING (SIZE '5s' SLIDE «'6s'»)", "TG-3008", "slide 6s", "(SIZE, SLIDE)"),
    (CLAUSE + "WINDOW TUMBLING (SIZE «'0s'»)", "TG-3006", "size of WINDOW TUMBLING"),
    # functions in FROM
    ("SELECT COUNT(*) AS n FROM «TUMBLE»(trades, ts) GROUP BY window_start",
     "TG-2005", "TUMBLE takes 2 to 3 arguments, not 1"),
    ("SELECT COUNT(*) AS n FROM TUMBLE(«HOP»(trades, ts, '1s', '2s'), ts, '5s')",
     "TG-3004", "TUMBLE and HOP", "subquery"),
    ("SELECT COUNT(*) AS n FROM TUMBLE((«1»), ts, '5s')", "TG-1001"),
    ("SELECT COUNT(*) AS n FROM TABLE(«FUMBLE»(TABLE trades, ts, '5s'))",
     "TG-1001", "TUMBLE, HOP, CUMULATE or SESSION"),
    ("SELECT COUNT(*) AS n FROM «FUMBLE»(trades, ts, '5s')",
     "TG-2004", "FUMBLE", "TUMBLE, HOP, CUMULATE and SESSION"),
    ("SELECT COUNT(*) AS n FROM TUMBLE(trades, «», '5s') GROUP BY window_start", "TG-1001", "an argument"),
    ("SELECT COUNT(*) AS n FROM «HOP»(symbols, ts, '1s', '2s')",
     "TG-3022", "HOP over the static table symbols", "stream"),
    ("SELECT COUNT(*) AS n FROM «TUMBLE»(trades PARTITION BY symbol, ts, '5s')",
     "TG-3022", "PARTITION BY in TUMBLE", "group by"),
)  # fmt: skip
def test_wrong_windows(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked.replace("«», ", "«,» "), code, message, hint)


def test_the_catalogue_of_these_tests_plans() -> None:
    planned("", prelude=PRELUDE)
