"""Made-up rows: for demonstrations, tests and measuring.

Decided here: a row is a function of the seed and its number, so any range gives the same rows whenever it is read and
however it is cut. Row n has the event time start + n / rate, minus up to `disorder`; every `late_every`-th row on
average is `late_by` later still. With `rows` the source ends and is not paced, unless `rate` is given, too; without, it
gives the rows that are due by the clock since it was first asked, and its first event time is that clock.
"""

from dataclasses import dataclass

import numpy as np

from tidegate import errors
from tidegate.connectors.made_up import Maker, draws
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.connectors.registry import Connector
from tidegate.connectors.settings import Settings
from tidegate.kernel.arrow import Integers
from tidegate.model.schema import Schema
from tidegate.model.time import (
    HOUR,
    MAX_EVENT_TIME_US,
    MIN_EVENT_TIME_US,
    MINUTE,
    SECOND,
    parse_instant,
)
from tidegate.plan.catalog import SourceDef

_START_US = parse_instant("2026-01-01")
_UNITS = {"s": SECOND, "min": MINUTE, "h": HOUR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`count` rows every `unit_us`.

    >>> Pace(count=3, unit_us=1_000_000).due(500_000)
    2
    """

    count: int
    unit_us: int

    def due(self, elapsed_us: int) -> int:
        """How many rows there are by then; the first one is due at once."""
        return elapsed_us * self.count // self.unit_us + 1 if elapsed_us >= 0 else 0

    def times_us(self, numbers: Integers) -> Integers:
        """When rows are due, counted from the first."""
        whole, rest = np.divmod(numbers, self.count)
        times_us: Integers = whole * self.unit_us + rest * self.unit_us // self.count
        return times_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a generator makes. `start_us` None is the clock at the first call; `pace` None is as fast as may be."""

    pace: Pace
    paced: bool
    rows: int | None
    seed: int
    start_us: int | None
    disorder_us: int
    keys: int
    late_every: int | None
    late_by_us: int


class Generator:
    """Makes rows by number. The offset is the number of the next one, and the clock at the first call."""

    def __init__(self, schema: Schema, description: Description) -> None:
        self._description = description
        self._maker = Maker(schema, seed=description.seed, keys=description.keys)

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        row, started_us = _position(after, now_us)
        it = self._description
        available = row + max_rows
        if it.rows is not None:
            available = min(available, it.rows)
        if it.paced:
            available = min(available, it.pace.due(now_us - started_us))
        return {"row": available, "started_us": started_us} if available > row else None

    def read(self, after: Offset | None, until: Offset) -> Delivery:
        first, _ = _position(after, 0)
        stop, started_us = _position(until, 0)
        numbers = np.arange(first, stop, dtype=np.int64)
        start_us = self._description.start_us
        times_us = self._times_us(numbers, started_us if start_us is None else start_us)
        return Delivery(rows=self._maker.table(numbers, times_us))

    def _times_us(self, numbers: Integers, start_us: int) -> Integers:
        it = self._description
        times_us = start_us + it.pace.times_us(numbers)
        if it.disorder_us:
            delays = draws(it.seed, "disorder", numbers) % np.uint64(it.disorder_us + 1)
            times_us -= delays.astype(np.int64)
        if it.late_every is not None:
            late = draws(it.seed, "late", numbers) % np.uint64(it.late_every) == 0
            times_us -= np.where(late, it.disorder_us + it.late_by_us, 0)
        return np.clip(times_us, MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)

    def ended(self, at: Offset | None) -> bool:
        return self._description.rows is not None and _position(at, 0)[0] >= self._description.rows

    def close(self) -> None:
        """Nothing is held."""


def _position(offset: Offset | None, now_us: int) -> tuple[int, int]:
    if offset is None:
        return 0, now_us
    try:
        return int(offset["row"]), int(offset["started_us"])
    except (KeyError, TypeError, ValueError) as problem:
        raise errors.foreign_offset(name="generator", problem=repr(problem)) from None


def describe(settings: Settings) -> Description:
    """The options, read and checked."""
    rows = settings.number("rows")
    paced = rows is None or "rate" in settings.options
    return Description(
        pace=_pace(settings),
        paced=paced,
        rows=rows,
        seed=settings.number("seed") or 0,
        start_us=_start_us(settings, paced=paced),
        disorder_us=settings.number("disorder") or 0,
        keys=settings.number("keys") or 1,
        late_every=settings.number("late_every"),
        late_by_us=settings.number("late_by") or 0,
    )


def _pace(settings: Settings) -> Pace:
    count, _, unit = str(settings.get("rate")).partition("/")
    if not 1 <= int(count) <= SECOND:
        raise settings.refusal("rate", "expected 1 to 1000000 rows per s, min or h")
    return Pace(count=int(count), unit_us=_UNITS[unit.strip().lower()])


def _start_us(settings: Settings, *, paced: bool) -> int | None:
    text = settings.text("start")
    if text is None:
        return None if paced else _START_US
    try:
        return parse_instant(text)
    except (ValueError, OverflowError):
        raise settings.refusal(
            "start", "expected an instant such as 2026-01-31T12:00:00Z"
        ) from None


def _open(definition: SourceDef, bounded: bool | None) -> Generator:
    description = describe(Settings("generator", definition.options))
    if bounded and description.rows is None:
        raise errors.endless_source(name=definition.name)
    return Generator(definition.physical, description)


CONNECTOR = Connector(source=_open)
