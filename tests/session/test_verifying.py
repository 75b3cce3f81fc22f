"""`verify`: what DuckDB is asked means what we mean, what differs is found, what has no counterpart is named."""

import math
import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.planning import planned
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.model.schema import Column
from tidegate.model.types import Scalar
from tidegate.plan.batch.query import batches_of
from tidegate.plan.batch.scalars import _WRITERS, refused
from tidegate.session import feeding
from tidegate.session.comparing import differences
from tidegate.session.duck import Judge
from tidegate.session.verifying import Verified, verify
from tidegate.sql.functions.catalogue import FUNCTIONS

COUNT = 240
NOW_US = 1_800_000_000_000_000
COLUMNS = (
    "k VARCHAR, n BIGINT, x DOUBLE, y DOUBLE, d DECIMAL(10, 2), ok BOOLEAN, day DATE, ts TIMESTAMP"
)
WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '20' SECOND"
MINUTE = "TUMBLE(ts, INTERVAL '1' MINUTE)"
CLOSE = f"GROUP BY k, {MINUTE}"


def rows(seed: int = 1, count: int = COUNT) -> list[dict[str, Any]]:
    """Twenty minutes around 1970, out of order, some rows far behind; everything may be missing."""
    draw = random.Random(seed)
    begin = datetime(1969, 12, 31, 23, 50, tzinfo=UTC)

    def row(place: int) -> dict[str, Any]:
        late_s = draw.choice(
            [0.0, draw.uniform(0, 3), draw.uniform(0, 200 if draw.random() < 0.02 else 18)]
        )
        return {
            "k": draw.choice(["a", "b", "c", "it's %"]),
            "n": draw.choice([draw.randint(-9, 9), draw.randint(-9, 9), 2**62, -(2**62), 0]),
            "x": draw.choice([draw.gauss(0, 9), draw.gauss(0, 9), 2.5, -0.0, 0.0]),
            "y": draw.choice([draw.gauss(0, 9), math.nan, 1.0]),
            "d": Decimal(draw.randint(-99_999, 99_999)).scaleb(-2),
            "ok": draw.random() < 0.5,
            "day": date(1970, 1, 1) + timedelta(days=draw.randint(-900, 900)),
            "ts": begin + timedelta(seconds=3 * place - late_s),
        }

    every = [row(place) for place in range(count)]
    return [
        {name: None if draw.random() < 0.04 else value for name, value in one.items()}
        for one in every
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rows")
    kinds = [pa.string(), pa.int64(), pa.float64(), pa.float64(), pa.decimal128(10, 2), pa.bool_(), pa.date32(),
             pa.timestamp("us", tz="UTC")]  # fmt: skip
    names = [part.split()[0] for part in COLUMNS.split(", ") if not part[0].isdigit()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    for seed in (1, 2):
        folder = place / f"s{seed}"
        folder.mkdir()
        pq.write_table(pa.Table.from_pylist(rows(seed), schema=schema), folder / "rows.parquet")
    (place / "t.csv").write_text("k,name\na,one\nb,two\nb,zwei\n")
    return place


def source(data: Path, name: str = "s", folder: str = "s1", watermark: str = WATERMARK) -> str:
    options = f"connector = 'file', path = '{data / folder}', format = 'parquet'"
    return f"CREATE SOURCE {name} ({COLUMNS}, {watermark}) WITH ({options});\n"


def table(data: Path) -> str:
    options = f"connector = 'file', path = '{data / 't.csv'}', format = 'csv'"
    return f"CREATE TABLE t (k VARCHAR, name VARCHAR) WITH ({options});\n"


def judged(data: Path, sql: str, *, runs: int = 3, prelude: str = "") -> Verified:
    text = f"{prelude or source(data)}{table(data)}{source(data, 's2', 's2')}{sql}"
    return verify(planned(text, prelude=""), runs=runs, seed=3, now_us=NOW_US)


def same(data: Path, sql: str, **given: Any) -> Verified:
    found = judged(data, sql, **given)
    for verdict in found.verdicts:
        assert (verdict.name, verdict.problem, verdict.wrong) == (verdict.name, "", {})
        assert verdict.rows, verdict.name
    return found


WINDOWED = [
    f"SELECT k, COUNT(*) AS n, window_start, window_end, window_time FROM s {CLOSE}",
    f"SELECT COUNT(*) AS c, SUM(n) AS s FROM s WHERE x > 0 OR ok GROUP BY {MINUTE} ALLOW LATENESS INTERVAL '9' SECOND",
    "SELECT k, SUM(x) AS s FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE, INTERVAL '7' SECOND) EMIT CHANGES",
    "SELECT k, SUM(x) AS s, window_end FROM s GROUP BY k, HOP(ts, INTERVAL '25' SECOND, INTERVAL '1' MINUTE)",
    "SELECT ok, MAX(x) AS m, window_start FROM s GROUP BY ok, CUMULATE(ts, INTERVAL '1' MINUTE, INTERVAL '4' MINUTE)",
    "SELECT k, COUNT(n) AS c, window_start, window_end FROM s GROUP BY k, SESSION(ts, INTERVAL '10' SECOND)",
    "SELECT COUNT(*) AS c, window_end FROM s GROUP BY SESSION(ts, INTERVAL '4' SECOND) EMIT AFTER WATERMARK",
    "SELECT k, d, window_start FROM s GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE)",
    "SELECT k, SUM(x) AS s FROM s GROUP BY k",
    "SELECT k, SUM(x) AS s FROM s GROUP BY k EMIT CHANGES",
    "SELECT COUNT(*) AS c, AVG(x) AS a FROM s",
    "SELECT k, n * 2 AS twice FROM s WHERE n > 0",
    f"SELECT k, SUM(x) AS s FROM s {CLOSE} HAVING COUNT(*) > 3 EMIT ON UPDATE",
    f"SELECT k, SUM(d) AS s, window_end FROM s {CLOSE} ORDER BY SUM(d) DESC LIMIT 2",
    f"SELECT name, COUNT(*) AS c FROM s JOIN t ON s.k = t.k GROUP BY name, {MINUTE}",
    f"SELECT name, COUNT(*) AS c FROM s LEFT JOIN t ON s.k = t.k GROUP BY name, {MINUTE}",
    f"SELECT k, COUNT(*) AS c FROM (SELECT k, ts FROM s UNION ALL SELECT UPPER(k), ts FROM s2) {CLOSE}",
    "SELECT k, SUM(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND CURRENT ROW)"
    " AS r FROM s",
    "SELECT k, COUNT(*) AS c, window_time FROM s GROUP BY slidingwindow('ss', 20, 5), k",
    "SELECT SUM(c) AS c, MAX(c) AS m, window_end FROM (SELECT k, COUNT(*) AS c, window_start, window_end FROM s "
    f"{CLOSE}) GROUP BY window_start, window_end",
    f"SELECT k, SUM(n) / COUNT(n) AS a, 10 / (COUNT(*) - 4) AS b FROM s {CLOSE}",
    f"SELECT k, SUM(100 / n) AS a, SUM(100 DIV n) FILTER (WHERE ok) AS b FROM s {CLOSE}",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("query", WINDOWED)
def test_windows_mean_the_same(data: Path, query: str) -> None:
    found = same(data, f"CREATE STREAM out AS {query};")
    assert found.batches > 5
    assert any("restart" in run for run in found.runs)


def test_streams_of_streams(data: Path) -> None:
    same(
        data,
        f"CREATE STREAM a AS SELECT k, SUM(x) AS x, window_start, window_end FROM s {CLOSE};"
        "CREATE STREAM b AS SELECT SUM(x) AS x, window_end FROM a GROUP BY TUMBLE(window_end, INTERVAL '5' MINUTE);"
        "CREATE STREAM c AS SELECT k, COUNT(*) AS c FROM a GROUP BY k; SELECT x FROM b WHERE x > 0;",
    )


AGGREGATES = (
    "COUNT(x), COUNT(DISTINCT k), SUM(n), SUM(d), SUM(x), AVG(n), AVG(x), MIN(k), MAX(y), MIN(ts), MAX(day), "
    "FIRST_VALUE(n), LAST_VALUE(k), MIN_BY(k, x), MAX_BY(n, day), VAR_POP(x), VAR_SAMP(x), STDDEV_POP(x), STDDEV(x), "
    "COVAR_POP(x, CAST(d AS DOUBLE)), COVAR_SAMP(x, x), BOOL_AND(ok), BOOL_OR(ok), BIT_AND(n), BIT_OR(n), BIT_XOR(n), "
    "MEDIAN(x), PERCENTILE_CONT(x, 0.9), PERCENTILE_DISC(n, 0.25), MODE(k), ARRAY_AGG(n), STRING_AGG(k, '-'), "
    "ARRAY_AGG(k ORDER BY x DESC), SUM(x) FILTER (WHERE ok), COUNT(*) FILTER (WHERE n > 0), ARRAY_AGG(DISTINCT k), "
    "SUM(DISTINCT n)"
)


def top_level(text: str) -> list[str]:
    """Parts between commas that stand in no parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def test_aggregates_mean_the_same(data: Path) -> None:
    columns = ", ".join(f"{call} AS c{place}" for place, call in enumerate(top_level(AGGREGATES)))
    same(
        data,
        f"CREATE STREAM a AS SELECT k, {columns} FROM s WHERE abs(n) < 99 OR n IS NULL {CLOSE};",
    )


EXAMPLES = {
    "=": "n = 3", "<>": "k <> 'a'", "<": "x < y", "<=": "x <= y", ">": "y > x", ">=": "d >= 1.5", "+": "n + n",
    "-": "ts - INTERVAL '1' DAY", "*": "d * d", "/": "x / n", "%": "n % 4", "div": "n DIV 3", "neg": "- n",
    "and": "ok AND n > 0", "or": "ok OR n > 0", "not": "NOT ok", "is_null": "n IS NULL", "is_not_null": "n IS NOT NULL",
    "is_distinct": "x IS DISTINCT FROM y", "is_not_distinct": "y IS NOT DISTINCT FROM y", "in": "n IN (1, 2, 3)",
    "like": "k LIKE '%s \\%'", "&": "n & 6", "|": "n | 6", "||": "k || '!'", "coalesce": "coalesce(k, 'none')",
    "nullif": "nullif(n, 3)", "lower": "lower(upper(k))", "upper": "upper(k)", "length": "length(k)",
    "starts_with": "starts_with(k, 'it')", "ends_with": "ends_with(k, '%')", "contains": "contains(k, '''')",
    "strpos": "strpos(k, 's')", "abs": "abs(n)", "floor": "floor(x)", "ceil": "ceil(x)", "round": "round(x, 1)",
    "exp": "exp(x)", "isnan": "isnan(y)", "date_trunc": "date_trunc('hour', ts)", "dayofweek": "dayofweek(ts)",
    "unix_micros": "unix_micros(ts)", "unix_millis": "unix_millis(ts)", "unix_seconds": "unix_seconds(ts)",
    "to_timestamp_us": "to_timestamp_us(n)", "to_timestamp_ms": "to_timestamp_ms(n)",
    "to_timestamp_s": "to_timestamp_s(n)", "timestampdiff": "timestampdiff(MINUTE, to_timestamp_s(0), ts)",
    **{f"extract_{name.lower()}": f"EXTRACT({name} FROM ts)" for name in
       "YEAR QUARTER MONTH DAY DOY DOW ISODOW HOUR MINUTE SECOND WEEK ISOYEAR".split()},
}  # fmt: skip
MORE = [
    "ts + INTERVAL '1' HOUR", "d + d", "d - 0.125", "n * n", "n - n", "x % 2.0", "x / y", "d * 2", "round(x)",
    "round(d)",
    "ts - to_timestamp_s(5) > INTERVAL '2' MINUTE", "CASE WHEN n > 0 THEN 10 / n ELSE 0 END", "TRY_CAST(x AS BIGINT)",
    "CAST(d AS BIGINT)", "CAST(n AS SMALLINT)", "CAST(x AS DECIMAL(12, 3))", "CAST(ts AS DATE)",
    "CAST(day AS TIMESTAMP)", "CAST(n AS VARCHAR)", "CAST(ok AS BIGINT)", "CAST(d AS DOUBLE)", "day", "floor(-x)",
]  # fmt: skip


def test_every_function_that_is_written_has_an_example() -> None:
    assert set(EXAMPLES) | {"field"} == set(_WRITERS)
    assert set(_WRITERS) <= set(FUNCTIONS)


def test_functions_mean_the_same_for_every_row(data: Path) -> None:
    queries = [
        f"CREATE STREAM f{place} AS SELECT {text} AS v FROM s;"
        for place, text in enumerate([*EXAMPLES.values(), *MORE])
    ]
    same(data, "".join(queries), runs=1)


# What goes into it


def test_rows_by_hand_and_times_from_functions(data: Path) -> None:
    inserted = ", ".join(f"('{'ab'[n % 2]}', {n * 700})" for n in range(40))
    found = same(
        data,
        "CREATE STREAM a AS SELECT k, COUNT(*) AS c FROM m GROUP BY k, TUMBLE(at, INTERVAL '5' SECOND);",
        prelude="CREATE SOURCE m (k VARCHAR, ms BIGINT, at AS TO_TIMESTAMP_MS(ms), WATERMARK FOR at AS at);"
        f"INSERT INTO m VALUES {inserted};",
    )
    assert found.rows == 40


def test_options_of_time_count_for_both(data: Path) -> None:
    options = "WITH (pre_epoch = 'divert', max_future_skew = '1s')"
    one, other = (
        judged(data, f"CREATE STREAM a AS SELECT k, COUNT(*) AS c FROM s {CLOSE} {with_};")
        for with_ in ("", options)
    )
    assert [verdict.wrong for verdict in (*one.verdicts, *other.verdicts)] == [{}, {}]
    assert other.verdicts[0].rows < one.verdicts[0].rows


def test_nothing_is_late_between_the_cuts(data: Path) -> None:
    """A watermark close behind the rows has few of them, one far behind and one that never moves have all."""
    query = f"CREATE STREAM a AS SELECT k, COUNT(*) AS c FROM s {CLOSE};"

    def cuts(lag: str) -> int:
        program = planned(source(data, watermark=f"WATERMARK FOR ts{lag}") + query, prelude="")
        given = feeding.everything(program)
        places = feeding.safe_cuts(program, given, Judge(given.sources), now_us=NOW_US)
        return len(places["s"])

    lags = (" AS ts", " AS ts - INTERVAL '20' SECOND", " AS ts - INTERVAL '1' HOUR", "")
    close, usual, far, never = map(cuts, lags)
    assert 0 < close < usual < far == never == COUNT - 1


# What is wrong, and what is not known


def test_a_row_that_the_stream_loses_is_found(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = feeding.Cut.read

    def losing(self: feeding.Cut, after: Offset | None, until: Offset) -> Delivery:
        found = read(self, after, until)
        return Delivery(rows=found.rows.slice(1)) if after is not None else found

    monkeypatch.setattr(feeding.Cut, "read", losing)
    (verdict,) = judged(
        data, "CREATE STREAM a AS SELECT k, COUNT(*) AS c FROM s GROUP BY k;"
    ).verdicts
    assert "1 batch" not in verdict.wrong
    (wrong,) = [found for run, found in verdict.wrong.items() if "restart" in run]
    assert {one.side for one in wrong} == {"the stream", "DuckDB"}
    assert all(set(one.row) == {"k", "c"} for one in wrong)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELECT COUNT(*) AS c FROM s GROUP BY countwindow(3)", "a counting window: it goes by the order in which"),
        ("SELECT COUNT(*) AS c FROM s GROUP BY statewindow(n > 1, n < 1)", "a state window"),
        ("SELECT APPROX_COUNT_DISTINCT(k) AS c FROM s", "the aggregate APPROX_COUNT_DISTINCT"),
        (f"SELECT MD5(k) AS m, COUNT(*) AS c FROM s GROUP BY MD5(k), {MINUTE}", "the function MD5"),
        ("SELECT CAST(k AS DOUBLE) AS c FROM s", "CAST of VARCHAR to DOUBLE"),
        ("SELECT timestampdiff(MONTH, ts, ts) AS c FROM s", "TIMESTAMPDIFF in 'month'"),
        ("SELECT k FROM s WITH (dedup_key = 'k')", "dedup_key: which row is the first goes by arrival"),
        (f"SELECT k, n FROM s GROUP BY {MINUTE} ORDER BY n LIMIT 2", "Top-N of rows"),
        (f"SELECT COUNT(*) AS c FROM s GROUP BY k, {MINUTE} WITH (max_groups = 1)", "a run with rows that are"),
        ("SELECT COUNT(*) AS c FROM s GROUP BY slidingwindow('ss', 5) EMIT ON UPDATE", "sliding windows that fire"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_named(data: Path, query: str, problem: str) -> None:
    (verdict,) = judged(data, f"CREATE STREAM a AS {query};", runs=2).verdicts
    assert verdict.problem.startswith(problem)
    assert verdict.problem.endswith("cannot be verified")


def test_window_ids_are_left_out(data: Path) -> None:
    found = same(data, f"CREATE STREAM a AS SELECT window_id, COUNT(*) AS c FROM s {CLOSE};")
    batch = found.verdicts[0].batch
    assert batch is not None
    assert (batch.left_out, [column.name for column in batch.compared]) == (("window_id",), ["c"])


def test_the_sql_says_which_rows_are_left_out(data: Path) -> None:
    program = planned(source(data) + f"SELECT SUM(1 / n) AS s FROM s {CLOSE};", prelude="")
    ((_, batch),) = batches_of(program)
    assert not isinstance(batch, str)
    assert "= 0" in batch.sql
    assert "NULLIF" in batch.sql


# Comparing


def compared(ours: Sequence[Any], theirs: Sequence[Any], kind: Scalar = Scalar.DOUBLE) -> list[str]:
    arrow = {Scalar.DOUBLE: pa.float64(), Scalar.BIGINT: pa.int64()}[kind]
    one, other = (pa.table({"v": pa.array(values, arrow)}) for values in (ours, theirs))
    found = differences(one, other, [Column("v", kind)], names=("we", "they"))
    return [f"{one.side} {one.row['v']}" for one in found]


def test_rows_are_compared_as_a_multiset() -> None:
    assert compared([1, 2, 2, None], [2, None, 1, 2], Scalar.BIGINT) == []
    assert compared([1, 2, 2], [1, 2], Scalar.BIGINT) == ["we 2"]
    assert compared([], [7], Scalar.BIGINT) == ["they 7"]


def test_floating_numbers_are_the_same_at_1e_9() -> None:
    assert compared([1.0, math.nan, None, math.inf], [math.inf, None, 1.0 + 1e-10, math.nan]) == []
    assert compared([1.0], [1.0 + 1e-8]) == ["we 1.0", "they 1.00000001"]
    assert compared([None], [0.0]) == ["we NULL", "they 0.0"]
    assert compared([0.0, 1.0], [1.0, 1.0]) == ["we 0.0", "they 1.0"]


def test_a_refusal_has_a_code() -> None:
    refusal = refused("a guess")
    assert (refusal.code, refusal.message) == ("TG-7010", "a guess cannot be verified")
