"""Side outputs on their way to sinks: what each gets, what is counted, what is dropped."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tidegate.engines.routes import Bucket, Routes
from tidegate.engines.sides import Payload
from tidegate.errors import TidegateError
from tidegate.model.options import OptionValue
from tidegate.model.policies import SideKind

SECOND = 1_000_000


@dataclass
class Kept:
    epochs: dict[int, list[Payload]] = field(default_factory=dict)
    closed: bool = False

    def write(self, epoch: int, payloads: Sequence[Payload]) -> None:
        self.epochs[epoch] = [*payloads]

    def close(self) -> None:
        self.closed = True


def payload(number: int, *, kind: str = "late", stream: str = "out") -> Payload:
    return {"kind": kind, "stream": stream, "original_event": {"n": number}}


def routes(kept: Kept, **options: OptionValue) -> Routes:
    given = {name.replace("__", "."): value for name, value in options.items()}
    return Routes({"Out": given}, otherwise={}, open_sink={"dlq": kept}.get)


@pytest.mark.parametrize("target", ["sink:dlq", "dlq", "sink:DLQ"])
def test_payloads_go_where_their_route_says(target: str) -> None:
    kept = Kept()
    made = routes(kept, late__sink=target)
    done = made.deliver(4, [payload(1), payload(2, kind="error"), payload(3)], now_us=0)
    assert kept.epochs == {4: [payload(1), payload(3)]}
    assert (done.delivered, done.dropped) == ({"late": 2}, {"late": 0})
    assert made.wanted == {SideKind.LATE}
    made.close()
    assert kept.closed


def test_nothing_is_wanted_where_all_is_only_counted() -> None:
    assert routes(Kept(), late__sink="metrics_only").wanted == frozenset()
    assert routes(Kept()).wanted == frozenset()


def test_an_epoch_without_payloads_is_written_too() -> None:
    """It may come for the second time, and with payloads the first time."""
    kept = Kept()
    routes(kept, late__sink="dlq").deliver(4, [], now_us=0)
    assert kept.epochs == {4: []}


def test_two_kinds_share_a_sink() -> None:
    kept = Kept()
    made = routes(kept, late__sink="dlq", error__sink="dlq")
    made.deliver(0, [payload(1), payload(2, kind="error")], now_us=0)
    assert len(kept.epochs[0]) == 2


def test_originals_may_stay_at_home() -> None:
    kept = Kept()
    made = routes(kept, late__sink="dlq", late__include_original=False)
    made.deliver(0, [payload(1)], now_us=0)
    assert kept.epochs[0][0]["original_event"] is None


def test_a_sink_that_nobody_made_is_named() -> None:
    made = routes(Kept(), late__sink="sink:other")
    assert made.unknown == {"other": "late rows of out"}
    assert made.deliver(0, [payload(1)], now_us=0).delivered == {}


def test_back_into_an_input_is_refused() -> None:
    with pytest.raises(TidegateError) as refused:
        routes(Kept(), late__sink="reinject:ev")
    assert refused.value.code == "TG-7001"


@pytest.mark.parametrize(
    ("rate", "taken"),
    [
        #          t = 0 s  0.5 s   1 s    9 s   (five are wanted each time)
        ("10/s", [5, 5, 5, 5]),
        ("4/s", [4, 2, 2, 4]),
        ("60/min", [1, 0, 1, 1]),
        ("1/h", [1, 0, 0, 0]),
    ],
)
def test_a_rate_is_kept_by_the_clock_of_the_epochs(rate: str, taken: list[int]) -> None:
    kept = Kept()
    made = routes(kept, late__sink="dlq", late__rate_limit=rate)
    passed: list[Any] = []
    for epoch, at_us in enumerate((0, SECOND // 2, SECOND, 9 * SECOND)):
        done = made.deliver(epoch, [payload(n) for n in range(5)], now_us=at_us)
        assert done.delivered["late"] + done.dropped["late"] == 5
        passed.append(len(kept.epochs[epoch]))
    assert passed == taken


def test_a_clock_that_goes_back_fills_nothing() -> None:
    bucket = Bucket(count=1, unit_us=SECOND)
    assert [bucket.take(1, now_us=at_us) for at_us in (SECOND, 0, SECOND)] == [1, 0, 0]
