"""Queries that together use everything that row SQL does. Each is a name and a SELECT over the sources of `streams`."""

_TUMBLE = "TUMBLE(ts, INTERVAL '10' SECOND)"
_AGGREGATES = (
    "COUNT(*)", "COUNT(price)", "COUNT(tags)", "SUM(qty)", "SUM(small)", "SUM(tiny)", "SUM(price)", "SUM(ratio)",
    "SUM(amount)", "SUM(coin)", "SUM(vast)", "AVG(qty)", "AVG(price)", "AVG(amount)", "AVG(coin)", "AVG(vast)",
    *(f"{name}({column})" for name in ("MIN", "MAX") for column in
      ("symbol", "price", "ratio", "qty", "tiny", "amount", "vast", "ok", "day", "raw", "at")),
    *(f"{name}({column})" for name in ("FIRST_VALUE", "LAST_VALUE") for column in
      ("symbol", "price", "ratio", "vast", "ok", "day", "at", "raw")),
    "MIN_BY(symbol, price)", "MAX_BY(qty, ratio)", "MIN_BY(price, amount)", "MAX_BY(ratio, at)",
    "MAX_BY(day, raw)", "VAR_POP(price)", "VAR_SAMP(qty)", "STDDEV_POP(ratio)", "STDDEV_SAMP(small)",
    "COVAR_POP(price, qty)", "COVAR_SAMP(small, tiny)", "CORR(small, ratio)",
    "BOOL_AND(ok)", "BOOL_OR(ok)", "BIT_AND(qty)", "BIT_OR(small)", "BIT_XOR(qty)",
    "MEDIAN(price)", "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price)",
    "PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY symbol DESC)", "PERCENTILE_DISC(amount, 0.5)", "MODE(symbol)",
    "MODE(price)", "ARRAY_AGG(qty)", "ARRAY_AGG(tags)", "ARRAY_AGG(at ORDER BY price DESC, qty)",
    "STRING_AGG(symbol, ',')", "STRING_AGG(note, '-' ORDER BY qty)",
    "APPROX_COUNT_DISTINCT(price)", "APPROX_COUNT_DISTINCT(symbol)", "APPROX_PERCENTILE(price, 0.9)",
)  # fmt: skip
_DISTINCT = (
    *(f"COUNT(DISTINCT {column})" for column in
      ("symbol", "price", "ratio", "qty", "coin", "ok", "day", "raw", "at")),
    "SUM(DISTINCT qty)", "SUM(DISTINCT amount)", "AVG(DISTINCT price)", "AVG(DISTINCT vast)",
    "MIN(DISTINCT price)", "MIN_BY(DISTINCT symbol, qty)", "FIRST_VALUE(DISTINCT qty)",
    "VAR_POP(DISTINCT small)", "CORR(DISTINCT small, tiny)", "COVAR_POP(DISTINCT price, ratio)",
    "BIT_XOR(DISTINCT qty)", "MEDIAN(DISTINCT price)", "MODE(DISTINCT symbol)",
    "PERCENTILE_DISC(DISTINCT qty, 0.5)", "ARRAY_AGG(DISTINCT qty)", "ARRAY_AGG(DISTINCT symbol ORDER BY symbol DESC)",
    "STRING_AGG(DISTINCT symbol, '/')", "APPROX_COUNT_DISTINCT(DISTINCT day)",
)  # fmt: skip


def _select(*aggregates: str, keys: str = "symbol", window: str = _TUMBLE, where: str = "") -> str:
    grouping = ", ".join(part for part in (keys, window) if part)
    condition = f" WHERE {where}" if where else ""
    return f"SELECT {', '.join(aggregates)} FROM trades{condition} GROUP BY {grouping}"


def _numbered(aggregates: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{aggregate} AS c{place}" for place, aggregate in enumerate(aggregates))


_SOME = ("SUM(qty) AS s", "COUNT(price) AS c", "MAX(price) AS m", "FIRST_VALUE(qty) AS f")
_WINDOWS = {
    "hop in panes": "HOP(ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
    "hop of uneven size": "HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
    "hop copied": "HOP(ts, INTERVAL '1' SECOND, INTERVAL '1.001' SECOND)",
    "hop copied thrice": "HOP(ts, INTERVAL '1' SECOND, INTERVAL '2.003' SECOND, INTERVAL '-0.4' SECOND)",
    "tumble with offset": "TUMBLE(ts, INTERVAL '10' SECOND, INTERVAL '3' SECOND)",
    "tumble with negative offset": "TUMBLE(ts, INTERVAL '7' SECOND, INTERVAL '-2' SECOND)",
    "tumble with large offset": "TUMBLE(ts, INTERVAL '10' SECOND, INTERVAL '123' SECOND)",
    "tumble of a microsecond": "TUMBLE(ts, INTERVAL '0.000001' SECOND)",
    "tumble of ages": "TUMBLE(ts, INTERVAL '3000000' DAY)",
    "cumulate": "CUMULATE(ts, INTERVAL '3' SECOND, INTERVAL '12' SECOND, INTERVAL '1' SECOND)",
    "session": "SESSION(ts, INTERVAL '2' SECOND)",
    "session inclusive": "session_window(ts, '2 seconds')",
    "eKuiper": "hoppingwindow('ss', 10, 5)",
}
QUERIES: dict[str, str] = {
    "all aggregates": _select(*_numbered(_AGGREGATES)),
    "all aggregates filtered": _select(
        *(f"{text} FILTER (WHERE qty > 1 OR ok) AS c{n}" for n, text in enumerate(_AGGREGATES))
    ),
    "all aggregates of sessions": _select(
        *_numbered(_AGGREGATES), window="SESSION(ts, INTERVAL '3' SECOND)"
    ),
    "distinct": _select(*_numbered(_DISTINCT)),
    "distinct filtered": _select(
        *(f"{text} FILTER (WHERE ok) AS c{n}" for n, text in enumerate(_DISTINCT))
    ),
    **{name: _select(*_SOME, window=window) for name, window in _WINDOWS.items()},
    "no keys": _select(*_SOME, keys=""),
    "no keys, sessions": _select(*_SOME, keys="", window="SESSION(ts, INTERVAL '5' SECOND)"),
    "no window": "SELECT symbol, SUM(qty), FIRST_VALUE(price), ARRAY_AGG(note) FROM trades GROUP BY symbol",
    "no window, no keys": "SELECT COUNT(*), LAST_VALUE(qty), MIN(price) FROM trades WHERE ok",
    **{
        f"by {column}": _select(*_SOME, keys=column)
        for column in ("price", "ratio", "qty", "tiny", "vast", "ok", "day", "raw", "at")
    },
    "by many keys": _select(
        *_SOME, keys="price, symbol, price * 2, ratio, amount, day, upper(note), ok"
    ),
    "sessions by floats": _select(
        *_SOME, keys="price, ratio", window="SESSION(ts, INTERVAL '5' SECOND)"
    ),
    "by a failing key": _select(*_SOME, keys="qty DIV small"),
    "by a constant": _select(*_SOME, keys="'x', 1 + 1"),
    "where": _select(*_SOME, where="price > 1 AND NOT ok"),
    "where fails": _select(*_SOME, where="100 DIV qty > 3 AND CAST(note AS INT) < 20"),
    "where guards": _select(*_SOME, where="qty <> 0 AND 100 DIV qty > 3"),
    "where guards with or": _select(*_SOME, where="qty = 0 OR qty IS NULL OR 100 % qty > 3"),
    "where with case": _select(
        *_SOME, where="CASE WHEN qty = 0 THEN ok ELSE 1000 DIV qty > 2 END"
    ),
    "where with coalesce": _select(
        *_SOME, where="COALESCE(ok, CAST(note AS BOOLEAN), 1 DIV small = 1)"
    ),
    "where is true": _select(*_SOME, where="(qty + 1 > 0) IS TRUE"),
    "arguments fail": _select("SUM(qty * small)", "SUM(price / small)", "MAX(CAST(note AS DOUBLE))"),
    "arguments fail in one way or another": _select("SUM(qty DIV small + CAST(note AS BIGINT))"),
    "try": _select("SUM(TRY_CAST(note AS INT))", "COUNT(TRY_CAST(note AS DATE))"),
    "filter guards": _select(
        "SUM(qty DIV small) FILTER (WHERE small <> 0)",
        "MAX(qty % small) FILTER (WHERE small > 0 AND ok)",
        "COUNT(*) FILTER (WHERE ok)",
    ),
    "filter fails": _select("SUM(qty) FILTER (WHERE 10 DIV small > 1)", "COUNT(qty)"),
    "filter does not guard others": _select(
        "SUM(qty DIV small) FILTER (WHERE small <> 0)", "MIN(qty DIV small)"
    ),
    "two filters guard one argument": _select(
        "SUM(qty DIV small) FILTER (WHERE small > 1)",
        "ARRAY_AGG(note ORDER BY qty DIV small) FILTER (WHERE small < 0)",
    ),
    "filter guards a column of a subquery": (
        "SELECT symbol, SUM(ratio) FILTER (WHERE small <> 0) FROM "
        "(SELECT symbol, ts, small, qty DIV small AS ratio FROM trades) "
        f"GROUP BY symbol, {_TUMBLE}"
    ),
    "subquery": (
        "WITH good AS (SELECT symbol AS s, price * 2 AS p, ts AS t FROM trades WHERE price > 0) "
        "SELECT s, SUM(p), COUNT(*) FROM good WHERE p < 1000 GROUP BY s, TUMBLE(t, INTERVAL '10' SECOND)"
    ),
    "nulls everywhere": _select(
        "SUM(qty DIV NULL)", "COUNT(NULLIF(qty, qty))", "MAX(CAST(NULL AS DOUBLE))"
    ),
    "inner join": (
        "SELECT s.sector, SUM(t.qty * s.lot), COUNT(s.lot) FROM trades t JOIN symbols s ON t.symbol = s.symbol "
        "WHERE s.lot > 2 AND t.price > 0 GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "left join": (
        "SELECT s.sector, SUM(t.qty), COUNT(s.lot) FROM trades t LEFT JOIN symbols s ON t.symbol = s.symbol "
        "GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "join using": (
        "SELECT trades.symbol, SUM(lot), MAX(price) FROM trades JOIN symbols USING (symbol) "
        "WHERE sector = 'tech' OR lot IS NULL GROUP BY trades.symbol, TUMBLE(ts, INTERVAL '10' SECOND)"
    ),
    "join on more": (
        "SELECT s.sector, COUNT(*) FROM trades t JOIN symbols s ON t.symbol = s.symbol AND t.qty > s.lot "
        "GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "join on what may fail": (
        "SELECT s.sector, COUNT(*) FROM trades t LEFT JOIN symbols s ON t.symbol = s.symbol AND 100 DIV t.small > 1 "
        "GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "failing condition before one of the table": (
        "SELECT s.sector, COUNT(*) FROM trades t JOIN symbols s ON t.symbol = s.symbol "
        "WHERE 100 DIV t.small > 1 AND s.sector = 'tech' GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "comma join": (
        "SELECT s.sector, COUNT(*), SUM(t.qty) FROM trades t, symbols s WHERE t.symbol = s.symbol AND t.qty > s.lot "
        "AND t.price > 0 GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "two joins": (
        "SELECT o.who, s.sector, COUNT(*) FROM trades t JOIN symbols s ON t.symbol = s.symbol "
        "LEFT JOIN owners o ON o.symbol = s.symbol GROUP BY o.who, s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)"
    ),
    "union": (
        "SELECT k, SUM(v) FROM (SELECT symbol AS k, qty AS v, ts FROM trades WHERE ok UNION ALL "
        "SELECT who, cents, happened FROM bids) GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
    ),
    "union of different columns": (
        "SELECT k, SUM(v), MAX(w) FROM (SELECT upper(symbol) AS k, price AS v, note AS w, ts FROM trades UNION ALL "
        "SELECT who, 100 DIV cents, NULL, happened FROM bids) GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
    ),
    "computed columns": (
        "SELECT k, SUM(twice), LAST_VALUE(v) FROM feed GROUP BY k, TUMBLE(event_time, INTERVAL '10' SECOND)"
    ),
    "ladder": "SELECT k, COUNT(*), FIRST_VALUE(v) FROM feed WHERE v > 0 GROUP BY k, tumblingwindow('ss', 10)",
    "ladder without fallback": (
        "SELECT k, COUNT(*) FROM feed GROUP BY k, tumblingwindow('ss', 10) WITH (on_missing_event_time = 'divert')"
    ),
    "stamped by the clock": (
        "SELECT symbol, COUNT(*) FROM trades WHERE price > 0 OR ok "
        f"GROUP BY symbol, {_TUMBLE} WITH (on_missing_event_time = 'fallback')"
    ),
    "stamped sessions": (
        "SELECT symbol, COUNT(*) FROM trades GROUP BY symbol, SESSION(ts, INTERVAL '2' SECOND) "
        "WITH (on_missing_event_time = 'fallback')"
    ),
    "source metadata": "SELECT k, SUM(v) FROM wire GROUP BY k, tumblingwindow('ss', 10)",
    "processing time": "SELECT k, SUM(v) FROM feed GROUP BY k, TUMBLE(clock, INTERVAL '10' SECOND)",
    "pre-epoch": (
        f"SELECT symbol, SUM(qty) FROM trades WHERE ok GROUP BY symbol, {_TUMBLE} WITH (pre_epoch = 'divert')"
    ),
    "pre-epoch sessions": (
        "SELECT symbol, SUM(qty) FROM trades GROUP BY symbol, SESSION(ts, INTERVAL '5' SECOND) "
        "WITH (pre_epoch = 'divert')"
    ),
    "sliding": (
        "SELECT symbol, SUM(qty), COUNT(*) FILTER (WHERE 1 DIV small > 0) FROM trades "
        "GROUP BY symbol, slidingwindow('ss', 5)"
    ),
    "over": (
        "SELECT symbol, qty DIV small, SUM(price) OVER (PARTITION BY symbol ORDER BY ts "
        "RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW) AS s FROM trades WHERE ok IS NOT NULL"
    ),
    "counting": "SELECT symbol, SUM(qty) FROM trades WHERE price > 0 GROUP BY symbol, countwindow(3)",
    "state": "SELECT symbol, SUM(qty) FROM trades GROUP BY symbol, statewindow(qty > 0, 10 DIV small > 1)",
    "rows of windows": (
        "SELECT symbol, price * 2 AS p, CAST(note AS INT) AS n, window_start FROM trades WHERE qty > 0 "
        f"GROUP BY {_TUMBLE}"
    ),
    "rows of windows, stamped": (
        f"SELECT symbol, price, window_start FROM trades GROUP BY {_TUMBLE} WITH (on_missing_event_time = 'fallback')"
    ),
    "stateless": "SELECT symbol, price * qty AS v, CAST(note AS INT) AS n FROM trades WHERE qty DIV small > 0",
    "stateless, all columns": "SELECT * FROM trades",
    "partitioned sessions": (
        "SELECT window_start, window_end, COUNT(*), SUM(qty) FROM TABLE(SESSION(TABLE trades PARTITION BY symbol, "
        "DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end"
    ),
}  # fmt: skip
OVER_STAGES: dict[str, str] = {
    "cascade": (
        "CREATE STREAM a AS SELECT symbol, SUM(qty) AS q, window_start, window_end FROM trades "
        f"GROUP BY symbol, {_TUMBLE}; SELECT SUM(q), COUNT(*) FROM a GROUP BY tumblingwindow('ss', 20)"
    ),
    "grouped by the inner window": (
        "SELECT window_start, window_end, MAX(q) FROM (SELECT symbol, SUM(qty) AS q, window_start, window_end "
        f"FROM trades GROUP BY symbol, {_TUMBLE}) GROUP BY window_start, window_end"
    ),
}
