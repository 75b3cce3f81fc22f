"""CREATE SOURCE and CREATE TABLE: columns, computed columns, watermarks."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, planned, program, written
from tidegate.model.time import SECOND
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.logical import Project, Source


def source(columns: str) -> SourceDef:
    found = planned(f"CREATE SOURCE s ({columns})").catalog.find("S")
    assert isinstance(found, SourceDef)
    return found


def test_columns_physical_and_computed() -> None:
    made = source(
        "a BIGINT NOT NULL, b AS a + 1, c VARCHAR, d INT AS a, e DOUBLE NOT NULL AS a / 2"
    )
    assert [str(column) for column in made.physical] == ["a BIGINT NOT NULL", "c VARCHAR"]
    assert [(named.name, written(named.expr)) for named in made.columns] == [
        ("a", "a"),
        ("b", "(a + 1)"),
        ("c", "c"),
        ("d", "a::INTEGER"),
        ("e", "(a::DOUBLE / 2.0)"),
    ]
    assert made.not_null == {"a", "e"}
    assert (made.name, made.connector, made.kind) == ("s", "memory", "source")
    assert (
        made.text
        == "CREATE SOURCE s (a BIGINT NOT NULL, b AS a + 1, c VARCHAR, d INT AS a, e DOUBLE NOT NULL AS a / 2)"
    )


def test_computed_columns_are_a_projection_over_what_is_delivered() -> None:
    prelude = "CREATE SOURCE s (a BIGINT, b AS a + 1);"
    plan = logical("SELECT b FROM s", prelude=prelude)
    (base,) = nodes(Source, plan)
    assert base.columns.names == ("a",)
    assert len(nodes(Project, plan)) == 2
    assert len(nodes(Project, logical("SELECT bid FROM quotes"))) == 1


@pytest.mark.parametrize(
    ("watermark", "lag_us"),
    [
        ("WATERMARK FOR ts", None),
        ("WATERMARK FOR ts AS ts", 0),
        ("WATERMARK FOR TS AS ts - INTERVAL '5' SECOND", 5 * SECOND),
        ("WATERMARK FOR ts AS ts - INTERVAL '0' SECOND", 0),
        ("WATERMARK FOR ts AS ts + INTERVAL '-5' SECOND", 5 * SECOND),
        ("WATERMARK FOR ts AS (ts - INTERVAL '5s')", 5 * SECOND),
    ],
)
def test_watermarks(watermark: str, lag_us: int | None) -> None:
    made = source(f"a INT, ts TIMESTAMP, {watermark}").watermark
    assert made is not None
    assert (made.column, written(made.expr), made.lag_us) == ("ts", "ts", lag_us)


def test_a_watermark_over_a_computed_column() -> None:
    made = source(
        "ms BIGINT, ts AS TO_TIMESTAMP_MS(ms), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    ).watermark
    assert made is not None
    assert (made.column, written(made.expr), made.lag_us) == (
        "ts",
        "to_timestamp_ms(ms)",
        5 * SECOND,
    )


def test_tables() -> None:
    made = planned(
        "CREATE TABLE t (a INT, b AS a + 1) WITH (connector = 'file', path = 'x')"
    ).catalog.find("t")
    assert isinstance(made, TableDef)
    assert (made.physical.names, [named.name for named in made.columns]) == (("a",), ["a", "b"])
    assert (made.connector, made.options, made.kind) == ("file", {"path": "x"}, "table")


def columns(definition: str) -> str:
    return f"CREATE SOURCE s ({definition})"


@cases(
    (columns("a INT, «A» BIGINT"), "TG-2015", "column A is defined twice"),
    (columns('"$a" INT').replace('"$a"', '«"$a"»'), "TG-2019", "names that begin with $ belong to Tidegate"),
    (columns("a INT, b AS «c» + 1"), "TG-2002", "c", "columns are a"),
    (columns("a INT, b AS a + 1, c AS «b» + 1"), "TG-2002", "b", "columns are a"),
    (columns("a INT, b AS «SUM»(a)"), "TG-3001", "an aggregate (SUM) cannot stand in a computed column"),
    (columns("a INT, b AS «INTERVAL '5' SECOND»"), "TG-2022", "INTERVAL"),
    (columns("a DOUBLE, b VARCHAR AS «a»"), "TG-2010", "DOUBLE cannot be converted to VARCHAR"),
    (columns("ts TIMESTAMP, WATERMARK FOR «tss»"), "TG-2002", "tss", "did you mean ts?"),
    (columns("ts TIMESTAMP, WATERMARK FOR «zzz»"), "TG-2002", "zzz", "columns are ts"),
    (columns("ms BIGINT, WATERMARK FOR «ms»"),
     "TG-3030", "WATERMARK FOR ms: it is BIGINT, and must be TIMESTAMP", "TO_TIMESTAMP_MS(ms)"),
    (columns("t VARCHAR, WATERMARK FOR «t»"), "TG-3030", "it is VARCHAR", "CAST(t AS TIMESTAMP)"),
    (columns("p AS PROCTIME(), WATERMARK FOR «p»"), "TG-3030", "a PROCTIME() column has the clock"),
    (columns("ts TIMESTAMP, WATERMARK FOR ts AS «ts + INTERVAL '5' SECOND»"),
     "TG-3030", "its lag must not be negative", "ts - INTERVAL '5' SECOND"),
    (columns("ts TIMESTAMP, x TIMESTAMP, WATERMARK FOR ts AS «x»"), "TG-3030", "the column minus a literal INTERVAL"),
    (columns("ts TIMESTAMP, x TIMESTAMP, WATERMARK FOR ts AS «x - INTERVAL '5' SECOND»"),
     "TG-3030", "the column minus a literal INTERVAL"),
    (columns("ts TIMESTAMP, x TIMESTAMP, WATERMARK FOR ts AS «x + INTERVAL '-5' SECOND»"),
     "TG-3030", "the column minus a literal INTERVAL"),
    (columns("ts TIMESTAMP, WATERMARK FOR ts AS «DATE_TRUNC('hour', ts»)"),
     "TG-3030", "the column minus a literal INTERVAL"),
    (columns("a INT") + " WITH (event_time_field = «'b'»)", "TG-2002", "b", "columns are a"),
    (columns("ab INT") + " WITH (dedup_key = «'ab, ac'»)", "TG-2002", "ac", "columns are ab"),
)  # fmt: skip
def test_wrong_sources(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_all_that_is_wrong_is_reported() -> None:
    refused = program(
        "CREATE SOURCE s (a INT, b AS nope, c AS a + 'x', WATERMARK FOR a); "
        "CREATE SOURCE r (ts TIMESTAMP, WATERMARK FOR zzz) WITH (connector = 'zzz')"
    ).errors
    assert [error.code for error in refused] == ["TG-2002", "TG-2007", "TG-2002", "TG-4003"]
