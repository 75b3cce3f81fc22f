"""What a program does with a session."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tidegate
from tidegate import TidegateError
from tidegate.engines.clock import ManualClock
from tidegate.session.answers import Subscription
from tidegate.session.session import Session

SOURCE = "CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND);"
SUMS = (
    "CREATE STREAM sums AS SELECT k, SUM(v) AS s, window_start, window_time FROM ev "
    "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);"
)


@pytest.fixture
def session() -> Iterator[Session]:
    with tidegate.connect({}, clock=ManualClock()) as opened:
        opened.sql(SOURCE)
        yield opened


def event(k: str | None, v: int | None, second: float) -> dict[str, Any]:
    return {"k": k, "v": v, "ts": datetime.fromtimestamp(second, UTC)}


def refusal(code: str) -> Any:
    return pytest.raises(TidegateError, check=lambda error: error.code == code)


def sums(rows: tidegate.session.answers.Rows) -> list[tuple[Any, Any]]:
    return [row[:2] for row in rows.fetchall()]


# Refusals of what is no SQL


def test_columns_of_several_lengths_are_refused(session: Session) -> None:
    with refusal("TG-7004"):
        session.insert("ev", {"k": ["a"], "v": [1, 2], "ts": [1, 2]})


@pytest.mark.parametrize("at", ["yesterday", None, True, 10**30])
def test_what_is_no_instant_is_refused(session: Session, at: object) -> None:
    with refusal("TG-7008"):
        session.watermark("ev", at)
    if at is not None:
        with refusal("TG-7008"):
            session.tick(at)


def test_levels_and_forms_that_are_not_there(session: Session) -> None:
    session.sql(SUMS)
    with refusal("TG-7009"):
        session.explain("sums", level="analyse")
    with refusal("TG-7009"):
        session.explain("sums", form="yaml")


# INSERT


WIDE = "CREATE SOURCE w (n TINYINT, a ARRAY<INT>, st STRUCT<x INT>, m MAP<VARCHAR, INT>, d DECIMAL(3, 1));"


def test_inserted_rows_arrive_in_the_order_in_which_they_are_written(session: Session) -> None:
    session.sql(
        "CREATE STREAM pairs AS SELECT FIRST_VALUE(v) AS a, SUM(v) AS s FROM ev GROUP BY countwindow(2)"
    )
    values = ", ".join(f"('k', {n}, TIMESTAMP '2026-01-01 00:00:00')" for n in range(40))
    session.sql(f"INSERT INTO ev VALUES {values}")
    assert [s for _, s in session.table("pairs").fetchall()] == [4 * n + 1 for n in range(20)]


def test_inserted_values_of_nested_columns(session: Session) -> None:
    session.sql(WIDE)
    rows = session.sql("SELECT n, a, st, m FROM w")
    session.sql(
        "INSERT INTO w VALUES (-128, ARRAY[1, NULL], NULL, NULL, 1.5), (NULL, NULL, NULL, NULL, NULL)"
    )
    assert rows.fetchall() == [(-128, [1, None], None, None), (None, None, None, None)]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("(1), (300)", "row 2: n has no value: invalid_cast"),
        ("(1 DIV 0)", "row 1: n has no value: division_by_zero"),
        ("(9223372036854775808)", "row 1: n has no value: invalid_cast"),
    ],
)
def test_values_that_are_none_are_refused(session: Session, values: str, problem: str) -> None:
    session.sql(WIDE)
    rows = session.sql("SELECT n FROM w")
    with refusal("TG-7004") as refused:
        session.sql(f"INSERT INTO w (n) VALUES {values}")
    assert problem in str(refused.value)
    assert rows.fetchall() == []


def test_decimals_and_elements_that_do_not_fit_are_refused(session: Session) -> None:
    session.sql(WIDE)
    for insert in (
        "(d) VALUES (1000)",
        "(d) VALUES (-100)",
        "(d) VALUES (99.97)",
        "(a) VALUES (ARRAY[1, 3000000000])",
    ):
        with refusal("TG-7004"):
            session.sql(f"INSERT INTO w {insert}")


def test_a_case_without_else_has_no_value_of_a_nested_type(session: Session) -> None:
    session.sql(WIDE)
    rows = session.sql(
        "SELECT n, CASE WHEN n = 1 THEN st END AS st, CASE WHEN n = 1 THEN m END AS m FROM w"
    )
    session.insert("w", [{"n": n, "st": {"x": n}, "m": {"y": n}} for n in (1, 2)])
    assert rows.fetchall() == [(1, {"x": 1}, [("y", 1)]), (2, None, None)]


# Rows in


@pytest.mark.parametrize(
    "rows",
    [
        [{"k": "a", "v": 1, "ts": 1_000}, {"K": "a", "v": 2, "ts": "1970-01-01T00:00:02Z"}],
        {"k": ["a", "a"], "v": [1, 2], "ts": [1_000, 2_000]},
        pa.table({"ts": pa.array([1_000, 2_000], pa.timestamp("ms")), "v": [1, 2], "k": ["a", "a"]}),
        pa.RecordBatch.from_pydict({"k": ["a", "a"], "v": pa.array([1, 2], pa.int8()), "ts": [1_000, 2_000]}),
        pl.DataFrame({"k": ["a", "a"], "v": [1, 2], "ts": [datetime(1970, 1, 1, 0, 0, s, tzinfo=UTC) for s in (1, 2)]}),
        pl.DataFrame({"k": pl.Series(["a", "a"], dtype=pl.Categorical), "v": [1, 2], "ts": [1_000, 2_000]}),
        pd.DataFrame({"k": ["a", "a"], "v": [1, 2], "ts": pd.to_datetime([1, 2], unit="s")}, index=[7, 8]),
    ],
    ids=["dicts", "columns", "table", "batch", "polars", "categories", "pandas"],
)  # fmt: skip
def test_rows_come_in_many_shapes(session: Session, rows: Any) -> None:
    session.sql(SUMS)
    assert session.insert("ev", rows) == 2
    session.end()
    assert sums(session.table("sums")) == [("a", 3)]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"k": "a", "w": 1}], "there is no column w"),
        ({"w": [1]}, "there is no column w"),
        ([{"k": "a"}, {"k": 1}], "row 2: k: 1 is no VARCHAR"),
        ([{"v": "x"}], "row 1: v: 'x' is no BIGINT"),
        ([{"ts": "soon"}], "row 1: ts: 'soon' is no TIMESTAMP"),
        ([{"ts": True}], "row 1: ts: True is no TIMESTAMP"),
        ({"v": ["1", "x"]}, "row 2: v: 'x' is no BIGINT"),
        (pa.table({"v": [[1]]}), "column v is list<item: int64>, and declared BIGINT"),
        ([("a", 1)], "row 1 is no dict, but tuple"),
        (5, "int holds no rows"),
        ("rows", "str holds no rows"),
    ],
)
def test_rows_that_do_not_fit_are_refused_whole(session: Session, rows: Any, problem: str) -> None:
    session.sql(SUMS)
    with refusal("TG-7004") as refused:
        session.insert("ev", rows)
    assert problem in refused.value.message
    assert session.metrics().get("epoch", -1) == -1


def test_values_of_every_type_arrive_as_they_are(session: Session) -> None:
    session.sql(
        "CREATE SOURCE t (d DATE, m DECIMAL(10, 2), a ARRAY<BIGINT>, p MAP<VARCHAR, BIGINT>, "
        "s STRUCT<x DOUBLE, at TIMESTAMP>, raw BINARY, ok BOOLEAN)"
    )
    rows = session.sql("SELECT * FROM t")
    at = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    given = {
        "d": date(2026, 1, 2),
        "m": Decimal("1.25"),
        "a": [1, None],
        "p": {"x": 1},
        "s": {"x": 0.5, "at": at},
        "raw": b"\x00\xff",
        "ok": True,
    }
    session.insert("t", [given, {}])
    first, second = rows.arrow().to_pylist()
    assert first == {**given, "p": [("x", 1)]}
    assert set(second.values()) == {None}


def test_insert_watermark_and_end_move_windows(session: Session) -> None:
    session.sql(SUMS)
    subscription = session.subscribe("sums")
    session.insert("ev", [event("a", 1, 1), event("a", 2, 9)])
    assert subscription.poll() is None
    session.watermark("ev", 9_999)
    assert subscription.poll() is None
    session.watermark("ev", datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC))
    assert sums(subscription) == [("a", 3)]
    session.insert("ev", [event("b", 5, 11)])
    session.end()
    assert sums(subscription) == [("b", 5)]
    with refusal("TG-7002"):
        session.insert("ev", [event("b", 5, 12)])


def test_sql_inserts_after_it_defines(session: Session) -> None:
    """Whatever the order in the text: whoever writes both wants to see the rows."""
    rows = session.sql(
        "INSERT INTO ev VALUES ('a', 1, TIMESTAMP '1970-01-01 00:00:01'); SELECT k, v + 1 AS w FROM ev"
    )
    assert rows.fetchall() == [("a", 2)]


def test_the_clock_is_set_by_hand(session: Session) -> None:
    session.sql(
        "CREATE STREAM every AS SELECT COUNT(*) AS n FROM ev EMIT EVERY INTERVAL '5' SECOND"
    )
    subscription = session.subscribe("every")
    session.insert("ev", [event("a", 1, 1)])
    session.tick(4_999)
    assert subscription.poll() is None
    session.tick(5_000)
    assert subscription.arrow().column("n").to_pylist() == [1]


def test_a_clock_that_cannot_be_set() -> None:
    with tidegate.connect({}) as session:
        session.sql(SOURCE)
        with refusal("TG-7006"):
            session.tick(5_000)


# Rows out


def test_a_select_is_live_until_it_is_closed(session: Session) -> None:
    rows = session.sql("SELECT k, v FROM ev WHERE v > 1")
    assert isinstance(rows, Subscription)
    session.insert("ev", [event("a", 1, 1), event("b", 2, 1)])
    assert rows.fetchall() == [("b", 2)]
    assert rows.fetchall() == []
    rows.close()
    session.insert("ev", [event("c", 3, 1)])
    assert rows.fetchall() == []
    assert "select_1" not in session.metrics()["stages"]


def test_iterating_ends_with_the_input(session: Session) -> None:
    session.sql(SUMS)
    batches = session.subscribe("sums")
    session.insert("ev", [event("a", 1, 1), event("a", 1, 11)])
    session.end()
    assert [batch.num_rows for batch in batches] == [1, 1]


def test_iterating_waits_for_another_thread(session: Session) -> None:
    session.sql(SUMS)
    subscription = session.subscribe("sums")

    def insert() -> None:
        session.insert("ev", [event("a", 1, 1), event("a", 1, 11)])
        session.end()

    inserting = threading.Timer(0.2, insert)
    inserting.start()
    assert sum(batch.num_rows for batch in subscription) == 2
    inserting.join()


def test_iterating_alone_does_not_wait_for_ever() -> None:
    code = f"""
import tidegate
with tidegate.connect({{}}) as session:
    session.sql({SOURCE + "CREATE STREAM o AS SELECT k FROM ev"!r})
    rows = session.subscribe("o")
    session.insert("ev", [{{"k": "a"}}])
    print([batch.num_rows for batch in rows])
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout == "[1]\n"


def test_async_iteration(session: Session) -> None:
    session.sql(SUMS)

    async def read() -> list[int]:
        counts = []
        subscription = session.subscribe("sums")
        inserting = asyncio.get_running_loop().run_in_executor(None, insert)
        async for batch in subscription:
            counts.append(batch.num_rows)
        await inserting
        return counts

    def insert() -> None:
        session.insert("ev", [event("a", 1, 1), event("a", 1, 11)])
        session.end()

    assert asyncio.run(asyncio.wait_for(read(), 30)) == [1, 1]


def test_a_table_has_the_newest_row_of_each_group(session: Session) -> None:
    session.sql("CREATE STREAM now AS SELECT k, SUM(v) AS s FROM ev GROUP BY k")
    assert session.table("now").fetchall() == []
    session.insert("ev", [event("a", 1, 1), event("b", 2, 1)])
    session.insert("ev", [event("a", 5, 1)])
    table = session.table("now")
    assert sorted(table.fetchall()) == [("a", 6), ("b", 2)]
    assert dict(table.pl().sort("k").iter_rows()) == {"a": 6, "b": 2}
    assert table.df().set_index("k")["s"].to_dict() == {"a": 6, "b": 2}
    assert table.arrow().column_names == ["k", "s"]
    assert len(table) == 2


def test_a_memory_sink_is_a_table(session: Session) -> None:
    session.sql(SUMS + "CREATE SINK kept FROM sums WITH (connector = 'memory')")
    session.insert("ev", [event("a", 1, 1), event("a", 1, 11)])
    session.end()
    assert sums(session.table("kept")) == [("a", 1), ("a", 1)]


def test_a_callback_sink_calls() -> None:
    seen: list[tuple[int, list[Any]]] = []

    def function(epoch: int, rows: pa.Table) -> None:
        seen.append((epoch, rows.column("v").to_pylist()))

    with tidegate.connect({}, callbacks={"out": function}) as session:
        session.sql(
            SOURCE
            + "CREATE STREAM o AS SELECT v FROM ev; CREATE SINK out FROM o WITH (connector = 'callback')"
        )
        session.insert("ev", [event("a", 1, 1), event("b", 2, 1)])
    assert seen == [(0, [1, 2])]


def test_a_sink_on_a_source(session: Session) -> None:
    session.sql("CREATE SINK raw FROM ev WITH (connector = 'memory')")
    session.insert("ev", [event("a", 1, 1)])
    assert session.table("raw").arrow().to_pylist() == [event("a", 1, 1)]


# Streams that come and go


def test_streams_that_are_there_keep_their_state(session: Session) -> None:
    session.sql(SUMS)
    session.insert("ev", [event("a", 1, 1)])
    session.sql(
        "CREATE STREAM counts AS SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);"
        "CREATE STREAM pairs AS SELECT SUM(s) AS s FROM sums GROUP BY TUMBLE(window_time, INTERVAL '20' SECOND)"
    )
    session.insert("ev", [event("a", 2, 2)])
    session.end()
    assert sums(session.table("sums")) == [("a", 3)]
    assert session.table("counts").fetchall() == [(1,)]
    assert session.table("pairs").fetchall() == [(3,)]


def test_a_stream_that_is_replaced_begins_anew(session: Session) -> None:
    session.sql(SUMS)
    session.insert("ev", [event("a", 1, 1)])
    session.sql(SUMS.replace("CREATE", "CREATE OR REPLACE").replace("SUM(v)", "MAX(v)"))
    session.insert("ev", [event("a", 7, 2), event("a", 2, 3)])
    session.end()
    assert sums(session.table("sums")) == [("a", 7)]


def test_lateness_changes_without_losing_state(session: Session) -> None:
    session.sql(SUMS)
    session.insert("ev", [event("a", 1, 1)])
    later = SUMS.replace(";", " ALLOWED LATENESS INTERVAL '5' SECOND;")
    session.sql(later.replace("CREATE", "CREATE OR REPLACE"))
    session.insert("ev", [event("a", 1, 12)])
    session.insert("ev", [event("a", 2, 2)])
    session.end()
    assert sums(session.table("sums")) == [("a", 3), ("a", 1)]


def test_a_stream_may_be_replaced_by_one_that_reads_a_later_one(session: Session) -> None:
    window = "window_time FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
    session.sql(f"CREATE STREAM a AS SELECT SUM(v) AS v, {window}")
    session.sql("CREATE STREAM b AS SELECT v + 1 AS v FROM a")
    session.sql(f"CREATE STREAM c AS SELECT SUM(v * 2) AS v, {window}")
    session.insert("ev", [event("x", 5, 1)])
    session.sql(
        "CREATE OR REPLACE STREAM a AS SELECT SUM(v) AS v, window_time FROM c "
        "GROUP BY TUMBLE(window_time, INTERVAL '10' SECOND)"
    )
    session.end()
    assert session.table("b").fetchall() == [(11,)]


def test_what_is_dropped_is_gone(session: Session) -> None:
    session.sql(SUMS)
    session.insert("ev", [event("a", 1, 1)])
    session.sql("DROP STREAM sums")
    session.insert("ev", [event("a", 1, 30)])
    assert session.metrics()["stages"] == {}
    with refusal("TG-2001"):
        session.subscribe("sums")


def test_a_refused_statement_changes_nothing(session: Session) -> None:
    with refusal("TG-2002") as refused:
        session.sql(SUMS + "SELECT x FROM ev;\nSELEC")
    assert (refused.value.line, refused.value.column) == (1, len(SUMS) + 8)
    assert "SELEC does not start" in refused.value.__notes__[0]
    assert session.sql("SHOW STREAMS").fetchall() == []


# Looking


def test_show_and_describe(session: Session) -> None:
    session.sql(SUMS + "CREATE TABLE names (k VARCHAR, name VARCHAR)")
    session.sql("CREATE SINK o FROM sums WITH (connector = 'console')")
    assert session.sql("SHOW SOURCES").arrow().to_pylist() == [
        {"name": "ev", "connector": "memory"}
    ]
    assert session.sql("SHOW TABLES").fetchall() == [("names", "memory")]
    assert session.sql("SHOW STREAMS").fetchall() == [("sums", "append", "ON WINDOW CLOSE")]
    assert session.sql("SHOW SINKS").fetchall() == [("o", "sums", "console")]
    assert session.sql("DESCRIBE ev").fetchall() == [
        ("k", "VARCHAR", "YES", None),
        ("v", "BIGINT", "YES", None),
        ("ts", "TIMESTAMP", "YES", "watermark"),
    ]
    assert session.sql("DESC sums").arrow().column("column_name").to_pylist()[:2] == ["k", "s"]
    assert session.sql("DESCRIBE o").fetchall() == [("connector", "console")]
    assert session.sql("SHOW CREATE STREAM sums").fetchall() == [("sums", SUMS)]
    assert session.sql("DROP SINK o").fetchall() == [("DROP SINK o",)]
    assert session.sql("SHOW SINKS").fetchall() == []


def test_explain_in_its_forms(session: Session) -> None:
    session.sql(SUMS)
    assert str(session.sql("EXPLAIN LOGICAL sums")).startswith("Emit mode=on_window_close")
    assert str(session.sql("EXPLAIN sums")).startswith("Plan sums plan_id=")
    assert str(session.sql("EXPLAIN FORMAT JSON SELECT k FROM ev")).startswith("{")
    assert session.explain("sums", level="logical") == str(session.sql("EXPLAIN LOGICAL sums"))
    assert session.explain("SELECT k FROM ev").startswith("Plan explained plan_id=")
    with refusal("TG-2001"):
        session.explain("sum")
    assert session.sql("SHOW STREAMS").fetchall() == [("sums", "append", "ON WINDOW CLOSE")]


def test_explain_analyze_says_what_was_measured(session: Session) -> None:
    session.sql(SUMS)
    session.insert("ev", [event("a", 1, 1), event("a", 2, 2)])
    told = session.explain("sums", level="analyze")
    assert "sums: rows=2 aggregated=2 filtered=0 diverted=0 emitted=0 ms=" in told
    assert "open_windows=1" in told


def test_explain_analyze_runs_what_is_not_running(tmp_path: Path) -> None:
    """By itself: no sink sees a row of it, and the session's own run begins with the first row."""
    place = files(tmp_path / "in", "a,1,1000\na,2,2000\n", "b,5,12000\n")
    out = tmp_path / "out"
    with tidegate.connect({}) as session:
        session.sql(SOURCE.replace(";", f" {place};") + SUMS)
        session.sql(f"CREATE SINK o FROM sums WITH (connector = 'file', path = '{out}')")
        told = session.explain("sums", level="analyze")
        assert "sums: rows=3 aggregated=3 filtered=0 diverted=0 emitted=2 ms=" in told
        select = "EXPLAIN ANALYZE SELECT SUM(s) AS s FROM sums GROUP BY TUMBLE(window_time, INTERVAL '1' MINUTE)"
        assert "explained: rows=2 aggregated=2" in str(session.sql(select))
        assert not out.exists()
        assert session.metrics() == {}


def test_explain_analyze_has_the_rows_of_the_same_text(session: Session) -> None:
    insert = "INSERT INTO ev VALUES ('a', 1, TIMESTAMP '1970-01-01 00:00:01');"
    told = str(session.sql(insert + "EXPLAIN ANALYZE SELECT k FROM ev WHERE v > 1"))
    assert "explained: rows=1 aggregated=0 filtered=1" in told


def test_set_holds_for_what_follows(session: Session) -> None:
    session.sql("SET allowed_lateness = '5s'; " + SUMS)
    assert "lateness=5s" in session.explain("sums", level="logical")


# Side outputs and figures


def test_diverted_rows_are_told_once(session: Session) -> None:
    session.sql(SUMS)
    session.insert("ev", [event("a", 1, 20)])
    session.insert("ev", [event("a", 9, 1)])
    (late,) = session.side("late")
    assert (late["reason"], late["original_event"]["v"]) == ("allowed_lateness_exceeded", 9)
    assert session.side("late") == []
    assert session.metrics()["diverted"] == {"late": 1}
    with refusal("TG-7005") as refused:
        session.side("lat")
    assert refused.value.hint == "did you mean late?"


def test_figures_add_up(session: Session) -> None:
    session.sql(SUMS.replace("FROM ev", "FROM ev WHERE v > 0"))
    session.insert("ev", [event("a", 1, 20), event("a", 0, 20), event("a", None, 20)])
    session.insert("ev", [event("a", 9, 1), event("b", 1, 21)])
    stage = session.metrics()["stages"]["sums"]
    assert session.metrics()["sources"] == {"ev": {"read": 5, "malformed": 0}}
    assert (stage["rows"], stage["aggregated"], stage["filtered"]) == (5, 2, 2)
    assert stage["diverted"] == {"late/allowed_lateness_exceeded": 1}


# State


def test_a_session_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    for second in (1, 2):
        with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
            session.sql(SOURCE + SUMS)
            session.insert("ev", [event("a", second, second)])
    with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
        session.sql(SOURCE + SUMS)
        session.end()
        assert sums(session.table("sums")) == [("a", 3)]


def test_streams_that_were_added_belong_to_the_checkpoint(tmp_path: Path) -> None:
    more = "CREATE STREAM counts AS SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
    with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
        session.sql(SOURCE + SUMS)
        session.insert("ev", [event("a", 1, 1)])
        session.sql(more)
        session.sql("SELECT k FROM ev")  # is nobody's business but this session's
        session.insert("ev", [event("a", 1, 1)])
    with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
        session.sql(SOURCE + SUMS + more)
        session.end()
        assert sums(session.table("sums")) == [("a", 2)]
        assert session.table("counts").fetchall() == [(1,)]


def test_another_plan_is_refused_and_reset_starts_over(tmp_path: Path) -> None:
    with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
        session.sql(SOURCE + SUMS)
        session.insert("ev", [event("a", 1, 1)])
    other = SOURCE + SUMS.replace("SUM(v)", "MIN(v)")
    with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
        session.sql(other)
        with refusal("TG-5003"):
            session.end()
    with tidegate.connect({}, checkpoint=tmp_path / "state", reset_state=True) as session:
        session.sql(other)
        session.end()
        assert session.table("sums").fetchall() == []


def test_a_checkpoint_is_let_go_of_when_something_else_is_refused(tmp_path: Path) -> None:
    """The second try must not find it locked by the first."""
    with tidegate.connect({}, checkpoint=tmp_path / "state") as session:
        session.sql(
            SOURCE + "CREATE TABLE t (k VARCHAR) WITH (connector = 'file', path = 'no/t.csv')"
        )
        for _ in range(2):
            with refusal("TG-6002"):
                session.insert("ev", [event("a", 1, 1)])


def test_a_closed_session_says_so(session: Session) -> None:
    session.close()
    session.close()
    for use in (lambda: session.sql("SHOW SOURCES"), lambda: session.insert("ev", [])):
        with refusal("TG-7003"):
            use()


# Sources of their own


def files(directory: Path, *contents: str) -> str:
    directory.mkdir()
    for number, content in enumerate(contents):
        (directory / f"{number}.csv").write_text(f"k,v,ts\n{content}")
    return f"WITH (connector = 'file', path = '{directory}', format = 'csv', settle = '0s')"


def test_a_run_in_the_background_ends_with_its_sources(tmp_path: Path) -> None:
    place = files(tmp_path / "in", "a,1,1000\na,2,2000\n", "b,5,12000\n")
    with tidegate.connect({}, bounded=True) as session:
        session.sql(SOURCE.replace(";", f" {place};") + SUMS)
        subscription = session.subscribe("sums")
        session.run()
        assert sorted(row[:2] for batch in subscription for row in Batch(batch)) == [
            ("a", 3),
            ("b", 5),
        ]
        assert session.wait(30)


class Batch:
    """Rows of a batch, as tuples."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter([tuple(row.values()) for row in self._batch.to_pylist()])


def test_a_run_waits_for_more_until_it_is_stopped(tmp_path: Path) -> None:
    place = files(tmp_path / "in", "a,1,1000\n")
    with tidegate.connect({}, bounded=False) as session:
        session.sql(SOURCE.replace(";", f" {place};") + "CREATE STREAM o AS SELECT k, v FROM ev")
        subscription = session.subscribe("o")
        session.run()
        first = subscription.poll(30)
        (tmp_path / "in" / "more.csv").write_text("k,v,ts\nb,2,2000\n")
        second = subscription.poll(30)
        assert first is not None
        assert second is not None
        assert [*Batch(first), *Batch(second)] == [("a", 1), ("b", 2)]
        assert not session.wait(0)
        session.stop()
        assert session.wait(0)
        assert session.metrics()["emitted"] == {"o": 2}


def test_time_goes_on_in_the_background(session: Session) -> None:
    session.sql(
        "CREATE STREAM every AS SELECT COUNT(*) AS n FROM ev EMIT EVERY INTERVAL '5' SECOND"
    )
    subscription = session.subscribe("every")
    session.insert("ev", [event("a", 1, 1)])
    session.run()
    assert subscription.poll(0.2) is None
    assert isinstance(session.clock, ManualClock)
    session.clock.set_us(5_000_000)
    batch = subscription.poll(30)
    assert batch is not None
    assert batch.column("n").to_pylist() == [1]


def test_what_goes_wrong_in_the_background_is_raised(tmp_path: Path) -> None:
    place = files(tmp_path / "in", "a,1,1000\n")
    (tmp_path / "in" / "1.csv").write_bytes(b"\xff\xfe\x00")
    with tidegate.connect({}, bounded=True) as session:
        session.sql(SOURCE.replace(";", f" {place};") + SUMS)
        subscription = session.subscribe("sums")
        session.run()
        with refusal("TG-6004"):
            session.wait(30)
        with refusal("TG-6004"):
            list(subscription)


# Aggregates in Python


class Product:
    arguments = ("BIGINT",)
    returns = "BIGINT"

    def init(self) -> list[int]:
        return [1]

    def accumulate(self, state: list[int], value: int) -> None:
        state[0] *= value

    def merge(self, one: list[int], other: list[int]) -> list[int]:
        return [one[0] * other[0]]

    def finish(self, state: list[int]) -> int:
        return state[0]


def test_an_aggregate_in_python() -> None:
    with tidegate.connect({}, aggregates={"product": Product}) as session:
        session.sql(SOURCE + SUMS.replace("SUM(v)", "PRODUCT(v)"))
        session.insert("ev", [event("a", 3, 1), event("a", 5, 2)])
        session.end()
        assert sums(session.table("sums")) == [("a", 15)]


def test_an_unknown_engine() -> None:
    with refusal("TG-4012"):
        tidegate.connect({}, engine="flink")


def test_spark_settings_are_not_for_the_engine_in_process() -> None:
    with refusal("TG-4014"):
        tidegate.connect({}, master="local[2]")


def test_settings_that_are_wrong() -> None:
    with refusal("TG-4008"):
        tidegate.connect({"defaults": {"watermark_lug": "5s"}})
