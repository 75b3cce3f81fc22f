"""When rows come out, and as what (semantics §5): one class for each way.

In: a store, before and after a batch was merged into it, and the `Moment` of the batch. Out: `Emitted`. Decided here:
which contents are compared with which. A final row is compared with nothing. Everything else is the difference between
what was emitted of a unit, which follows from what it held then, and what it holds now (`changes.py`); so a mode says
only which units it looks at, and which of their windows were and are to be seen.

`settle` is what `emit` does to the state besides making rows; replaying a log needs only that.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, numbers
from tidegate.kernel.changes import Emitted, difference, final
from tidegate.kernel.dirty import Dirty, Store
from tidegate.kernel.finishing import Finished
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.kernel.panes import WINDOW_END, WINDOW_START
from tidegate.model.policies import EmitMode, StreamKind
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.model.windows import Session, Window

_MANY_ROWS = 1 << 16
_CHANGELOG = StreamKind.CHANGELOG


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The watermark when rows were last emitted, and now. `tick`: it is time for what is emitted at intervals."""

    before_us: int
    watermark_us: int
    lateness_us: int
    tick: bool = False

    @property
    def closed_before_us(self) -> int:
        """Windows that end by then were closed before."""
        return horizon_us(self.before_us, self.lateness_us)

    @property
    def closed_us(self) -> int:
        """Windows that end by then are closed now."""
        return horizon_us(self.watermark_us, self.lateness_us)


def horizon_us(watermark_us: int, lateness_us: int) -> int:
    if watermark_us >= FOREVER_US:
        return FOREVER_US
    return max(watermark_us - lateness_us, NEVER_US)


class Finish(Protocol):
    def __call__(self, contents: pa.RecordBatch) -> Finished: ...


class Emission(Protocol):
    """One EMIT mode. `dirty` is None where only final rows are emitted."""

    @property
    def dirty(self) -> Dirty | None: ...

    def emit(self, moment: Moment) -> Iterator[Emitted]: ...

    def settle(self, moment: Moment) -> None: ...


def emission_of(
    mode: EmitMode, kind: StreamKind, window: Window | None, store: Store, finish: Finish
) -> Emission:
    match mode:
        case EmitMode.ON_WINDOW_CLOSE | EmitMode.FINAL:
            return OnClose(store, finish)
        case EmitMode.AFTER_WATERMARK:
            return AfterWatermark(store, finish)
        case EmitMode.EVERY:
            return Every(store, finish, kind, sessions=isinstance(window, Session))
        case EmitMode.ON_UPDATE | EmitMode.CHANGES:
            return OnUpdate(store, finish, kind)


class OnClose:
    """Windows that close, once."""

    dirty: Dirty | None = None

    def __init__(self, store: Store, finish: Finish) -> None:
        self._store, self._finish = store, finish

    def emit(self, moment: Moment) -> Iterator[Emitted]:
        closing = self._store.closing(after_us=moment.closed_before_us, upto_us=moment.closed_us)
        for contents in _in_bulk(closing):
            yield final(self._finish(contents))

    def settle(self, moment: Moment) -> None:
        """Nothing but windows goes away when they close."""


class OnUpdate:
    """What a batch changed, at once."""

    def __init__(self, store: Store, finish: Finish, kind: StreamKind) -> None:
        self._store, self._finish = store, finish
        self._kind = kind
        self.dirty = Dirty(store)

    def emit(self, moment: Moment) -> Iterator[Emitted]:
        if len(self.dirty):
            before, after = self.dirty.old, self._store.of(self.dirty.units)
            yield difference(self._finish(before), self._finish(after), self._kind)
        self.settle(moment)

    def settle(self, _moment: Moment) -> None:
        self.dirty.clear()


class AfterWatermark:
    """Windows that become due, and what a batch changed in those that were."""

    def __init__(self, store: Store, finish: Finish) -> None:
        self._store, self._finish = store, finish
        self.dirty = Dirty(store)

    def emit(self, moment: Moment) -> Iterator[Emitted]:
        if len(self.dirty):
            contents = (self.dirty.old, self._store.of(self.dirty.units))
            before, after = (_ended(part, moment.before_us) for part in contents)
            yield difference(self._finish(before), self._finish(after), _CHANGELOG)
        due = self._store.closing(after_us=moment.before_us, upto_us=moment.watermark_us)
        for part in _in_bulk(due):
            yield difference(self._finish(part.slice(0, 0)), self._finish(part), _CHANGELOG)
        self.settle(moment)

    def settle(self, _moment: Moment) -> None:
        self.dirty.clear()


class Every:
    """What has changed since the last tick, at the next one; windows that close before it, when they do."""

    def __init__(self, store: Store, finish: Finish, kind: StreamKind, *, sessions: bool) -> None:
        self._store, self._finish, self._sessions = store, finish, sessions
        self._kind = kind
        self.dirty = Dirty(store)

    def emit(self, moment: Moment) -> Iterator[Emitted]:
        if self._has_something(moment):
            before, after = self._seen(moment)
            if before.num_rows or after.num_rows:
                yield difference(self._finish(before), self._finish(after), self._kind)
        self.settle(moment)

    def _has_something(self, moment: Moment) -> bool:
        """Whether it ticks, or anything closes: only then a look at all that has changed is worth its cost."""
        closes = (moment.closed_before_us, moment.closed_us)
        return len(self.dirty) > 0 and (moment.tick or self._store.closes(*closes))

    def _seen(self, moment: Moment) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        before, after = self.dirty.old, self._store.of(self.dirty.units)
        if moment.tick:
            return before, after
        closing = _ended(after, moment.closed_us)
        return before.filter(pa.array(self._goes_with(before, closing, moment))), closing

    def _goes_with(self, old: pa.RecordBatch, closing: pa.RecordBatch, moment: Moment) -> Mask:
        """Old contents that are answered by what closes: the same windows, or sessions that became part of one.

        A session that grew is not answered when its old extent would have closed.
        """
        if self._sessions:
            return self._within(old, closing)
        ends: Mask = _ends(old) <= moment.closed_us
        return ends

    def _within(self, old: pa.RecordBatch, closing: pa.RecordBatch) -> Mask:
        """Old sessions inside one of the closing ones, which do not overlap within a group."""
        index = KeyIndex()
        groups, _ = index.slots(self._group_lanes(closing))
        mine = index.find(self._group_lanes(old))
        starts, ends = _starts(closing), _ends(closing)
        order = np.lexsort((starts, groups))
        groups, starts, ends = groups[order], starts[order], ends[order]
        place = _last_at_or_before(groups, starts, mine, _starts(old))
        found = place >= 0
        inside: Mask = found.copy()
        inside[found] = (groups[place[found]] == mine[found]) & (
            _ends(old)[found] <= ends[place[found]]
        )
        return inside

    def _group_lanes(self, contents: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        names = [field.name for field in self._store.unit_fields]
        return hash_rows([contents.column(name) for name in names], contents.num_rows)

    def settle(self, moment: Moment) -> None:
        if moment.tick:
            self.dirty.clear()
        elif self._has_something(moment):
            self._forget_closed(moment)

    def _forget_closed(self, moment: Moment) -> None:
        old, units = self.dirty.old, self.dirty.units
        if self._sessions:
            closing = _ended(self._store.of(units), moment.closed_us)
        else:
            closing = old.slice(0, 0)
        kept_units = np.flatnonzero(~self._store.ended(units, moment.closed_us))
        gone = self._goes_with(old, closing, moment)
        if gone.any() or len(kept_units) < units.num_rows:
            self.dirty.keep(kept_units, np.flatnonzero(~gone))


def _last_at_or_before(
    groups: Integers, starts: Integers, group: Integers, start: Integers
) -> Integers:
    """The last place in (groups, starts), which ascend, that is not behind (group, start); -1: there is none."""
    count = len(groups)
    order = np.lexsort(
        (
            np.r_[np.zeros(count, np.int64), np.ones(len(group), np.int64)],
            np.r_[starts, start],
            np.r_[groups, group],
        )
    )
    is_ours = order < count
    before = np.cumsum(is_ours) - 1
    places = np.empty(count + len(group), np.int64)
    places[order] = before
    found: Integers = places[count:]
    return found


def _starts(contents: pa.RecordBatch) -> Integers:
    return numbers(contents.column(WINDOW_START)).values


def _ends(contents: pa.RecordBatch) -> Integers:
    """Where windows end; one that never does ends behind all time."""
    return numbers(contents.column(WINDOW_END)).filled(FOREVER_US + 1)


def _ended(contents: pa.RecordBatch, upto_us: int) -> pa.RecordBatch:
    ended = _ends(contents) <= upto_us
    return contents if ended.all() else contents.filter(pa.array(ended))


def _in_bulk(parts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Many small windows are finished together."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for part in parts:
        if part.num_rows == 0:
            continue
        waiting.append(part)
        count += part.num_rows
        if count >= _MANY_ROWS:
            yield _joined(waiting)
            waiting, count = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return parts[0] if len(parts) == 1 else pa.concat_batches(parts)
