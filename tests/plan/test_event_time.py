"""The ladder of event time, and what moves the watermark, for every way of saying it."""

from dataclasses import dataclass

import pytest

from tests.planning import logical, nodes, the, written
from tidegate.model.policies import TimeMode, WatermarkOrigin
from tidegate.model.time import SECOND
from tidegate.plan.logical import EventTime, Filter, TableJoin, UnionAll, inputs
from tidegate.plan.settings import Settings

QUERY, DECLARED, OPTION, METADATA = "query", "declared", "option", "metadata"
ROWS, EXPLICIT, UPSTREAM, CLOCK, NONE = WatermarkOrigin


@dataclass(frozen=True)
class Declaration:
    """A source: columns ts, at and received (when asked for), its watermark, connector and options."""

    watermark: str = ""
    options: str = ""
    columns: str = ""


WITH_LAG = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
EXPLICITLY = "WATERMARK FOR ts"
KAFKA = "connector = 'kafka', topic = 't', 'bootstrap.servers' = 'b'"
RECEIVED = "received_at TIMESTAMP"


def source(declaration: Declaration) -> str:
    parts = [
        "k VARCHAR",
        "ts TIMESTAMP",
        "at TIMESTAMP",
        declaration.columns,
        declaration.watermark,
    ]
    options = f" WITH ({declaration.options})" if declaration.options else ""
    return f"CREATE SOURCE s ({', '.join(filter(None, parts))}){options};"


def event_time(declaration: Declaration, query: str, settings: Settings | None = None) -> EventTime:
    plan = logical(
        f"SELECT COUNT(*) AS n FROM s {query}", prelude=source(declaration), settings=settings
    )
    return the(EventTime, plan)


def ladder(time: EventTime) -> list[tuple[str, str]]:
    return [(step.rung.value, written(step.expr)) for step in time.ladder if step.expr is not None]


BY_TS = "GROUP BY TUMBLE(ts, '10s') EMIT ON UPDATE"
BY_AT = "GROUP BY TUMBLE(at, '10s') EMIT ON UPDATE"
UNNAMED = "GROUP BY tumblingwindow('ss', 10) EMIT ON UPDATE"


@pytest.mark.parametrize(
    ("declared", "query", "rungs", "origin", "lag_s"),
    [
        # what the source declares
        (Declaration(WITH_LAG), UNNAMED, [(DECLARED, "ts")], ROWS, 5),
        (Declaration(WITH_LAG), BY_TS, [(QUERY, "ts")], ROWS, 5),
        (Declaration(WITH_LAG), BY_AT, [(QUERY, "at"), (DECLARED, "ts")], ROWS, 5),
        (Declaration("WATERMARK FOR ts AS ts"), UNNAMED, [(DECLARED, "ts")], ROWS, 0),
        (Declaration(EXPLICITLY), UNNAMED, [(DECLARED, "ts")], EXPLICIT, 0),
        (Declaration(EXPLICITLY), BY_TS, [(QUERY, "ts")], EXPLICIT, 0),
        (Declaration(EXPLICITLY), BY_AT, [(QUERY, "at"), (DECLARED, "ts")], NONE, 0),
        # nothing but what the query names
        (Declaration(), BY_TS, [(QUERY, "ts")], NONE, 0),
        (Declaration(options="watermark_lag = '3s'"), BY_TS, [(QUERY, "ts")], ROWS, 3),
        (Declaration(), BY_TS + " WITH (watermark_lag = '2s')", [(QUERY, "ts")], ROWS, 2),
        (Declaration(), "WINDOW TUMBLING (SIZE '10s' ON ts) WATERMARK('4s') EMIT ON UPDATE", [(QUERY,
         "ts")], ROWS, 4),
        # the option
        (Declaration(options="event_time_field = 'ts'"), UNNAMED, [(OPTION, "ts")], ROWS, 0),
        (Declaration(options="event_time_field = 'ts', watermark_lag = '3s'"), UNNAMED, [(OPTION, "ts")], ROWS, 3),
        (Declaration(options="event_time_field = 'ts'"), BY_AT, [(QUERY, "at"), (OPTION, "ts")], ROWS, 0),
        (Declaration(options="event_time_field = 'ts'"), BY_TS, [(QUERY, "ts")], NONE, 0),
        (Declaration(WITH_LAG, "event_time_field = 'at'"), UNNAMED, [(DECLARED, "ts"), (OPTION, "at")], ROWS, 5),
        (Declaration(WITH_LAG, "event_time_field = 'ts'"), UNNAMED, [(DECLARED, "ts")], ROWS, 5),
        # metadata
        (Declaration(columns=RECEIVED), UNNAMED, [(METADATA, "received_at")], ROWS, 0),
        (Declaration(columns='"@timestamp" TIMESTAMP'), UNNAMED, [(METADATA, "@timestamp")], ROWS, 0),
        (Declaration(columns="received_at VARCHAR", options=KAFKA), UNNAMED, [(METADATA, "$source_time")], ROWS, 0),
        (Declaration(options=KAFKA), UNNAMED, [(METADATA, "$source_time")], ROWS, 0),
        (Declaration(options="connector = 'file', path = 'x'"), UNNAMED, [(METADATA, "$source_time")], ROWS, 0),
        (Declaration(options="connector = 'file', path = 'x'"), BY_TS, [(QUERY, "ts")], NONE, 0),
        (
            Declaration(options="connector = 'file', path = 'x', on_missing_event_time = 'fallback'"),
            BY_TS,
            [(QUERY, "ts"), (METADATA, "$source_time")],
            NONE,
            0,
        ),
        (Declaration(options="connector = 'http', url = 'x'"), UNNAMED, [(METADATA, "$source_time")], ROWS, 0),
        (Declaration(WITH_LAG, KAFKA, RECEIVED), UNNAMED, [(DECLARED, "ts"), (METADATA, "received_at")], ROWS, 5),
        (Declaration(options=KAFKA), BY_TS, [(QUERY, "ts"), (METADATA, "$source_time")], NONE, 0),
        # who says the lag
        (Declaration(WITH_LAG), UNNAMED + " WITH (watermark_lag = '1s')", [(DECLARED, "ts")], ROWS, 1),
        (Declaration(WITH_LAG), "WINDOW TUMBLING (SIZE '10s') WATERMARK('0s') EMIT ON UPDATE", [(DECLARED,
         "ts")], ROWS, 0),
        (Declaration(WITH_LAG),
         "WINDOW TUMBLING (SIZE '10s') WATERMARK('0s') EMIT ON UPDATE WITH (watermark_lag = '9s')",
         [(DECLARED, "ts")], ROWS, 0),
        (Declaration(EXPLICITLY), UNNAMED + " WITH (watermark_lag = '1s')", [(DECLARED, "ts")], ROWS, 1),
    ],
)  # fmt: skip
def test_ladder_and_watermark(
    declared: Declaration,
    query: str,
    rungs: list[tuple[str, str]],
    origin: WatermarkOrigin,
    lag_s: int,
) -> None:
    time = event_time(declared, query)
    assert ladder(time) == rungs
    assert (time.mode, time.watermark, time.lag_us) == (TimeMode.EVENT, origin, lag_s * SECOND)


@pytest.mark.parametrize(
    ("declared", "query"),
    [
        (Declaration(), UNNAMED),  # nothing says an event time
        (Declaration(options="connector = 'socket', hostname = 'h', port = 1"), UNNAMED),
        (Declaration(options="connector = 'generator'"), UNNAMED),
        (Declaration(columns="p AS PROCTIME()"), "GROUP BY TUMBLE(p, '10s') EMIT ON UPDATE"),
        (
            Declaration(WITH_LAG, columns="p AS PROCTIME()"),
            "GROUP BY TUMBLE(p, '10s') EMIT ON UPDATE",
        ),
        (Declaration(), "GROUP BY TUMBLE(PROCTIME(), '10s') EMIT ON UPDATE"),
        (Declaration(WITH_LAG), UNNAMED + " WITH (time = 'processing')"),
        (Declaration(WITH_LAG, "time = 'processing'"), UNNAMED),
    ],
)
def test_the_clock(declared: Declaration, query: str) -> None:
    time = event_time(declared, query)
    assert ladder(time) == [("processing", "clock_us")]
    assert (time.mode, time.watermark, time.lag_us) == (TimeMode.PROCESSING, CLOCK, 0)


def test_a_time_that_the_query_names_beats_processing_time() -> None:
    time = event_time(Declaration(WITH_LAG), BY_TS + " WITH (time = 'processing')")
    assert time.mode is TimeMode.EVENT


def test_settings_say_it_for_all_sources() -> None:
    settings = Settings(defaults={"watermark_lag": 7 * SECOND, "event_time_field": "at"})
    time = event_time(Declaration(), UNNAMED, settings)
    assert ladder(time) == [(OPTION, "at")]
    assert time.lag_us == 7 * SECOND
    assert event_time(Declaration(WITH_LAG), UNNAMED, settings).lag_us == 5 * SECOND


def test_event_time_is_below_every_filter() -> None:
    """Rows that WHERE removes still move the watermark."""
    query = "SELECT COUNT(*) AS n FROM (SELECT ts, k FROM s WHERE k <> 'a') WHERE k <> 'b' GROUP BY TUMBLE(ts, '1m')"
    plan = logical(query, prelude=source(Declaration(WITH_LAG)))
    assert len(nodes(Filter, plan)) == 2
    assert nodes(Filter, the(EventTime, plan)) == []


def test_a_computed_time_is_traced_to_the_source() -> None:
    prelude = (
        "CREATE SOURCE s (ms BIGINT, k VARCHAR, ts AS TO_TIMESTAMP_MS(ms), WATERMARK FOR ts "
        "AS ts - INTERVAL '5' SECOND);"
    )
    query = (
        "SELECT COUNT(*) AS n FROM (SELECT ts AS renamed FROM s) GROUP BY TUMBLE(renamed, '10s')"
    )
    time = the(EventTime, logical(query, prelude=prelude))
    assert ladder(time) == [(QUERY, "to_timestamp_ms(ms)")]
    assert (time.watermark, time.lag_us) == (ROWS, 5 * SECOND)


def test_joined_tables_have_no_time() -> None:
    query = "SELECT COUNT(*) AS n FROM s JOIN d ON s.k = d.k GROUP BY TUMBLE(ts, '10s')"
    plan = logical(query, prelude=source(Declaration(WITH_LAG)) + "CREATE TABLE d (k VARCHAR);")
    time = the(EventTime, plan)
    assert ladder(time) == [(QUERY, "s.ts")]
    assert isinstance(time.input, TableJoin)


def test_each_part_of_a_union_has_its_own() -> None:
    prelude = (
        source(Declaration(WITH_LAG))
        + "CREATE SOURCE o (x TIMESTAMP, WATERMARK FOR x AS x - INTERVAL '1' SECOND);"
    )
    query = "SELECT COUNT(*) AS n FROM (SELECT ts FROM s UNION ALL SELECT x FROM o) GROUP BY TUMBLE(ts, '10s')"
    plan = logical(query, prelude=prelude)
    union = the(UnionAll, plan)
    times = [the(EventTime, part) for part in inputs(union)]
    assert [ladder(time) for time in times] == [[(QUERY, "ts")], [(QUERY, "x")]]
    assert [time.lag_us for time in times] == [5 * SECOND, SECOND]


@pytest.mark.parametrize(
    ("time", "rungs"), [("window_time", [(QUERY, "t")]), (None, [("upstream", "$time")])]
)
def test_a_stream_hands_its_watermark_on(time: str | None, rungs: list[tuple[str, str]]) -> None:
    stream = "CREATE STREAM m AS SELECT window_time AS t, COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, '10s');"
    window = "TUMBLE(t, '1m')" if time else "tumblingwindow('mi', 1)"
    plan = logical(
        f"SELECT SUM(n) AS n FROM m GROUP BY {window}",
        prelude=source(Declaration(WITH_LAG)) + stream,
    )
    event = the(EventTime, plan)
    assert ladder(event) == rungs
    assert (event.watermark, event.lag_us, event.mode) == (UPSTREAM, 0, TimeMode.EVENT)
