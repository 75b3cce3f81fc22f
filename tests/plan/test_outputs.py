"""The SELECT list: which columns come out, and what they are called."""

import pytest

from tests.planning import cases, check_refusal, logical, program

W = "GROUP BY TUMBLE(ts, '1m')"
QUOTES = ["symbol", "bid", "ts"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM quotes", QUOTES),
        ("SELECT quotes.* FROM quotes", QUOTES),
        ("SELECT q.*, 1 AS one FROM quotes q", [*QUOTES, "one"]),
        ("SELECT Symbol, quotes.BID FROM quotes", ["Symbol", "BID"]),
        ("SELECT bid AS b, UPPER(symbol), bid + 1, (bid), CAST(bid AS BIGINT), -bid FROM quotes",
         ["b", "upper", "column3", "bid", "bid_1", "column6"]),
        ("SELECT UPPER(symbol), UPPER(symbol), UPPER(symbol) AS upper FROM quotes", ["upper_1", "upper_2", "upper"]),
        ("SELECT *, bid + 1 AS ts2 FROM quotes", [*QUOTES, "ts2"]),
        ("SELECT COUNT(*), SUM(bid) FILTER (WHERE bid > 0), MEDIAN(bid) FROM quotes " + W, ["count", "sum",
         "median"]),
        ("SELECT TUMBLE_END(), COUNT(*) FROM quotes " + W, ["tumble_end", "count"]),
        ("SELECT * FROM TUMBLE(quotes, ts, '1m')", [*QUOTES, "window_start", "window_end", "window_time"]),
        ("SELECT q.* FROM TUMBLE(quotes, ts, '1m') q", QUOTES),
        ("SELECT * FROM quotes q JOIN symbols s ON q.symbol = s.symbol", [*QUOTES, "symbol_1", "sector", "lot"]),
        ("SELECT s.* FROM quotes q JOIN symbols s ON q.symbol = s.symbol", ["symbol", "sector", "lot"]),
        ("SELECT * FROM (SELECT bid AS b FROM quotes) x", ["b"]),
        ("SELECT a, c FROM (SELECT symbol, bid, ts FROM quotes) AS x(a, b, c)", ["a", "c"]),
        ("SELECT NULL AS nothing FROM quotes", ["nothing"]),
    ],
)  # fmt: skip
def test_names(query: str, names: list[str]) -> None:
    assert list(logical(query).schema.names) == names


@cases(
    ("SELECT bid, ts AS «bid» FROM quotes", "TG-2015", "column bid is defined twice", "another name with AS"),
    ("SELECT *, bid AS «ts» FROM quotes", "TG-2015", "column ts is defined twice"),
    ("SELECT bid AS x, ts AS «X» FROM quotes", "TG-2015", "column X is defined twice"),
    ("SELECT bid AS «\"$x\"» FROM quotes", "TG-2019", "names that begin with $ belong to Tidegate"),
    ("SELECT «x.*» FROM quotes q", "TG-2001", "x", "there are q"),
    ("SELECT «quote.*» FROM quotes", "TG-2001", "quote", "did you mean quotes?"),
    ("SELECT * EXCEPT («nope») FROM quotes", "TG-2002", "nope"),
    ("«SELECT» * EXCEPT (symbol, bid, ts) FROM quotes", "TG-1001", "columns after SELECT"),
    ("SELECT COUNT(«* EXCEPT (bid)) FROM quotes", "TG-2018", "behind * here"),
    ("SELECT «* REPLACE (1 AS bid») FROM quotes", "TG-2018", "REPLACE or RENAME"),
    ("SELECT ABS(«q.*») FROM quotes q", "TG-2018", "* inside an expression", "name a column"),
)  # fmt: skip
def test_wrong_columns(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_every_wrong_column_is_reported() -> None:
    refused = program("SELECT nope, bid, neither + 1, SUM(UPPER(bid)) FROM quotes " + W).errors
    assert [error.code for error in refused] == ["TG-2002", "TG-2002", "TG-2006"]
