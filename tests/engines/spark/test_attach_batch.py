"""The batch twin: over static DataFrames, what the same SQL would have emitted in the end."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidegate import connect, errors
from tidegate.errors import TidegateError
from tidegate.spark import attach
from tidegate.spark.attached import Attached

pytestmark = pytest.mark.spark

START = datetime(2026, 1, 1)  # noqa: DTZ001 (what Spark takes and gives: the session's zone, which is UTC)
ROWS = [
    (f"k{n % 3}", n, START + timedelta(seconds=(7 * n) % 100)) for n in range(60)
]  # out of order
SCHEMA = "k string, v bigint, at timestamp"
QUERIES = {
    "tumble": "SELECT k, window_start, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)",
    "hop": "SELECT k, window_start, COUNT(*) AS s FROM ev GROUP BY k, "
    "HOP(at, INTERVAL '5' SECOND, INTERVAL '20' SECOND)",
    "session": "SELECT k, window_start, MAX(v) AS s FROM ev GROUP BY k, SESSION(at, INTERVAL '4' SECOND)",
    "update": "SELECT k, SUM(v) AS s FROM ev GROUP BY k EMIT ON UPDATE",
    "changes": "SELECT k, COUNT(*) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '30' SECOND) EMIT CHANGES",
    "top": "SELECT k, v FROM ev GROUP BY k, v, TUMBLE(at, INTERVAL '30' SECOND) ORDER BY v DESC LIMIT 2",
    "rows": "SELECT k, v * 2 AS s FROM ev WHERE v > 50",
    "over": "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY at RANGE BETWEEN INTERVAL '9' SECOND PRECEDING "
    "AND CURRENT ROW) AS s FROM ev",
    "cascade": "CREATE STREAM a AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND); "
    "CREATE STREAM b AS SELECT MAX(s) AS s, window_end FROM a GROUP BY tumblingwindow('ss', 50)",
    "nobody": "SELECT k, SUM(v) AS s FROM ev WHERE v > 1000 GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)",
}


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


def in_process(sql: str) -> Counter[tuple[Any, ...]]:
    """What the other engine has in the end."""
    created = "CREATE SOURCE ev (k VARCHAR, v BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)"
    with connect({}) as session:
        session.sql(created)
        text = sql if sql.startswith("CREATE") else f"CREATE STREAM b AS {sql}"
        session.sql(text)
        session.insert("ev", [{"k": k, "v": v, "at": at.replace(tzinfo=UTC)} for k, v, at in ROWS])
        session.end()
        rows = session.table("b").fetchall()
    return Counter(tuple(_plain(value) for value in row) for row in rows)


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


@pytest.mark.parametrize("name", list(QUERIES))
def test_the_answer_is_that_of_the_stream(name: str, spark: SparkSession, frame: DataFrame) -> None:
    answer = attach(spark).register("ev", frame).batch(QUERIES[name])
    expected = in_process(QUERIES[name])
    assert Counter(map(tuple, answer.collect())) == expected
    assert (not expected) == (name == "nobody")
    assert answer.schema.fieldNames()[0] in ("k", "s")


def test_a_joined_frame_is_a_table(spark: SparkSession, frame: DataFrame) -> None:
    names = spark.createDataFrame([("k0", "zero"), ("k1", "one")], "k string, name string")
    tide = attach(spark).register("ev", frame).register("names", names)
    answer = tide.batch("""
        SELECT n.name, SUM(v) AS s FROM ev JOIN names AS n ON ev.k = n.k
        GROUP BY n.name, TUMBLE(at, INTERVAL '1' HOUR)""")
    assert sorted(map(tuple, answer.collect())) == [("one", 590), ("zero", 570)]


def test_two_inputs_and_a_named_stream(spark: SparkSession, frame: DataFrame) -> None:
    tide = attach(spark).register("ev", frame).register("more", frame)
    sql = """
        CREATE STREAM per_key AS SELECT k, COUNT(*) AS n FROM (SELECT * FROM ev UNION ALL SELECT * FROM more)
        GROUP BY k, TUMBLE(at, INTERVAL '1' HOUR);
        CREATE STREAM total AS SELECT SUM(n) AS n FROM per_key GROUP BY tumblingwindow('hh', 24)"""
    assert tide.batch(sql).collect()[0].n == 120
    assert sorted(map(tuple, tide.batch(sql, stream="per_key").collect())) == [
        ("k0", 40),
        ("k1", 40),
        ("k2", 40),
    ]


def test_the_owners_settings_count_and_stay(spark: SparkSession) -> None:
    """A text becomes an instant in the owner's time zone, and rows that are cached stay cached."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    texts = session.createDataFrame([("2026-01-01 09:00:05",)], "text string")
    frame = texts.select(f.col("text").cast("timestamp").alias("at")).cache()
    try:
        assert frame.count() == 1
        tide = attach(session).register("ev", frame)
        answer = tide.batch(
            "SELECT window_start AS at, COUNT(*) AS n FROM ev GROUP BY TUMBLE(at, INTERVAL '10' SECOND)"
        )
        (row,) = answer.select(f.col("at").cast("string"), "n").collect()
        assert tuple(row) == ("2026-01-01 09:00:00", 1)
        assert answer.sparkSession is session
        assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert frame.is_cached
        assert frame.storageLevel.useMemory
        assert session.catalog.listTables() == []
    finally:
        frame.unpersist()


def test_every_type(spark: SparkSession) -> None:
    frame = spark.sql("""
        SELECT true AS a, 1Y AS b, 2S AS c, 3 AS d, 4L AS e, CAST(0.5 AS FLOAT) AS f, 0.25D AS g, 'x' AS h,
            X'FF' AS i, DATE '2026-01-02' AS j, TIMESTAMP '2026-01-01 00:00:01' AS k,
            TIMESTAMP_NTZ '2026-01-01 00:00:02' AS l, 1.50BD AS m, array(1, 2) AS n, map('p', 1L) AS o,
            named_struct('q', TIMESTAMP_NTZ '2026-01-01 00:00:03') AS p, 'Y' COLLATE UTF8_LCASE AS r""")
    tide = attach(spark).register("ev", frame)
    answer = tide.batch("SELECT * FROM ev")
    assert [field.dataType.simpleString() for field in answer.schema] == [
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "date"),
        *("timestamp", "timestamp", "decimal(3,2)", "array<int>", "map<string,bigint>"),
        *("struct<q:timestamp>", "string"),
    ]  # fmt: skip
    (row,) = answer.collect()
    assert row[:9] == (True, 1, 2, 3, 4, 0.5, 0.25, "x", bytearray(b"\xff"))
    assert row[9:13] == (
        date(2026, 1, 2),
        START + timedelta(seconds=1),
        START + timedelta(seconds=2),
        Decimal("1.50"),
    )
    assert row.n == [1, 2]
    assert row.o == {"p": 1}
    assert row.p.q == START + timedelta(seconds=3)
    assert row.r == "Y"


# What is refused


def refused(kind: errors.ErrorKind, call: Any) -> TidegateError:
    with pytest.raises(TidegateError) as raised:
        call()
    assert raised.value.code == kind.code
    return raised.value


@pytest.mark.parametrize(
    ("columns", "kind", "told"),
    [
        ("INTERVAL '1' DAY AS i", errors.frame_column, "column i is interval day"),
        ("array(NULL) AS n", errors.frame_column, "column n is array<void>"),
        ("parse_json('1') AS v", errors.frame_column, "column v is variant"),
        ("1 AS a, 2 AS A", errors.frame_columns, "columns a and A"),
        ("1 AS `$a`", errors.frame_columns, "$a"),
    ],
)
def test_frames_that_sql_cannot_have(
    columns: str, kind: errors.ErrorKind, told: str, spark: SparkSession
) -> None:
    frame = spark.sql(f"SELECT {columns}")
    assert told in refused(kind, lambda: attach(spark).register("ev", frame)).message


def test_a_frame_without_columns(spark: SparkSession) -> None:
    frame = spark.range(1).drop("id")
    told = refused(errors.frame_columns, lambda: attach(spark).register("ev", frame))
    assert "no columns" in told.message


@pytest.mark.parametrize(
    ("more", "kind", "told"),
    [
        ({"event_time": "att"}, errors.frame_time, "did you mean at?"),
        ({"event_time": "v"}, errors.frame_time, "make one first"),
        ({"watermark_lag": "soon"}, errors.bad_option_value, ""),
        ({"watermark_lag": timedelta(seconds=-1)}, errors.bad_option_value, ""),
        ({"idle_timeuot": "5s"}, errors.unknown_option, "did you mean idle_timeout?"),
        ({"session_gap": "inclusive"}, errors.unknown_option, "there are"),
    ],
)
def test_times_and_options_that_make_no_sense(
    more: dict[str, Any], kind: errors.ErrorKind, told: str, spark: SparkSession, frame: DataFrame
) -> None:
    refusal = refused(kind, lambda: attach(spark).register("ev", frame, **more))
    assert told in refusal.hint


def test_over_spark_connect() -> None:
    """The session of a client has another class; that it would not do has been tried (docs/spark.md)."""
    remote: Any = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    assert "driver" in refused(errors.no_spark_connect, lambda: attach(remote)).hint


def test_what_is_no_frame(spark: SparkSession) -> None:
    frame: Any = [1, 2]
    told = refused(errors.not_a_frame, lambda: attach(spark).register("ev", frame))
    assert "list is no DataFrame" in told.message


STATEMENTS = {
    "no query": ("SET idle_timeout = '5s'", errors.no_result),
    "a row by hand": ("INSERT INTO ev VALUES ('a', 1, NULL)", errors.cannot_run),
    "an unknown name": ("SELECT k FROM evv", errors.unknown_relation),
}


@pytest.mark.parametrize("name", list(STATEMENTS))
def test_statements_without_an_answer(name: str, spark: SparkSession, frame: DataFrame) -> None:
    text, kind = STATEMENTS[name]
    refused(kind, lambda: attach(spark).register("ev", frame).batch(text))


def attached(spark: SparkSession, frame: DataFrame) -> Attached:
    streaming = spark.readStream.format("rate").load()
    return attach(spark).register("ev", frame).register("ticks", streaming, event_time="timestamp")


def test_what_a_program_may_not_say(spark: SparkSession, frame: DataFrame) -> None:
    tide = attached(spark, frame)
    refused(errors.cannot_run, lambda: tide.sql("SELECT value FROM ticks"))
    refused(errors.cannot_run, lambda: tide.sql("INSERT INTO ev VALUES ('a', 1, NULL)"))
    refused(errors.nothing_to_run, tide.start)
    refused(errors.unknown_relation, lambda: tide.table("tick"))
    refused(errors.unknown_relation, lambda: tide.explain("tick"))
    refused(errors.unknown_relation, lambda: tide.batch("SELECT k FROM ev", stream="tick"))
    refused(errors.unknown_relation, lambda: tide.foreach_batch("ev", print))
    for trigger in (
        "sometimes",
        {"continuous": "1 second"},
        {"availableNow": True, "processingTime": "1s"},
    ):
        refused(errors.bad_trigger, lambda trigger=trigger: tide.start(trigger=trigger))
    tide.sql(
        "CREATE STREAM n AS SELECT COUNT(*) AS n FROM ticks GROUP BY TUMBLE(timestamp, INTERVAL '1' SECOND)"
    )
    refused(errors.cannot_run, lambda: tide.explain("n", level="analyze"))
    refused(errors.cannot_run, lambda: tide.sql("EXPLAIN ANALYZE n"))
    refused(errors.in_use, lambda: tide.register("ticks", frame))
    refused(errors.name_in_use, lambda: tide.register("n", frame))


def test_a_rate_source_and_one_run_at_a_time(spark: SparkSession, frame: DataFrame) -> None:
    """The watermark follows the rows; what stops a query of ours behind our back ends the run with a word."""
    tide = attached(spark, frame)
    tide.sql(
        "CREATE STREAM n AS SELECT COUNT(*) AS n, window_end FROM ticks GROUP BY TUMBLE(timestamp, INTERVAL '1' SECOND)"
    )
    run = tide.start(trigger="500 milliseconds")
    try:
        refused(errors.run_is_active, tide.start)
        refused(errors.run_is_active, lambda: tide.sql("SHOW STREAMS"))
        refused(errors.run_is_active, lambda: tide.register("more", frame))
        while tide.table("n").count() < 2:
            assert not run.awaitTermination(0.2)
        assert {row.n for row in tide.table("n").collect()} == {1}
        (query,) = [
            one for one in spark.streams.active if (one.name or "").startswith("tidegate.ticks.")
        ]
        query.stop()
        refused(errors.frame_stopped, lambda: run.awaitTermination(20))
    finally:
        run.stop()
    assert "ticks" in run.status["message"]
