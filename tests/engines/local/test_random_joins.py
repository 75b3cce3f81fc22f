"""Random joins of windowed streams on random rows: the in-process engine against the oracle, epoch by epoch.

Rows lie close together and have few different keys, since most rows must find a match for the test to say something.
"""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.local.random_programs import Text
from tests.engines.local.random_streams import SECOND, Case, Step
from tests.engines.local.test_random import Manner, compare, manners, plan

pytestmark = pytest.mark.thorough

SOURCES = """\
CREATE SOURCE ev (k VARCHAR, g BIGINT, z DOUBLE, i INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND);
CREATE SOURCE other (k VARCHAR, g BIGINT, z DOUBLE, i INT, ts TIMESTAMP, WATERMARK FOR ts);
"""
SIDES = (
    "SELECT k, g, z, SUM(i) AS n, window_start, window_end FROM {source} GROUP BY k, g, z, {window}",
    "SELECT k, MAX(g) AS g, MIN(z) AS z, COUNT(*) AS n, window_start, window_end FROM {source} GROUP BY k, {window}",
    "SELECT k, g, z, i AS n, window_start, window_end FROM {source} GROUP BY {window}",
)
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
ON = ("a.k = b.k", "a.g = b.g", "a.z = b.z", "UPPER(a.k) = b.k", "a.n = b.n + 1")
BESIDES = ("a.n < b.n", "a.n DIV b.n > 0", "a.k <> b.k")
WHERE = ("a.n > 1", "b.n IS NULL", "COALESCE(a.n, b.n, 0) <> 2", "10 DIV a.n > 1")
WINDOWS = (
    "TUMBLE(ts, INTERVAL '5' SECOND)",
    "TUMBLE(ts, INTERVAL '8' SECOND, INTERVAL '3' SECOND)",
    "HOP(ts, INTERVAL '4' SECOND, INTERVAL '9' SECOND)",
    "CUMULATE(ts, INTERVAL '3' SECOND, INTERVAL '6' SECOND)",
    "SESSION(ts, INTERVAL '4' SECOND)",
)
VALUES = {
    "k": ("a", "a", "A", "b", None),
    "g": (0, 0, 1, None),
    "z": (0.0, -0.0, math.nan, -math.nan, None),
    "i": (0, 1, 2, None),
}
SAME = ("a.window_start = b.window_start AND a.window_end = b.window_end",)


seconds = st.integers(0, 16).map(lambda second: second * SECOND)
rows = st.fixed_dictionaries(
    {"ts": seconds, **{name: st.sampled_from(values) for name, values in VALUES.items()}}
)
names = st.sampled_from(["ev", "other"])
inserts = st.builds(
    Step, st.just("insert"), names, st.lists(rows, min_size=4, max_size=8).map(tuple)
)
watermarks = st.builds(Step, st.just("watermark"), names, at_us=seconds)
steps = st.lists(st.one_of(inserts, inserts, inserts, watermarks), min_size=2, max_size=6)


@st.composite
def joins(draw: st.DrawFn) -> Case:
    """Two windowed streams, their join, and perhaps a window over it."""
    window = draw(st.sampled_from(WINDOWS))
    late = st.sampled_from(["", "", " ALLOWED LATENESS INTERVAL '3' SECOND"])
    sides = {
        name: draw(st.sampled_from(SIDES)).format(source=source, window=window) + draw(late)
        for name, source in (("a", "ev"), ("b", draw(st.sampled_from(["ev", "other"]))))
    }
    how = draw(st.sampled_from(JOINS))
    on = [SAME[0], *draw(st.lists(st.sampled_from(ON), max_size=1))]
    if how == "JOIN":
        on += draw(st.lists(st.sampled_from(BESIDES), max_size=1))
    where = draw(st.sampled_from(["", "", *(f" WHERE {one}" for one in WHERE)]))
    columns = "a.k AS k1, b.k AS k2, a.n AS n1, b.n AS n2, a.g, b.z, b.window_start, a.window_end"
    made = [f"CREATE STREAM {name} AS {sql};" for name, sql in sides.items()]
    query = f"SELECT {columns}, a.n + b.n AS n FROM a {how} b ON {' AND '.join(on)}{where}"
    made.append(f"CREATE STREAM out AS {query};")
    over = "SELECT COUNT(*) AS c, SUM(n1) AS s FROM out GROUP BY k1 EMIT CHANGES"
    made.append(f"CREATE STREAM top AS {over};")
    text = Text(SOURCES + "\n".join(made), ("ev", "other"), ("a", "b", "out", "top"))
    return Case(text, (*draw(steps), *draw(st.sampled_from([(Step("end"),), (Step("end"),), ()]))))


@settings(
    max_examples=max(10, settings().max_examples // 3),
    suppress_health_check=list(HealthCheck),
)
@given(case=joins(), manner=manners)
def test_joins_agree_with_the_oracle(
    case: Case, manner: Manner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = plan(case.text.sql)
    assert made is not None
    for one in (Manner(), manner):
        compare(case, made, one, tmp_path_factory.getbasetemp())
