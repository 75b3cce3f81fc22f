"""Why a window has not fired: what is told, and that what is said must happen does make it fire."""

from collections.abc import Iterator

import pytest

import tidegate
from tidegate.session.session import Session

SOURCES = """
CREATE SOURCE a (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE SOURCE b (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE SOURCE hand (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts);
"""
MINUTE = "TUMBLE(ts, INTERVAL '1' MINUTE)"


@pytest.fixture
def session() -> Iterator[Session]:
    with tidegate.connect(engine="local") as made:
        made.sql(SOURCES)
        yield made


def insert(session: Session, source: str, *times: str, k: str = "x") -> None:
    session.insert(source, [{"k": k, "ts": f"2026-01-05T09:{at}Z"} for at in times])


def why(session: Session, stream: str) -> list[str]:
    return [line.strip() for line in session.explain(stream, level="why").splitlines()]


def test_it_says_which_row_would_do_and_that_row_does(session: Session) -> None:
    session.sql(f"CREATE STREAM out AS SELECT k, COUNT(*) AS n FROM a GROUP BY k, {MINUTE};")
    insert(session, "a", "00:10", "00:50")
    assert why(session, "out") == [
        "out: kind=tumbling size=1m, EMIT ON WINDOW CLOSE",
        "watermark 2026-01-05T09:00:45Z:",
        "a: 2026-01-05T09:00:45Z; latest event 2026-01-05T09:00:50Z, less a lag of 5s",
        "1 window open, the first to fire first:",
        "[2026-01-05T09:00:00Z, 2026-01-05T09:01:00Z): 2 rows in 1 group; "
        "fires when the watermark reaches 2026-01-05T09:01:00Z, 15s on",
        "for that:",
        "a row of a with the event time 2026-01-05T09:01:05Z or later",
        "or the input ends",
    ]
    insert(session, "a", "01:04")
    assert session.table("out").fetchall() == []
    insert(session, "a", "01:05")
    assert session.table("out").fetchall() == [("x", 2)]


def test_the_input_that_holds_the_watermark_back(session: Session) -> None:
    session.sql(
        "CREATE STREAM out AS SELECT COUNT(*) AS n FROM (SELECT k, ts FROM a UNION ALL SELECT k, ts FROM b) "
        f"GROUP BY {MINUTE} ALLOWED LATENESS INTERVAL '3' SECOND;"
    )
    insert(session, "a", "00:10", "02:00")
    told = why(session, "out")
    assert told[1] == "watermark none yet, the lowest of its inputs:"
    assert told[3] == "b: none yet; no row yet, less a lag of 0s  <- holds it back"
    assert told[5].endswith("1 row; fires when the watermark reaches 2026-01-05T09:01:03Z")
    assert told[-2].startswith(
        "a row of b with the event time 2026-01-05T09:01:03Z or later; with idle_timeout set"
    )
    insert(session, "b", "01:03")
    assert session.table("out").fetchall() == [(1,)]


def test_a_stream_of_streams_is_followed_to_the_source(session: Session) -> None:
    session.sql(
        f"CREATE STREAM one AS SELECT k, COUNT(*) AS n, window_end FROM a GROUP BY k, {MINUTE} "
        "ALLOWED LATENESS INTERVAL '10' SECOND;"
        "CREATE STREAM two AS SELECT SUM(n) AS n FROM one GROUP BY TUMBLE(window_end, INTERVAL '5' MINUTE);"
    )
    insert(session, "a", "00:30", "02:20")
    assert "a row of a with the event time 2026-01-05T09:05:15Z or later" in why(session, "two")
    insert(session, "a", "05:14")
    assert session.table("two").fetchall() == []
    insert(session, "a", "05:15")
    assert session.table("two").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("stream", "needed"),
    [
        (f"SELECT COUNT(*) AS n FROM hand GROUP BY {MINUTE}",
         "the watermark of hand is set to 2026-01-05T09:01:00Z or later"),
        ("SELECT COUNT(*) AS n FROM a GROUP BY SESSION(ts, INTERVAL '10' SECOND)",
         "a row of a with the event time 2026-01-05T09:00:45Z or later"),
        (f"SELECT COUNT(*) AS n FROM a GROUP BY {MINUTE} ALLOWED LATENESS INTERVAL '7' SECOND EMIT AFTER WATERMARK",
         "a row of a with the event time 2026-01-05T09:01:05Z or later"),
        ("SELECT COUNT(*) AS n FROM a GROUP BY HOP(ts, INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
         "a row of a with the event time 2026-01-05T09:00:45Z or later"),
        ("SELECT COUNT(*) AS n FROM a GROUP BY CUMULATE(ts, INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
         "a row of a with the event time 2026-01-05T09:00:45Z or later"),
        (f"SELECT COUNT(*) AS n FROM a GROUP BY {MINUTE} WITH (idle_timeout = '2h')",
         "a row of a with the event time 2026-01-05T09:01:05Z or later, or none at all for another "),
    ],
)  # fmt: skip
def test_what_is_needed(session: Session, stream: str, needed: str) -> None:
    session.sql(f"CREATE STREAM out AS {stream};")
    insert(session, "hand" if "hand" in stream else "a", "00:30")
    assert any(line.startswith(needed) for line in why(session, "out")), why(session, "out")


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ("SELECT k FROM a", "rows are passed on at once; nothing is waited for"),
        ("SELECT k, COUNT(*) AS n FROM a GROUP BY k", "without a window rows come out as groups change"),
        (f"SELECT COUNT(*) AS n FROM a GROUP BY {MINUTE} EMIT ON UPDATE", "rows come out without waiting for the"),
        ("SELECT COUNT(*) AS n FROM a GROUP BY countwindow(3)", "no window is open; 1 row kept"),
    ],
)  # fmt: skip
def test_what_does_not_wait(session: Session, stream: str, said: str) -> None:
    session.sql(f"CREATE STREAM out AS {stream};")
    insert(session, "a", "00:30")
    assert any(line.startswith(said) for line in why(session, "out")), why(session, "out")


def test_windows_that_are_not_listed_are_not_denied(session: Session) -> None:
    session.sql(
        f"CREATE STREAM one AS SELECT k, COUNT(*) AS n, window_start, window_end FROM a GROUP BY k, {MINUTE};"
        "CREATE STREAM two AS SELECT SUM(n) AS n, window_end FROM one GROUP BY window_start, window_end "
        "ALLOWED LATENESS INTERVAL '1' HOUR;"
    )
    insert(session, "a", "00:30", "02:20")
    assert "1 windows are open; their rows are not looked into from here" in why(session, "two")


def test_explain_why_of_a_query_that_does_not_run() -> None:
    with tidegate.connect(engine="local") as session:
        told = session.sql(
            SOURCES
            + "CREATE STREAM out AS SELECT COUNT(*) AS n FROM a GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);"
            "EXPLAIN WHY out;"
        )
        assert "watermark none yet" in str(told)
