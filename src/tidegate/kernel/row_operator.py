"""The operator of windows that rows complete: sliding, counting and state windows.

In: steps whose batches are rows. Out: outcomes, as of every operator (`operator.py`). Decided here: what such windows
have in common. They are emitted once, complete, and never corrected; late rows are judged by row SQL alone, since every
row has its own moment; and what is kept are rows, which are also what a snapshot holds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from tidegate.kernel.arrivals import Arrived
from tidegate.kernel.changes import Emitted, final, together
from tidegate.kernel.course import Course
from tidegate.kernel.duplicates import DedupSpec, Duplicates, unique
from tidegate.kernel.emission import horizon_us
from tidegate.kernel.finishing import Finisher, OutputSpec, Projection
from tidegate.kernel.quotas import NO_LIMITS, Limits
from tidegate.kernel.refusals import Refused
from tidegate.kernel.steps import Account, Bounds, Brought, InputSpec, Outcome, State, Step
from tidegate.kernel.taking import taken
from tidegate.model.expressions import Field
from tidegate.model.grid import EVERY_INSTANT, Marks
from tidegate.model.policies import AGGREGATED, FILTERED, StreamKind
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US, NEVER_US
from tidegate.model.windows import Conditional, Counting, Interval, Sliding


class RowStore(Protocol):
    """What is kept of the rows: `take`, then `fire` and `contents`, then `drop`; at the end of input `finish`, too."""

    unused: int

    def __len__(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def take(self, rows: pa.RecordBatch) -> None: ...

    def fire(self, watermark_us: int) -> Any:
        """The windows that are complete now, as `contents` takes them."""

    def finish(self) -> Any: ...

    def contents(self, windows: Any) -> Iterator[pa.RecordBatch]: ...

    def drop(self, watermark_us: int) -> None: ...

    def nothing(self) -> pa.RecordBatch: ...

    def partials(self) -> pa.RecordBatch: ...

    def restore(self, batch: pa.RecordBatch) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWindowSpec:
    """A stage of such windows. `kept` are the columns that rows bring; `delay_us`: a trigger fires so much later.

    `judged`: rows behind the watermark are late (in counting and state windows nothing is). `reach_us`: rows that come
    out may have times that far behind it.
    """

    window: Sliding | Counting | Conditional | Interval | None
    store: Callable[[], RowStore]
    kept: tuple[Field, ...]
    output: OutputSpec
    inputs: tuple[InputSpec, ...]
    delay_us: int
    judged: bool
    dedup: DedupSpec | None = None
    limits: Limits = NO_LIMITS
    marks: Marks = EVERY_INSTANT
    reach_us: int = 0

    def build(self, project: Projection | None, *, since_us: int = 0) -> "RowOperator":
        """The operator, empty; `since_us` is the clock."""
        return RowOperator(self, project, since_us)


class RowOperator:
    """One stage's state."""

    def __init__(self, spec: RowWindowSpec, project: Projection | None, since_us: int) -> None:
        self.spec = spec
        self.course = Course(spec.inputs, since_us=since_us)
        self._arrivals = 0
        self._store = spec.store()
        self._finish = Finisher(spec.output, project)
        self._duplicates = None if spec.dedup is None else Duplicates(spec.dedup)
        nothing = self._store.nothing()
        self._nobody = Refused.nothing(nothing)
        self._nothing = Emitted.nothing(self._finish.nothing(nothing), StreamKind.APPEND)

    def begin(self, now_us: int) -> tuple[Bounds, ...]:
        """By what the rows of each input are judged; asking twice changes nothing."""
        self.course.begin(now_us)
        watermark_us = self.watermark_us
        return self.course.bounds(
            now_us, watermark_us=watermark_us, open_from_us=self._open_from_us(watermark_us)
        )

    def _open_from_us(self, watermark_us: int) -> int:
        if not self.spec.judged:
            return MIN_EVENT_TIME_US
        edge_us = horizon_us(watermark_us, self.spec.delay_us)
        return min(max(edge_us, MIN_EVENT_TIME_US), MAX_EVENT_TIME_US + 1)

    def step(self, step: Step, *, replayed: bool = False) -> Outcome:
        """Take the epoch in. `replayed`: nobody wants to see what it emits."""
        step, duplicates = unique(self._duplicates, step)
        now_us = self.course.now_us(step.now_us)
        self.course.begin(now_us)
        account = Account()
        rows = [self._read(place, one, now_us, account) for place, one in enumerate(step.inputs)]
        self._store.take(rows[0] if len(rows) == 1 else pa.concat_batches(rows))
        account.rows_by_code[FILTERED] += self._store.unused
        account.rows_by_code[AGGREGATED] -= self._store.unused
        self.course.account.merge(account)
        self.course.advance(step, now_us)
        emitted = [*self._emit(self._store.fire(self.watermark_us), replayed=replayed)]
        if step.ended:
            emitted += self._emit(self._store.finish(), replayed=replayed)
        if self._duplicates is not None:
            self._duplicates.forget(self._open_from_us(self.watermark_us))
        return Outcome(
            together(emitted or [self._nothing]),
            [self._nobody for _ in step.inputs],
            account,
            self.watermark_us,
            horizon_us(self.watermark_us, self.spec.delay_us + self.spec.reach_us),
            duplicates,
        )

    def _read(self, place: int, brought: Brought, now_us: int, account: Account) -> pa.RecordBatch:
        """The rows of an input. None is ever taken back: such windows read append streams only (TG-3018)."""
        assert not brought.taken_back
        rows, arrived = taken(brought.batches, self.spec.kept, first_number=self._arrivals)
        self._arrivals += rows.num_rows
        self._hear(place, arrived, now_us)
        account.add(arrived)
        return rows

    def _hear(self, place: int, arrived: Arrived, now_us: int) -> None:
        clock = self.course.watermark.clocks[place]
        clock.saw(rows=arrived.rows, latest_us=arrived.latest_us, now_us=now_us)

    def _emit(self, windows: Any, *, replayed: bool) -> Iterator[Emitted]:
        if not replayed:
            for contents in self._store.contents(windows):
                yield final(self._finish(contents))
        self._store.drop(self.watermark_us)

    # State

    @property
    def bytes(self) -> int:
        return self._store.bytes + (self._duplicates.bytes if self._duplicates else 0)

    @property
    def clock_us(self) -> int:
        return self.course.clock_us

    @property
    def watermark_us(self) -> int:
        """Rows that are of no window have none."""
        return NEVER_US if self.spec.window is None else self.course.watermark.at_us

    @property
    def open_windows(self) -> int:
        """Rows that are kept: each may be in a window to come."""
        return len(self._store)

    def snapshot(self) -> State:
        """All there is, as plain facts and rows."""
        facts = {**self.course.facts(), "arrivals": self._arrivals}
        parts = {"rows": self._store.partials()}
        if self._duplicates is not None:
            parts["seen"] = self._duplicates.partials()
        return State(facts, parts)

    def restore(self, state: State) -> None:
        """Into an empty operator."""
        self.course.restore(state.facts)
        self._arrivals = state.facts["arrivals"]
        self._store.restore(state.parts["rows"])
        if self._duplicates is not None:
            self._duplicates.restore(state.parts["seen"])
