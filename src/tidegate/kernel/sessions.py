"""The state of session windows: per group, stretches of time that do not touch.

In: partial batches of runs, each with its group's keys, `$first_ts` and `$last_ts`. Out: contents of sessions, in the
form that panes give (`panes.py`). Decided here: what arrives is merged first, with what is open and with itself, and
only then judged: a stretch that no open session is part of is late if it would be closed already (semantics §4.3). So
the order of rows inside a batch means nothing, and neither does how rows were cut into runs.

Sessions have numbers; what is kept of them is columns by number, the aggregates in a table of groups whose key is that
number. The sessions of a group are a linked list through these columns, so that a batch costs the sessions of the
groups that it touches. Closed and merged ones leave gaps, which are closed when there are more of them than sessions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, conform, numbers
from tidegate.kernel.dirty import counted
from tidegate.kernel.folding import fold
from tidegate.kernel.groups import MAX_TS, ROWS, GroupTable
from tidegate.kernel.growing import Growing
from tidegate.kernel.ordering import distinct, lexical
from tidegate.kernel.panes import PANE, WINDOW_END, WINDOW_START
from tidegate.kernel.quotas import NO_LIMITS, Limits
from tidegate.kernel.ranking import ranks
from tidegate.kernel.refusals import Refused
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.model.types import Scalar
from tidegate.model.windows import Session

FIRST_TS, LAST_TS = "$first_ts", "$last_ts"
_SESSION = Field("$session", Scalar.BIGINT)
_NONE = -1
_LATE = DISPOSITION[Reason.ALLOWED_LATENESS_EXCEEDED]
_SLACK = 1024
_FITS = 2**62


@dataclass(slots=True)
class _Runs:
    """Open sessions (`number` >= 0) and new runs (`row` >= 0), by group and time, in clusters that touch."""

    group: Integers
    first: Integers
    last: Integers
    number: Integers
    row: Integers
    cluster: Integers
    starts: Integers

    @property
    def count(self) -> int:
        return len(self.starts)


@dataclass
class SessionStore:
    """`timed` as for tables of groups."""

    window: Session
    keys: tuple[Field, ...]
    specs: tuple[PartialSpec, ...]
    timed: bool = True
    _groups: GroupTable = field(init=False)
    _table: GroupTable = field(init=False)

    def __post_init__(self) -> None:
        ends = [
            PartialSpec(op=op, args=(), filter=None, type=Scalar.BIGINT, merge=merge)
            for op, merge in ((PartialOp.MIN, Merge.MIN), (PartialOp.MAX, Merge.MAX))
        ]
        self._kept = (*self.specs, *ends)
        self._edges = tuple(f"$p{place}" for place in range(len(self.specs), len(self._kept)))
        self._groups = GroupTable(self.keys, (), timed=False)
        self._table = GroupTable((_SESSION,), self._kept, timed=self.timed)
        self._first, self._last, self._owner, self._next = (Growing(np.int64) for _ in range(4))
        self._alive = Growing(np.bool_)
        self._heads = Growing(np.int64)
        self._open = 0
        self._earliest_us = FOREVER_US

    @property
    def unit_fields(self) -> tuple[Field, ...]:
        """Changes are about all sessions of a group."""
        return self.keys

    @property
    def bytes(self) -> int:
        own = (self._first, self._last, self._owner, self._next, self._alive, self._heads)
        return self._groups.bytes + self._table.bytes + sum(column.bytes for column in own)

    def __len__(self) -> int:
        return self._open

    def reach_us(self, closed_to_us: int) -> int:
        """The earliest time of a row that a session could still take in, its own or an open one."""
        gap_us = self.window.gap_us + 1  # exactly a gap may join, too
        first = self._first.values[self._alive.values]
        return min([closed_to_us, *([int(first.min())] if len(first) else [])]) - gap_us

    # Change

    def merge(
        self,
        batch: pa.RecordBatch,
        *,
        closed_to_us: int = NEVER_US,
        limits: Limits = NO_LIMITS,
        crowded: bool = False,
    ) -> Refused:
        """What is refused: rows whose session would have ended by then, and rows that there is no room for."""
        groups = self._groups.merge(counted(batch, self.keys))
        self._heads.grow(len(self._groups), _NONE)
        runs = self._clusters(batch, groups)
        codes = self._judge(runs, closed_to_us, limits, crowded=crowded)
        self._apply(runs, batch, codes == AGGREGATED)
        refused = self._refused(runs, batch, codes)
        self._close_gaps()
        return refused

    def _clusters(self, batch: pa.RecordBatch, groups: Integers) -> _Runs:
        old = self._of_groups(distinct(groups, len(self._groups)))
        first = np.concatenate([self._first.values[old], numbers(batch.column(FIRST_TS)).values])
        last = np.concatenate([self._last.values[old], numbers(batch.column(LAST_TS)).values])
        group = np.concatenate([self._owner.values[old], groups])
        number = np.concatenate([old, np.full(len(groups), _NONE)])
        row = np.concatenate([np.full(len(old), _NONE), np.arange(len(groups))])
        order = lexical(group, first)
        first, last, group = first[order], last[order], group[order]
        begins = np.ones(len(order), bool)
        begins[1:] = (group[1:] != group[:-1]) | ~self._near(first[1:] - _reached(group, last)[:-1])
        return _Runs(
            group,
            first,
            last,
            number[order],
            row[order],
            np.cumsum(begins) - 1,
            np.flatnonzero(begins),
        )

    def _near(self, distance_us: Integers) -> Mask:
        gap = self.window.gap_us
        near: Mask = distance_us <= gap if self.window.inclusive else distance_us < gap
        return near

    def _judge(self, runs: _Runs, closed_to_us: int, limits: Limits, *, crowded: bool) -> Integers:
        """What becomes of each cluster. One that no open session is part of may be late, or have no room."""
        codes = np.full(runs.count, AGGREGATED)
        if runs.count == 0:
            return codes
        new = np.maximum.reduceat(runs.number, runs.starts) == _NONE
        codes[new & (self._extents(runs)[1] <= closed_to_us)] = _LATE
        asking = np.flatnonzero(new & (codes == AGGREGATED))
        if limits.any and len(asking):
            groups = runs.group[runs.starts[asking]]
            keys = self._groups.partials(groups).columns[: len(self.keys)]
            ranked = [ranks(key, descending=False, nulls_first=False) for key in keys]
            order = np.lexsort([*reversed(ranked), runs.first[runs.starts[asking]]])
            codes[asking[order]] = self._admitted(groups[order], limits, crowded=crowded)
        return codes

    def _admitted(self, groups: Integers, limits: Limits, *, crowded: bool) -> Integers:
        """For new sessions of these groups, one after the other, whether there is room, or why not."""
        known = set(self._owner.values[self._alive.values].tolist())
        open_sessions = self._open
        codes = []
        for group in groups.tolist():
            if crowded:
                code = DISPOSITION[Reason.MAX_STATE_BYTES]
            elif limits.groups is not None and group not in known and len(known) >= limits.groups:
                code = DISPOSITION[Reason.MAX_GROUPS]
            elif limits.windows is not None and open_sessions >= limits.windows:
                code = DISPOSITION[Reason.MAX_OPEN_WINDOWS]
            else:
                code = AGGREGATED
                known.add(group)
                open_sessions += 1
            codes.append(code)
        return np.array(codes, np.int64)

    def _extents(self, runs: _Runs) -> tuple[Integers, Integers]:
        ends: Integers = np.maximum.reduceat(runs.last, runs.starts) + self.window.gap_us
        return runs.first[runs.starts], ends

    def _refused(self, runs: _Runs, batch: pa.RecordBatch, codes: Integers) -> Refused:
        places = np.flatnonzero((codes != AGGREGATED)[runs.cluster] & (runs.row >= 0))
        if len(places) == 0:
            return Refused.nothing(batch)
        places = places[np.argsort(runs.row[places])]
        clusters = runs.cluster[places]
        starts, ends = self._extents(runs)
        rows = batch.take(pa.array(runs.row[places]))
        return Refused(rows, codes[clusters], starts[clusters], ends[clusters])

    def _apply(self, runs: _Runs, batch: pa.RecordBatch, taken: Mask) -> None:
        """Make each cluster one session: the first open one in it, or a new one."""
        if not taken.any():
            return
        holder = np.full(runs.count, _NONE)
        held = np.flatnonzero(runs.number != _NONE)[::-1]
        holder[runs.cluster[held]] = runs.number[held]
        fresh = np.flatnonzero(taken & (holder == _NONE))
        holder[fresh] = np.arange(self._first.size, self._first.size + len(fresh))
        self._grow(len(fresh))
        absorbed = (runs.number != _NONE) & (runs.number != holder[runs.cluster])
        rows = taken[runs.cluster] & (runs.row != _NONE)
        parts = [self._as_rows(batch.take(pa.array(runs.row[rows])))]
        if absorbed.any():
            parts.append(self._table.partials(runs.number[absorbed]).drop_columns([_SESSION.name]))
            parts[1] = parts[1].select(parts[0].schema.names)
        clusters = np.concatenate([runs.cluster[rows], runs.cluster[absorbed]])
        folded, clusters = fold(pa.concat_batches(parts), clusters, self._kept, timed=self.timed)
        self._table.merge(_numbered(folded, holder[clusters]))
        self._alive.values[runs.number[absorbed]] = False
        self._open -= int(absorbed.sum())
        changed = np.flatnonzero(taken)
        numbers_of = holder[changed]
        self._alive.values[numbers_of] = True
        self._first.values[numbers_of] = np.minimum.reduceat(runs.first, runs.starts)[changed]
        self._last.values[numbers_of] = np.maximum.reduceat(runs.last, runs.starts)[changed]
        self._owner.values[numbers_of] = runs.group[runs.starts[changed]]
        self._earliest_us = min(self._earliest_us, self._ends_us(numbers_of).min())
        self._link(distinct(runs.group, len(self._groups)), numbers_of)

    def _grow(self, more: int) -> None:
        size = self._first.size + more
        for column in (self._first, self._last, self._owner, self._next):
            column.grow(size, 0)
        self._alive.grow(size, False)
        self._open += more

    def _as_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The partial's own columns, the session's edges among them, in the types that state has."""
        names = [name for name in (ROWS, MAX_TS) if self.timed or name == ROWS]
        kinds = [*(Scalar.BIGINT for _ in names), *(spec.kept_type for spec in self._kept)]
        names += [f"$p{place}" for place in range(len(self.specs))]
        arrays = [
            conform(batch.column(name), kind)
            for name, kind in zip((*names, FIRST_TS, LAST_TS), kinds, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, names=[*names, *self._edges])

    def drop(self, upto_us: int) -> None:
        """Forget the sessions that have ended by then."""
        if self._earliest_us > upto_us:
            return
        gone = self._ending(after_us=NEVER_US, upto_us=upto_us)
        groups = distinct(self._owner.values[gone], len(self._groups))
        self._alive.values[gone] = False
        self._open -= len(gone)
        self._link(groups, np.zeros(0, np.int64))
        alive = np.flatnonzero(self._alive.values)
        self._earliest_us = int(self._ends_us(alive).min()) if len(alive) else FOREVER_US
        self._close_gaps()

    def _close_gaps(self) -> None:
        if max(self._alive.size, len(self._groups)) <= 2 * self._open + _SLACK:
            return
        fresh = replace(self)
        fresh.merge(self.partials())
        self.__dict__.update(fresh.__dict__)

    # Lists

    def _of_groups(self, groups: Integers) -> Integers:
        """Numbers of the open sessions of the groups."""
        at = self._heads.values[groups]
        found = []
        while len(at := at[at != _NONE]):
            found.append(at)
            at = self._next.values[at]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _link(self, groups: Integers, fresh: Integers) -> None:
        """Make the lists of the groups anew, of those in them that are still open, and of others that are theirs."""
        there = distinct(np.concatenate([self._of_groups(groups), fresh]), self._alive.size)
        there = there[self._alive.values[there]]
        self._heads.values[groups] = _NONE
        order = there[lexical(self._owner.values[there], self._first.values[there])]
        owners = self._owner.values[order]
        last_of_group = np.r_[owners[1:] != owners[:-1], True][: len(order)]
        self._next.values[order] = np.where(
            last_of_group, _NONE, np.r_[order[1:], _NONE][: len(order)]
        )
        heads = np.r_[True, owners[1:] != owners[:-1]][: len(order)]
        self._heads.values[owners[heads]] = order[heads]

    # What there is

    def partials(self) -> pa.RecordBatch:
        """Everything, as it could arrive."""
        made = self._contents(np.flatnonzero(self._alive.values))
        first, end = (numbers(made.column(name)).values for name in (WINDOW_START, WINDOW_END))
        columns = {
            PANE: np.zeros(len(first), np.int64),
            FIRST_TS: first,
            LAST_TS: end - self.window.gap_us,
        }
        rest = made.drop_columns([WINDOW_START, WINDOW_END])
        arrays = [array_of(column, None, pa.int64()) for column in columns.values()]
        return pa.RecordBatch.from_arrays(
            [*arrays, *rest.columns], names=[*columns, *rest.schema.names]
        )

    def closing(self, *, after_us: int, upto_us: int) -> Iterator[pa.RecordBatch]:
        """Sessions that end in (after, upto], by their ends."""
        if self._earliest_us <= upto_us:
            ending = self._ending(after_us=after_us, upto_us=upto_us)
            yield self._contents(ending[lexical(self._ends_us(ending), self._first.values[ending])])

    def closes(self, after_us: int, upto_us: int) -> bool:
        """Whether a session ends by then; those that ended before are gone."""
        return self._earliest_us <= upto_us

    def next_end_us(self, after_us: int) -> int:
        """When the first session ends that ends later than that."""
        ends = self._ends_us(self._ending(after_us=after_us, upto_us=FOREVER_US))
        return int(ends.min(initial=FOREVER_US + 1))

    def nothing(self) -> pa.RecordBatch:
        return self._contents(np.zeros(0, np.int64))

    def of(self, units: pa.RecordBatch) -> pa.RecordBatch:
        """All open sessions of the groups."""
        groups = self._groups.find(units)
        return self._contents(self._of_groups(distinct(groups[groups >= 0], len(self._groups))))

    def touched(self, batch: pa.RecordBatch, *, after_us: int) -> pa.RecordBatch:
        return counted(batch, self.keys)

    def ended(self, units: pa.RecordBatch, upto_us: int) -> Mask:
        """No group has had its last session."""
        return np.zeros(units.num_rows, bool)

    def _ends_us(self, sessions: Integers) -> Integers:
        ends: Integers = self._last.values[sessions] + self.window.gap_us
        return ends

    def _ending(self, *, after_us: int, upto_us: int) -> Integers:
        ends = self._last.values + self.window.gap_us
        return np.flatnonzero(self._alive.values & (ends > after_us) & (ends <= upto_us))

    def _contents(self, sessions: Integers) -> pa.RecordBatch:
        edges = {
            WINDOW_START: self._first.values[sessions],
            WINDOW_END: self._ends_us(sessions),
        }
        keys = self._groups.partials(self._owner.values[sessions]).drop_columns([ROWS])
        kept = self._table.partials(sessions).drop_columns([_SESSION.name, *self._edges])
        arrays = [array_of(edge, None, pa.int64()) for edge in edges.values()]
        return pa.RecordBatch.from_arrays(
            [*arrays, *keys.columns, *kept.columns],
            names=[*edges, *(key.name for key in self.keys), *kept.schema.names],
        )


def _reached(group: Integers, last: Integers) -> Integers:
    """The latest end so far among the runs of each group; runs are by group and time.

    Each group is lifted above the one before it, so that one running maximum goes over all of them.
    """
    if len(last) == 0:
        return last
    times, ranks = last, last
    low, span = int(last.min()), int(last.max()) - int(last.min()) + 1
    if span * (int(group[-1]) + 1) > _FITS:  # centuries: then by rank
        times, ranks = np.unique(last, return_inverse=True)
        low, span = 0, len(times)
    lifted = group * span
    highest = np.maximum.accumulate(ranks - low + lifted) - lifted
    return highest + low if times is last else times[highest]


def _numbered(batch: pa.RecordBatch, sessions: Integers) -> pa.RecordBatch:
    return batch.append_column(_SESSION.name, array_of(sessions, None, pa.int64()))
