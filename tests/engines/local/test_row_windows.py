"""Windows that rows complete, on random streams: fused = buffered = oracle, epoch by epoch, also across restarts.

Times are few, so rows meet; keys are few, so partitions do; and watermarks come early enough for rows to be late.
"""

import decimal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.local.ways import lanes
from tests.oracle.engine import Oracle
from tidegate.engines.engine import Surroundings
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.subject import ScenarioSubject
from tidegate.model.time import SECOND
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.scenarios.compare import same_bag
from tidegate.scenarios.runner import Subject
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

SOURCE = """CREATE SOURCE ev (k VARCHAR, v BIGINT, x DOUBLE, d DECIMAL(30, 2), ok BOOLEAN, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND);
"""
TWICE = SOURCE.replace("SOURCE ev", "SOURCE twice").replace(
    "SECOND)", "SECOND) WITH (dedup_key = 'K', dedup_within = '1s')"
)
FOLDED = (
    "COUNT(*) AS n, SUM(v) AS s, AVG(x) AS a, MIN(v) AS lo, MAX(x) AS hi, BOOL_AND(ok) AS every"
)
SHARED = "SUM(d) AS sd, STDDEV_POP(x) AS dev, CORR(v, x) AS c, FIRST_VALUE(k) AS f, MAX(k) AS mk, MIN_BY(x, v) AS b"
LISTED = "COUNT(DISTINCT v) AS nd, MEDIAN(x) AS m, ARRAY_AGG(k ORDER BY v) AS ks, SUM(v) FILTER (WHERE ok) AS fs"
BACK = "(PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW)"
AHEAD = (
    "(ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '2' SECOND FOLLOWING)"
)


def over(frame: str, aggregates: str) -> str:
    """Each of the aggregates over the frame."""
    calls = (part.rpartition(" AS ") for part in aggregates.split(", ") if " AS " in part)
    return ", ".join(f"{call} OVER {frame} AS {name}" for call, _, name in calls)


SLIDING = {
    "over": f"SELECT v, {over(BACK, FOLDED)} FROM ev",
    "over, ahead": f"SELECT v, {over(AHEAD, FOLDED)} FROM ev ALLOWED LATENESS INTERVAL '1' SECOND",
    "over, pieces": f"SELECT v, SUM(d) OVER {BACK} AS sd, STDDEV_POP(x) OVER {BACK} AS dev, "
    f"FIRST_VALUE(k) OVER {AHEAD} AS f, MAX(k) OVER {AHEAD} AS mk, MIN_BY(x, v) OVER {BACK} AS b FROM ev",
    "over, two frames": f"SELECT k, SUM(v) OVER {BACK} AS s, SUM(v) OVER {AHEAD} AS t, MAX(x) OVER {AHEAD} AS m "
    "FROM ev WHERE v <> 3",
    "over, at once": f"SELECT v, {over(BACK, FOLDED)} FROM ev EMIT ON UPDATE",
    "over, at once, ahead": f"SELECT v, {over(AHEAD, FOLDED)} FROM ev EMIT ON UPDATE",
    "whole": f"SELECT {FOLDED}, {SHARED}, window_start, window_end, window_time FROM ev "
    "GROUP BY slidingwindow('ss', 3)",
    "whole, final": f"SELECT {FOLDED}, window_time FROM ev GROUP BY slidingwindow('ss', 2, 1) EMIT FINAL",
    "whole, listed": f"SELECT {LISTED}, window_time FROM ev GROUP BY slidingwindow('ss', 3)",
    "groups": f"SELECT k, {FOLDED}, window_time FROM ev GROUP BY slidingwindow('ss', 3), k HAVING COUNT(*) <> 2",
    "groups, at once": f"SELECT k, {SHARED}, {LISTED} FROM ev GROUP BY slidingwindow('ss', 2, 1), k EMIT ON UPDATE",
    "groups, first": "SELECT k, SUM(v) AS s, window_time FROM ev GROUP BY slidingwindow('ss', 3), k "
    "ORDER BY s DESC, k LIMIT 1",
    "rows": "SELECT k, v, window_time FROM ev WHERE ok GROUP BY slidingwindow('ss', 2)",
    "on the clock": f"SELECT k, {FOLDED} FROM ev GROUP BY slidingwindow('ss', 3), k WITH (time = 'processing')",
}
OTHERS = {
    "counts": f"SELECT {FOLDED}, {SHARED}, window_start, window_end FROM ev GROUP BY countwindow(3)",
    "counts, steps": f"SELECT k, {LISTED}, COUNT(*) AS n FROM ev GROUP BY countwindow(4, 3), k",
    "counts, long steps": "SELECT v, x FROM ev GROUP BY countwindow(2, 3)",
    "states": f"SELECT {FOLDED}, window_start, window_end FROM ev GROUP BY statewindow(v > 3, ok)",
    "states, groups": f"SELECT k, {SHARED}, {LISTED} FROM ev GROUP BY statewindow(ok, v < 2), k",
    "states, rows": "SELECT k, v FROM ev WHERE x <> 0 GROUP BY statewindow(v > 3, v > 3)",
}

TEN_THOUSAND = 10_000
KINDS = ("late", "duplicate", "evicted", "error")
DEDUP = "WITH (dedup_key = 'k, v', dedup_within = '2s')"
DUPLICATES = {
    "tumbling": f"SELECT k, {FOLDED}, {SHARED}, {LISTED}, window_end FROM ev GROUP BY k, TUMBLE(ts, '4s') {DEDUP}",
    "hopping": f"SELECT k, {FOLDED} FROM ev WHERE ok GROUP BY k, HOP(ts, '3s', '5s') EMIT CHANGES {DEDUP}",
    "session": f"SELECT {SHARED}, COUNT(*) AS n, window_end FROM ev GROUP BY SESSION(ts, '2s') {DEDUP}",
    "raw": f"SELECT k, v, window_end FROM ev GROUP BY TUMBLE(ts, '4s') ALLOWED LATENESS INTERVAL '2' SECOND {DEDUP}",
    "no window": f"SELECT k, {FOLDED}, {LISTED} FROM ev GROUP BY k {DEDUP}",
    "stateless": f"SELECT k, v, x FROM ev WHERE ok {DEDUP}",
    "sliding": f"SELECT k, {over(BACK, FOLDED)} FROM ev {DEDUP}",
    "counting": f"SELECT COUNT(*) AS n, SUM(v) AS s FROM ev GROUP BY countwindow(3) {DEDUP}",
    "for ever": f"SELECT {FOLDED} FROM ev GROUP BY TUMBLE(ts, '4s') WITH (dedup_key = 'v')",
    "of a source": f"SELECT k, {FOLDED} FROM twice GROUP BY k, TUMBLE(ts, '4s')",
}


@dataclass(frozen=True)
class Act:
    """Rows, a watermark, a clock, or a restart."""

    rows: tuple[dict[str, Any], ...] = ()
    watermark_us: int | None = None
    clock_us: int | None = None
    restart: bool = False


def rows() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "k": st.sampled_from(["a", "b", None]),
            "v": st.one_of(st.none(), st.integers(-2, 6)),
            "x": st.one_of(st.none(), st.sampled_from([-1.5, 0.0, 0.25, 3.0])),
            "d": st.sampled_from([None, decimal.Decimal("1.25"), decimal.Decimal("-3.50")]),
            "ok": st.sampled_from([True, False, None]),
            "ts": st.integers(0, 24).map(lambda half: half * SECOND // 2),
        }
    )


def acts() -> st.SearchStrategy[list[Act]]:
    act = st.one_of(
        st.builds(Act, rows=st.lists(rows(), min_size=1, max_size=8).map(tuple)),
        st.builds(Act, rows=st.lists(rows(), min_size=1, max_size=3).map(tuple)),
        st.builds(Act, watermark_us=st.integers(0, 12).map(lambda at: at * SECOND)),
        st.builds(Act, clock_us=st.integers(0, 20).map(lambda at: at * SECOND)),
        st.just(Act(restart=True)),
    )
    return st.lists(act, max_size=7)


def planned(query: str, *, fused: bool = True) -> Program:
    own = "" if fused else "fuse_sliding = false"
    if own and "WITH (" in query:
        query = query.replace("WITH (", f"WITH ({own}, ")
    elif own:
        query = f"{query} WITH ({own})"
    text = f"{SOURCE}{TWICE}CREATE STREAM out AS {query};"
    program = plan_script(parse_script(SourceText(text)), Settings())
    assert program.errors == []
    return program


def in_process(program: Program) -> ScenarioSubject:
    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(program, around, workers=lanes(1))

    return ScenarioSubject(program, build)


def perform(act: Act, subject: Subject) -> None:
    for source in ("ev", "twice"):
        if act.rows:
            subject.insert(source, [dict(row) for row in act.rows])
        if act.watermark_us is not None:
            subject.watermark(source, act.watermark_us)
    if act.clock_us is not None:
        subject.clock(act.clock_us)
    if act.restart:
        subject.restart()


def told(subject: Subject, names: Sequence[str]) -> Counter[str]:
    """What the side outputs say."""
    payloads = [payload for kind in KINDS for payload in subject.take_side(kind)]
    return Counter(repr([payload[name] for name in names]) for payload in payloads)


def check(
    subjects: Mapping[str, Subject],
    oracle: Oracle,
    steps: Sequence[Act],
    *,
    names: Sequence[str] = ("reason", "event_time", "watermark", "window", "original_event"),
) -> None:
    for number, act in enumerate([*steps, None]):
        for subject in (oracle, *subjects.values()):
            subject.end() if act is None else perform(act, subject)
        expected = list(oracle.take("out"))
        gone = told(oracle, names)
        for name, subject in subjects.items():
            given = list(subject.take("out"))
            assert same_bag(expected, given), (number, name, expected, given)
            assert told(subject, names) == gone, (number, name)


@pytest.mark.parametrize("name", SLIDING)
@given(steps=acts())
def test_sliding_windows(name: str, steps: list[Act]) -> None:
    check_sliding(name, steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLIDING)
@settings(max_examples=-(-TEN_THOUSAND // len(SLIDING)))
@given(steps=acts())
def test_sliding_windows_on_ten_thousand_streams(name: str, steps: list[Act]) -> None:
    check_sliding(name, steps)


def check_sliding(name: str, steps: list[Act]) -> None:
    """What one structure for all frames says, and what gathering the rows of each says."""
    query = SLIDING[name]
    subjects = {
        "fused": in_process(planned(query)),
        "buffered": in_process(planned(query, fused=False)),
    }
    check(subjects, Oracle(planned(query)), steps)


@pytest.mark.parametrize("name", OTHERS)
@given(steps=acts())
def test_counting_and_state_windows(name: str, steps: list[Act]) -> None:
    query = OTHERS[name]
    check({"cut": in_process(planned(query))}, Oracle(planned(query)), steps)


@pytest.mark.parametrize("name", DUPLICATES)
@given(steps=acts())
def test_duplicates(name: str, steps: list[Act]) -> None:
    """What is late for every session there is may have been forgotten, and so be late instead of a duplicate."""
    query, subjects = DUPLICATES[name], {"told apart": in_process(planned(DUPLICATES[name]))}
    if name == "session":
        check(subjects, Oracle(planned(query)), steps, names=("event_time", "original_event"))
    else:
        check(subjects, Oracle(planned(query)), steps)
