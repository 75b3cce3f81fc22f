"""From the contents of windows to the rows that would be emitted of them.

In: contents (`panes.py`): partials with the edges of their windows. Out: `Finished`: for each group its output columns,
and what became of it: to be emitted, left out by HAVING or Top-N, or failed, with the reason. Decided here: in which
order that happens (aggregates, HAVING, Top-N, output), so that a row which nobody sees cannot fail. Expressions over
aggregates are the engine's SQL, as those over rows are; where a query only names keys, aggregates and window columns,
nothing is left for SQL to do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, Mask, array_of, arrow_type, conform, numbers
from tidegate.kernel.finish import finish
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.identity import window_ids
from tidegate.kernel.index import KeyIndex
from tidegate.kernel.joining import JoinShape, joined
from tidegate.kernel.lists import flattened
from tidegate.kernel.panes import WINDOW_END, WINDOW_START
from tidegate.kernel.ranking import Direction, parted, places
from tidegate.model.expressions import Field
from tidegate.model.partials import FinishSpec
from tidegate.model.policies import AGGREGATED, FILTERED
from tidegate.model.schema import Schema
from tidegate.model.types import Scalar

ROW, CODE, OUTPUT_CODE = "$row", "$code", "$output_code"
WINDOW, WINDOW_TIME, WINDOW_ID = "$window", "$window_time", "$window_id"
ARRIVAL, TS, RANK = "$arrival", "$ts", "$rank"
_INSTANT = arrow_type(Scalar.TIMESTAMP)


class Projection(Protocol):
    """Runs a query's expressions over aggregates: `$row`, `$code`, `$output_code`, sort keys, output columns."""

    def __call__(self, groups: pa.RecordBatch) -> pa.RecordBatch: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSpec:
    """`reads` are the columns that the projection needs; `plain` pairs output columns with fields that they just are.

    `per_group`: groups have windows of their own (sessions), and so a Top-N of their own. `rows`: the place of the
    partial that holds whole rows, for windows without aggregates. `sort` names the fields of the sort keys if `plain`;
    the first `within` keys are what Top-N is within, the others have `directions`. `ranked` are the output columns that
    are the place in that order.
    `join`: these rows are those of two sides, and are joined first.
    `numbered`: windows are told apart by `$window`, and say their `$window_time`, since edges do not tell everything of
    windows that rows complete. `exploded`: their contents are whole rows already.
    """

    plan_id: str
    keys: tuple[Field, ...]
    aggregates: tuple[tuple[str, FinishSpec], ...]
    reads: frozenset[str]
    schema: Schema
    plain: tuple[tuple[str, str], ...] | None = None
    sort: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
    within: int = 0
    limit: int | None = None
    ranked: tuple[str, ...] = ()
    rows: str | None = None
    join: JoinShape | None = None
    per_group: bool = False
    numbered: bool = False
    exploded: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """`units` say which window and group (or row) each is of; `codes` are those of `model/policies.py`.

    `details` say by row what else is known of a failure.
    """

    units: pa.RecordBatch
    codes: Integers
    values: pa.RecordBatch
    details: Mapping[int, str] = field(default_factory=dict)

    @property
    def live(self) -> Mask:
        live: Mask = self.codes == AGGREGATED
        return live


@dataclass(frozen=True, slots=True)
class Finisher:
    spec: OutputSpec
    project: Projection | None

    def __call__(self, contents: pa.RecordBatch) -> Finished:
        if contents.num_rows == 0:
            return self.nothing(contents)
        windows = None
        if self.spec.rows is not None and self.spec.join is not None:
            contents, windows = _joined(contents, self.spec.rows, self.spec.join)
            if contents.num_rows == 0:
                return self.nothing(contents)
        elif self.spec.rows is not None:
            contents, windows = _exploded(contents, self.spec.rows)
        elif self.spec.directions:
            windows = self._windows(contents)
        groups, codes, details = self._groups(contents)
        units = contents.select(self._unit_names)
        if self.spec.plain is not None:
            sort = [groups[name] for name in self.spec.sort]
            values = [groups[field] for _, field in self.spec.plain]
            codes, values = self._ranked(codes, values, sort, units, windows)
            return Finished(units, codes, self._values(values), details)
        made = self._projected(groups, contents.num_rows)
        failed, failed_output = (numbers(made.column(name)).values for name in (CODE, OUTPUT_CODE))
        codes = np.where(codes == AGGREGATED, failed, codes)
        count = self.spec.within + len(self.spec.directions)
        sort = [made.column(f"$s{place}") for place in range(count)]
        values = [made.column(column.name) for column in self.spec.schema]
        codes, values = self._ranked(codes, values, sort, units, windows)
        codes = np.where(codes == AGGREGATED, failed_output, codes)
        return Finished(units, codes, self._values(values), details)

    def _groups(
        self, contents: pa.RecordBatch
    ) -> tuple[Mapping[str, pa.Array], Integers, Mapping[int, str]]:
        """Everything that expressions may read of each group, and which have an aggregate without a value, and why."""
        codes = np.full(contents.num_rows, AGGREGATED)
        details: dict[int, str] = {}
        columns = {
            name: contents.column(name) for name in contents.schema.names if name in self.spec.reads
        }
        columns.update(self._window_columns(contents))
        if RANK in self.spec.reads:
            columns[RANK] = array_of(np.zeros(contents.num_rows, np.int64), None, pa.int64())
        for name, spec in self.spec.aggregates:
            done = finish(spec, contents)
            columns[name] = done.values
            if done.codes is not None:
                fine = codes == AGGREGATED
                details |= {row: text for row, text in done.details.items() if fine[row]}
                codes = np.where(fine, done.codes, codes)
        return columns, codes, details

    def _window_columns(self, contents: pa.RecordBatch) -> Mapping[str, pa.Array]:
        starts, ends = contents.column(WINDOW_START), contents.column(WINDOW_END)
        last = (WINDOW_TIME, ends, 1)
        if self.spec.numbered:
            last = (WINDOW_TIME, contents.column(WINDOW_TIME), 0)
        made = {}
        for name, edge, back in ((WINDOW_START, starts, 0), (WINDOW_END, ends, 0), last):
            if name not in self.spec.reads:
                continue
            if back:
                found = numbers(edge)
                made[name] = array_of(found.values - back, found.valid, _INSTANT)
            else:
                made[name] = edge.view(_INSTANT)
        if WINDOW_ID in self.spec.reads:
            made[WINDOW_ID] = window_ids(self.spec.plan_id, starts, ends)
        return made

    def _projected(self, groups: Mapping[str, pa.Array], count: int) -> pa.RecordBatch:
        assert self.project is not None
        needed = {name: array for name, array in groups.items() if name in self.spec.reads}
        numbered = {ROW: array_of(np.arange(count), None, pa.int64()), **needed}
        made = self.project(pa.RecordBatch.from_arrays([*numbered.values()], names=[*numbered]))
        rows = numbers(made.column(ROW)).values
        if (rows[1:] < rows[:-1]).any():
            made = made.take(pa.array(np.argsort(rows)))
        return made

    def nothing(self, contents: pa.RecordBatch) -> Finished:
        """What no contents amount to."""
        kinds = dict.fromkeys((TS, ARRIVAL, WINDOW, WINDOW_TIME), pa.int64())
        units = pa.schema(
            [
                contents.schema.field(name)
                if name in contents.schema.names
                else pa.field(name, kinds[name])
                for name in self._unit_names
            ]
        )
        none = np.zeros(0, np.int64)
        values = [pa.array([], arrow_type(column.type)) for column in self.spec.schema]
        return Finished(pa.RecordBatch.from_pylist([], schema=units), none, self._values(values))

    def _windows(self, contents: pa.RecordBatch) -> Integers:
        """A number for the window of each group."""
        names = [WINDOW] if self.spec.numbered else [WINDOW_START, WINDOW_END]
        if self.spec.per_group:
            names = self._unit_names
        windows, _ = KeyIndex().slots(_lanes(contents.select(names)))
        return windows

    def _ranked(
        self,
        codes: Integers,
        values: list[pa.Array],
        sort: Sequence[pa.Array],
        units: pa.RecordBatch,
        windows: Integers | None,
    ) -> tuple[Integers, list[pa.Array]]:
        """Top-N: what is not among the first of its window is left out, and the place of the others is known now."""
        if not self.spec.directions or windows is None:
            return codes, values
        rows = np.flatnonzero(codes == AGGREGATED)
        picked = pa.array(rows)
        ordered = [array.take(picked) for array in sort]
        owners = parted(windows[rows], ordered[: self.spec.within])
        keys = list(zip(ordered[self.spec.within :], self.spec.directions, strict=True))
        numbered = places(owners, keys, [column.take(picked) for column in units.columns[2:]])
        codes, rank = codes.copy(), np.zeros(len(codes), np.int64)
        rank[rows] = numbered
        if self.spec.limit is not None:
            codes[rows[numbered > self.spec.limit]] = FILTERED
        made = array_of(rank, None, pa.int64())
        named = zip(self.spec.schema.names, values, strict=True)
        return codes, [made if name in self.spec.ranked else array for name, array in named]

    @property
    def _unit_names(self) -> list[str]:
        whole = self.spec.rows is not None or self.spec.exploded
        rest = [TS, ARRIVAL] if whole else [key.name for key in self.spec.keys]
        own = [WINDOW, WINDOW_TIME] if self.spec.numbered else []
        return [WINDOW_START, WINDOW_END, *own, *rest]

    def _values(self, arrays: Sequence[pa.Array]) -> pa.RecordBatch:
        columns = [
            conform(array, column.type)
            for array, column in zip(arrays, self.spec.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(self.spec.schema.names))


def _lanes(batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    return hash_rows(batch.columns, batch.num_rows)


def _exploded(contents: pa.RecordBatch, name: str) -> tuple[pa.RecordBatch, Integers]:
    """One row per row that is kept, by time and arrival within each window, and the number of its window."""
    owners, structs = flattened(contents.column(name))
    names = [field.name for field in structs.type]
    fields = dict(zip(names, structs.flatten(), strict=True))
    order = np.lexsort([*(numbers(fields[key]).values for key in (ARRIVAL, TS)), owners])
    edges = contents.select([WINDOW_START, WINDOW_END]).take(pa.array(owners[order]))
    inside = [fields[key].take(pa.array(order)) for key in names]
    exploded = pa.RecordBatch.from_arrays(
        [*edges.columns, *inside], names=[WINDOW_START, WINDOW_END, *names]
    )
    return exploded, owners[order]


def _joined(
    contents: pa.RecordBatch, name: str, shape: JoinShape
) -> tuple[pa.RecordBatch, Integers]:
    """One row per joined row, numbered, and the number of its window."""
    made = joined(contents, name, shape, arrival=ARRIVAL)
    owners = made.owners
    edges = contents.select([WINDOW_START, WINDOW_END])
    windows, _ = KeyIndex().slots(_lanes(edges))
    edges = edges.take(pa.array(owners))
    last = numbers(edges.column(WINDOW_END)).values - 1
    own = {TS: last, ARRIVAL: np.arange(len(owners))}
    columns = {column: array_of(values, None, pa.int64()) for column, values in own.items()}
    columns |= made.columns
    batch = pa.RecordBatch.from_arrays(
        [*edges.columns, *columns.values()], names=[WINDOW_START, WINDOW_END, *columns]
    )
    return batch, windows[owners]
