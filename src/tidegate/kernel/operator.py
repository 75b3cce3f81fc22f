"""The window operator: partials in, what is emitted out (ring 0).

An epoch has two halves. `begin` says by which watermark its rows are judged, and so what row SQL may take; `step`
merges what row SQL made of them, moves the watermark, and gives back what is due: rows, refused partials, counts.
Nothing is performed, and all that an answer depends on is in the arguments; so a log of `Step`s, replayed, gives the
same state and the same rows, and a snapshot is what all of them would have led to.

Decided here: the order of things inside an epoch. Rows are judged and merged first, input by input; then the watermark
advances; then rows are emitted; then what is closed is forgotten.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from tidegate.kernel.arrivals import Arrived, read, taken_back
from tidegate.kernel.changes import Emitted, together
from tidegate.kernel.course import Course
from tidegate.kernel.duplicates import DedupSpec, Duplicates, unique
from tidegate.kernel.emission import Moment, emission_of, horizon_us
from tidegate.kernel.finishing import Finisher, OutputSpec, Projection
from tidegate.kernel.panes import PaneStore
from tidegate.kernel.pieces import numbered
from tidegate.kernel.quotas import NO_LIMITS, Limits, Quotas
from tidegate.kernel.refusals import Refused
from tidegate.kernel.rows import RowShape
from tidegate.kernel.sessions import SessionStore
from tidegate.kernel.spans import DirectGrid, Grid, on_calendar, shared
from tidegate.kernel.steps import Account, Bounds, Brought, InputSpec, Outcome, Seen, State, Step
from tidegate.kernel.user import accumulated
from tidegate.model.expressions import Field
from tidegate.model.grid import EVERY_INSTANT, Even, Marks, open_from_us
from tidegate.model.partials import PartialSpec
from tidegate.model.policies import Emit, EmitMode, StreamKind
from tidegate.model.time import MIN_EVENT_TIME_US
from tidegate.model.windows import Calendar, Cumulating, Hopping, Inherited, Session, Tumbling

__all__ = ["Bounds", "Brought", "InputSpec", "Operator", "OperatorSpec", "Outcome", "State", "Step"]

OperatedWindow = Tumbling | Hopping | Cumulating | Calendar | Session | Inherited


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSpec:
    """A stage, as far as the kernel has to know it.

    `marks` are where panes begin; `direct`: each pane is a window of its own. `brought_start` names the key that says
    where an inherited window begins. `rows`: rows cross whole; if they bring nothing for aggregates,
    whole rows are what is kept.
    """

    window: OperatedWindow | None
    marks: Marks
    direct: bool
    keys: tuple[Field, ...]
    partials: tuple[PartialSpec, ...]
    output: OutputSpec
    emit: Emit
    kind: StreamKind
    lateness_us: int
    inputs: tuple[InputSpec, ...]
    limits: Limits = NO_LIMITS
    brought_start: str | None = None
    rows: RowShape | None = None
    dedup: DedupSpec | None = None
    timed: bool = True

    def build(self, project: Projection | None, *, since_us: int = 0) -> "Operator":
        """The operator, empty; `since_us` is the clock."""
        return Operator(self, project, since_us)


class Operator:
    """One stage's state."""

    def __init__(self, spec: OperatorSpec, project: Projection | None, since_us: int) -> None:
        self.spec = spec
        self.course = Course(spec.inputs, since_us=since_us)
        self._arrivals = 0
        whole = spec.rows is not None and spec.rows.inputs is None
        self._specs = (spec.rows.spec,) if spec.rows is not None and whole else spec.partials
        self._duplicates = None if spec.dedup is None else Duplicates(spec.dedup)
        self._quotas = self._make_quotas()
        self._store = self._make_store()
        self._finish = Finisher(spec.output, project)
        self._emission = emission_of(
            spec.emit.mode, spec.kind, spec.window, self._store, self._finish
        )
        blank = self._store.partials().slice(0, 0)
        self._nobody = Refused.nothing(blank)
        self._nothing = Emitted.nothing(self._finish.nothing(self._store.nothing()), spec.kind)

    def _make_quotas(self) -> Quotas | None:
        if not self.spec.limits.any or isinstance(self.spec.window, Session):
            return None
        return Quotas(self.spec.limits, self.spec.keys)

    def _make_store(self) -> PaneStore | SessionStore:
        spec = self.spec
        if isinstance(spec.window, Session):
            return SessionStore(spec.window, spec.keys, self._specs, timed=spec.timed)
        whole = bool(spec.output.directions) or spec.output.rows is not None
        return PaneStore(
            _grid(spec),
            spec.keys,
            self._specs,
            timed=spec.timed,
            brought_start=spec.brought_start,
            by_window=whole,
            quotas=self._quotas,
        )

    # An epoch

    def begin(self, now_us: int) -> tuple[Bounds, ...]:
        """By what the rows of each input are judged; asking twice changes nothing."""
        watermark_us = self.course.begin(now_us)
        earliest = MIN_EVENT_TIME_US
        if self.spec.window is not None:
            lateness_us = self.spec.lateness_us
            earliest = open_from_us(
                self.spec.window, watermark_us=watermark_us, lateness_us=lateness_us
            )
        return self.course.bounds(now_us, watermark_us=watermark_us, open_from_us=earliest)

    def step(self, step: Step, *, replayed: bool = False) -> Outcome:
        """Take the epoch in. `replayed`: nobody wants to see what it emits."""
        step, duplicates = unique(self._duplicates, step)
        now_us = self.course.now_us(step.now_us)
        closed_us = horizon_us(self.course.begin(now_us), self.spec.lateness_us)
        account = Account()
        refused = []
        for brought, clock in zip(step.inputs, self.course.watermark.clocks, strict=True):
            arrived = self._read(brought)
            seen = brought.seen or Seen(rows=arrived.rows, latest_us=arrived.latest_us)
            clock.saw(rows=seen.rows, latest_us=seen.latest_us, now_us=now_us)
            account.add(arrived)
            refused.append(self._take(arrived.partials, closed_us, crowded=step.crowded))
        for one in refused:
            account.refuse(one)
        self.course.account.merge(account)
        moment = self._advance(step, now_us)
        emitted = self._emit(moment, replayed=replayed)
        self._store.drop(moment.closed_us)
        if self._duplicates is not None:
            self._duplicates.forget(self._reach_us())
        return Outcome(emitted, refused, account, self.watermark_us, moment.closed_us, duplicates)

    def _reach_us(self) -> int:
        """The earliest time of rows to come that are not late for sure."""
        window, lateness_us = self.spec.window, self.spec.lateness_us
        if window is None:
            return MIN_EVENT_TIME_US
        if isinstance(self._store, SessionStore):
            return self._store.reach_us(horizon_us(self.watermark_us, lateness_us))
        return open_from_us(window, watermark_us=self.watermark_us, lateness_us=lateness_us)

    def _read(self, brought: Brought) -> Arrived:
        arrived = read(self._as_partials(brought.batches))
        if self.spec.rows is None:
            arrived.partials = [accumulated(batch, self._specs) for batch in arrived.partials]
        gone = read(self._as_partials(brought.taken_back))
        arrived.add(gone, [taken_back(batch, self._specs) for batch in gone.partials])
        return arrived

    def _as_partials(self, batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if self.spec.rows is None:
                yield from numbered(batch, self.spec.marks)
            elif batch.num_rows:
                yield self.spec.rows.partials(batch, self._arrivals)
                self._arrivals += batch.num_rows

    def _take(self, batches: list[pa.RecordBatch], closed_us: int, *, crowded: bool) -> Refused:
        """Merge what has come, or say what is not taken.

        Sessions and quotas judge an epoch's rows of an input as a whole, however they were sharded.
        """
        as_a_whole = isinstance(self._store, SessionStore) or self._quotas is not None
        if as_a_whole and len(batches) > 1:
            batches = [pa.concat_batches(_alike(batches))]
        expected = sum(batch.num_rows for batch in batches)
        refused = [
            self._merge(batch, closed_us, expected=expected, crowded=crowded) for batch in batches
        ]
        return next((one for one in refused if len(one)), self._nobody)

    def _merge(
        self, batch: pa.RecordBatch, closed_us: int, *, expected: int, crowded: bool
    ) -> Refused:
        dirty, refused = self._emission.dirty, self._nobody
        if isinstance(self._store, PaneStore):
            batch = self._store.still_open(batch, closed_us)
            if self._quotas is not None:
                self._quotas.crowded = crowded
                batch, refused = self._store.room_for(batch, closed_us=closed_us)
        if dirty is not None:
            dirty.before(batch, after_us=closed_us)
        if isinstance(self._store, SessionStore):
            limits = self.spec.limits
            return self._store.merge(batch, closed_to_us=closed_us, limits=limits, crowded=crowded)
        self._store.merge(batch, expected=expected)
        return refused

    def _advance(self, step: Step, now_us: int) -> Moment:
        """The watermark and the clock go on."""
        every = self.spec.emit.interval_us
        ticks = every is not None and now_us // every > self.course.clock_us // every
        before_us = self.course.emitted_us
        self.course.advance(step, now_us)
        return Moment(
            before_us=before_us,
            watermark_us=self.watermark_us,
            lateness_us=self.spec.lateness_us,
            tick=step.ended or ticks,
        )

    def _emit(self, moment: Moment, *, replayed: bool) -> Emitted:
        if replayed:
            self._emission.settle(moment)
            return self._nothing
        return together([*self._emission.emit(moment)] or [self._nothing])

    # State

    @property
    def bytes(self) -> int:
        return self._store.bytes + (self._duplicates.bytes if self._duplicates else 0)

    @property
    def clock_us(self) -> int:
        return self.course.clock_us

    @property
    def watermark_us(self) -> int:
        return self.course.watermark.at_us

    @property
    def next_end_us(self) -> int:
        """When the first window ends that has not been emitted as ended."""
        after_us = self.course.emitted_us
        if self.spec.emit.mode is not EmitMode.AFTER_WATERMARK:
            after_us = horizon_us(after_us, self.spec.lateness_us)
        return self._store.next_end_us(after_us)

    @property
    def open_windows(self) -> int:
        return (
            len(self._store) if isinstance(self._store, SessionStore) else len(self._store.spans())
        )

    def snapshot(self) -> State:
        """All there is, as plain facts and partial batches."""
        facts = {**self.course.facts(), "arrivals": self._arrivals}
        parts = {"groups": self._store.partials()}
        if self._emission.dirty is not None:
            parts |= {"units": self._emission.dirty.units, "old": self._emission.dirty.old}
        if self._duplicates is not None:
            parts["seen"] = self._duplicates.partials()
        if self._quotas is not None:
            facts["quotas"] = self._quotas.facts()
            parts["members"] = self._quotas.members()
        return State(facts, parts)

    def restore(self, state: State) -> None:
        """Into an empty operator. Groups of several shards may come one after the other, by `groups` alone."""
        facts, parts = state.facts, state.parts
        self.course.restore(facts)
        self._arrivals = facts["arrivals"]
        self._store.merge(parts["groups"])
        if self._emission.dirty is not None:
            self._emission.dirty.restore(parts["units"], parts["old"])
        if self._duplicates is not None:
            self._duplicates.restore(parts["seen"])
        if self._quotas is not None:
            self._quotas.restore(facts["quotas"], parts["members"])
            assert isinstance(self._store, PaneStore)
            self._quotas.reopen(self._store.tables.values())


def _alike(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The same columns in the same order; that some cannot be NULL in some batches does not count."""
    names = batches[0].schema.names
    return [
        pa.RecordBatch.from_arrays([batch.column(name) for name in names], names=names)
        for batch in batches
    ]


def _grid(spec: OperatorSpec) -> Grid:
    marks, window = spec.marks, spec.window
    if isinstance(window, Calendar):
        return on_calendar(window)
    assert isinstance(marks, Even), marks
    match window:
        case None:
            return DirectGrid(marks=marks, size_us=None, started=False)
        case Tumbling(size_us=size_us):
            return DirectGrid(marks=marks, size_us=size_us)
        case Hopping(size_us=size_us) if spec.direct:
            return DirectGrid(marks=marks, size_us=size_us)
        case Hopping() | Cumulating():
            return shared(window, marks)
        case Inherited():
            return DirectGrid(marks=EVERY_INSTANT, size_us=1, started=False)
        case Session():
            raise AssertionError(spec)
