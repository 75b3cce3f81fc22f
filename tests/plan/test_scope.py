"""Names: which column each means, and what is said of those that mean none."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, the, written
from tidegate.model.expressions import Field
from tidegate.plan.logical import Filter, Project, TableJoin

JOINED = "FROM trades t JOIN symbols s ON t.symbol = s.symbol"
WINDOW = "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"


def columns(sql: str) -> list[str]:
    plan = logical(sql).input
    assert isinstance(plan, Project)
    return [written(named.expr) for named in plan.columns]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT symbol, SYMBOL AS b, trades.symbol AS c, TRADES.Symbol AS d FROM trades", ["symbol"] * 4),
        ("SELECT t.symbol, qty FROM trades t", ["symbol", "qty"]),
        ("SELECT t.symbol, qty, sector, s.lot " + JOINED, ["t.symbol", "t.qty", "s.sector", "s.lot"]),
        ("SELECT place.city FROM trades", ["field(place, 'city')"]),
        ("SELECT place.city FROM trades AS place", ["field(place, 'city')"]),
        ("SELECT t.place.at.x FROM trades t", ["field(field(place, 'at'), 'x')"]),
        ("SELECT window_start, window_end, window_time, window_id, COUNT(*) AS n FROM trades " + WINDOW,
         ["$window_start", "$window_end", "$window_time", "$window_id", "$a0"]),
        ("SELECT WINDOW_START AS a, window.start AS b, window.end AS c, session_window.end AS d, "
         "COUNT(*) AS n FROM trades " + WINDOW,
         ["$window_start", "$window_start", "$window_end", "$window_end", "$a0"]),
        ("SELECT TUMBLE_START() AS a, TUMBLE_END(ts, INTERVAL '1' MINUTE) AS b, COUNT(*) AS n FROM trades " + WINDOW,
         ["$window_start", "$window_end", "$a0"]),
        ("SELECT hop_start() AS a, SESSION_END() AS b, cumulate_end() AS c, COUNT(*) AS n FROM trades " + WINDOW,
         ["$window_start", "$window_end", "$window_end", "$a0"]),
    ],
)  # fmt: skip
def test_resolution(query: str, expected: list[str]) -> None:
    assert columns(query) == expected


def test_equal_names_of_several_inputs_stay_apart() -> None:
    plan = logical("SELECT t.symbol, s.symbol AS other " + JOINED)
    join = the(TableJoin, plan)
    assert written(join.on) == "(t.symbol = s.symbol)"
    assert not join.outer
    assert join.schema.names[0] == "t.symbol"
    assert {"t.ts", "s.sector"} <= set(join.schema.names)


def test_the_window_hides_columns_of_its_names() -> None:
    prelude = "CREATE SOURCE v (window_start TIMESTAMP, ts TIMESTAMP, WATERMARK FOR ts);"
    query = "SELECT window_start, COUNT(*) AS n FROM v WHERE window_start > ts GROUP BY TUMBLE(ts, '1m')"
    plan = logical(query, prelude=prelude)
    (filtered,) = nodes(Filter, plan)
    assert written(filtered.predicate) == "(window_start > ts)"
    assert isinstance(plan.input, Project)
    assert plan.input.columns[0].expr == Field("$window_start", filtered.schema.columns[0].type)


@cases(
    ("SELECT qty AS n, «n» * 2 AS m FROM trades", "TG-2002", "there is no column named n",
     "n is what this SELECT calls a column that it makes: write its expression once more"),
    ("SELECT qty AS n FROM trades WHERE «N» > 2", "TG-2002", "there is no column named N", "write its expression"),
    ("SELECT «nope» FROM trades", "TG-2002", "there is no column named nope", "columns are symbol, price, qty"),
    ("SELECT «prise» FROM trades", "TG-2002", "prise", "did you mean price?"),
    ("SELECT «t.prise» FROM trades t", "TG-2002", "t.prise", "did you mean price?"),
    ("SELECT «x.price» FROM trades t", "TG-2002", "x.price", "FROM has t"),
    ("SELECT «trade.price» FROM trades", "TG-2002", "trade.price", "did you mean trades?"),
    ("SELECT «trades.price» FROM trades t", "TG-2002", "trades.price", "FROM has t"),
    ("SELECT «symbol» " + JOINED, "TG-2003", "column symbol is ambiguous: it is in t, s", "t.symbol"),
    ("SELECT sector " + JOINED + " WHERE «symbol» = 'a'", "TG-2003", "symbol"),
    ("SELECT symbol FROM trades WHERE «window_start» > ts", "TG-2002", "window_start", "groups by a window"),
    ("SELECT COUNT(*) AS n FROM trades WHERE «window_end» > ts " + WINDOW,
     "TG-2002", "window_end", "SELECT, HAVING and ORDER BY"),
    ("SELECT SUM(«window_start») AS n FROM trades " + WINDOW, "TG-2002", "window_start"),
    ("SELECT «System.Timestamp» AS e, COUNT(*) AS n FROM trades " + WINDOW,
     "TG-2002", "System.Timestamp", "use window_end"),
    ("SELECT «windowstart» AS e, COUNT(*) AS n FROM trades " + WINDOW, "TG-2002", "windowstart", "use window_start"),
    ("SELECT «WINDOWEND» AS e, COUNT(*) AS n FROM trades " + WINDOW, "TG-2002", "WINDOWEND", "use window_end"),
    ("SELECT «rowtime» FROM trades", "TG-2002", "rowtime", "time column"),
    ("SELECT COUNT(*) AS n FROM trades " + WINDOW + " HAVING «m» > 5", "TG-2002", "m"),
    ("SELECT COUNT(*) AS n FROM trades " + WINDOW + " HAVING «window_strat» > window_end",
     "TG-2002", "window_strat", "window_start"),
)  # fmt: skip
def test_unknown_names(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_names_of_outputs_are_seen_in_having_and_order_by() -> None:
    plan = logical(
        "SELECT symbol AS s, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, '1m') HAVING N > "
        "5 AND s <> 'x' ORDER BY n DESC LIMIT 3"
    )
    assert plan.schema.names == ("s", "n")


def test_a_long_list_of_columns_is_cut_short() -> None:
    wide = "CREATE SOURCE w (" + ", ".join(f"c{place} INT" for place in range(13)) + ");"
    check_refusal("SELECT «zzzzzz» FROM w", "TG-2002", "zzzzzz", "c11 …", prelude=wide)
    narrow = wide.replace(", c12 INT", "")
    check_refusal("SELECT «zzzzzz» FROM w", "TG-2002", "zzzzzz", "c10, c11", prelude=narrow)
