"""The state of aligned windows, and of queries without a window: one table of groups for each pane.

In: partial batches with a `$pane`. Out: contents of windows, which are partial batches with `$window_start` and
`$window_end` (µs) in front. Decided here: a row is aggregated once, into its pane; a window is the union of its panes,
made when it is asked for, and a pane lives until the last window over it is gone. Where windows have many panes, unions
of neighbours are kept (a node of level n holds 2^n panes, as in a segment tree), so that a window of a thousand panes
costs some twenty unions instead of a thousand; a pane that changes takes the nodes above it away.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, conform, numbers
from tidegate.kernel.groups import ROWS, GroupTable
from tidegate.kernel.quotas import Quotas
from tidegate.kernel.refusals import Refused
from tidegate.kernel.spans import Grid, SharedGrid, Span
from tidegate.model.expressions import Field
from tidegate.model.partials import PartialSpec
from tidegate.model.time import FOREVER_US
from tidegate.model.types import Scalar

PANE = "$pane"
FIRST, END = Field("$first", Scalar.BIGINT), Field("$end", Scalar.BIGINT)
WINDOW_START, WINDOW_END = "$window_start", "$window_end"
_MANY = 8


class PaneStore:
    """`unit_fields` say what changes are about: a group in a window, or, `by_window`, a window; given by its panes.

    With `quotas`, windows and groups that were turned away are not seen.
    """

    def __init__(
        self,
        grid: Grid,
        keys: Sequence[Field],
        specs: Sequence[PartialSpec],
        *,
        timed: bool,
        brought_start: str | None = None,
        by_window: bool = False,
        quotas: Quotas | None = None,
    ) -> None:
        self.grid, self.keys = grid, tuple(keys)
        self.unit_fields = (FIRST, END) if by_window else (FIRST, END, *self.keys)
        self.quotas = quotas
        self._specs, self._timed, self._brought_start = tuple(specs), timed, brought_start
        self._tables: dict[int, GroupTable] = {}
        self._unions: dict[tuple[int, int], GroupTable] = {}
        many = isinstance(grid, SharedGrid) and grid.panes >= _MANY
        self._levels = (grid.panes - 1).bit_length() if many and isinstance(grid, SharedGrid) else 0

    # What is there

    @property
    def bytes(self) -> int:
        kept = {id(table): table for table in (*self._tables.values(), *self._unions.values())}
        return sum(table.bytes for table in kept.values())

    @property
    def tables(self) -> Mapping[int, GroupTable]:
        """By pane."""
        return self._tables

    def spans(self) -> set[Span]:
        """All windows over the panes."""
        return {
            span
            for pane in self._tables
            for span in self.grid.over(pane)
            if not self._is_away(span)
        }

    def next_end_us(self, after_us: int) -> int:
        """When the first window ends that ends later than that."""
        ends = (self.grid.end_us(span) for span in self.spans())
        return min((end for end in ends if end > after_us), default=FOREVER_US + 1)

    def partials(self) -> pa.RecordBatch:
        """Everything, as it could arrive."""
        batches = [
            _with_columns(table.partials(), {PANE: pane}) for pane, table in self._tables.items()
        ]
        return (
            pa.concat_batches(batches)
            if batches
            else _with_columns(self._new().partials(), {PANE: 0})
        )

    # Change

    def merge(self, batch: pa.RecordBatch, *, expected: int = 0) -> None:
        """`expected`: how many rows come right now, in all."""
        for pane, rows in by_pane(batch):
            table = self._tables.get(pane)
            if table is None:
                table = self._tables[pane] = self._new()
            table.merge(rows, expected=expected)
            self._forget_unions(pane)

    def still_open(self, batch: pa.RecordBatch, closed_us: int) -> pa.RecordBatch:
        """Without the rows of panes that no open window is over; rows that go to windows directly may have some."""
        panes = numbers(conform(batch.column(PANE), Scalar.BIGINT)).values
        earliest = int(panes.min()) if len(panes) else 0
        if not self.grid.is_done(earliest, closed_us):
            return batch
        done = [pane for pane in np.unique(panes).tolist() if self.grid.is_done(pane, closed_us)]
        return batch.filter(pa.array(~np.isin(panes, done)))

    def drop(self, upto_us: int) -> None:
        """Forget the panes that no window needs any more."""
        done = [pane for pane in self._tables if self.grid.is_done(pane, upto_us)]
        for pane in done:
            self._forget_unions(pane)
        tables = [self._tables.pop(pane) for pane in done]
        if self.quotas is not None:
            self.quotas.dropped(tables)
            self.quotas.ended(self.grid, upto_us)

    def _forget_unions(self, pane: int) -> None:
        for level in range(1, self._levels + 1):
            self._unions.pop((level, pane >> level), None)

    def _new(self) -> GroupTable:
        repeats = self.quotas is not None  # what quotas judge as a whole came from several lanes
        return GroupTable(self.keys, self._specs, timed=self._timed, repeats=repeats)

    def room_for(self, batch: pa.RecordBatch, *, closed_us: int) -> tuple[pa.RecordBatch, Refused]:
        """The rows that quotas let in, and those that they do not."""
        assert self.quotas is not None
        panes = numbers(conform(batch.column(PANE), Scalar.BIGINT)).values
        codes = np.zeros(len(panes), np.int64)
        open_spans = self.spans()
        allowed: dict[int, Sequence[Span]] = {}
        for pane in np.unique(panes).tolist():
            over = [span for span in self.grid.over(pane) if self.grid.end_us(span) > closed_us]
            allowed[pane], reason = self.quotas.windows(over, open_spans)
            if reason is not None:
                codes[panes == pane] = reason
        rows = np.flatnonzero(codes == 0)
        kept = batch.take(pa.array(rows))
        let_in, slots = self.quotas.let_in(kept, panes[rows], allowed)
        codes[rows[~let_in]] = self.quotas.no_group
        kept, slots, panes_in = kept.filter(pa.array(let_in)), slots[let_in], panes[rows][let_in]
        self.quotas.opened(slots[self._is_new(kept, panes_in)])
        return kept, self._refused(batch, codes, panes, closed_us)

    def _refused(
        self, batch: pa.RecordBatch, codes: Integers, panes: Integers, closed_us: int
    ) -> Refused:
        """With the first open window that each would have been in."""
        rows = np.flatnonzero(codes)
        windows = [
            next(span for span in self.grid.over(pane) if self.grid.end_us(span) > closed_us)
            for pane in panes[rows].tolist()
        ]
        starts = [self.grid.start_us(span) or 0 for span in windows]
        ends = [self.grid.end_us(span) for span in windows]
        picked = batch.take(pa.array(rows))
        return Refused(picked, codes[rows], np.array(starts, np.int64), np.array(ends, np.int64))

    def _is_new(self, batch: pa.RecordBatch, panes: Integers) -> Mask:
        """Rows whose group the pane does not have yet."""
        new = np.ones(len(panes), bool)
        for pane in np.unique(panes).tolist():
            table, rows = self._tables.get(pane), np.flatnonzero(panes == pane)
            if table is not None:
                new[rows] = table.find(batch.take(pa.array(rows))) < 0
        return new

    def _is_away(self, span: Span) -> bool:
        return self.quotas is not None and span in self.quotas.turned_away

    # What windows hold

    def closing(self, *, after_us: int, upto_us: int) -> Iterator[pa.RecordBatch]:
        """The contents of windows that end in (after, upto], by their ends."""
        for span in self.grid.closing(sorted(self._tables), after_us=after_us, upto_us=upto_us):
            if not self._is_away(span):
                yield self.whole(span)

    def closes(self, after_us: int, upto_us: int) -> bool:
        """Whether a window ends in (after, upto]."""
        spans = self.grid.closing(sorted(self._tables), after_us=after_us, upto_us=upto_us)
        return next(iter(spans), None) is not None

    def whole(self, span: Span) -> pa.RecordBatch:
        """All groups of a window."""
        tables = list(self._parts(span))
        table = tables[0] if len(tables) == 1 else self._union(tables)
        return self._contents(span, table.partials())

    def of(self, units: pa.RecordBatch) -> pa.RecordBatch:
        """The groups in windows that the units name, as far as they exist."""
        parts = [self._unit_contents(span, rows) for span, rows in by_span(units)]
        return pa.concat_batches(parts) if parts else self.nothing()

    def _unit_contents(self, span: Span, units: pa.RecordBatch) -> pa.RecordBatch:
        if len(self.unit_fields) == len((FIRST, END)):
            return self.whole(span)
        return self._contents(span, self._of_span(span, units))

    def touched(self, batch: pa.RecordBatch, *, after_us: int) -> pa.RecordBatch:
        """The units that a batch is about, in windows that end later than that; some may be there twice."""
        found = []
        names = [field.name for field in self.unit_fields[2:]]
        for pane, group in by_pane(batch.select([PANE, *names])):
            rows = group if names else group.slice(0, 1)
            for span in self.grid.over(pane):
                if self.grid.end_us(span) > after_us and not self._is_away(span):
                    found.append(_with_columns(rows, {FIRST.name: span.first, END.name: span.end}))
        return pa.concat_batches(found) if found else self._no_units()

    def ended(self, units: pa.RecordBatch, upto_us: int) -> Mask:
        """Units whose windows have ended by then."""
        ends, places = np.unique(numbers(units.column(END.name)).values, return_inverse=True)
        ended = [self.grid.end_us(Span(end - 1, end)) <= upto_us for end in ends.tolist()]
        gone: Mask = np.array(ended, bool)[places]
        return gone

    def _of_span(self, span: Span, units: pa.RecordBatch) -> pa.RecordBatch:
        tables = list(self._parts(span))
        parts = [table.partials(_known(table.find(units))) for table in tables]
        if len(parts) == 1:
            return parts[0]
        found = self._new()
        for part in parts:
            found.merge(part)
        return found.partials()

    def _parts(self, span: Span) -> Iterator[GroupTable]:
        """Tables that make up the window: the largest unions that fit."""
        pane = span.first
        while pane < span.end:
            level = 0
            while (
                level < self._levels
                and not pane & ((2 << level) - 1)
                and pane + (2 << level) <= span.end
            ):
                level += 1
            node = self._node(level, pane >> level)
            if node is not None:
                yield node
            pane += 1 << level

    def _node(self, level: int, number: int) -> GroupTable | None:
        if level == 0:
            return self._tables.get(number)
        if (level, number) not in self._unions:
            halves = [self._node(level - 1, 2 * number + half) for half in (0, 1)]
            there = [half for half in halves if half is not None]
            if len(there) < 2:
                return there[0] if there else None
            self._unions[level, number] = self._union(there)
        return self._unions[level, number]

    def _union(self, tables: Sequence[GroupTable]) -> GroupTable:
        largest = max(map(len, tables), default=0)
        union = GroupTable(self.keys, self._specs, timed=self._timed, reserve=largest)
        for table in tables:
            union.absorb(table)
        return union

    # Contents

    def _contents(self, span: Span, partials: pa.RecordBatch) -> pa.RecordBatch:
        rows = numbers(partials.column(ROWS)).values
        if self.quotas is not None:
            partials = self.quotas.visible(span, partials)
            rows = numbers(partials.column(ROWS)).values
        if not rows.all():  # all of a group's rows have been taken back
            partials = partials.filter(pa.array(rows != 0))
        end = self.grid.end_us(span)
        edges = {
            WINDOW_START: self.grid.start_us(span),
            WINDOW_END: end if end <= FOREVER_US else None,
        }
        made = _with_columns(partials, edges)
        if self._brought_start is None:
            return made
        brought = conform(partials.column(self._brought_start), Scalar.TIMESTAMP).cast(pa.int64())
        return made.set_column(0, WINDOW_START, brought)

    def nothing(self) -> pa.RecordBatch:
        return self._contents(Span(0, 1), self._new().partials())

    def _no_units(self) -> pa.RecordBatch:
        names = [field.name for field in self.unit_fields[2:]]
        return _with_columns(self._new().partials().select(names), {FIRST.name: 0, END.name: 1})


def _known(slots: Integers) -> Integers:
    return np.unique(slots[slots >= 0])


def by_pane(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each pane."""
    panes = numbers(conform(batch.column(PANE), Scalar.BIGINT)).values
    yield from _split(batch, panes)


def by_span(units: pa.RecordBatch) -> Iterator[tuple[Span, pa.RecordBatch]]:
    """The units of each window."""
    ends = numbers(units.column(END.name)).values
    for end, rows in _split(units, ends):
        firsts = numbers(rows.column(FIRST.name)).values
        for first, same in _split(rows, firsts):
            yield Span(first, end), same


def _split(batch: pa.RecordBatch, by: Integers) -> Iterator[tuple[int, pa.RecordBatch]]:
    if len(by) == 0:
        return
    if (by == by[0]).all():
        yield int(by[0]), batch
        return
    order = np.argsort(by, kind="stable")
    ordered, batch = by[order], batch.take(pa.array(order))
    edges = np.flatnonzero(np.diff(ordered)) + 1
    for start, end in zip([0, *edges.tolist()], [*edges.tolist(), len(by)], strict=True):
        yield int(ordered[start]), batch.slice(start, end - start)


def _with_columns(batch: pa.RecordBatch, made: Mapping[str, int | None]) -> pa.RecordBatch:
    """The batch behind columns that are the same in all rows."""
    length = batch.num_rows
    columns = {
        name: pa.nulls(length, pa.int64())
        if value is None
        else array_of(np.full(length, value), None, pa.int64())
        for name, value in made.items()
    }
    return pa.RecordBatch.from_arrays(
        [*columns.values(), *batch.columns], names=[*columns, *batch.schema.names]
    )
