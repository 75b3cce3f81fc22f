"""Partitions of one input: the watermark is that of the one which is least far, of those that are not idle.

partition 0   ──10───────20──────────────▶
partition 1   ─────7───────────12────────▶     lag 5
watermark     ─────2───────────7─────────▶
"""

import json

from tidegate.kernel.watermark import InputTime, Partitions, StageWatermark
from tidegate.model.policies import WatermarkOrigin
from tidegate.model.time import NEVER_US


def watermark(*, idle_timeout_us: int | None = None) -> StageWatermark:
    time = InputTime(origin=WatermarkOrigin.ROWS, lag_us=5, idle_timeout_us=idle_timeout_us)
    return StageWatermark([time])


def saw(it: StageWatermark, now_us: int, *known: int, **latest_us: int | None) -> int:
    """An epoch: `p0=10` is a row of partition 0 at 10."""
    told = {int(name[1:]): time for name, time in latest_us.items()}
    times = [time for time in told.values() if time is not None]
    clock = it.clocks[0]
    clock.saw(rows=len(told), latest_us=max(times, default=None), now_us=now_us)
    clock.saw_partitions(Partitions(known=known, latest_us=told), now_us=now_us)
    return it.advance(now_us)


def test_the_least_far_one_decides() -> None:
    it = watermark()
    assert saw(it, 0, 0, 1, p0=10) == NEVER_US
    assert saw(it, 1, 0, 1, p1=7) == 2
    assert saw(it, 2, 0, 1, p0=20) == 2
    assert saw(it, 3, 0, 1, p1=12) == 7
    assert saw(it, 4, 0, 1, p1=None) == 7


def test_an_idle_one_does_not_hold_it_back_and_rejoins_without_pulling_it_back() -> None:
    it = watermark(idle_timeout_us=100)
    saw(it, 0, 0, 1, p0=10, p1=7)
    assert saw(it, 60, 0, 1, p0=50) == 2
    assert saw(it, 120, 0, 1, p0=60) == 55
    assert saw(it, 130, 0, 1, p1=8) == 55
    assert saw(it, 140, 0, 1, p0=90) == 55
    assert saw(it, 150, 0, 1, p1=80) == 75


def test_a_partition_that_is_added_holds_it_where_it_is() -> None:
    it = watermark()
    assert saw(it, 0, 0, p0=10) == 5
    assert saw(it, 1, 0, 1, p0=30) == 5
    assert saw(it, 2, 0, 1, p1=20) == 15


def test_where_all_are_idle_nothing_moves() -> None:
    it = watermark(idle_timeout_us=100)
    assert saw(it, 0, 0, 1, p0=10, p1=7) == 2
    assert it.advance(1_000) == 2


def test_who_has_fallen_silent_is_known() -> None:
    it = watermark(idle_timeout_us=100)
    saw(it, 0, 0, 1, p0=10, p1=7)
    saw(it, 60, 0, 1, p0=20)
    assert [it.clocks[0].silent(now_us) for now_us in (99, 100, 159, 160)] == [0, 1, 1, 3]


def test_it_goes_on_from_what_is_remembered() -> None:
    it, again = watermark(), watermark()
    saw(it, 0, 0, 1, p0=10, p1=7)
    again.restore(json.loads(json.dumps(it.facts())))
    assert again.facts() == it.facts()
    assert saw(again, 1, 0, 1, p1=40) == 5
