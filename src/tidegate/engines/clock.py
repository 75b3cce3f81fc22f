"""The processing-time clock: the only place that looks at the machine's.

Engines get one handed in, so that tests and scenarios set the time by hand.
"""

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    def now_us(self) -> int: ...


class WallClock:
    """The machine's clock, in µs since the epoch."""

    def now_us(self) -> int:
        return time.time_ns() // 1_000


@dataclass(slots=True)
class ManualClock:
    """A clock that stands still until it is set; it does not go back.

    >>> clock = ManualClock()
    >>> clock.set_us(5), clock.set_us(3), clock.now_us()
    (None, None, 5)
    """

    at_us: int = 0

    def now_us(self) -> int:
        return self.at_us

    def set_us(self, at_us: int) -> None:
        self.at_us = max(self.at_us, at_us)
