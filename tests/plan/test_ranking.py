"""ROW_NUMBER over a window: which partitions are a window's, what becomes a limit, and what is refused."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, the, written
from tidegate.plan.logical import Emission, Having, TopN

SUMS = (
    "SELECT symbol, SUM(qty) AS q, window_start, window_end FROM trades GROUP BY symbol, {window}"
)
TUMBLED = SUMS.format(window="TUMBLE(ts, '1m')")
BY_WINDOW = "PARTITION BY window_start, window_end"


def numbered(over: str, inner: str = TUMBLED) -> str:
    return f"SELECT *, ROW_NUMBER() OVER ({over}) AS rn FROM ({inner})"


RANKED = numbered(f"{BY_WINDOW} ORDER BY q DESC")


@pytest.mark.parametrize(
    ("condition", "limit"),
    [
        ("rn <= 3", 3),
        ("rn < 3", 2),
        ("rn = 1", 1),
        ("3 >= rn", 3),
        ("3 > rn", 2),
        ("1 = rn", 1),
        ("rn BETWEEN 1 AND 5", 5),
        ("rn > 0 AND rn <= 5 AND rn < 3", 2),
        ("rn <= 0", 0),
    ],
)
def test_a_condition_on_the_number_is_the_limit(condition: str, limit: int) -> None:
    plan = logical(f"SELECT * FROM ({RANKED}) WHERE {condition}")
    assert the(TopN, plan).limit == limit
    assert nodes(Having, plan) == []


def test_two_conditions_are_the_smaller_limit() -> None:
    inner = f"SELECT * FROM ({RANKED}) WHERE rn <= 3"
    assert the(TopN, logical(f"SELECT * FROM ({inner}) WHERE rn <= 2")).limit == 2
    assert the(TopN, logical(f"SELECT * FROM ({inner}) WHERE rn <= 7")).limit == 3


@pytest.mark.parametrize(
    ("partition", "window", "within"),
    [
        ("window_start", "TUMBLE(ts, '1m')", []),
        ("window_end", "TUMBLE(ts, '1m')", []),
        ("window_start, window_end, symbol", "TUMBLE(ts, '1m')", ["$k0"]),
        ("UPPER(symbol), window_start", "HOP(ts, '1m', '5m')", ["upper($k0)"]),
        ("window_end, symbol, symbol", "CUMULATE(ts, '1m', '5m')", ["$k0"]),
        ("symbol, window_start, window_end", "SESSION(ts, '1m')", ["$k0"]),
    ],
)
def test_the_partition_is_a_window_and_what_is_within_it(
    partition: str, window: str, within: list[str]
) -> None:
    inner = SUMS.format(window=window)
    plan = logical(numbered(f"PARTITION BY {partition} ORDER BY q", inner))
    top = the(TopN, plan)
    assert ([written(expr) for expr in top.within], top.limit) == (within, None)
    assert len(nodes(Emission, plan)) == 1


def test_the_condition_of_the_query_that_numbers_comes_first() -> None:
    plan = logical(f"SELECT * FROM ({RANKED} WHERE q > 5) WHERE rn = 1")
    top = the(TopN, plan)
    assert isinstance(top.input, Having)


def test_a_named_window_and_an_equal_one_are_one_number() -> None:
    over = f"{BY_WINDOW} ORDER BY q DESC"
    both = f"SELECT ROW_NUMBER() OVER w AS a, ROW_NUMBER() OVER ({over}) AS b FROM ({TUMBLED}) WINDOW w AS ({over})"
    plan = logical(both)
    assert plan.schema.names == ("a", "b")
    the(TopN, plan)


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        (f"{RANKED} QUALIFY rn <= 3", 3),
        (
            f"SELECT symbol FROM ({TUMBLED}) QUALIFY ROW_NUMBER() OVER ({BY_WINDOW} ORDER BY q) < 3",
            2,
        ),
        (f"{TUMBLED} QUALIFY ROW_NUMBER() OVER ({BY_WINDOW} ORDER BY q) = 1", 1),
        (
            f"{TUMBLED} HAVING SUM(qty) > 1 QUALIFY 4 >= ROW_NUMBER() OVER ({BY_WINDOW} ORDER BY q)",
            4,
        ),
        (f"SELECT * FROM ({RANKED} QUALIFY rn <= 3) WHERE rn <= 2", 2),
    ],
)
def test_qualify_is_the_limit(query: str, limit: int) -> None:
    assert the(TopN, logical(query)).limit == limit


CUMULATED = SUMS.format(window="CUMULATE(ts, '1m', '5m')")
SESSIONS = SUMS.format(window="SESSION(ts, '1m')")
SLIDING = SUMS.format(window="slidingwindow('ss', 5)")


@cases(
    ("SELECT «ROW_NUMBER»() OVER (PARTITION BY symbol ORDER BY ts) AS rn FROM trades",
     "TG-3022", "without a window", "ORDER BY … LIMIT n"),
    ("SELECT «ROW_NUMBER»() OVER (ORDER BY COUNT(*)) AS rn FROM trades GROUP BY symbol",
     "TG-3022", "without a window"),
    (f"SELECT «ROW_NUMBER»() OVER (ORDER BY q) AS rn FROM ({TUMBLED})",
     "TG-3022", "several windows at once", "PARTITION BY window_start, window_end"),
    (f"SELECT «ROW_NUMBER»() OVER (PARTITION BY symbol ORDER BY q) AS rn FROM ({TUMBLED})",
     "TG-3022", "several windows at once"),
    (f"SELECT «ROW_NUMBER»() OVER (PARTITION BY window_start ORDER BY q) AS rn FROM ({CUMULATED})",
     "TG-3022", "several windows at once"),
    (f"SELECT «ROW_NUMBER»() OVER ({BY_WINDOW} ORDER BY q) AS rn FROM ({SESSIONS})",
     "TG-3022", "sessions of several keys", "keys of the session"),
    (f"SELECT «ROW_NUMBER»() OVER ({BY_WINDOW} ORDER BY q) AS rn FROM ({SLIDING})",
     "TG-3022", "over sliding windows", "ORDER BY … LIMIT n"),
    (f"SELECT «ROW_NUMBER»() OVER ({BY_WINDOW}) AS rn FROM ({TUMBLED})", "TG-3022", "without ORDER BY"),
    (f"SELECT «ROW_NUMBER»() OVER ({BY_WINDOW} ORDER BY q ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS rn "
     f"FROM ({TUMBLED})", "TG-3022", "with a frame"),
    (f"SELECT «RANK»() OVER ({BY_WINDOW} ORDER BY q) AS rn FROM ({TUMBLED})",
     "TG-3022", "RANK() OVER", "ROW_NUMBER()"),
)  # fmt: skip
def test_a_partition_that_is_no_window(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


@cases(
    (f"«SELECT» * FROM ({RANKED}) ORDER BY q LIMIT 1", "TG-3022", "over a subquery with LIMIT or ROW_NUMBER"),
    (f"«SELECT» rn + 1 AS next FROM ({RANKED})", "TG-3022", "an expression over ROW_NUMBER()"),
    (f"SELECT 1 + «ROW_NUMBER»() OVER ({BY_WINDOW} ORDER BY q) AS rn FROM ({TUMBLED})",
     "TG-3022", "an expression over ROW_NUMBER()", "as a stream"),
    (f"SELECT «ROW_NUMBER»() OVER ({BY_WINDOW} ORDER BY q) AS rn FROM ({TUMBLED}) ORDER BY q LIMIT 1",
     "TG-3022", "ROW_NUMBER() beside"),
    (f"SELECT ROW_NUMBER() OVER ({BY_WINDOW} ORDER BY q) AS a, «ROW_NUMBER»() OVER ({BY_WINDOW} ORDER BY symbol) AS b "
     f"FROM ({TUMBLED})", "TG-3022", "by two different orders"),
    (f"{TUMBLED} «QUALIFY SUM(qty) > 5", "TG-3022", "QUALIFY without ROW_NUMBER()", "HAVING"),
    (f"{TUMBLED} QUALIFY «RANK»() OVER ({BY_WINDOW} ORDER BY q) = 1", "TG-3022", "RANK() OVER", "ROW_NUMBER()"),
    (f"{RANKED} QUALIFY «rn = 2", "TG-3022", "not rn <= n alone"),
)  # fmt: skip
def test_what_nobody_may_do_with_the_number(
    marked: str, code: str, message: str, hint: str
) -> None:
    check_refusal(marked, code, message, hint)
