"""`advise`: what it counts is what a run loses that takes rows one by one."""

import random

import pytest

import tidegate
from tests.planning import planned
from tidegate.model.time import SECOND
from tidegate.session.disorder import Disorder, disorder

COUNT = 120
SOURCE = "CREATE SOURCE ev (v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND);"


def rows() -> list[tuple[int, int | None]]:
    """Every second row a second later, some of them far behind, one without a time."""
    draw = random.Random(4)
    times = [n * 500 - int(draw.choice([0, 0, draw.uniform(0, 9_000)])) for n in range(COUNT)]
    return [(n, None if n == 40 else max(at, 0)) for n, at in enumerate(times)]


def found(query: str, source: str = SOURCE) -> Disorder:
    values = ", ".join(
        f"({v}, {'NULL' if at is None else f'TIMESTAMP {_text(at)}'})" for v, at in rows()
    )
    program = planned(
        f"{source} INSERT INTO ev VALUES {values}; CREATE STREAM out AS {query};", prelude=""
    )
    (one,) = disorder(program, now_us=10**15)
    return one


def _text(at_ms: int) -> str:
    return f"'1970-01-01 00:{at_ms // 60_000:02}:{at_ms / 1000 % 60:06.3f}'"


def lost(query: str) -> int:
    """Rows that are late where each is a batch of its own."""
    with tidegate.connect(engine="local") as session:
        session.sql(f"{SOURCE} CREATE STREAM out AS {query};")
        for v, at in rows():
            session.insert("ev", [{"v": v, "ts": at}])
        return int(session.metrics()["diverted"].get("late", 0))


@pytest.mark.parametrize(
    "window",
    [
        "TUMBLE(ts, INTERVAL '5' SECOND)",
        "TUMBLE(ts, INTERVAL '5' SECOND, INTERVAL '1' SECOND)",
        "HOP(ts, INTERVAL '2' SECOND, INTERVAL '5' SECOND)",
        "CUMULATE(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND)",
        "slidingwindow('ss', 3)",
        "slidingwindow('ss', 3, 2)",
    ],
)
@pytest.mark.parametrize("lateness_s", [0, 3])
def test_what_is_declared_loses_what_is_said(window: str, lateness_s: int) -> None:
    lateness = f"ALLOWED LATENESS INTERVAL '{lateness_s}' SECOND" if lateness_s else ""
    query = f"SELECT COUNT(*) AS n FROM ev GROUP BY {window} {lateness}"
    told = found(query)
    assert told.declared.late == lost(query) > 0
    assert told.declared.wait_us == (2 + lateness_s) * SECOND


def test_the_table_goes_from_nothing_to_enough() -> None:
    told = found("SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)")
    waits = [one.wait_us for one in told.waits]
    late = [one.late for one in told.waits]
    assert waits == sorted(set(waits))
    assert waits[0] == 0
    assert late == sorted(late, reverse=True)
    assert late[-1] == 0 < late[0]
    assert told.advised.late == 0
    assert told.advised.wait_us <= told.largest_us + SECOND
    assert (told.rows, told.untimed) == (COUNT, 1)


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("SELECT COUNT(*) AS n FROM ev", SOURCE),
        ("SELECT COUNT(*) AS n FROM ev GROUP BY countwindow(4)", SOURCE),
        ("SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)",
         "CREATE SOURCE ev (v BIGINT, ts TIMESTAMP, WATERMARK FOR ts);"),
    ],
)  # fmt: skip
def test_what_waits_for_no_row_needs_no_advice(query: str, source: str) -> None:
    assert [
        *disorder(planned(f"{source} CREATE STREAM out AS {query};", prelude=""), now_us=0)
    ] == []


def test_rows_of_the_future_are_left_out_where_that_is_asked() -> None:
    text = (
        f"{SOURCE} INSERT INTO ev VALUES (1, TIMESTAMP '2999-01-01'), (2, TIMESTAMP '1970-01-01');"
        "CREATE STREAM out AS SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)"
    )
    behind = [
        next(disorder(planned(text + more, prelude=""), now_us=10**15)).largest_us
        for more in ("", " WITH (max_future_skew = '1h')")
    ]
    assert behind[0] > 10**16
    assert behind[1] == 0
