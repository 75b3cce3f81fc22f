"""What must hold between the answers of the oracle, whatever the rows: a judge is checked, too."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.engine import Oracle
from tests.oracle.values import Values, identity
from tests.planning import program
from tidegate.plan.script import Program

pytestmark = pytest.mark.thorough

SECOND = 1_000_000
WINDOWS = {
    "tumbling": "TUMBLE(ts, INTERVAL '10' SECOND, INTERVAL '3' SECOND)",
    "hopping": "HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
    "cumulating": "CUMULATE(ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
    "session": "SESSION(ts, INTERVAL '5' SECOND)",
}
MODES = {
    "closed": "ON WINDOW CLOSE",
    "due": "AFTER WATERMARK",
    "updated": "ON UPDATE",
    "changed": "CHANGES",
    "ticked": "EVERY INTERVAL '7' SECOND",
}


def streams(window: str) -> Program:
    query = (
        "SELECT k, SUM(v) AS s, COUNT(*) AS n, LAST_VALUE(v) AS l, window_start, window_end FROM ev"
    )
    clauses = (
        f"GROUP BY k, {WINDOWS[window]} HAVING SUM(v) > 2 ALLOWED LATENESS INTERVAL '6' SECOND"
    )
    made = [
        f"CREATE STREAM {name} AS {query} {clauses} EMIT {mode};" for name, mode in MODES.items()
    ]
    source = "CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts);"
    return program("\n".join([source, *made]), prelude="")


PROGRAMS = {window: streams(window) for window in WINDOWS}

row = st.builds(
    lambda k, v, second: {"k": k, "v": v, "ts": second * SECOND},
    st.sampled_from(["a", "b", None]),
    st.integers(-3, 5),
    st.integers(-20, 40),
)
batches = st.lists(st.tuples(st.lists(row, max_size=6), st.integers(-20, 50)), max_size=6)
Batches = list[tuple[list[Values], int]]


def bag(rows: Any) -> Counter[Any]:
    return Counter(
        identity({name: value for name, value in row.items() if name != "_op"}) for row in rows
    )


def fold(live: Counter[Any], rows: list[Values]) -> None:
    """Applies a changelog, which must never take away what is not there."""
    for row in rows:
        key = next(iter(bag([row])))
        live[key] += 1 if row["_op"] in ("+I", "+U") else -1
        assert live[key] in (0, 1), rows


@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=25)
@given(given_batches=batches)
def test_all_modes_end_in_the_same_table(window: str, given_batches: Batches) -> None:
    oracle = Oracle(PROGRAMS[window])
    closed: list[Values] = []
    live: dict[str, Counter[Any]] = {"due": Counter(), "changed": Counter()}
    for place, (rows, second) in enumerate(given_batches):
        oracle.insert("ev", rows)
        oracle.watermark("ev", second * SECOND)
        oracle.clock(place * 5 * SECOND)
        for name, counted in live.items():
            fold(counted, oracle.take(name))
            assert +counted == bag(oracle.table(name))
    oracle.end()
    for name, counted in live.items():
        fold(counted, oracle.take(name))
    closed += oracle.take("closed")
    for name in MODES:
        assert bag(oracle.table(name)) == bag(closed), name
    assert +live["due"] == +live["changed"] == bag(closed)


@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=25)
@given(given_batches=batches)
def test_the_order_inside_a_batch_does_not_matter(window: str, given_batches: Batches) -> None:
    one, other = Oracle(PROGRAMS[window]), Oracle(PROGRAMS[window])
    for rows, second in given_batches:
        for oracle, ordered in ((one, rows), (other, rows[::-1])):
            oracle.insert("ev", ordered)
            oracle.watermark("ev", second * SECOND)
        assert bag(one.take("updated")) == bag(other.take("updated"))
        late = [Counter(str(row) for row in oracle.take_side("late")) for oracle in (one, other)]
        assert late[0] == late[1]


SLIDING = program(
    """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts);
CREATE STREAM out AS SELECT k, v, ts, COUNT(*) OVER (PARTITION BY k ORDER BY ts
  RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND INTERVAL '3' SECOND FOLLOWING) AS n FROM ev;
""",
    prelude="",
)


@given(rows=st.lists(row, max_size=12), cut=st.integers(0, 12))
def test_complete_sliding_windows_are_those_of_all_rows(rows: list[Values], cut: int) -> None:
    """Without late rows, batching does not matter, and each row counts its neighbours."""
    oracle = Oracle(SLIDING)
    oracle.insert("ev", rows[:cut])
    oracle.insert("ev", rows[cut:])
    oracle.end()
    expected = [
        row
        | {
            "n": sum(
                other["k"] == row["k"] and -5 * SECOND <= other["ts"] - row["ts"] <= 3 * SECOND
                for other in rows
            )
        }
        for row in rows
    ]
    assert bag(oracle.take("out")) == bag(expected)
