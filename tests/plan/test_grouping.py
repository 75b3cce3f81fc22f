"""GROUP BY: keys, the window kept apart from them, and what must be aggregated."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, the, written
from tidegate.model.windows import Inherited
from tidegate.plan.logical import Aggregate, Having, Project, TopN, Windowed

W = "TUMBLE(ts, INTERVAL '1' MINUTE)"


@pytest.mark.parametrize(
    ("items", "group", "keys"),
    [
        ("COUNT(*) AS n", W, []),
        ("COUNT(*) AS n", f"symbol, {W}", ["symbol"]),
        ("COUNT(*) AS n", f"{W}, symbol, ok", ["symbol", "ok"]),
        ("COUNT(*) AS n", f"symbol, {W}, trades.symbol, SYMBOL", ["symbol"]),
        ("UPPER(symbol) AS u, COUNT(*) AS n", f"UPPER(symbol), {W}", ["upper(symbol)"]),
        ("UPPER(symbol) AS u, COUNT(*) AS n", f"u, {W}", ["upper(symbol)"]),
        ("UPPER(symbol) AS u, COUNT(*) AS n", f"1, {W}", ["upper(symbol)"]),
        ("ok, symbol, COUNT(*) AS n", f"2, {W}, 1", ["symbol", "ok"]),
        ("COUNT(*) AS n", f"(symbol), ({W})", ["symbol"]),
        ("COUNT(*) AS n", f"window_start, window_end, symbol, {W}", ["symbol"]),
        ("qty % 2 AS symbol, COUNT(*) AS n, symbol AS s", f"symbol, qty, {W}", ["symbol", "qty"]),
        ("qty + 1 AS a, COUNT(*) AS n", f"qty, {W}", ["qty"]),
    ],
)
def test_keys(items: str, group: str, keys: list[str]) -> None:
    aggregate = the(Aggregate, logical(f"SELECT {items} FROM trades GROUP BY {group}"))
    assert [written(named.expr) for named in aggregate.keys] == keys
    assert [named.name for named in aggregate.keys] == [f"$k{place}" for place in range(len(keys))]


def test_outputs_are_over_keys_and_aggregates() -> None:
    plan = logical(
        f"SELECT qty + 1 + COUNT(*) AS x, SUM(price) / COUNT(*) AS y, 5 AS c FROM trades GROUP BY qty, {W}"
    )
    assert isinstance(plan.input, Project)
    assert [written(named.expr) for named in plan.input.columns] == [
        "(($k0 + 1) + $a0)",
        "($a1 / $a0::DOUBLE)",
        "5",
    ]


def test_a_whole_expression_may_be_the_key() -> None:
    plan = logical(f"SELECT qty + 1 AS x, (qty + 1) * 2 AS y FROM trades GROUP BY qty + 1, {W}")
    assert isinstance(plan.input, Project)
    assert [written(named.expr) for named in plan.input.columns] == ["$k0", "($k0 * 2)"]


def test_the_schema_of_a_group() -> None:
    aggregate = the(
        Aggregate, logical(f"SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, {W}")
    )
    assert aggregate.schema.names == (
        "$k0",
        "$a0",
        "$window_start",
        "$window_end",
        "$window_time",
        "$window_id",
    )


def test_having_and_top_n() -> None:
    plan = logical(
        f"SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, {W} HAVING SUM(qty) > 5 AND n > "
        f"1 ORDER BY n DESC, 1, SUM(price) LIMIT 3"
    )
    assert written(the(Having, plan).predicate) == "(($a1 > 5) and ($a0 > 1))"
    top = the(TopN, plan)
    assert [(written(key.expr), key.descending, key.nulls_first) for key in top.order] == [
        ("$a0", True, False),
        ("$k0", False, False),
        ("$a2", False, False),
    ]
    assert top.limit == 3
    assert isinstance(top.input, Having)


@pytest.mark.parametrize(
    ("order", "descending", "nulls_first"),
    [
        ("n", False, False),
        ("n ASC NULLS FIRST", False, True),
        ("n DESC", True, False),
        ("n DESC NULLS FIRST", True, True),
        ("1 DESC NULLS LAST", True, False),
    ],
)
def test_nulls_come_last_unless_it_says_first(
    order: str, descending: bool, nulls_first: bool
) -> None:
    plan = logical(
        f"SELECT COUNT(*) AS n FROM trades GROUP BY {W} ORDER BY {order} LIMIT 2147483647"
    )
    (key,) = the(TopN, plan).order
    assert (key.descending, key.nulls_first) == (descending, nulls_first)


def test_distinct_groups_by_its_columns() -> None:
    plan = logical(
        f"SELECT DISTINCT window_start, symbol, ok AS o, symbol AS again FROM trades GROUP BY {W}"
    )
    aggregate = the(Aggregate, plan)
    assert [written(named.expr) for named in aggregate.keys] == ["symbol", "ok"]
    assert aggregate.aggregates == ()
    assert [column.name for column in plan.schema] == ["window_start", "symbol", "o", "again"]


INNER = (
    "(SELECT window_start AS s, window_end AS e, window_time AS t, symbol, SUM(qty) AS q FROM "
    "trades GROUP BY symbol, TUMBLE(ts, '1m'))"
)


@pytest.mark.parametrize(
    ("group", "meanings", "keys"),
    [
        ("s", ["window_start"], 0),
        ("s, e", ["window_start", "window_end"], 0),
        ("t, symbol", ["window_time"], 1),
        ("e, s, symbol", ["window_end", "window_start"], 1),
    ],
)
def test_window_columns_of_an_inner_query_mean_its_window(
    group: str, meanings: list[str], keys: int
) -> None:
    plan = logical(f"SELECT MAX(q) AS m FROM {INNER} GROUP BY {group}")
    outer = nodes(Windowed, plan)[0]
    assert outer.window == Inherited()
    assert [meaning for _, meaning in outer.inherited] == meanings
    assert len(nodes(Aggregate, plan)[0].keys) == keys


def test_an_inherited_window_shows_its_columns() -> None:
    plan = logical(f"SELECT s, e AS until, MAX(q) AS m FROM {INNER} GROUP BY s, e")
    assert isinstance(plan.input, Project)
    assert [written(named.expr) for named in plan.input.columns] == [
        "$window_start",
        "$window_end",
        "$a0",
    ]


def test_a_stream_hands_its_window_columns_on() -> None:
    plan = logical(
        f"CREATE STREAM v AS SELECT * FROM {INNER}; SELECT MAX(q) AS m FROM v WHERE q > 5 GROUP BY s, e"
    )
    assert the(Windowed, plan).window == Inherited()


def test_beside_a_window_of_its_own_inner_window_columns_are_keys() -> None:
    plan = logical(f"SELECT MAX(q) AS m FROM {INNER} GROUP BY s, TUMBLE(t, '1h')")
    assert [written(named.expr) for named in nodes(Aggregate, plan)[0].keys] == ["s"]


G = f"FROM trades GROUP BY symbol, {W}"


@cases(
    (f"SELECT «price», COUNT(*) AS n {G}", "TG-3003", "column price is neither grouped nor aggregated", "MAX(price)"),
    (f"SELECT symbol, COUNT(*) + «qty» AS n {G}", "TG-3003", "column qty"),
    (f"SELECT COUNT(*) AS n, «trades.price» {G}", "TG-3003", "column trades.price"),
    (f"SELECT «ts», COUNT(*) AS n {G}", "TG-3003", "column ts", "use window_start or window_end"),
    ("SELECT «ts», COUNT(*) AS n FROM trades GROUP BY symbol", "TG-3003", "column ts", "MAX(ts)"),
    (f"SELECT COUNT(*) AS n {G} HAVING «price» > 5", "TG-3003", "column price"),
    (f"SELECT COUNT(*) AS n {G} ORDER BY «price» LIMIT 1", "TG-3003", "column price"),
    (f"SELECT «*», COUNT(*) AS n {G}", "TG-3003", "column price"),
    (f"SELECT COUNT(*) AS n FROM trades GROUP BY {W}, «HOP»(ts, '1s', '2s')",
     "TG-3004", "TUMBLE and HOP", "subquery"),
    ("SELECT COUNT(*) AS n FROM TUMBLE(trades, ts, '1m') GROUP BY «HOP»(ts, '1s', '2s')",
     "TG-3004", "TUMBLE and HOP"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, '1m') «WINDOW» SESSION (GAP '1s')",
     "TG-3004", "TUMBLE and WINDOW SESSION"),
    (f"SELECT COUNT(*) AS n FROM trades GROUP BY «tags», {W}",
     "TG-2014", "GROUP BY needs values that can be compared, ARRAY<VARCHAR> cannot"),
    (f"SELECT COUNT(*) AS n FROM trades GROUP BY «3», {W}", "TG-2020", "GROUP BY 3: the SELECT list has 1 items"),
    (f"SELECT COUNT(*) AS n FROM trades GROUP BY «0», {W}", "TG-2020", "GROUP BY 0"),
    (f"SELECT COUNT(*) AS n FROM trades GROUP BY «nope», {W}", "TG-2002", "nope"),
    (f"SELECT GROUPING(«qty») AS g FROM trades GROUP BY CUBE(symbol), {W}", "TG-3022", "not grouped by"),
    (f"SELECT symbol FROM trades «GROUP BY CUBE(symbol, price, qty, small, ok, day, amount), {W}",
     "TG-3022", "CUBE of more than 64 sets", "name the sets"),
    ("«SELECT COUNT(*) AS n FROM trades GROUP BY CUBE(symbol)", "TG-3018", "cannot take rows back", "ON WINDOW CLOSE"),
    ("SELECT symbol FROM trades «HAVING qty > 5", "TG-3021", "HAVING needs GROUP BY or an aggregate", "use WHERE"),
    (f"SELECT COUNT(*) AS n {G} HAVING «COUNT(*)", "TG-2008", "HAVING needs a condition (BOOLEAN), this is BIGINT"),
    (f"«SELECT» DISTINCT symbol, COUNT(*) AS n {G}",
     "TG-3022", "DISTINCT beside GROUP BY or aggregates", "leave DISTINCT out"),
    ("«SELECT» DISTINCT ON (symbol) symbol FROM trades", "TG-3022", "DISTINCT"),
    # the window
    ("SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(«qty», '1m')",
     "TG-3023", "the time argument of TUMBLE must be a TIMESTAMP, qty is BIGINT", "TO_TIMESTAMP_MS"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(«UPPER(symbol»), '1m')", "TG-3023", "this is VARCHAR"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY statewindow(«qty», ok)",
     "TG-3032", "the open condition of statewindow must be a condition on the row (BOOLEAN), this is BIGINT"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY statewindow(ok, «qty»)", "TG-3032", "the close condition"),
    ("SELECT symbol, COUNT(*) AS n FROM SESSION(trades PARTITION BY ok, ts, '1m') GROUP BY symbol, window_start",
     "TG-3022", "SESSION partitioned by other columns than GROUP BY", "exactly the columns"),
    ("SELECT symbol, COUNT(*) AS n FROM trades GROUP BY «SUM(qty) OVER (PARTITION BY symbol»)",
     "TG-2018", "OVER in GROUP BY"),
    ("«SELECT * FROM trades GROUP BY ALL", "TG-3022", "GROUP BY ALL", "name the keys"),
    # Top-N
    (f"SELECT COUNT(*) AS n {G} «ORDER BY n»", "TG-3020", "ORDER BY without LIMIT", "add LIMIT n"),
    (f"SELECT COUNT(*) AS n {G} «LIMIT 5»", "TG-3020", "LIMIT without ORDER BY", "ORDER BY n DESC LIMIT 3"),
    ("SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol ORDER BY n «LIMIT 5»",
     "TG-3020", "ORDER BY … LIMIT without a window", "add a window"),
    ("«SELECT» symbol FROM trades ORDER BY symbol LIMIT 5", "TG-3020", "LIMIT without a window", "add a window"),
    (f"SELECT COUNT(*) AS n {G} ORDER BY n LIMIT «0»", "TG-2017", "literal whole number above zero"),
    (f"SELECT COUNT(*) AS n {G} ORDER BY n LIMIT «2147483648»", "TG-2017", "the count of LIMIT"),
    (f"SELECT COUNT(*) AS n {G} ORDER BY n LIMIT 5 «OFFSET 2", "TG-3022", "OFFSET"),
)  # fmt: skip
def test_what_cannot_be_grouped(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
