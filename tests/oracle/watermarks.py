"""Watermarks: one per input of a stage, and their minimum.

Instants are µs; no watermark yet is `NEVER`, the end of input is `FOREVER`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.model.options import OptionValue
from tidegate.model.policies import MissingEventTime, PreEpoch, Reason, WatermarkOrigin
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.plan.logical import EventTime, Rung

if TYPE_CHECKING:
    from tests.oracle.arrivals import Arrival

NEVER, FOREVER = -math.inf, math.inf


@dataclass
class InputClock:
    """The watermark of one input, and its rules for rows whose time is no good."""

    node: EventTime
    source: str
    options: Mapping[str, OptionValue]
    watermark: float = NEVER
    last_row_us: float = 0
    _batch_has_rows: bool = False
    _seen_us: float = NEVER
    _now_us: int = 0

    @property
    def falls_back(self) -> bool:
        """Whether the clock stamps rows without a time: if asked to, or by default if there are other rungs."""
        asked = self.options.get("on_missing_event_time")
        if asked is None:
            return len(self.node.ladder) > 1
        assert asked != MissingEventTime.FAIL, "a failing query is no scenario"
        return asked == MissingEventTime.FALLBACK

    def begin(self, now_us: int) -> None:
        self._now_us = now_us
        self._batch_has_rows = False

    def seen(self, row: "Arrival") -> "Arrival":
        """Every row of the input passes here, also those that WHERE removes later."""
        self._batch_has_rows = True
        if row.ts_us is not None and not row.stamped and self.problem(row.ts_us) is None:
            self._seen_us = max(self._seen_us, row.ts_us)
        return row

    def problem(self, ts_us: int | None) -> Reason | None:
        """Why a time cannot be used."""
        if ts_us is None:
            return Reason.MISSING_EVENT_TIME
        if not MIN_EVENT_TIME_US <= ts_us <= MAX_EVENT_TIME_US:
            return Reason.OVERFLOW
        skew = self.options.get("max_future_skew")
        if isinstance(skew, int) and ts_us > self._now_us + skew:
            return Reason.FUTURE_EVENT_TIME
        if self.options.get("pre_epoch") == PreEpoch.DIVERT and ts_us < 0:
            return Reason.PRE_EPOCH_EVENT_TIME
        return None

    def advance(self, explicit_us: float, upstream: float) -> None:
        """After the batch; the watermark never goes back."""
        if self._batch_has_rows:
            self.last_row_us = self._now_us
        match self.node.watermark:
            case WatermarkOrigin.CLOCK:
                self.watermark = max(self.watermark, self._now_us)
            case WatermarkOrigin.UPSTREAM:
                self.watermark = max(self.watermark, upstream)
            case WatermarkOrigin.ROWS:
                derived = self._seen_us - self.node.lag_us
                self.watermark = max(self.watermark, derived, explicit_us)
            case WatermarkOrigin.EXPLICIT | WatermarkOrigin.NONE:
                self.watermark = max(self.watermark, explicit_us)

    @property
    def idle(self) -> bool:
        timeout = self.options.get("idle_timeout")
        return isinstance(timeout, int) and self._now_us - self.last_row_us >= timeout

    @property
    def processing(self) -> bool:
        return self.node.ladder[0].rung is Rung.PROCESSING


def together(clocks: Iterable[InputClock], before: float) -> float:
    """The least watermark of the inputs that are not idle; where all are, nothing moves."""
    active = [clock.watermark for clock in clocks if not clock.idle]
    return max(before, min(active)) if active else before
