"""Reading a stream whose rows change: only where every aggregate can take a row back."""

import pytest

from tests.planning import cases, check_refusal, logical
from tidegate.plan.aggregates import AGGREGATES
from tidegate.plan.retraction import RETRACTABLE

S = (
    "CREATE STREAM s AS SELECT symbol, window_time AS t, COUNT(*) AS n FROM trades GROUP BY symbol, "
    "TUMBLE(ts, '1m') EMIT {}; "
)
CHANGES, UPDATE, CLOSE = S.format("CHANGES"), S.format("ON UPDATE"), S.format("ON WINDOW CLOSE")


def test_the_retractable_ones() -> None:
    assert {
        "count", "sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "covar_pop", "covar_samp", "corr",
    } == RETRACTABLE  # fmt: skip
    assert set(AGGREGATES) >= RETRACTABLE


@pytest.mark.parametrize(
    "aggregate",
    ["COUNT(*)", "SUM(n)", "AVG(n)", "STDDEV(n)", "CORR(n, n)", "SUM(n) FILTER (WHERE n > 1)"],
)
@pytest.mark.parametrize("stream", [CHANGES, UPDATE], ids=["changelog", "upsert"])
def test_aggregates_that_take_rows_back(aggregate: str, stream: str) -> None:
    logical(f"{stream}SELECT symbol, {aggregate} AS x FROM s GROUP BY symbol")
    logical(f"{stream}SELECT {aggregate} AS x FROM s GROUP BY TUMBLE(t, '1h')")


@pytest.mark.parametrize(
    "query",
    ["SELECT MAX(n) AS x FROM s", "SELECT n FROM s WHERE n > 1", "SELECT DISTINCT n FROM s"],
)
def test_rows_that_stay_may_go_anywhere(query: str) -> None:
    logical(CLOSE + query)


@cases(
    (CHANGES + "SELECT MAX(n) AS x FROM «s»",
     "TG-3018", "s is changelog, and MAX cannot take rows back", "let s EMIT ON WINDOW CLOSE"),
    (UPDATE + "SELECT MIN(n) AS x FROM «s»", "TG-3018", "s is upsert, and MIN"),
    (CHANGES + "SELECT COUNT(DISTINCT n) AS x FROM «s»", "TG-3018", "COUNT"),
    (CHANGES + "SELECT SUM(n) AS x, MEDIAN(n) AS y FROM «s»", "TG-3018", "MEDIAN"),
    (CHANGES + "SELECT n FROM «s»", "TG-3018", "a query without aggregates cannot take rows back"),
    (CHANGES + "SELECT n FROM «s» WHERE n > 1", "TG-3018", "a query without aggregates"),
    (CHANGES + "SELECT SUM(n) OVER (ORDER BY t RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND "
     "CURRENT ROW) AS x FROM «s»",
     "TG-3018", "a query without aggregates"),
    ("SELECT MAX(n) AS x FROM (SELECT COUNT(*) AS n FROM trades GROUP BY symbol) «q»",
     "TG-3018", "the subquery is upsert, and MAX", "let the subquery EMIT"),
)  # fmt: skip
def test_what_cannot_take_rows_back(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


@pytest.mark.parametrize(
    ("window", "what"),
    [
        ("slidingwindow('ss', 5)", "a sliding window"),
        ("countwindow(3)", "a counting window"),
        ("statewindow(n > 1, n < 1)", "a state window"),
    ],
)
def test_windows_that_are_never_corrected(window: str, what: str) -> None:
    logical(f"{CLOSE}SELECT SUM(n) AS x FROM s GROUP BY {window}")
    check_refusal(f"{CHANGES}SELECT SUM(n) AS x FROM «s» GROUP BY {window}", "TG-3018", what)
