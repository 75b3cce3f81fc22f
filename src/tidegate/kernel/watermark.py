"""Watermarks: one for each input of a stage, and their minimum, which is the stage's own.

Decided here: what moves a watermark, and that nothing pulls it back. A batch is judged by what held when it began
(`begin`), and moves it only afterwards (`advance`), so the order of rows inside a batch means nothing. An input that
has been silent for its timeout is left out of the minimum; where all are silent, nothing moves.

>>> one = InputTime(origin=WatermarkOrigin.ROWS, lag_us=5)
>>> watermark = StageWatermark([one, one])
>>> watermark.begin(0) == NEVER_US
True
>>> watermark.clocks[0].saw(rows=3, latest_us=20, now_us=0)
>>> watermark.advance(0) == NEVER_US  # the other input has said nothing
True
>>> watermark.clocks[1].saw(rows=1, latest_us=12, now_us=0)
>>> watermark.advance(0)
7
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidegate.model.policies import WatermarkOrigin
from tidegate.model.time import FOREVER_US, NEVER_US

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTime:
    """`processing`: rows of the input have the clock's time."""

    origin: WatermarkOrigin
    lag_us: int = 0
    idle_timeout_us: int | None = None
    processing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """What an epoch tells of an input's partitions: all that there are, and the latest time of those that had rows."""

    known: Sequence[int]
    latest_us: Mapping[int, int | None]


@dataclass(slots=True)
class PartitionClock:
    heard_us: int
    latest_us: int = NEVER_US


@dataclass(slots=True)
class InputClock:
    """One input. `heard_us`: the clock when it last had rows, or was opened.

    If it has partitions, it has come as far as the one that is least far, of those that are not idle.
    """

    time: InputTime
    heard_us: int = 0
    watermark_us: int = NEVER_US
    latest_us: int = NEVER_US
    partitions: dict[int, PartitionClock] = field(default_factory=dict)

    def saw_partitions(self, told: Partitions, *, now_us: int) -> None:
        for number in told.known:
            self.partitions.setdefault(number, PartitionClock(now_us))
        for number, latest_us in told.latest_us.items():
            clock = self.partitions.setdefault(number, PartitionClock(now_us))
            clock.heard_us = max(clock.heard_us, now_us)
            clock.latest_us = max(clock.latest_us, NEVER_US if latest_us is None else latest_us)

    def _reached_us(self, now_us: int) -> int:
        """By its rows."""
        if not self.partitions:
            return self.latest_us
        active = [
            clock.latest_us
            for clock in self.partitions.values()
            if not self._is_silent(clock.heard_us, now_us)
        ]
        return min(active, default=NEVER_US)

    def saw(self, *, rows: int, latest_us: int | None, now_us: int) -> None:
        """Rows have come, whatever became of them; `latest_us` is the latest time that counts."""
        if rows:
            self.heard_us = max(self.heard_us, now_us)
        if latest_us is not None:
            self.latest_us = max(self.latest_us, latest_us)

    def advance(self, now_us: int, *, explicit_us: int, upstream_us: int) -> None:
        match self.time.origin:
            case WatermarkOrigin.CLOCK:
                reached = now_us
            case WatermarkOrigin.UPSTREAM:
                reached = upstream_us
            case WatermarkOrigin.ROWS:
                reached = max(explicit_us, self._reached_us(now_us) - self.time.lag_us)
            case WatermarkOrigin.EXPLICIT | WatermarkOrigin.NONE:
                reached = explicit_us
        self.watermark_us = max(self.watermark_us, reached)

    def is_idle(self, now_us: int) -> bool:
        return self._is_silent(self.heard_us, now_us)

    def silent(self, now_us: int) -> int:
        """How many are idle: the input, and its partitions."""
        partitions = sum(
            self._is_silent(clock.heard_us, now_us) for clock in self.partitions.values()
        )
        return int(self.is_idle(now_us)) + partitions

    def _is_silent(self, heard_us: int, now_us: int) -> bool:
        timeout = self.time.idle_timeout_us
        return timeout is not None and now_us - heard_us >= timeout

    def facts(self) -> list[Any]:
        partitions = {
            str(number): [clock.heard_us, clock.latest_us]
            for number, clock in self.partitions.items()
        }
        own: list[Any] = [self.watermark_us, self.latest_us, self.heard_us]
        return [*own, partitions] if partitions else own

    def restore(self, facts: Sequence[Any]) -> None:
        self.watermark_us, self.latest_us, self.heard_us, *partitions = facts
        for number, (heard_us, latest_us) in partitions[0].items() if partitions else ():
            self.partitions[int(number)] = PartitionClock(heard_us, latest_us)


@dataclass(slots=True)
class StageWatermark:
    """All inputs of a stage. `at_us` is the minimum."""

    clocks: list[InputClock]
    at_us: int = field(default=NEVER_US, init=False)

    def __init__(self, inputs: Sequence[InputTime], *, since_us: int = 0) -> None:
        self.clocks = [InputClock(time, since_us) for time in inputs]
        self.at_us = NEVER_US

    def begin(self, now_us: int) -> int:
        """The watermark that a batch is judged by."""
        if any(clock.time.processing for clock in self.clocks):
            self.at_us = max(self.at_us, now_us)
        return self.at_us

    def advance(
        self,
        now_us: int,
        *,
        explicit_us: Mapping[int, int] | None = None,
        upstream_us: Mapping[int, int] | None = None,
        ended: bool = False,
    ) -> int:
        """After a batch; watermarks that were set or come from other stages are by the number of the input."""
        for number, clock in enumerate(self.clocks):
            clock.advance(
                now_us,
                explicit_us=(explicit_us or {}).get(number, NEVER_US),
                upstream_us=(upstream_us or {}).get(number, NEVER_US),
            )
        active = [clock.watermark_us for clock in self.clocks if not clock.is_idle(now_us)]
        least = min(active) if active else self.at_us
        self.at_us = FOREVER_US if ended else max(self.at_us, least)
        return self.at_us

    def facts(self) -> Facts:
        """What must be remembered."""
        return {"at": self.at_us, "inputs": [clock.facts() for clock in self.clocks]}

    def restore(self, facts: Facts) -> None:
        self.at_us = facts["at"]
        for clock, known in zip(self.clocks, facts["inputs"], strict=True):
            clock.restore(known)
