"""Fingerprints: the same meaning has one, another meaning has another, and the difference can be read."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.planning import planned
from tidegate.plan.fingerprint import Fingerprint, fingerprint
from tidegate.plan.planner import plan_query
from tidegate.plan.settings import Settings

TUMBLE = (
    "SELECT symbol, SUM(price) AS s FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '10' SECOND)"
)


def of(sql: str, settings: Settings | None = None) -> Fingerprint:
    """Of the last query."""
    made = planned(sql, settings=settings)
    return fingerprint(plan_query(made.queries[-1], made))


def plan_id(sql: str, settings: Settings | None = None) -> str:
    return of(sql, settings).plan_id


# The same meaning

ONE_WINDOW = {
    "tumbling": (
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '10' SECOND)",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, INTERVAL '10' SECOND), symbol",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, SIZE => INTERVAL '10' SECOND)",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '10000 milliseconds')",
        "SELECT symbol, COUNT(*) AS n FROM trades"
        " GROUP BY symbol, TUMBLE(ts, INTERVAL '10' SECOND, INTERVAL '0' SECOND)",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, tumblingwindow('ss', 10)",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, window(ts, '10 seconds')",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol WINDOW TUMBLING (SIZE INTERVAL '10' SECOND) ON ts",
        "SELECT symbol, COUNT(*) AS n FROM TUMBLE(trades, ts, INTERVAL '10' SECOND)"
        " GROUP BY symbol, window_start, window_end",
        "SELECT symbol, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY symbol, window_start, window_end",
    ),
    "hopping": (
        "SELECT COUNT(*) AS n FROM trades GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
        "SELECT COUNT(*) AS n FROM trades GROUP BY HOP(ts, SIZE => INTERVAL '10' SECOND, SLIDE => INTERVAL '5' SECOND)",
        "SELECT COUNT(*) AS n FROM trades GROUP BY hoppingwindow('ss', 10, 5)",
        "SELECT COUNT(*) AS n FROM trades GROUP BY window(ts, '10 seconds', '5 seconds')",
        "SELECT COUNT(*) AS n FROM trades WINDOW HOPPING (SIZE INTERVAL '10' SECOND SLIDE INTERVAL '5' SECOND) ON ts",
        "SELECT COUNT(*) AS n FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end",
    ),
    "session": (
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, SESSION(ts, INTERVAL '1' MINUTE)",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, sessionwindow('mi', 1)",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol WINDOW SESSION (GAP INTERVAL '1' MINUTE) ON ts",
    ),
    "session, inclusive": (
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, session_window(ts, '1 minute')",
        "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, SESSION(ts, INTERVAL '1' MINUTE)"
        " WITH (session_gap = 'inclusive')",
    ),
    "sliding": (
        "SELECT SUM(price) AS s FROM trades GROUP BY slidingwindow('ss', 10)",
        "SELECT SUM(price) AS s FROM trades GROUP BY slidingwindow('ms', 10000)",
        "SELECT SUM(price) AS s FROM trades GROUP BY slidingwindow('ss', 10, 0)",
    ),
    "over": (
        "SELECT SUM(price) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) AS s"
        " FROM trades",
        "SELECT SUM(price) OVER (ORDER BY ts RANGE INTERVAL '10' SECOND PRECEDING) AS s FROM trades",
        "SELECT SUM(price) OVER w AS s FROM trades"
        " WINDOW w AS (ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW)",
    ),
}


@pytest.mark.parametrize(
    ("first", "other"),
    [
        pytest.param(spellings[0], other, id=f"{name}-{place}")
        for name, spellings in ONE_WINDOW.items()
        for place, other in enumerate(spellings[1:])
    ],
)
def test_spellings_of_one_window_are_one_plan(first: str, other: str) -> None:
    assert of(first).difference(of(other)) == ""


JOIN = (
    "SELECT {t}.symbol, {s}.sector, SUM({t}.price) AS total FROM trades {t} JOIN symbols {s} ON {t}.symbol = {s}.symbol"
    " WHERE {s}.lot > 1 AND {t}.qty > 2 GROUP BY {t}.symbol, {s}.sector, TUMBLE({t}.ts, INTERVAL '10' SECOND)"
)
NESTED = (
    "SELECT MAX({n}) AS best FROM (SELECT symbol, SUM(qty) + 1 AS {n}, window_time AS {at} FROM trades"
    " GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)) AS {alias} GROUP BY TUMBLE({alias}.{at}, INTERVAL '1' HOUR)"
)
UNION = (
    "SELECT {s}, MAX({v}) AS high FROM (SELECT symbol AS {s}, price AS {v}, ts FROM trades"
    " UNION ALL SELECT symbol, bid, ts FROM quotes) GROUP BY {s}, TUMBLE(ts, INTERVAL '1' MINUTE)"
)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        pytest.param(TUMBLE, TUMBLE.replace(" ", "\n\t "), id="whitespace"),
        pytest.param(TUMBLE, TUMBLE.replace("SUM", "sum").replace("GROUP BY", "group by"), id="case"),
        pytest.param(TUMBLE, TUMBLE.replace("FROM", "/* of */ FROM -- these\n"), id="comments"),
        pytest.param(TUMBLE, TUMBLE.replace("AS s", "AS total"), id="name of an output column"),
        pytest.param(TUMBLE, TUMBLE.replace("symbol, SUM(price) AS s", "SUM(price), symbol"), id="order of output"),
        pytest.param(TUMBLE, f"CREATE STREAM made AS {TUMBLE}", id="name of the stream"),
        pytest.param(TUMBLE, TUMBLE.replace("trades", "trades AS t"), id="alias"),
        pytest.param(TUMBLE, TUMBLE.replace("trades", "(SELECT ts, price, symbol FROM trades)"), id="projection"),
        pytest.param(JOIN.format(t="t", s="s"), JOIN.format(t="left_side", s="symbols"), id="aliases of a join"),
        pytest.param(
            NESTED.format(n="n", at="w", alias="a"),
            NESTED.format(n="total", at="window_time", alias="minutes"),
            id="names inside a subquery",
        ),
        pytest.param(
            NESTED.format(n="n", at="w", alias="a"),
            "CREATE STREAM best AS " + NESTED.format(n="n", at="w", alias="a"),
            id="name of a stream with stages",
        ),
        pytest.param(UNION.format(s="symbol", v="v"), UNION.format(s="name", v="value"), id="names of a union"),
        pytest.param(
            f"{TUMBLE} WITH (max_groups = 5, late.sink = 'dlq_x')",
            f"{TUMBLE} WITH (late.sink = 'dlq_x', max_groups = 5)",
            id="order of options",
        ),
        pytest.param(
            "SELECT price * 2 AS x FROM trades", "SELECT price * 2 AS y FROM trades", id="stateless"
        ),
    ],
)  # fmt: skip
def test_words_without_meaning_do_not_count(first: str, other: str) -> None:
    assert of(first).difference(of(other)) == ""


@pytest.mark.parametrize(
    "suffix",
    [
        "ALLOWED LATENESS INTERVAL '1' HOUR",
        "LATE DATA TO elsewhere",
        "EMIT FINAL",
        "WITH (watermark_lag = '1 minute')",
        "WITH (max_groups = 5, max_open_windows = 3, max_state_bytes = '1GB')",
        "WITH (late.sink = 'dlq_late', error.rate_limit = '5/s')",
        "WITH (idle_timeout = '5s', max_future_skew = '1h')",
    ],
)
def test_what_may_change_across_a_restart_does_not_count(suffix: str) -> None:
    assert of(TUMBLE).difference(of(f"{TUMBLE} {suffix}")) == ""


def test_the_configuration_of_the_engine_does_not_count() -> None:
    configured = Settings(
        defaults={"allowed_lateness": 5}, spark={"state": "executors", "shards": 3}
    )
    assert plan_id(TUMBLE) == plan_id(TUMBLE, configured)


# Another meaning


def differs(first: str, other: str, *named: str) -> None:
    difference = of(first).difference(of(other))
    assert plan_id(first) != plan_id(other)
    for line in named:
        assert line in difference.splitlines(), difference


@pytest.mark.parametrize(
    ("was", "now", "before", "after"),
    [
        ("'10' SECOND", "'20' SECOND", "window: kind=tumbling size=10s", "window: kind=tumbling size=20s"),
        ("'10' SECOND)", "'10' SECOND, INTERVAL '1' SECOND)", "window: kind=tumbling size=10s",
         "window: kind=tumbling size=10s offset=1s"),
        ("TUMBLE(", "SESSION(", "window: kind=tumbling size=10s", "window: kind=session gap=10s"),
        ("BY symbol,", "BY symbol, ok,", "", "column: $k1 = ok BOOLEAN"),
        ("BY symbol,", "BY LOWER(symbol),", "column: $k0 = symbol VARCHAR", "column: $k0 = LOWER(symbol) VARCHAR"),
        ("SUM(price)", "MAX(price)", "aggregate: $a0 SUM($x0) DOUBLE", "aggregate: $a0 MAX($x0) DOUBLE"),
        ("SUM(price)", "SUM(price + 1)", "column: $x0 = price DOUBLE", "column: $x0 = price + 1.0 DOUBLE"),
        ("SUM(price)", "SUM(DISTINCT price)", "aggregate: $a0 SUM($x0) DOUBLE",
         "aggregate: $a0 SUM(DISTINCT $x0) DOUBLE"),
        ("SUM(price)", "SUM(price) FILTER (WHERE ok)", "aggregate: $a0 SUM($x0) DOUBLE",
         "aggregate: $a0 SUM($x0) FILTER (WHERE $x1) DOUBLE"),
        ("GROUP", "WHERE qty > 1 GROUP", "", "filter: qty > 1"),
        ("FROM trades", "FROM (SELECT symbol, bid AS price, ts FROM quotes)",
         "input: source trades (symbol VARCHAR, price DOUBLE, ts TIMESTAMP)",
         "input: source quotes (symbol VARCHAR, bid DOUBLE, ts TIMESTAMP)"),
        ("TUMBLE(ts,", "TUMBLE(ts + INTERVAL '1' HOUR,", "time: event ts", "time: event ts + INTERVAL '1h', ts"),
    ],
)  # fmt: skip
def test_a_change_of_meaning_is_named(was: str, now: str, before: str, after: str) -> None:
    named = ([f"- stage 1: {before}"] if before else []) + [f"+ stage 1: {after}"]
    query = TUMBLE.replace("symbol, SUM", "SUM")
    differs(query, query.replace(was, now), *named)


def test_another_type_of_an_input_column_is_another_plan() -> None:
    first = "CREATE SOURCE s (k {}, ts TIMESTAMP, WATERMARK FOR ts AS ts); SELECT COUNT(*) AS n FROM s GROUP BY k"
    differs(
        first.format("VARCHAR"),
        first.format("BIGINT"),
        "- stage 1: input: source s (k VARCHAR, ts TIMESTAMP)",
        "+ stage 1: input: source s (k BIGINT, ts TIMESTAMP)",
    )


def test_a_column_that_nobody_reads_is_no_part_of_the_plan() -> None:
    first = (
        "CREATE SOURCE s (k VARCHAR, {} ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        "SELECT COUNT(*) AS n FROM s GROUP BY k"
    )
    assert plan_id(first.format("")) == plan_id(first.format("more BIGINT,"))


@pytest.mark.parametrize(
    ("was", "now", "after"),
    [
        ("SUM(qty) + 1", "SUM(qty) * 2", "+ stage 1: output: #0 = $a0 * 2 BIGINT"),
        (") AS a", " HAVING COUNT(*) > 3) AS a", "+ stage 1: having: $a1 > 3"),
        ("'1' MINUTE", "'2' MINUTE", "+ stage 1: window: kind=tumbling size=2m"),
        ("'1' HOUR", "'2' HOUR", "+ stage 2: window: kind=tumbling size=2h"),
    ],
)
def test_what_a_subquery_hands_on_counts(was: str, now: str, after: str) -> None:
    query = NESTED.format(n="n", at="w", alias="a")
    differs(query, query.replace(was, now), after)


def test_columns_of_the_inner_window_count() -> None:
    query = (
        "SELECT MAX(n) AS best FROM (SELECT symbol, COUNT(*) AS n, window_start AS a, window_end AS b FROM trades"
        " GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)) GROUP BY a, b"
    )
    lines = of(query).lines
    assert "stage 2: window: $x1 is its window_start" in lines


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("JOIN", "LEFT JOIN"),
        ("s.lot > 1", "s.lot > 2"),
        ("t.symbol = s.symbol", "t.symbol = s.sector"),
        ("t.qty > 2", "t.qty > 2 AND t.ok"),
    ],
)
def test_joins_count(was: str, now: str) -> None:
    query = JOIN.format(t="t", s="s")
    differs(query, query.replace(was, now))


def test_which_of_two_joined_tables_is_read_counts() -> None:
    query = (
        "SELECT {}.sector, COUNT(*) AS n FROM trades t JOIN symbols a ON t.symbol = a.symbol"
        " JOIN symbols b ON t.symbol = b.sector GROUP BY 1, TUMBLE(t.ts, INTERVAL '1' MINUTE)"
    )
    differs(query.format("a"), query.format("b"))


@pytest.mark.parametrize("emit", ["CHANGES", "ON UPDATE"])
def test_rows_that_may_be_replaced_count_with_their_names(emit: str) -> None:
    differs(
        f"{TUMBLE} EMIT {emit}",
        f"{TUMBLE.replace('AS s', 'AS total')} EMIT {emit}",
        "- stage 1: output: s = $a0 DOUBLE",
        "+ stage 1: output: total = $a0 DOUBLE",
    )


def test_which_rows_of_a_window_are_kept_counts() -> None:
    query = f"{TUMBLE} ORDER BY s DESC LIMIT 3 EMIT CHANGES"
    differs(
        query,
        query.replace("LIMIT 3", "LIMIT 4"),
        "- stage 1: top 3: $a0 DESC",
        "+ stage 1: top 4: $a0 DESC",
    )
    differs(query, query.replace("s DESC", "s"), "- stage 1: top 3: $a0 DESC")


def test_append_and_changelog_keep_different_things() -> None:
    differs(TUMBLE, f"{TUMBLE} EMIT CHANGES", "+ stage 1: rows: changelog")


def test_what_identifies_a_row_counts() -> None:
    differs(
        TUMBLE,
        f"{TUMBLE} WITH (dedup_key = 'symbol', dedup_within = '1m')",
        "+ stage 1: rows are identified by: symbol",
    )


def test_frames_count_each() -> None:
    query = (
        "SELECT SUM(price) OVER (PARTITION BY symbol ORDER BY ts RANGE INTERVAL '10' SECOND PRECEDING) AS a,"
        " SUM(price) OVER (ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS b FROM trades"
    )
    differs(
        query,
        query.replace("'1' MINUTE", "'2' MINUTE"),
        "+ stage 1: frame: kind=sliding lookback=2m lookahead=none by () of $o1",
    )


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("symbol = 'a b'", "symbol = 'a  b'"),
        ("symbol = 'a\nstage 1: x'", "symbol = 'a stage 1: x'"),
        ("symbol = 'a\nb'", r"symbol = 'a\u000ab'"),
        ("small = 1 AND ok OR ok", "small = 1 AND (ok OR ok)"),
        ("price - (price - 1) > 0", "price - price - 1 > 0"),
        ("day = DATE '2026-01-01'", "day = DATE '2026-01-02'"),
    ],
)
def test_different_conditions_have_different_texts(first: str, other: str) -> None:
    one, two = (of(TUMBLE.replace("GROUP", f"WHERE {text} GROUP")) for text in (first, other))
    assert (one.plan_id == two.plan_id) is (
        first.startswith("price = ")
    )  # one DOUBLE, two spellings
    assert all("\n" not in line for line in (*one.lines, *two.lines))


def test_two_spellings_of_one_number_are_one_condition() -> None:
    near = TUMBLE.replace("GROUP", "WHERE price = 0.10000000000000000555 GROUP")
    assert plan_id(near) == plan_id(TUMBLE.replace("GROUP", "WHERE price = 0.1 GROUP"))


def test_a_quoted_name_is_not_taken_for_an_expression() -> None:
    source = 'CREATE SOURCE s ("a + b" BIGINT, a BIGINT, b BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts); '
    query = "SELECT SUM({}) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    lines = of(source + query.format('"a + b"')).lines
    assert 'stage 1: column: $x0 = "a + b" BIGINT' in lines
    assert plan_id(source + query.format("a + b")) != plan_id(source + query.format('"a + b"'))


# Stability

GOLDEN = {
    TUMBLE: "41fdb9009b6f6dc8",
    f"{TUMBLE} EMIT CHANGES": "4a2520ca15e6b3bc",
    ONE_WINDOW["hopping"][0]: "014f411ca9a78aa7",
    ONE_WINDOW["session"][0]: "c8b21184aced5093",
    ONE_WINDOW["sliding"][0]: "a96f4383ad0ff0cf",
    ONE_WINDOW["over"][0]: "38901465eabeb1d5",
    JOIN.format(t="t", s="s"): "2c28c5dbcb834f4e",
    NESTED.format(n="n", at="w", alias="a"): "77b30bb2fa8ef6d3",
    UNION.format(s="symbol", v="v"): "ea2c078d1d2b71b8",
}
"""State and window ids depend on these: once released, a change needs another FORMAT and a line in the changelog."""


@pytest.mark.parametrize("sql", GOLDEN)
def test_plan_ids_stay_what_they_are(sql: str) -> None:
    assert plan_id(sql) == GOLDEN[sql], "\n".join(of(sql).lines)


def test_another_process_finds_the_same() -> None:
    code = (
        "import json, sys; from tests.plan.test_fingerprint import plan_id;"
        "print(json.dumps([plan_id(sql) for sql in json.load(sys.stdin)]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(list(GOLDEN)),
        env={**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(ran.stdout) == list(GOLDEN.values())


def test_the_order_in_which_options_are_held_is_nothing() -> None:
    made = planned(f"{TUMBLE} WITH (max_groups = 5, late.sink = 'dlq_x')")
    plan = plan_query(made.queries[-1], made)
    turned = replace(
        plan, stages=tuple(replace(stage, options=stage.options[::-1]) for stage in plan.stages)
    )
    assert fingerprint(plan) == fingerprint(turned)


def test_equal_fingerprints_have_no_difference() -> None:
    assert of(TUMBLE).difference(of(TUMBLE)) == ""
