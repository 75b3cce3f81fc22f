"""Random windows of the calendar on rows around the moments at which clocks are turned, against the oracle."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.local.random_programs import Text
from tests.engines.local.random_streams import Case, Step
from tests.engines.local.test_random import Manner, compare, manners, plan
from tidegate.model.time import DAY, HOUR, MINUTE, parse_instant

pytestmark = pytest.mark.thorough

SOURCES = "CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' HOUR);\n"
WINDOWS = (
    "TUMBLE(ts, INTERVAL '1' MONTH{zone})",
    "TUMBLE(ts, INTERVAL '1' DAY, INTERVAL '-90' MINUTE{zone})",
    "TUMBLE(ts, INTERVAL '1' HOUR{zone})",
    "HOP(ts, INTERVAL '30' MINUTE, INTERVAL '2' HOUR{zone})",
    "HOP(ts, INTERVAL '1' DAY, INTERVAL '3' DAY{zone})",
    "HOP(ts, INTERVAL '2' MONTH, INTERVAL '3' MONTH{zone})",
    "CUMULATE(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY{zone})",
    "CUMULATE(ts, INTERVAL '6' HOUR, INTERVAL '1' MONTH{zone})",
    "CUMULATE(ts, INTERVAL '1' MONTH, INTERVAL '1' YEAR, INTERVAL '3' MONTH{zone})",
)
TURNED = {
    "Europe/Berlin": (
        "2026-03-29T01:00Z",
        "2026-10-25T01:00Z",
        "1893-03-31T23:06:32Z",
        "2199-03-31T01:00Z",
    ),
    "Pacific/Apia": ("2011-12-30T10:00Z", "2012-03-31T14:00Z"),
    "America/Goose_Bay": ("2010-11-07T03:01Z", "2011-03-13T04:01Z"),
    "Australia/Lord_Howe": ("2026-04-04T15:00Z", "2026-10-03T15:30Z"),
    "Africa/Casablanca": ("2026-02-15T02:00Z", "2026-03-22T02:00Z"),
    "Asia/Manila": ("1844-12-30T16:04Z", "1978-03-21T16:00Z"),
    "+13:45": ("1970-01-01T00:00Z",),
}
SELECTS = (
    "SELECT k, COUNT(*) AS n, SUM(v) AS s, MIN(v) AS m, window_start, window_end FROM ev GROUP BY k, {window}",
    "SELECT COUNT(DISTINCT v) AS n, window_start, window_end FROM ev GROUP BY {window}",
    "SELECT k, v, window_start, window_end FROM ev GROUP BY {window}",
)
CLAUSES = (
    "",
    "",
    " ALLOWED LATENESS INTERVAL '5' HOUR",
    " EMIT CHANGES",
    " ALLOWED LATENESS INTERVAL '1' DAY EMIT AFTER WATERMARK",
)
_apart = st.one_of(
    st.integers(-3, 3).map(lambda count: count * 30 * MINUTE),
    st.integers(-30, 30).map(lambda count: count * HOUR),
    st.sampled_from([-1, 0, 1, 30 * DAY, -31 * DAY]),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    zone = draw(st.sampled_from(sorted(TURNED)))
    turned_us = st.sampled_from([parse_instant(text) for text in TURNED[zone]])
    times = st.builds(lambda at_us, apart_us: at_us + apart_us, turned_us, _apart)
    row = {"k": st.sampled_from("ab"), "v": st.integers(0, 9), "ts": times}
    rows = st.lists(st.fixed_dictionaries(row), min_size=1, max_size=8).map(tuple)
    insert = st.builds(Step, st.just("insert"), st.just("ev"), rows)
    watermark = st.builds(Step, st.just("watermark"), st.just("ev"), at_us=times)
    window = draw(st.sampled_from(WINDOWS)).format(zone=f", TIME_ZONE => '{zone}'")
    select = draw(st.sampled_from(SELECTS)).format(window=window)
    clause = draw(st.sampled_from(CLAUSES)) if "COUNT" in select else ""
    text = Text(f"{SOURCES}CREATE STREAM out AS {select}{clause};", ("ev",), ("out",))
    steps = draw(st.lists(st.one_of(insert, insert, watermark), min_size=1, max_size=6))
    return Case(text, (*steps, Step("end")))


@settings(
    max_examples=max(10, settings().max_examples // 2), suppress_health_check=list(HealthCheck)
)
@given(case=cases(), manner=manners)
def test_calendars_agree_with_the_oracle(
    case: Case, manner: Manner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = plan(case.text.sql)
    assert made is not None
    for one in (Manner(), manner):
        compare(case, made, one, tmp_path_factory.getbasetemp())
