"""Inputs deliver what is used, and the diverted rows still come whole."""

from tests.plan.rules.stages import decisions, lowered
from tidegate.plan.physical import Stage
from tidegate.plan.row_sql import row_queries
from tidegate.plan.rules.predicates import push_predicates
from tidegate.plan.rules.projections import RULE, push_projections
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation


def narrowed(sql: str) -> Stage:
    return push_projections(push_predicates(lowered(sql), {}), {})


def read(stage: Stage) -> list[str]:
    return [physical for _, physical in stage.branches[0].input.columns]


def test_only_what_something_is_computed_from_is_read() -> None:
    stage = narrowed(
        "SELECT symbol, SUM(qty) FILTER (WHERE ok) FROM trades WHERE price > 0 "
        "GROUP BY symbol, TUMBLE(ts, INTERVAL '1' DAY)"
    )
    assert read(stage) == ["symbol", "price", "qty", "ok", "ts"]
    (made,) = decisions(stage, RULE)
    assert made.choice == "trades delivers 5 of 12 columns"


def test_nothing_is_said_where_all_are_used() -> None:
    stage = narrowed("SELECT * FROM trades")
    assert len(read(stage)) == 12
    assert decisions(stage, RULE) == []


def test_a_table_delivers_what_its_own_condition_reads() -> None:
    stage = narrowed(
        "SELECT COUNT(*) FROM trades t JOIN symbols s ON t.symbol = s.symbol WHERE s.lot > 2 "
        "GROUP BY TUMBLE(ts, INTERVAL '1' DAY)"
    )
    lookup = stage.branches[0].lookups[0]
    assert [physical for _, physical in lookup.table.columns] == ["symbol", "lot"]
    assert [named.name for named in lookup.columns] == ["s.symbol"]


def test_diverted_rows_are_whole() -> None:
    stage = narrowed("SELECT COUNT(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' DAY)")
    assert read(stage) == ["ts"]
    text = render_relation(row_queries(stage, stage.branches[0]).diverted, Engine.DATAFUSION)
    assert '"counts"' in text
