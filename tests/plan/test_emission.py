"""EMIT: every mode with every kind of window, what stream it makes, and what it needs."""

import pytest

from tests.planning import cases, check_refusal, logical, program, refusal
from tidegate.model.policies import EmitMode, StreamKind
from tidegate.model.time import MINUTE, SECOND
from tidegate.plan.settings import Settings

CLOSE, DUE, UPDATE, EVERY, CHANGES, FINAL = (
    "ON WINDOW CLOSE", "AFTER WATERMARK", "ON UPDATE", "EVERY INTERVAL '10' SECOND", "CHANGES", "FINAL",
)  # fmt: skip
MODES = {
    CLOSE: "append",
    DUE: "changelog",
    UPDATE: "upsert",
    EVERY: "upsert",
    CHANGES: "changelog",
    FINAL: "append",
}
ALIGNED = [
    "TUMBLE(ts, '1m')",
    "HOP(ts, '1m', '5m')",
    "CUMULATE(ts, '1m', '5m')",
    "SESSION(ts, '1m')",
]
ROWS = "rows of a window"


def allowed(shape: str) -> dict[str, str]:
    """Modes that are possible, and the kind of stream that each makes."""
    match shape:
        case "sliding" | "over":
            return dict.fromkeys((CLOSE, UPDATE, FINAL), "append")
        case "counting" | "state" | "rows":
            return dict.fromkeys((CLOSE, FINAL), "append")
        case "no window":
            return {mode: MODES[mode] for mode in (UPDATE, EVERY, CHANGES)}
        case "no aggregate":
            return {UPDATE: "append", CHANGES: "changelog"}
        case _:
            return MODES


SHAPES = {
    **{f"SELECT COUNT(*) AS n FROM trades GROUP BY {window}": "aligned" for window in ALIGNED},
    "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, slidingwindow('ss', 10)": "sliding",
    "SELECT COUNT(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW) "
    "AS n FROM trades": "over",
    "SELECT COUNT(*) AS n FROM trades GROUP BY countwindow(5)": "counting",
    "SELECT COUNT(*) AS n FROM trades GROUP BY statewindow(ok, NOT ok)": "state",
    "SELECT symbol FROM trades GROUP BY TUMBLE(ts, '1m')": "aligned",
    "SELECT * FROM TUMBLE(trades, ts, '1m')": "rows",
    "SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol": "no window",
    "SELECT COUNT(*) AS n FROM trades": "no window",
    "SELECT DISTINCT symbol FROM trades": "no window",
    "SELECT symbol FROM trades": "no aggregate",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("query", "shape"), SHAPES.items())
def test_every_mode_with_every_shape(query: str, shape: str, mode: str) -> None:
    if "symbol FROM trades GROUP BY TUMBLE" in query:
        shape = "rows"
    if mode in allowed(shape):
        plan = logical(f"{query} EMIT {mode}")
        assert plan.emit.mode.sql == mode.split(" INTERVAL", maxsplit=1)[0]
        assert plan.emit.interval_us == (10 * SECOND if mode == EVERY else None)
        assert plan.kind == allowed(shape)[mode]
    else:
        needs_window = shape.startswith("no ") and mode in (CLOSE, DUE, FINAL)
        assert refusal(f"{query} «EMIT» {mode}").code == ("TG-3012" if needs_window else "TG-3014")


@pytest.mark.parametrize(("query", "shape"), SHAPES.items())
def test_the_default_mode(query: str, shape: str) -> None:
    plan = logical(query)
    windowed = not shape.startswith("no ")
    assert plan.emit.mode is (EmitMode.ON_WINDOW_CLOSE if windowed else EmitMode.ON_UPDATE)
    assert plan.kind is (StreamKind.UPSERT if shape == "no window" else StreamKind.APPEND)


NOTIME = "CREATE SOURCE s (k VARCHAR, ts TIMESTAMP);"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("window", [*ALIGNED, "WINDOW"])
def test_what_needs_a_watermark(mode: str, window: str) -> None:
    by = "WINDOW SLIDING (LOOKBACK '10s' ON ts)" if window == "WINDOW" else f"GROUP BY {window}"
    query = f"SELECT COUNT(*) AS n FROM s {by} «EMIT» {mode}"
    if mode in (CLOSE, DUE, FINAL):
        error = refusal(query, prelude=NOTIME)
        assert error.code == "TG-3013"
        assert "s has none" in error.message
        assert "WATERMARK FOR ts AS ts" in error.hint
    elif window == "WINDOW" and mode != UPDATE:
        assert refusal(query, prelude=NOTIME).code == "TG-3014"
    else:
        logical(query.replace("«", "").replace("»", ""), prelude=NOTIME)


@pytest.mark.parametrize("window", ["countwindow(5)", "statewindow(k = 'a', k = 'b')"])
def test_windows_that_close_by_their_rows_need_no_watermark(window: str) -> None:
    logical(f"SELECT COUNT(*) AS n FROM s GROUP BY {window}", prelude=NOTIME)


T = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, '1m') "
U = "SELECT COUNT(*) AS n FROM trades "
P = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(PROCTIME(), '1m') "
N = "SELECT COUNT(*) AS n FROM trades GROUP BY countwindow(5) "


@pytest.mark.parametrize(
    ("query", "lateness_us"),
    [
        (T, 0),
        (T + "ALLOWED LATENESS '10s'", 10 * SECOND),
        (T + "WATERMARK('1s', '20s')", 20 * SECOND),
        (T + "WATERMARK('1s', '20s') ALLOWED LATENESS '10s'", 10 * SECOND),
        (T + "WITH (allowed_lateness = '30s')", 30 * SECOND),
        (T + "ALLOWED LATENESS '10s' WITH (allowed_lateness = '30s')", 10 * SECOND),
        (T + "ALLOWED LATENESS '0s' WITH (allowed_lateness = '30s')", 0),
        (T + "ALLOWED LATENESS '10s' EMIT FINAL", 0),
        (T + "WITH (allowed_lateness = '30s') EMIT FINAL", 0),
        ("SET allowed_lateness = '40s'; " + T, 40 * SECOND),
        ("SET allowed_lateness = '40s'; " + T + "ALLOWED LATENESS '10s'", 10 * SECOND),
        ("SET allowed_lateness = '40s'; " + T + "WITH (allowed_lateness = '30s')", 40 * SECOND),
        ("SET allowed_lateness = '40s'; " + U, 0),
        ("SET allowed_lateness = '40s'; " + N, 0),
        ("SET allowed_lateness = '40s'; SELECT symbol FROM trades", 0),
    ],
)
def test_allowed_lateness(query: str, lateness_us: int) -> None:
    assert logical(query).lateness_us == lateness_us


def test_default_lateness_of_the_configuration() -> None:
    assert (
        logical(T, settings=Settings(defaults={"allowed_lateness": MINUTE})).lateness_us == MINUTE
    )


@cases(
    (U + "«EMIT» ON WINDOW CLOSE",
     "TG-3012", "EMIT ON WINDOW CLOSE needs a window", "TUMBLE(ts, INTERVAL '1' MINUTE)"),
    ("SELECT * FROM trades «EMIT» FINAL", "TG-3012", "EMIT FINAL needs a window", "EMIT ON UPDATE"),
    ("SELECT symbol FROM trades «EMIT» EVERY '1s'", "TG-3014", "a query without aggregates", "leave EMIT out"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY slidingwindow('ss', 1) «EMIT» CHANGES", "TG-3014",
     "EMIT CHANGES is not possible with a sliding window", "at once with ON UPDATE"),
    (N + "«EMIT» ON UPDATE", "TG-3014", "a counting window", "when the window is complete"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY statewindow(ok, ok) «EMIT» CHANGES", "TG-3014", "a state window"),
    ("SELECT symbol FROM TUMBLE(trades, ts, '1m') «EMIT» ON UPDATE",
     "TG-3014", "a windowed query without aggregates", "when it closes"),
    # companions
    (U + "«ALLOWED» LATENESS '1s'", "TG-3015", "ALLOWED LATENESS needs a window", "TUMBLE"),
    ("SELECT symbol FROM trades «ALLOW» LATENESS '1s'", "TG-3015", "ALLOWED LATENESS needs a window"),
    (U + "«LATE» DATA TO d", "TG-3015", "LATE DATA TO needs a window"),
    (U + "WITH («allowed_lateness» = '1s')", "TG-3015", "allowed_lateness needs a window"),
    (U + "«WATERMARK»('1s')", "TG-3015", "WATERMARK needs a window"),
    ("SELECT symbol FROM trades «WATERMARK»('1s')", "TG-3015", "WATERMARK needs a window"),
    (P + "«ALLOWED» LATENESS '1s'", "TG-3016", "ALLOWED LATENESS needs event time", "event-time column"),
    (N + "«ALLOWED» LATENESS '1s'",
     "TG-3014", "ALLOWED LATENESS is not possible with a counting window", "closes by its rows"),
    # quotas
    ("SELECT COUNT(*) AS n FROM trades GROUP BY slidingwindow('ss', 1) WITH («max_groups» = 5)",
     "TG-3033", "max_groups cannot be kept by a sliding window", "WITH or [transforms.<stream>]"),
    (N + "WITH («max_open_windows» = 5)", "TG-3033", "max_open_windows cannot be kept by a counting window"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY statewindow(ok, ok) WITH («max_state_bytes» = '1MB')",
     "TG-3033", "max_state_bytes cannot be kept by a state window"),
    ("SELECT COUNT(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW) AS n "
     "FROM trades WITH («max_groups» = 5)", "TG-3033", "a sliding window"),
    ("SET max_groups = 5; «SELECT» COUNT(*) AS n FROM trades GROUP BY countwindow(3)", "TG-3033", "max_groups"),
)  # fmt: skip
def test_what_is_missing(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_a_quota_of_the_configuration_is_not_ignored_either() -> None:
    settings = Settings(defaults={"max_groups": 5})
    (refused,) = program(N, settings=settings).errors
    assert "max_groups cannot be kept by a counting window" in str(refused)
    assert logical(T, settings=settings).emit.mode is EmitMode.ON_WINDOW_CLOSE


STREAM = "CREATE STREAM s AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, '1m') EMIT {}; "


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "connector", ["connector = 'file', path = 'x'", "connector = 'console'", ""]
)
def test_sinks_hold_or_refuse(mode: str, connector: str) -> None:
    options = f" WITH ({connector})" if connector else ""
    query = f"{STREAM.format(mode)}CREATE SINK o FROM «s»{options}"
    if "file" in connector and MODES[mode] != "append":
        error = refusal(query)
        assert error.code == "TG-3017"
        assert (
            f"file appends rows only, and s is {MODES[mode]} (EMIT EVERY 10s)".replace(
                "EVERY 10s", mode if mode != EVERY else "EVERY 10s"
            )
            in error.message
        )
        assert "memory, kafka, console, callback, http, postgres" in error.hint
    else:
        logical(query.replace("«", "").replace("»", ""))
