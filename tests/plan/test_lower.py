"""Lowering: what is computed per row, and what stays behind the seam."""

from tidegate.plan.display import show
from tidegate.plan.physical import Stage
from tidegate.plan.planner import plan_query
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

TRADES = "CREATE SOURCE t (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
OVER = (
    "OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW)"
)


def stage(query: str) -> Stage:
    program = plan_script(parse_script(SourceText(TRADES + query)), Settings())
    assert not program.errors
    return plan_query(program.queries[-1], program).last


def row_columns(query: str) -> list[str]:
    return [show(named.expr) for named in stage(query).branches[0].columns]


def test_parts_about_rows_alone_are_computed_per_row() -> None:
    assert "v + 1" in row_columns(f"SELECT MAX(v) {OVER} - (v + 1 - 1) AS x, v + 1 AS y FROM t")


def test_a_part_that_may_fail_stays_behind_its_guard() -> None:
    guarded = f"CASE WHEN SUM(v) {OVER} = 0 THEN 1 ELSE v DIV (v - 1) END"
    assert row_columns(f"SELECT {guarded} AS x FROM t") == ["v", "k"]
    assert "v DIV 2" not in row_columns(f"SELECT {guarded} AS x FROM t")


def test_a_part_that_is_not_guarded_fails_with_its_row() -> None:
    assert "v DIV (v - 1)" in row_columns(f"SELECT v DIV (v - 1) AS x, MAX(v) {OVER} AS m FROM t")


SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"


def test_sessions_that_are_not_grouped_by_their_keys_are_kept_per_key() -> None:
    made = stage(f"SELECT COUNT(*) AS n FROM {SESSION} GROUP BY window_start, window_end")
    assert [show(made.branches[0].columns[0].expr)] == ["k"]
    assert len(made.partition_by) == 1


def test_sessions_that_are_grouped_by_their_keys_need_no_partition() -> None:
    made = stage(f"SELECT k, COUNT(*) AS n FROM {SESSION} GROUP BY window_start, window_end, k")
    assert made.partition_by == ()
    assert len(made.keys) == 1
