"""What the row SQL of a stage should give for a batch, decided row by row in plain Python.

It reads the stage as it was before any rule, knows windows by their definition (semantics §2), and keeps whole rows:
`Answer` says where each row went. `naive_partials` and `naive_aggregates` make numbers of the rows of a group.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.plan.row_sql.evaluation import Failed, Row, evaluate
from tidegate.model.expressions import Field
from tidegate.model.policies import AGGREGATED, DISPOSITION, FILTERED, PreEpoch, Reason
from tidegate.model.policies import MissingEventTime as Missing
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.windows import Conditional, Counting, Cumulating, Hopping, Tumbling
from tidegate.plan.expressions import CLOCK
from tidegate.plan.physical import Branch, Stage, TableLookup

Tables = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with its columns, its time, and what became of it."""

    original: Row
    values: Row
    ts: int | None
    stamped: bool
    code: int
    latest_us: int


@dataclass(slots=True)
class Answer:
    rows: list[Judged] = field(default_factory=list)

    def of(self, *, code: int) -> list[Judged]:
        return [row for row in self.rows if row.code == code]

    @property
    def diverted(self) -> list[Judged]:
        return [row for row in self.rows if row.code > FILTERED]


def judge(
    stage: Stage, branch: Branch, batch: Sequence[Row], tables: Tables, parameters: Row
) -> Answer:
    """`batch` has the input's own names."""
    answer = Answer()
    for original in batch:
        read = {made: original[physical] for made, physical in branch.input.originals}
        for joined in _joined(branch.lookups, {**read, **parameters}, tables):
            row, on_failed = joined
            ts, stamped = _time(stage, branch, row)
            code, values = _verdict(stage, branch, row, on_failed, ts)
            seen = {**values, "$ts": ts, "$stamped": stamped}
            answer.rows.append(Judged(original, seen, ts, stamped, code, row["latest_us"]))
    return answer


def _joined(
    lookups: Sequence[TableLookup], row: Row, tables: Tables
) -> Iterator[tuple[Row, Reason | None]]:
    """Each row with every combination of matches; a table without one gives NULLs."""
    if not lookups:
        yield row, None
        return
    first, *rest = lookups
    matches: list[Row] = []
    failed: Reason | None = None
    for entry in tables[first.table.name]:
        physical = {made: entry[name] for made, name in first.table.originals}
        columns = {named.name: evaluate(named.expr, physical) for named in first.columns}
        try:
            if evaluate(first.on, {**row, **columns}) is True:
                matches.append({**columns, first.matched: True})
        except Failed as failure:
            failed = failure.reason
    nothing = {first.matched: None, **{named.name: None for named in first.columns}}
    for match in matches or [nothing]:
        for joined, other in _joined(rest, {**row, **match}, tables):
            yield joined, (None if matches else failed) or other


def _time(stage: Stage, branch: Branch, row: Row) -> tuple[int | None, bool]:
    time = branch.time
    if time is None:
        return None, False
    fallback = time.on_missing is Missing.FALLBACK
    rungs = [expr for _, expr in time.ladder][: None if fallback else 1]
    for expr in rungs:
        value = _or_null(expr, row)
        if value is not None:
            return value, False
    stamps = fallback and needs_time(stage) and CLOCK not in rungs
    return (row["clock_us"], True) if stamps else (None, False)


def _or_null(expr: Any, row: Row) -> Any:
    """A time that cannot be computed is a time that is not there."""
    try:
        return evaluate(expr, row)
    except Failed:
        return None


def needs_time(stage: Stage) -> bool:
    return stage.window is not None and not isinstance(stage.window, (Counting, Conditional))


def _verdict(
    stage: Stage, branch: Branch, row: Row, on_failed: Reason | None, ts: int | None
) -> tuple[int, dict[str, Any]]:
    try:
        if on_failed is not None:
            raise Failed(on_failed)
        for lookup in branch.lookups:
            if not lookup.outer and row[lookup.matched] is None:
                return FILTERED, {}
        if evaluate(branch.predicate, row) is not True:
            return FILTERED, {}
        late = _time_reason(branch, row, ts) if needs_time(stage) else None
        if late is not None:
            return DISPOSITION[late], {}
        return AGGREGATED, _values(stage, branch, row)
    except Failed as failure:
        return DISPOSITION[failure.reason], {}


def _time_reason(branch: Branch, row: Row, ts: int | None) -> Reason | None:
    assert branch.time is not None
    if ts is None:
        return Reason.MISSING_EVENT_TIME
    if not MIN_EVENT_TIME_US <= ts <= MAX_EVENT_TIME_US:
        return Reason.OVERFLOW
    if ts > row["latest_us"]:
        return Reason.FUTURE_EVENT_TIME
    if ts < 0 and branch.time.pre_epoch is PreEpoch.DIVERT:
        return Reason.PRE_EPOCH_EVENT_TIME
    return Reason.ALLOWED_LATENESS_EXCEEDED if ts < row["open_from_us"] else None


def _values(stage: Stage, branch: Branch, row: Row) -> dict[str, Any]:
    """Columns in order; one that only filtered aggregates read is not looked at where all filters say no."""
    made = {named.name: named.expr for named in branch.columns}
    values: dict[str, Any] = {}
    for named in branch.columns:
        filters = _filters_of(stage, named.name)
        wanted = filters is None or any(
            (
                evaluate(made[condition.name], row)
                if isinstance(condition, Field)
                else condition.value
            )
            is True
            for condition in filters
        )
        values[named.name] = evaluate(named.expr, row) if wanted else None
    return values


def _filters_of(stage: Stage, name: str) -> list[Any] | None:
    """The filters of all readers of a column, None where one has none."""
    filters = []
    for named in stage.aggregates:
        read = [*named.call.args, *(key.expr for key in named.call.order)]
        if Field in map(type, read) and name in [getattr(part, "name", "") for part in read]:
            if named.call.filter is None:
                return None
            filters.append(named.call.filter)
    keys = {field.name for field in (*stage.keys, *stage.partition_by)}
    elsewhere = name in keys or name in [
        getattr(named.call.filter, "name", "") for named in stage.aggregates
    ]
    shown = repr((stage.output, stage.having, stage.order, stage.window, stage.inherited))
    return None if elsewhere or not filters or f"'{name}'" in shown else filters


# Windows by definition


def windows_of(window: Tumbling | Hopping | Cumulating, ts: int) -> list[tuple[int, int]]:
    """Every [start, end) that holds the instant."""
    match window:
        case Tumbling(size_us=size, offset_us=offset):
            start = (ts - offset) // size * size + offset
            return [(start, start + size)]
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            last = (ts - offset) // slide * slide + offset
            starts = []
            while last > ts - size:
                starts.append(last)
                last -= slide
            return [(start, start + size) for start in reversed(starts)]
        case Cumulating(size_us=size, step_us=step, offset_us=offset):
            start = (ts - offset) // size * size + offset
            ends = range(start + step, start + size + 1, step)
            return [(start, end) for end in ends if end > ts]


def canonical(value: Any) -> Any:
    """One NaN, one zero; nested values hashable."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((name, canonical(part)) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(canonical, value))
    return value


def group_of(stage: Stage, row: Judged) -> tuple[Any, ...]:
    """The values that tell groups apart."""
    names = [field.name for field in (*stage.keys, *stage.partition_by)]
    names += [field.name for field, _ in stage.inherited]
    return tuple(canonical(row.values[name]) for name in dict.fromkeys(names))


def sessions(times: Sequence[int], gap_us: int, *, inclusive: bool) -> list[list[int]]:
    """The sorted instants, cut where the distance is too large."""
    runs: list[list[int]] = []
    for ts in sorted(times):
        near = runs and (ts - runs[-1][-1] < gap_us or (inclusive and ts - runs[-1][-1] == gap_us))
        if near:
            runs[-1].append(ts)
        else:
            runs.append([ts])
    return runs
