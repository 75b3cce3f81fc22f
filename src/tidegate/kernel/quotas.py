"""Quotas: new groups and windows are turned away when there are too many (semantics §8).

Decided here: what is emitted stays exact. A window that was turned away stays away until it is over. A group that was
turned away from a window cannot appear in it later, when there is room again: the window remembers when it first had
to turn somebody away (`full`), each group when it was let in (`since`), and of a window only those groups are seen that
were there before. So memory is bounded by the groups and windows that were let in, not by those that were not.

New groups of one batch are let in by time and then by key, so their order inside the batch means nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, numbers
from tidegate.kernel.dirty import counted
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.growing import Growing
from tidegate.kernel.ranking import ranks
from tidegate.kernel.spans import Grid, Span
from tidegate.model.expressions import Field
from tidegate.model.policies import DISPOSITION, Reason

_SINCE = "$since"
_SLACK = 1024
NO_GROUP, _WINDOWS, _BYTES = (
    DISPOSITION[reason]
    for reason in (Reason.MAX_GROUPS, Reason.MAX_OPEN_WINDOWS, Reason.MAX_STATE_BYTES)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """None: no limit. `state_bytes` is compared by the engine, since memory is not the same after a restart."""

    groups: int | None = None
    windows: int | None = None
    state_bytes: int | None = None

    @property
    def any(self) -> bool:
        return (self.groups, self.windows, self.state_bytes) != (None, None, None)


NO_LIMITS = Limits()


class Quotas:
    """Who was let in. `crowded`: the state is too large for anything new."""

    def __init__(self, limits: Limits, keys: Sequence[Field]) -> None:
        self.limits, self.keys = limits, tuple(keys)
        self.crowded = False
        self.turned_away: set[Span] = set()
        self.full: dict[Span, int] = {}
        self._number = 0
        self._table = GroupTable(self.keys, (), timed=False)
        self._places, self._since = Growing(np.int64), Growing(np.int64)

    # Windows

    def windows(
        self, spans: Iterable[Span], open_spans: set[Span]
    ) -> tuple[Sequence[Span], int | None]:
        """Those of the windows over a pane that may take rows; if none, the reason."""
        wanted = [span for span in spans if span not in self.turned_away]
        reason = _WINDOWS
        for span in wanted:
            if span in open_spans:
                continue
            most = self.limits.windows
            too_many = most is not None and len(open_spans) >= most
            if self.crowded or too_many:
                self.turned_away.add(span)
                reason = _WINDOWS if too_many else _BYTES
            else:
                open_spans.add(span)
        left = [span for span in wanted if span not in self.turned_away]
        return left, None if left else reason

    # Groups

    @property
    def groups(self) -> int:
        return int(np.count_nonzero(self._places.values))

    @property
    def no_group(self) -> int:
        """Why a new group is turned away."""
        return _BYTES if self.crowded else NO_GROUP

    def let_in(
        self, batch: pa.RecordBatch, panes: Integers, spans: Mapping[int, Sequence[Span]]
    ) -> tuple[Mask, Integers]:
        """Which rows may be merged, and the number of each row's group."""
        self._number += 1
        slots = self._table.merge(counted(batch, self.keys))
        for column in (self._places, self._since):
            column.grow(len(self._table), 0)
        unknown = self._places.values[slots] == 0
        refused = self._refused(batch, slots, panes, unknown)
        fresh = slots[unknown & ~refused]
        self._since.values[fresh] = self._number
        for pane in np.unique(panes[refused]).tolist():
            for span in spans[pane]:
                self.full.setdefault(span, self._number)
        if self.full:
            refused |= self._unseen(slots, panes, spans)
        return ~refused, slots

    def _refused(
        self, batch: pa.RecordBatch, slots: Integers, panes: Integers, unknown: Mask
    ) -> Mask:
        rows = np.flatnonzero(unknown)
        room = self._room()
        if room is None or len(rows) == 0:
            return np.zeros(len(slots), bool)
        keys = [
            ranks(batch.column(key.name), descending=False, nulls_first=False) for key in self.keys
        ]
        order = rows[np.lexsort([*(key[rows] for key in reversed(keys)), panes[rows]])]
        _, first = np.unique(slots[order], return_index=True)
        winners = slots[order][np.sort(first)[:room]]
        refused: Mask = unknown & ~np.isin(slots, winners)
        return refused

    def _room(self) -> int | None:
        if self.crowded:
            return 0
        most = self.limits.groups
        return None if most is None else max(0, most - self.groups)

    def _unseen(
        self, slots: Integers, panes: Integers, spans: Mapping[int, Sequence[Span]]
    ) -> Mask:
        """Rows of groups that none of their windows would show."""
        latest = {
            pane: max((self.full.get(span, self._number) for span in over), default=0)
            for pane, over in spans.items()
        }
        limit = np.array([latest[pane] for pane in panes.tolist()])
        unseen: Mask = self._since.values[slots] > limit
        return unseen

    def opened(self, slots: Integers) -> None:
        """Groups that are in one pane more."""
        np.add.at(self._places.values, slots, 1)

    def dropped(self, tables: Iterable[GroupTable]) -> None:
        """Panes that are gone, and windows with them."""
        for table in tables:
            slots = self._table.find(table.partials().select([key.name for key in self.keys]))
            np.subtract.at(self._places.values, slots, 1)
        if len(self._table) > 2 * self.groups + _SLACK:
            self._compact()

    def _compact(self) -> None:
        kept = np.flatnonzero(self._places.values)
        self._table = self._table.kept(kept)
        for column in (self._places, self._since):
            values = column.values[kept]
            column.size = 0
            column.append(values)

    def ended(self, grid: Grid, upto_us: int) -> None:
        for span in [span for span in self.full if grid.end_us(span) <= upto_us]:
            del self.full[span]
        self.turned_away -= {span for span in self.turned_away if grid.end_us(span) <= upto_us}

    # What windows show

    def visible(self, span: Span, partials: pa.RecordBatch) -> pa.RecordBatch:
        """The groups that the window has had from the beginning."""
        number = self.full.get(span)
        if number is None or partials.num_rows == 0:
            return partials
        slots = self._table.find(partials)
        seen = self._since.values[slots] <= number
        return partials if seen.all() else partials.filter(pa.array(seen))

    # State

    def facts(self) -> dict[str, Any]:
        full = [[*span, number] for span, number in self.full.items()]
        return {"number": self._number, "away": sorted(self.turned_away), "full": full}

    def members(self) -> pa.RecordBatch:
        kept = np.flatnonzero(self._places.values)
        batch = self._table.partials(kept)
        since = array_of(self._since.values[kept], None, pa.int64())
        return batch.append_column(_SINCE, since)

    def restore(self, facts: Mapping[str, Any], members: pa.RecordBatch) -> None:
        """Before the panes, whose groups are then `opened`."""
        self._number = facts["number"]
        self.turned_away = {Span(*span) for span in facts["away"]}
        self.full = {Span(first, end): number for first, end, number in facts["full"]}
        slots = self._table.merge(members.drop_columns([_SINCE]))
        for column in (self._places, self._since):
            column.grow(len(self._table), 0)
        self._since.values[slots] = numbers(members.column(_SINCE)).values

    def reopen(self, tables: Iterable[GroupTable]) -> None:
        for table in tables:
            self.opened(self._table.find(table.partials()))
