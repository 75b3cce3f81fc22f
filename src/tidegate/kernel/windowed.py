"""The contents of windows that rows complete, one row of contents per group, or per row.

In: rows, and windows as runs of places among them. Out: contents (`finishing.py`). Decided here: what a window that
rows complete is called. It has the number of the row that completed it, so windows with equal edges stay apart, and
says itself what its `window_time` is.

Windows are made in pieces of so many rows that a piece fits into a processor's cache a few times, whatever windows have
in common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, arrow_type, conform
from tidegate.kernel.finishing import WINDOW, WINDOW_TIME
from tidegate.kernel.gathering import Input, gathered
from tidegate.kernel.panes import WINDOW_END, WINDOW_START
from tidegate.kernel.slots import GroupIndex
from tidegate.kernel.taking import OWN
from tidegate.model.expressions import Field

PIECE_ROWS = 1 << 19


@dataclass(frozen=True, slots=True, kw_only=True)
class Contained:
    """What windows are about: `columns` of their rows, the groups inside by `keys`, `inputs` of aggregates.

    `exploded`: the rows themselves, with these columns.
    """

    columns: tuple[Field, ...]
    keys: tuple[Field, ...]
    inputs: tuple[Input, ...]
    exploded: bool

    @property
    def kept(self) -> tuple[Field, ...]:
        """All columns that are kept of a row, besides its time and number."""
        brought = (column for one in self.inputs for column in one.columns)
        return tuple(dict.fromkeys((*self.columns, *brought)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Windows by number. `there` False: such a window has no instant at all (None: all have)."""

    numbers: Integers
    starts_us: Integers
    ends_us: Integers
    times_us: Integers
    there: Mask | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def columns(self, places: Integers | slice) -> dict[str, pa.Array]:
        valid = None if self.there is None else self.there[places]
        starts, ends, times = (
            array_of(values[places], valid, pa.int64())
            for values in (self.starts_us, self.ends_us, self.times_us)
        )
        number = array_of(self.numbers[places], None, pa.int64())
        return {WINDOW_START: starts, WINDOW_END: ends, WINDOW: number, WINDOW_TIME: times}


@dataclass(frozen=True, slots=True)
class Runs:
    """Windows as runs of places: run n is `first[n]` up to, not including, `end[n]`, through `via` if there is one."""

    first: Integers
    end: Integers
    via: Integers | None = None

    @property
    def lengths(self) -> Integers:
        lengths: Integers = np.maximum(self.end - self.first, 0)
        return lengths

    def places(self, start: int, stop: int) -> Integers:
        """The places of some runs, one after the other."""
        lengths = self.lengths[start:stop]
        before = np.cumsum(lengths) - lengths
        picks = np.arange(int(lengths.sum())) + np.repeat(self.first[start:stop] - before, lengths)
        places: Integers = picks if self.via is None else self.via[picks]
        return places


def lengths_of(runs: Sequence[Runs]) -> Integers:
    """How many rows each window has in all its runs."""
    lengths: Integers = np.add.reduce([one.lengths for one in runs])
    return lengths


def nothing(what: Contained) -> pa.RecordBatch:
    """The contents of no window."""
    none = np.zeros(0, np.int64)
    edges = Edges(numbers=none, starts_us=none, ends_us=none, times_us=none).columns(none)
    fields = (*OWN, *what.columns) if what.exploded else what.keys
    made = {field.name: pa.array([], arrow_type(field.type)) for field in fields}
    if not what.exploded:
        made |= partial_columns(
            [pa.array([], arrow_type(one.spec.kept_type)) for one in what.inputs]
        )
    columns = edges | made
    return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])


def partial_columns(arrays: Sequence[pa.Array], *, first: int = 0) -> dict[str, pa.Array]:
    return {f"$p{first + place}": array for place, array in enumerate(arrays)}


def contents_of(
    rows: pa.RecordBatch, what: Contained, edges: Edges, runs: Sequence[Runs]
) -> Iterator[pa.RecordBatch]:
    """The contents of windows; each has the rows of all its runs, of which there are several kinds."""
    groups = None if what.exploded or not what.keys else _groups(rows, what.keys)
    for start, stop in pieces(lengths_of(runs)):
        picks, owners = members(runs, start, stop)
        if what.exploded:
            yield _exploded(rows, what, edges, picks, owners + start)
        else:
            yield _grouped(rows, what, edges, picks, owners + start, groups)


def pieces(lengths: Integers) -> Iterator[tuple[int, int]]:
    """Windows, some at a time, of not too many rows together."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + PIECE_ROWS, side="right"))
        stop = max(stop, start + 1)
        yield start, stop
        start = stop


def members(runs: Sequence[Runs], start: int, stop: int) -> tuple[Integers, Integers]:
    """The places of rows, and the window of each, ascending."""
    picks = [one.places(start, stop) for one in runs]
    owners = [np.repeat(np.arange(stop - start), one.lengths[start:stop]) for one in runs]
    if len(runs) == 1:
        return picks[0], owners[0]
    every, whose = np.concatenate(picks), np.concatenate(owners)
    order = np.argsort(whose, kind="stable")
    return every[order], whose[order]


def _groups(rows: pa.RecordBatch, keys: Sequence[Field]) -> Integers:
    """A number for the group of each row."""
    columns = [conform(rows.column(key.name), key.type) for key in keys]
    slots, _ = GroupIndex(keys).slots(columns, rows.num_rows)
    return slots


def _exploded(
    rows: pa.RecordBatch, what: Contained, edges: Edges, picks: Integers, owners: Integers
) -> pa.RecordBatch:
    names = [field.name for field in (*OWN, *what.columns)]
    inside = rows.select(names).take(pa.array(picks))
    columns = edges.columns(owners)
    return pa.RecordBatch.from_arrays(
        [*columns.values(), *inside.columns], names=[*columns, *names]
    )


def _grouped(
    rows: pa.RecordBatch,
    what: Contained,
    edges: Edges,
    picks: Integers,
    owners: Integers,
    groups: Integers | None,
) -> pa.RecordBatch:
    if groups is None:
        new = np.r_[True, owners[1:] != owners[:-1]][: len(owners)]
    else:
        order = np.lexsort((groups[picks], owners))
        picks, owners = picks[order], owners[order]
        group = groups[picks]
        new = np.r_[True, (owners[1:] != owners[:-1]) | (group[1:] != group[:-1])][: len(owners)]
    starts = np.flatnonzero(new)
    lengths = np.diff(np.r_[starts, len(owners)])
    heads = pa.array(picks[starts])
    columns = edges.columns(owners[starts])
    columns |= {key.name: conform(rows.column(key.name), key.type).take(heads) for key in what.keys}
    columns |= partial_columns(gathered(rows, what.inputs, picks, lengths))
    return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])
