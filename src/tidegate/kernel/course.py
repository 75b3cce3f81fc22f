"""How far an operator has come: its watermark, its clock, and the account of all its rows.

Decided here: what every operator does around its rows, whatever it keeps of them. The clock never goes back; an epoch
is judged by the watermark that holds when it begins, and the watermark moves once, behind its rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tidegate.kernel.steps import Account, Bounds, InputSpec, Step
from tidegate.kernel.watermark import StageWatermark
from tidegate.model.time import MAX_EVENT_TIME_US, NEVER_US


class Course:
    """`since_us` is the clock. `emitted_us`: the watermark when rows were last emitted."""

    def __init__(self, inputs: Sequence[InputSpec], *, since_us: int) -> None:
        self.watermark = StageWatermark([one.time for one in inputs], since_us=since_us)
        self.account = Account()
        self.clock_us = since_us
        self.emitted_us = NEVER_US
        self._inputs = tuple(inputs)

    def now_us(self, told_us: int) -> int:
        return max(told_us, self.clock_us)

    def begin(self, now_us: int) -> int:
        """The watermark that the epoch's rows are judged by; asking twice changes nothing."""
        return self.watermark.begin(self.now_us(now_us))

    def bounds(self, now_us: int, *, watermark_us: int, open_from_us: int) -> tuple[Bounds, ...]:
        """The same for every input, but for its own idea of the future."""
        return tuple(
            Bounds(
                watermark_us=watermark_us,
                open_from_us=open_from_us,
                latest_us=self.latest_us(place, now_us),
            )
            for place in range(len(self._inputs))
        )

    def latest_us(self, place: int, now_us: int) -> int:
        """Up to when rows of an input are of this time."""
        skew_us = self._inputs[place].max_future_skew_us
        if skew_us is None:
            return MAX_EVENT_TIME_US
        return min(self.now_us(now_us) + skew_us, MAX_EVENT_TIME_US)

    def advance(self, step: Step, now_us: int) -> None:
        """The watermark and the clock go on."""
        for clock, one in zip(self.watermark.clocks, step.inputs, strict=True):
            if one.partitions is not None:
                clock.saw_partitions(one.partitions, now_us=now_us)
        self.watermark.advance(
            now_us,
            explicit_us={place: one.explicit_us for place, one in enumerate(step.inputs)},
            upstream_us={place: one.upstream_us for place, one in enumerate(step.inputs)},
            ended=step.ended,
        )
        self.clock_us, self.emitted_us = now_us, self.watermark.at_us

    def facts(self) -> dict[str, Any]:
        return {
            "watermark": self.watermark.facts(),
            "clock_us": self.clock_us,
            "emitted_us": self.emitted_us,
            "rows_by_code": dict(self.account.rows_by_code),
            "stamped": self.account.stamped,
        }

    def restore(self, facts: Mapping[str, Any]) -> None:
        self.watermark.restore(facts["watermark"])
        self.clock_us, self.emitted_us = facts["clock_us"], facts["emitted_us"]
        counted = {int(code): rows for code, rows in facts["rows_by_code"].items()}
        self.account = Account(Counter(counted), facts["stamped"])
