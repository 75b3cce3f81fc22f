"""What goes into an operator and what comes out: bounds, steps, outcomes, state.

Decided here: the shape of an epoch, the same for every operator. `begin` gives `Bounds` for each input, `step` takes a
`Step` and gives an `Outcome`; a `Step` is all that a log has to keep.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrivals import Arrived
from tidegate.kernel.arrow import numbers
from tidegate.kernel.changes import Emitted
from tidegate.kernel.groups import ROWS
from tidegate.kernel.refusals import Refused
from tidegate.kernel.watermark import InputTime, Partitions
from tidegate.model.policies import AGGREGATED
from tidegate.model.time import NEVER_US

Parts = Mapping[str, pa.RecordBatch]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSpec:
    """One input. `max_future_skew_us` None: rows may be from any future."""

    time: InputTime
    max_future_skew_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """By what the rows of an input are judged in this epoch."""

    watermark_us: int
    open_from_us: int
    latest_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What an input as a whole has brought, for an operator that gets only some of it."""

    rows: int
    latest_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What an input brings: batches of row SQL, those of rows that it takes back, and watermarks from elsewhere.

    `seen` is what moves the watermark where the batches are those of one shard only.
    """

    batches: Sequence[pa.RecordBatch] = ()
    taken_back: Sequence[pa.RecordBatch] = ()
    explicit_us: int = NEVER_US
    upstream_us: int = NEVER_US
    seen: Seen | None = None
    partitions: Partitions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An epoch. `crowded`: the engine finds that the state is too large."""

    inputs: Sequence[Brought]
    now_us: int
    ended: bool = False
    crowded: bool = False


@dataclass(slots=True)
class Account:
    """Rows by the code of what became of them; the clock stamped `stamped` of them."""

    rows_by_code: Counter[int] = field(default_factory=Counter)
    stamped: int = 0

    def add(self, arrived: Arrived) -> None:
        self.rows_by_code.update(arrived.rows_by_code)
        self.stamped += arrived.stamped

    def refuse(self, refused: Refused) -> None:
        if len(refused):
            counts = np.bincount(refused.codes, numbers(refused.partials.column(ROWS)).values)
            for code in np.flatnonzero(counts).tolist():
                self.rows_by_code[code] += int(counts[code])
                self.rows_by_code[AGGREGATED] -= int(counts[code])

    def merge(self, other: "Account") -> None:
        self.rows_by_code.update(other.rows_by_code)
        self.stamped += other.stamped


@dataclass(frozen=True, slots=True)
class State:
    """What an operator is restored from: JSON, and partial batches by name."""

    facts: Mapping[str, Any]
    parts: Parts


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an epoch gave. `behind_us`: no row that is emitted later lies before it.

    By input: `refused`, and `duplicates`, the time and key of each (empty where none are looked for).
    """

    emitted: Emitted
    refused: Sequence[Refused]
    account: Account
    watermark_us: int
    behind_us: int
    duplicates: Sequence[pa.RecordBatch] = ()
