"""What partials tell afterwards of rows that were taken whatever their time.

Decided here: when the partials of a statement without bounds are those that the statement with them would have made. A
pane is open or closed as a whole, so its rows are late together. What a row is found to be before anybody asks whether
it is late stays; where something else would have come after that question, nobody knows (`None`), and the statement has
to be run again with its bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrivals import STAMPED_ROWS
from tidegate.kernel.arrow import Integers, array_of, conform, numbers
from tidegate.kernel.groups import MAX_TS
from tidegate.kernel.panes import PANE
from tidegate.kernel.steps import Bounds
from tidegate.model.policies import DISPOSITION, FILTERED, Reason
from tidegate.model.time import MIN_EVENT_TIME_US
from tidegate.model.types import Scalar
from tidegate.plan.physical import Panes, Pieces

_LATE = DISPOSITION[Reason.ALLOWED_LATENESS_EXCEEDED]
_BEFORE_LATE = (
    FILTERED,
    _LATE,
    *(
        DISPOSITION[reason]
        for reason in (
            Reason.MISSING_EVENT_TIME,
            Reason.FUTURE_EVENT_TIME,
            Reason.PRE_EPOCH_EVENT_TIME,
        )
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """By the bounds of an epoch; a stage without panes has none to be late for."""

    bounds: Bounds
    panes: Panes | Pieces | None

    def all(self, batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch] | None:
        """The partials as the bounds would have made them; None if they do not tell."""
        found = []
        for batch in batches:
            judged = self._one(batch)
            if judged is None:
                return None
            found.append(judged)
        return found

    def _one(self, batch: pa.RecordBatch) -> pa.RecordBatch | None:
        if STAMPED_ROWS in batch.schema.names and _integers(batch, STAMPED_ROWS).any():
            return None
        if MAX_TS in batch.schema.names and _latest(batch) > self.bounds.latest_us:
            return None
        if self.panes is None or self.bounds.open_from_us <= MIN_EVENT_TIME_US:
            return batch
        panes = _integers(batch, PANE)
        if not np.isin(-panes[panes < 0], _BEFORE_LATE).all():
            return None
        first = self.panes.number(self.bounds.open_from_us)
        late = (panes >= 0) & (panes < first)
        if not late.any():
            return batch
        made = array_of(np.where(late, -_LATE, panes), None, pa.int64())
        return batch.set_column(batch.schema.get_field_index(PANE), PANE, made)


def _integers(batch: pa.RecordBatch, name: str) -> Integers:
    found: Integers = numbers(conform(batch.column(name), Scalar.BIGINT)).values
    return found


def _latest(batch: pa.RecordBatch) -> int:
    times = numbers(conform(batch.column(MAX_TS), Scalar.BIGINT)).filled(MIN_EVENT_TIME_US)
    return int(times.max(initial=MIN_EVENT_TIME_US))
