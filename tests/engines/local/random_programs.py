"""Random programs: every window in process, every EMIT mode, every aggregate, in all combinations that plan.

A program is text, so that what hypothesis has shrunk can be read, and kept as a scenario. Decided here: Top-N sorts by
all keys in the end, since semantics does not say which of two equal rows is first.
"""

import re
from dataclasses import dataclass

from hypothesis import strategies as st

COLUMNS = {
    "k": "VARCHAR",
    "g": "BIGINT",
    "z": "DOUBLE",
    "t": "BOOLEAN",
    "c": "DECIMAL(6, 2)",
    "y": "DATE",
    "m": "TIMESTAMP",
    "r": "BINARY",
    "v": "BIGINT",
    "i": "INT",
    "x": "DOUBLE",
    "d": "DECIMAL(10, 2)",
    "w": "VARCHAR",
    "b": "BOOLEAN",
}
KEYS = ("k", "g", "z", "t", "c", "y", "m", "r", "v % 3", "COALESCE(k, 'none')", "UPPER(k)")
NUMBERS = ("v", "i", "x", "d", "v + i", "x * 2", "g")
ANYTHING = (*NUMBERS, "w", "b", "k", "z", "m", "y", "c")
CONDITIONS = (
    "v > 1",
    "x > 0.5",
    "b",
    "w IS NOT NULL",
    "k <> 'b'",
    "10 DIV v > 2",
    "NOT b OR i < 3",
)


_USED = "{columns}"


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@dataclass(frozen=True)
class Text:
    """A script, and the names of its streams and sources."""

    sql: str
    sources: tuple[str, ...]
    streams: tuple[str, ...]
    tables: tuple[str, ...] = ()


def _seconds(count: int) -> str:
    return f"INTERVAL '{count}' SECOND"


small = st.integers(1, 7)


@st.composite
def windows(draw: st.DrawFn) -> str:
    """The window of a GROUP BY."""
    size, slide = draw(st.integers(1, 12)), draw(small)
    offset = draw(st.sampled_from(["", "", ", INTERVAL '3' SECOND", ", INTERVAL '-4' SECOND"]))
    kind = draw(st.sampled_from(["tumble", "hop", "cumulate", "session", "spark"]))
    match kind:
        case "tumble":
            return f"TUMBLE(ts, {_seconds(size)}{offset})"
        case "hop":
            return f"HOP(ts, {_seconds(slide)}, {_seconds(max(size, slide))}{offset})"
        case "cumulate":
            return f"CUMULATE(ts, {_seconds(slide)}, {_seconds(slide * draw(small))}{offset})"
        case "session":
            return f"SESSION(ts, {_seconds(draw(small))})"
        case _:
            return f"session_window(ts, '{draw(small)} seconds')"


@st.composite
def aggregates(draw: st.DrawFn) -> str:
    """One call, of any aggregate, with DISTINCT and FILTER."""
    number, other = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(ANYTHING))
    sort = draw(st.sampled_from(ANYTHING))
    distinct = draw(st.sampled_from(["", "", "DISTINCT "]))
    share = draw(st.sampled_from(["0", "0.25", "0.5", "0.9", "1"]))
    down = draw(st.sampled_from(["", " DESC"]))
    written = draw(
        st.sampled_from(
            [
                "COUNT(*)",
                f"COUNT({distinct}{other})",
                f"SUM({distinct}{number})",
                f"AVG({distinct}{number})",
                f"MIN({other})",
                f"MAX({other})",
                f"FIRST_VALUE({other})",
                f"LAST_VALUE({other})",
                f"MIN_BY({other}, {sort})",
                f"MAX_BY({other}, {sort})",
                f"VAR_POP({distinct}x)",
                "STDDEV_SAMP(x)",
                "COVAR_POP(x * 2, i % 3)",
                "COVAR_SAMP(x, i % 2)",
                "STDDEV_POP(x * 2)",
                f"BOOL_AND({distinct}b)",
                "BOOL_OR(b)",
                "BIT_AND(v)",
                "BIT_OR(i)",
                f"BIT_XOR({distinct}v)",
                f"MEDIAN({distinct}{number})",
                f"PERCENTILE_CONT({share}) WITHIN GROUP (ORDER BY {number}{down})",
                f"PERCENTILE_DISC({share}) WITHIN GROUP (ORDER BY {other}{down})",
                f"MODE({other})",
                f"ARRAY_AGG({distinct}{other})",
                f"STRING_AGG({distinct}w, '-')",
                f"APPROX_COUNT_DISTINCT({other})",
                f"ARRAY_AGG({other} ORDER BY {sort}{down}, {other})",
                f"STRING_AGG(w, ', ' ORDER BY {number}, w{down})",
            ]
        )
    )
    condition = draw(st.sampled_from([None, None, None, *CONDITIONS]))
    return written if condition is None else f"{written} FILTER (WHERE {condition})"


OVER_AGGREGATES = (
    "SUM(v) + COUNT(*)",
    "SUM(x) / COUNT(x)",
    "SUM(v) / SUM(i)",
    "CASE WHEN COUNT(*) > 1 THEN MAX(x) - MIN(x) END",
    "SUM(v) DIV (COUNT(*) - 2)",
)
HAVING = ("COUNT(*) > 1", "SUM(v) > 1", "MIN(x) IS NOT NULL", "SUM(v) DIV COUNT(w) >= 0")


@st.composite
def outputs(draw: st.DrawFn) -> list[str]:
    """The aggregates of a query, with names."""
    calls = draw(st.lists(aggregates(), min_size=1, max_size=4))
    calls += draw(st.lists(st.sampled_from(OVER_AGGREGATES), max_size=1))
    return [f"{call} AS a{place}" for place, call in enumerate(calls)]


@st.composite
def reads(draw: st.DrawFn, *, several: bool = True) -> tuple[str, tuple[str, ...], bool]:
    """What a query reads: FROM and WHERE; its sources; whether it joins the table."""
    condition = draw(st.sampled_from([None, None, *CONDITIONS]))
    where = "" if condition is None else f" WHERE {condition}"
    kind = draw(st.sampled_from(["one", "one", "one", "join", "union"] if several else ["one"]))
    match kind:
        case "join":
            how = draw(st.sampled_from(["JOIN", "LEFT JOIN"]))
            return f"ev {how} dim ON ev.k = dim.name{where}", ("ev",), True
        case "union":
            other = draw(st.sampled_from(["other", "ev"]))
            union = f"(SELECT {_USED} FROM ev UNION ALL SELECT {_USED} FROM {other}) AS u{where}"
            return union, ("ev", "other") if other == "other" else ("ev",), False
        case _:
            return f"ev{where}", ("ev",), False


MODES = (
    "",
    " EMIT ON WINDOW CLOSE",
    " EMIT AFTER WATERMARK",
    " EMIT ON UPDATE",
    " EMIT CHANGES",
    " EMIT EVERY INTERVAL '7' SECOND",
    " EMIT FINAL",
)


OPTIONS = ("", "", "", " WITH (session_gap = 'inclusive')", " WITH (allowed_lateness = '2s')")


@st.composite
def windowed(draw: st.DrawFn, source: str) -> str:
    """A query with a window and aggregates."""
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True))
    named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    columns = [*named, *draw(outputs())]
    edges = draw(st.sampled_from([[], ["window_start", "window_end"], ["window_time"]]))
    window, within = draw(windows()), keys[: draw(st.integers(0, len(keys)))]
    ranked = draw(st.integers(0, 4)) == 0
    if ranked:
        within = keys if "ession" in window.lower() else within
        part = ", ".join(["window_start", "window_end", *within])
        by = draw(st.sampled_from(["SUM(v)", "COUNT(*) DESC", "MAX(w) NULLS FIRST"]))
        columns.append(
            f"ROW_NUMBER() OVER (PARTITION BY {part} ORDER BY {', '.join([by, *keys])}) AS rn"
        )
    query = f"SELECT {', '.join([*columns, *edges])} FROM {source}"
    query += f" GROUP BY {', '.join([*keys, window])}"
    query += draw(st.sampled_from(["", "", *(f" HAVING {one}" for one in HAVING)]))
    if ranked:
        limit = draw(st.sampled_from(["", " WHERE rn = 1", " WHERE rn < 3"]))
        query = f"SELECT * FROM ({query}){limit}"
    elif draw(st.integers(0, 4)) == 0:
        down = draw(st.sampled_from(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]))
        rest = "".join(f", k{place}" for place in range(len(keys)))
        by = draw(st.sampled_from(["SUM(v)", "COUNT(*)", "MAX(w)", "MIN(x)"]))
        query += f" ORDER BY {by}{down}{rest} LIMIT {draw(st.integers(1, 2))}"
    query += draw(st.sampled_from(["", "", " ALLOWED LATENESS INTERVAL '5' SECOND"]))
    return query + draw(st.sampled_from(MODES)) + draw(st.sampled_from(OPTIONS))


@st.composite
def groups_alone(draw: st.DrawFn, source: str) -> str:
    """A query that groups, without a window."""
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
    named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    query = f"SELECT {', '.join([*named, *draw(outputs())])} FROM {source}"
    if keys:
        query += f" GROUP BY {', '.join(keys)}"
    query += draw(st.sampled_from(["", "", *(f" HAVING {one}" for one in HAVING)]))
    mode = draw(st.sampled_from(["", " EMIT CHANGES", " EMIT EVERY INTERVAL '7' SECOND"]))
    return query + mode


@st.composite
def whole_rows(draw: st.DrawFn, source: str) -> str:
    """A query whose windows hold rows."""
    names = draw(st.lists(st.sampled_from([*COLUMNS, "v + 1 AS o", "10 DIV v AS o"]), min_size=1))
    query = f"SELECT {', '.join(dict.fromkeys([*names, 'window_start']))} FROM {source}"
    query += f" GROUP BY {draw(windows())}"
    query += draw(st.sampled_from(["", " ALLOWED LATENESS INTERVAL '5' SECOND"]))
    return query + draw(st.sampled_from(["", " EMIT ON WINDOW CLOSE", " EMIT FINAL"]))


@st.composite
def by_rows(draw: st.DrawFn, source: str) -> str:
    """A query whose windows rows complete: sliding, counting, state; with aggregates or without."""
    first, second = draw(small), draw(st.integers(0, 5))
    last = draw(st.sampled_from(["", f", {second}"]))
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
    by_arrival = [] if " JOIN " in source else ["count", "state"]  # a join may turn rows around
    kind = draw(st.sampled_from(["sliding", "sliding", *by_arrival]))
    partition = draw(st.sampled_from(["", "", " OVER (PARTITION BY k)"]))
    modes = ["", "", " EMIT ON WINDOW CLOSE"]
    edges = ["window_start", "window_end"]
    if kind == "sliding":
        window = f"slidingwindow('ss', {first}{last})"
        modes += [" EMIT ON UPDATE", " EMIT FINAL", " ALLOWED LATENESS INTERVAL '2' SECOND"]
    elif kind == "count":
        step = draw(st.sampled_from(["", f", {draw(st.integers(1, 3))}"]))
        window, modes = f"countwindow({first}{step}){partition}", [""]
    else:
        opens, closes = draw(st.tuples(st.sampled_from(CONDITIONS), st.sampled_from(CONDITIONS)))
        window, modes = f"statewindow({opens}, {closes}){partition}", [""]
    if draw(st.integers(0, 3)) == 0:
        names = draw(st.lists(st.sampled_from([*COLUMNS]), min_size=1, max_size=3, unique=True))
        return f"SELECT {', '.join([*names, *edges])} FROM {source} GROUP BY {window}{draw(st.sampled_from(modes))}"
    named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    query = f"SELECT {', '.join([*named, *draw(outputs()), *edges])} FROM {source}"
    query += f" GROUP BY {', '.join([*keys, window])}"
    query += draw(st.sampled_from(["", "", *(f" HAVING {one}" for one in HAVING)]))
    return query + draw(st.sampled_from(modes))


@st.composite
def over_rows(draw: st.DrawFn, source: str) -> str:
    """Rows with aggregates of their neighbours, in one frame or two."""
    columns = draw(
        st.lists(st.sampled_from(["k", "v", "x", "v + 1 AS o"]), max_size=2, unique=True)
    )
    keys = draw(st.sampled_from(["", "PARTITION BY k ", "PARTITION BY k, b "]))
    for place, call in enumerate(draw(st.lists(aggregates(), min_size=1, max_size=3))):
        to = draw(st.sampled_from(["CURRENT ROW", f"{_seconds(draw(small))} FOLLOWING"]))
        frame = f"RANGE BETWEEN {_seconds(draw(small))} PRECEDING AND {to}"
        columns.append(f"{call} OVER ({keys}ORDER BY ts {frame}) AS a{place}")
    lateness = draw(st.sampled_from(["", "", " ALLOWED LATENESS INTERVAL '2' SECOND"]))
    mode = draw(st.sampled_from(["", "", " EMIT ON UPDATE", " EMIT FINAL"]))
    return f"SELECT {', '.join(['ts', *columns])} FROM {source}{lateness}{mode}"


@st.composite
def cascades(draw: st.DrawFn, source: str) -> list[str]:
    """Streams over a stream of windows."""
    lateness = draw(st.sampled_from(["", " ALLOWED LATENESS INTERVAL '3' SECOND"]))
    mode = draw(st.sampled_from(["", " EMIT ON UPDATE", " EMIT CHANGES", " EMIT AFTER WATERMARK"]))
    first = (
        f"SELECT k, SUM(i) AS s, COUNT(*) AS n, window_start, window_end, window_time FROM {source} "
        f"GROUP BY k, {draw(windows())}{lateness}{mode}"
    )
    calls = "COUNT(*) AS n2, SUM(s) AS s2, SUM(n) AS n3, AVG(s) AS m2"
    window = draw(windows()).replace("(ts, ", "(window_time, ")
    seconds = [
        f"SELECT k, {calls} FROM a GROUP BY k, {window}",
        f"SELECT {calls} FROM a",
        f"SELECT {calls}, window_end FROM a GROUP BY window_start, window_end",
        "SELECT k, n, s + 1 AS s FROM a WHERE n > 1",
    ]
    return [first, draw(st.sampled_from(seconds))]


@st.composite
def texts(draw: st.DrawFn) -> Text:
    """A script of a source or two, and one query or a cascade of two."""
    kind = draw(
        st.sampled_from(["windowed"] * 5 + ["groups", "rows", "cascade", "by rows", "over"])
    )
    source, names, joins = draw(reads(several=kind not in ("rows", "over")))
    on_the_clock = kind != "cascade" and len(names) == 1 and draw(st.integers(0, 9)) == 0
    match kind:
        case "windowed":
            queries = [draw(windowed(source)), *draw(st.lists(windowed(source), max_size=1))]
        case "groups":
            queries = [draw(groups_alone(source))]
        case "rows":
            queries = [draw(whole_rows(source))]
        case "by rows":
            queries = [draw(by_rows(source))]
        case "over":
            queries = [draw(over_rows(source))]
        case _:
            queries = draw(cascades(source))
    if on_the_clock:
        queries = [query.replace("(ts, ", "(p, ") for query in queries]
    streams = ("out",) if len(queries) == 1 else ("a", "out")
    used = "\n".join((source, *queries))
    columns = ", ".join(("ts", *(column for column in COLUMNS if column in _words(used))))
    queries = [query.replace(_USED, columns) for query in queries]
    made = [draw(sources(name, used)) for name in names]
    if joins:
        made.append("CREATE TABLE dim (name VARCHAR, sector VARCHAR);")
    made += [
        f"CREATE STREAM {name} AS {query};" for name, query in zip(streams, queries, strict=True)
    ]
    return Text("\n".join(made), names, streams, ("dim",) if joins else ())


@st.composite
def sources(draw: st.DrawFn, name: str, used: str) -> str:
    """A source with the columns that are used."""
    columns = [f"{column} {kind}" for column, kind in COLUMNS.items() if column in _words(used)]
    if "(p, " in used:
        columns.append("p AS PROCTIME()")
    lag = draw(st.sampled_from(["", " AS ts - INTERVAL '2' SECOND", " AS ts"]))
    options = draw(
        st.sampled_from(
            [
                "",
                "",
                "",
                "idle_timeout = '6s'",
                "pre_epoch = 'divert'",
                "max_future_skew = '20s'",
                "on_missing_event_time = 'fallback'",
            ]
        )
    )
    given = f" WITH ({options})" if options else ""
    return f"CREATE SOURCE {name} ({', '.join([*columns, 'ts TIMESTAMP'])}, WATERMARK FOR ts{lag}){given};"
