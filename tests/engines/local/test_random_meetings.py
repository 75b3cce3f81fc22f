"""Random joins within an interval on random rows: the in-process engine against the oracle, epoch by epoch."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.local.random_programs import Text
from tests.engines.local.random_streams import Case, Step
from tests.engines.local.test_random import Manner, compare, manners, plan
from tests.engines.local.test_random_joins import BESIDES, JOINS, ON, SOURCES, WHERE, steps

pytestmark = pytest.mark.thorough

TIMES = (
    "a.ts BETWEEN b.ts - INTERVAL '2' SECOND AND b.ts + INTERVAL '3' SECOND",
    "b.ts BETWEEN a.ts AND a.ts + INTERVAL '4' SECOND",
    "a.ts = b.ts",
    "a.ts - INTERVAL '1' SECOND < b.ts AND b.ts - INTERVAL '5' SECOND < a.ts",
    "b.ts BETWEEN a.ts - INTERVAL '6' SECOND AND a.ts - INTERVAL '2' SECOND",
    "a.ts > b.ts AND a.ts <= b.ts + INTERVAL '4' SECOND",
)
WINDOWED = (
    "(SELECT k, MAX(g) AS g, MIN(z) AS z, SUM(i) AS i, window_end AS ts FROM other "
    "GROUP BY k, HOP(ts, INTERVAL '2' SECOND, INTERVAL '4' SECOND))"
)
TOPS = (
    "SELECT COUNT(*) AS c, SUM(n1) AS s FROM out GROUP BY k1 EMIT CHANGES",
    "SELECT k1, COUNT(*) AS c, MAX(n2) AS m, window_end FROM out GROUP BY k1, TUMBLE(ta, INTERVAL '4' SECOND)",
    "SELECT COUNT(*) AS c, window_end FROM out GROUP BY TUMBLE(tb, INTERVAL '4' SECOND)",
)


@st.composite
def meetings(draw: st.DrawFn) -> Case:
    """Two streams, their join, and what is made of it."""
    how = draw(st.sampled_from(JOINS))
    other = draw(st.sampled_from(["ev", "other", "other", WINDOWED]))
    on = [draw(st.sampled_from(TIMES)), *draw(st.lists(st.sampled_from(ON[:4]), max_size=2))]
    if how == "JOIN":
        on += draw(st.lists(st.sampled_from(BESIDES), max_size=1))
    where = draw(st.sampled_from(["", "", *(f" WHERE {one}" for one in WHERE)]))
    columns = "a.k AS k1, b.k AS k2, a.i AS n1, b.i AS n2, a.g, b.z, a.ts AS ta, b.ts AS tb"
    query = f"SELECT {columns} FROM ev a {how} {other} b ON {' AND '.join(on)}{where}"
    top = draw(st.sampled_from(TOPS))
    sql = f"{SOURCES}CREATE STREAM out AS {query};\nCREATE STREAM top AS {top};"
    text = Text(sql.replace("a.n", "a.i").replace("b.n", "b.i"), ("ev", "other"), ("out", "top"))
    return Case(text, (*draw(steps), *draw(st.sampled_from([(Step("end"),), (Step("end"),), ()]))))


@settings(
    max_examples=max(10, settings().max_examples // 2),
    suppress_health_check=list(HealthCheck),
)
@given(case=meetings(), manner=manners)
def test_meetings_agree_with_the_oracle(
    case: Case, manner: Manner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = plan(case.text.sql)
    assert made is not None
    for one in (Manner(), manner):
        compare(case, made, one, tmp_path_factory.getbasetemp())
