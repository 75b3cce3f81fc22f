"""`dedup_key`: which rows it is about, and what is refused."""

import pytest

from tests.planning import PRELUDE, check_refusal, planned
from tidegate.model.types import Scalar
from tidegate.plan.physical import Routing, Stage, StageKind
from tidegate.plan.planner import plan_query
from tidegate.plan.settings import Settings

COUNT = "SELECT COUNT(*) AS n FROM {} GROUP BY TUMBLE(ts, '1m')"
CHANGING = (
    "CREATE STREAM s AS SELECT symbol, window_time AS t, COUNT(*) AS n FROM trades "
    "GROUP BY symbol, TUMBLE(ts, '1m') EMIT CHANGES; "
)
SOURCE = "CREATE SOURCE once (id BIGINT, ts TIMESTAMP, WATERMARK FOR ts) WITH (dedup_key = 'id', dedup_within = '1h'); "


def stage(sql: str, settings: Settings | None = None) -> Stage:
    program = planned(sql, prelude=PRELUDE, settings=settings)
    return plan_query(program.queries[-1], program).last


def test_a_key_of_the_query() -> None:
    made = stage(COUNT.format("trades") + " WITH (dedup_key = 'QTY, symbol', dedup_within = '5s')")
    assert made.dedup is not None
    assert [key.type for key in made.dedup.keys] == [Scalar.BIGINT, Scalar.VARCHAR]
    assert made.dedup.within_us == 5_000_000
    assert made.routing is Routing.ROWS
    assert "row by row" in next(one.reason for one in made.decisions if one.rule == "routing")


def test_a_key_of_the_source_is_about_its_own_rows() -> None:
    first = SOURCE + "CREATE STREAM one AS SELECT id, ts FROM once; "
    assert stage(first).dedup is not None
    assert stage(first).kind is StageKind.STATELESS
    minute = (
        SOURCE
        + "CREATE STREAM m AS SELECT COUNT(*) AS n, window_time AS t FROM once GROUP BY TUMBLE(ts, '1m'); "
    )
    assert stage(minute + "SELECT SUM(n) AS n FROM m GROUP BY TUMBLE(t, '1h')").dedup is None


def test_no_key() -> None:
    made = stage(COUNT.format("trades"))
    assert made.dedup is None
    assert made.routing is Routing.PARTIALS


@pytest.mark.parametrize("query", [COUNT.format("trades"), "SELECT qty FROM trades"])
def test_an_unknown_column(query: str) -> None:
    check_refusal(
        f"{query} WITH (dedup_key = «'qty, nope'»)",
        "TG-2002",
        "no column named nope",
        "columns are",
    )


def test_rows_that_change_cannot_be_told_apart() -> None:
    query = "SELECT SUM(n) AS n FROM s GROUP BY TUMBLE(t, '1h') WITH (dedup_key = «'symbol'»)"
    check_refusal(CHANGING + query, "TG-3018", "dedup_key", "let s EMIT ON WINDOW CLOSE")
