"""Marks of local clocks, and the windows between them, against Python's own dates and zones.

Instants are drawn around the moments at which clocks are turned: ordinary summer time, half an hour of it, a change of
a minute past midnight, a day left out, local mean time with its seconds; and far from any of them.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.calendar import calendar_windows
from tidegate.kernel.pieces import numbered, panes_of
from tidegate.kernel.spans import on_calendar
from tidegate.model.calendar import PIECES_FROM_US, Period, Ruler
from tidegate.model.grid import latest_window_us, open_from_us, windows_at
from tidegate.model.time import (
    DAY,
    HOUR,
    MAX_EVENT_TIME_US,
    MIN_EVENT_TIME_US,
    MINUTE,
    parse_instant,
)
from tidegate.model.windows import AlignedKind, Calendar, InvalidLength, Tumbling, aligned
from tidegate.model.zones import UTC_ZONE, Zone
from tidegate.sql.zones import find_zone


def zone(name: str) -> Zone:
    found = find_zone(name)
    assert found is not None, name
    return found


ZONES = [
    zone(name)
    for name in (
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",  # summer time is half an hour
        "America/Goose_Bay",  # clocks were turned a minute past midnight
        "America/Sao_Paulo",  # clocks were turned at midnight
        "Pacific/Apia",  # no 30 December 2011
        "Asia/Manila",  # two days of that date in 1844
        "Asia/Kathmandu",
        "Africa/Casablanca",  # summer time but for a month
        "Europe/Dublin",
        "-09:30",
    )
]
_MOMENTS = [
    moment
    for one in ZONES
    for moment in one.changes_us
    if parse_instant("1840-01-01") < moment < parse_instant("2040-01-01")
]
_NEAR = st.builds(
    lambda moment, off: moment + off,
    st.sampled_from(_MOMENTS),
    st.one_of(st.integers(-3 * HOUR, 3 * HOUR), st.integers(-2 * DAY, 2 * DAY), st.integers(-1, 1)),
)
_ANY = st.integers(MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)
INSTANTS = st.one_of(_NEAR, _ANY)
MONTHS = st.sampled_from([Period(months=count) for count in (1, 2, 3, 5, 12)])
TIMES = st.sampled_from(
    [Period(us=length) for length in (15 * MINUTE, HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY)]
)
OFFSETS = st.sampled_from([Period(us=length) for length in (0, 6 * HOUR, -20 * MINUTE, 3 * DAY)])


KINDS: tuple[AlignedKind, ...] = ("tumbling", "hopping", "cumulating")


@st.composite
def windows(draw: st.DrawFn) -> Calendar:
    kind: AlignedKind = draw(st.sampled_from(KINDS))
    step = draw(st.one_of(MONTHS, TIMES))
    times = draw(st.integers(1, 4))
    size = Period(months=step.months * times, us=step.us * times)
    if kind == "hopping" and step.months:
        size = Period(months=size.months + draw(st.integers(0, 1)))
    if kind == "cumulating" and step.us and not DAY % step.us and draw(st.booleans()):
        size = draw(MONTHS)
    offset = draw(OFFSETS)
    if size.months and draw(st.booleans()):
        offset = Period(months=draw(st.integers(-4, 4)), us=offset.us)
    made = Calendar(
        kind=kind,
        size=step if kind == "tumbling" else size,
        step=step,
        offset=Period(us=offset.us) if kind == "tumbling" and step.us else offset,
        zone=draw(st.sampled_from(ZONES)),
    )
    return made


@given(windows(), INSTANTS)
def test_windows_over_an_instant(window: Calendar, instant_us: int) -> None:
    grid, marks = on_calendar(window), window.marks
    spans = grid.over(marks.number(instant_us))
    edges = sorted((grid.start_us(span), grid.end_us(span)) for span in spans)
    assert edges == calendar_windows(window, instant_us)
    assert windows_at(window, instant_us) == edges


@given(windows(), INSTANTS)
def test_what_a_late_row_missed_is_its_latest_window(window: Calendar, instant_us: int) -> None:
    found = calendar_windows(window, instant_us)
    bounds = window.bounds
    if window.kind == "cumulating":
        number = bounds.number(instant_us)
        found = [(bounds.start_us(number), bounds.start_us(number + 1))]
    latest = max(found, key=lambda edges: (edges[1], edges[0]))
    assert latest_window_us(window, instant_us) == latest


@given(windows(), INSTANTS, st.integers(-3 * DAY, 40 * DAY))
def test_rows_are_taken_while_one_of_their_windows_is_open(
    window: Calendar, instant_us: int, ahead_us: int
) -> None:
    watermark_us = instant_us + ahead_us
    is_open = any(end > watermark_us for _, end in calendar_windows(window, instant_us))
    from_us = open_from_us(window, watermark_us=watermark_us, lateness_us=0)
    assert (instant_us >= from_us) == is_open


@given(windows(), st.lists(INSTANTS, min_size=1, max_size=5), INSTANTS, INSTANTS)
def test_windows_that_close(window: Calendar, rows: list[int], one: int, other: int) -> None:
    grid, (after_us, upto_us) = on_calendar(window), sorted((one, other))
    panes = sorted({window.marks.number(row) for row in rows})
    closing = grid.closing(panes, after_us=after_us, upto_us=upto_us)
    edges = [(grid.start_us(span), grid.end_us(span)) for span in closing]
    held = {edge for row in rows for edge in calendar_windows(window, row)}
    assert sorted(edges) == sorted(edge for edge in held if after_us < edge[1] <= upto_us)
    assert [end for _, end in edges] == sorted(end for _, end in edges)
    for row in rows:
        ends = [end for _, end in calendar_windows(window, row)]
        assert grid.is_done(window.marks.number(row), upto_us) == (max(ends) <= upto_us)


@given(windows(), INSTANTS)
def test_no_mark_stands_within_a_piece(window: Calendar, instant_us: int) -> None:
    marks = window.marks
    start_us = marks.start_us(marks.number(instant_us))
    assert start_us <= instant_us < marks.start_us(marks.number(instant_us) + 1)
    assert start_us % marks.grid_us in marks.cuts_us()
    assert marks.standing(marks.number(start_us)) == marks.number(instant_us) >= 0


@given(windows(), st.lists(INSTANTS, max_size=9))
def test_pieces_are_of_the_panes_of_their_instants(window: Calendar, instants: list[int]) -> None:
    found = panes_of(np.array(instants, np.int64), window.marks)
    assert found.tolist() == [window.marks.number(instant) for instant in instants]


def test_what_is_no_piece_stays() -> None:
    import pyarrow as pa

    marks = Ruler(period=Period(months=1))
    batch = pa.record_batch({"$pane": [-PIECES_FROM_US, -2], "$rows": [1, 1]})
    panes = [made.column("$pane").to_pylist() for made in numbered(batch, marks)]
    assert panes == [[-2], [marks.number(0)]]


@pytest.mark.parametrize("local", ["2026-03-29T02:30", "2026-10-25T02:30"])
def test_a_day_on_which_a_clock_is_turned_is_one_window(local: str) -> None:
    berlin = zone("Europe/Berlin")
    marks = Ruler(period=Period(us=DAY), zone=berlin)
    number = marks.number(parse_instant(local))
    hours = (marks.start_us(number + 1) - marks.start_us(number)) // HOUR
    assert hours == {"03": 23, "10": 25}[local[5:7]]


def test_a_date_that_was_left_out_has_no_window() -> None:
    marks = Ruler(period=Period(us=DAY), zone=zone("Pacific/Apia"))
    number = marks.number(parse_instant("2011-12-30T09:59:59Z"))
    starts = [marks.start_us(number + later) for later in range(4)]
    assert starts[1] == starts[2] == parse_instant("2011-12-30T10:00:00Z")
    assert starts[3] - starts[2] == starts[1] - starts[0] == DAY
    assert marks.standing(number + 1) == number + 2


def test_rules_hold_in_the_last_year_there_is() -> None:
    berlin = zone("Europe/Berlin")
    assert berlin.local_us(MAX_EVENT_TIME_US) == MAX_EVENT_TIME_US + HOUR
    july = parse_instant("9999-07-01")
    assert berlin.local_us(july) == july + 2 * HOUR
    assert berlin.instant_us(july + 2 * HOUR) == july


def test_a_zone_that_is_never_turned_makes_fixed_windows() -> None:
    size = Period(us=DAY)
    assert aligned("tumbling", size, zone=zone("+05:30")) == Tumbling(
        size_us=DAY, offset_us=-5 * HOUR - 30 * MINUTE
    )
    assert aligned("tumbling", size) == Tumbling(size_us=DAY)


@pytest.mark.parametrize(
    ("kind", "size", "step", "offset", "culprit"),
    [
        ("tumbling", Period(), None, Period(), "size"),
        ("tumbling", Period(months=-1), None, Period(), "size"),
        ("tumbling", Period(months=1, us=DAY), None, Period(), "size"),
        ("tumbling", Period(months=999_999), None, Period(), "size"),
        ("tumbling", Period(us=7 * HOUR), None, Period(), "step"),
        ("tumbling", Period(us=DAY), None, Period(months=1), "offset"),
        ("hopping", Period(months=1), Period(us=DAY), Period(), "slide"),
        ("hopping", Period(months=1), Period(months=2), Period(), "slide"),
        ("hopping", Period(us=35 * HOUR), Period(us=7 * HOUR), Period(), "slide"),
        ("cumulating", Period(months=3), Period(months=2), Period(), "size"),
        ("cumulating", Period(us=DAY), Period(months=1), Period(), "size"),
        ("cumulating", Period(months=1), Period(us=2 * DAY), Period(), "step"),
    ],
)
def test_lengths_that_make_no_windows(
    kind: AlignedKind, size: Period, step: Period | None, offset: Period, culprit: str
) -> None:
    with pytest.raises(InvalidLength) as refused:
        aligned(kind, size, step, offset=offset, zone=zone("Europe/Berlin"))
    assert refused.value.argument == culprit


def test_zones_are_found_in_any_case() -> None:
    assert find_zone("europe/berlin") == zone("Europe/Berlin")
    assert find_zone("utc") is UTC_ZONE
    assert find_zone("+5:30") == zone("+05:30")
    assert [find_zone(name) for name in ("Europe", "Mars/Olympus", "../etc/passwd", "")] == [
        None
    ] * 4
