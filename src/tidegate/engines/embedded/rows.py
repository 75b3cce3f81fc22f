"""Row SQL of one branch on DataFusion: what crosses the seam, and whole rows for side outputs.

Decided here: when a plan can be used again. The bounds of an epoch stand in the text as numbers, and change with every
epoch. But where all rows of a batch are inside them, wider bounds say the same; so the usual batch runs a plan that
accepts every time there is, and only one with late or future rows has its bounds planned in.

Whole rows are chosen by their code here, not in SQL: DataFusion would write the condition down to the columns that it
is computed from, and that of a sum of ten terms, each named several times, fills any memory.

Where all rows are of one pane as well, its number is no matter of SQL, and groups go by their keys.

Extremes of floats are computed the simple way as long as no value is infinite or NaN, which their sum would show;
from the first batch on in which one is, the careful way is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tidegate.engines.embedded.queries import Query, Workers, as_sql, as_sql_table, sql_schema
from tidegate.kernel.arrow import Integers, array_of, conform, numbers, validity
from tidegate.kernel.groups import MAX_TS
from tidegate.kernel.operator import Bounds
from tidegate.model.expressions import Field
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.policies import AGGREGATED, FILTERED
from tidegate.model.relations import Expand, Group, Keep, Lookup, NamedPartial, Relation, Scan
from tidegate.model.schema import Column, Schema
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar, is_float
from tidegate.plan.event_time import PARTITION
from tidegate.plan.physical import CODE, PANE, Branch, Input, Stage
from tidegate.plan.row_sql import BATCH, row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

_OF_FINITE = {
    PartialOp.MIN: PartialOp.MIN_OF_FINITE,
    PartialOp.MAX: PartialOp.MAX_OF_FINITE,
}
_EVERY_TIME = Bounds(
    watermark_us=MIN_EVENT_TIME_US, open_from_us=MIN_EVENT_TIME_US, latest_us=MAX_EVENT_TIME_US
)
_NOBODY = -1
Batches = Sequence[pa.RecordBatch]


def fed_schema(input: Input) -> Schema:
    """What an input delivers: all its physical columns, and the times that come beside them."""
    return Schema(
        tuple(
            Column(physical, column.type)
            for (_, physical), column in zip(input.originals, input.schema, strict=True)
        )
    )


@dataclass(frozen=True, slots=True)
class _Statement:
    """A relation as text. `reads` are the parameters that it needs."""

    relation: Relation
    reads: frozenset[str]

    def text(self, values: Mapping[str, int]) -> str:
        return render_relation(self.relation, Engine.DATAFUSION, values)


def _statement(relation: Relation) -> _Statement:
    open_text = render_relation(relation, Engine.DATAFUSION)
    names = ("open_from_us", "latest_us", "clock_us")
    return _Statement(relation, frozenset(name for name in names if f":{name}" in open_text))


def _unsifted(relation: Relation) -> _Statement:
    """Rows of every code; which of them are wanted is seen by the code."""
    assert isinstance(relation, Keep), relation
    return _statement(relation.input)


def _codes(batch: pa.RecordBatch) -> Integers:
    return numbers(conform(batch.column(CODE.name), Scalar.BIGINT)).values


class EmbeddedRows:
    """The row SQL of a branch over `tables`, which stay."""

    def __init__(
        self, stage: Stage, branch: Branch, workers: Workers, *, tables: Mapping[str, pa.Table]
    ) -> None:
        queries = row_queries(stage, branch)
        self.schema = sql_schema(fed_schema(branch.input))
        self._time = _time_column(branch)
        self._panes = stage.panes
        self._main = _Main.of(queries.main)
        one_pane = queries.in_one_pane
        self._in_one_pane = None if one_pane is None else _Main.of(one_pane)
        self._all_finite = True
        self._diverted, self._taken = _unsifted(queries.diverted), _unsifted(queries.taken)
        self._partitions = None if queries.partitions is None else _statement(queries.partitions)
        self._workers, self._fresh = workers, _remembers(queries.main)
        self._lookups = tuple(lookup.table.name for lookup in branch.lookups)
        self.use_tables(tables)

    def use_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Join with these from now on."""
        read = {name: as_sql_table(tables[name.lower()]) for name in self._lookups}
        self._query = Query(BATCH, self.schema, self._workers, tables=read, fresh=self._fresh)

    def count(self, rows: Batches) -> int | None:
        return None if self._lookups else sum(batch.num_rows for batch in rows)

    def crossing(self, rows: Batches, bounds: Bounds, now_us: int) -> list[pa.RecordBatch]:
        """What the kernel gets of the rows."""
        fed = as_sql(rows, self.schema)
        extent = None if self._time is None else _Extent.of(fed, self._time)
        if extent is None or not extent.within(bounds):
            return self._made(self._main, fed, bounds, now_us)
        pane = self._pane_of(extent)
        if pane is None or self._in_one_pane is None:
            return self._made(self._main, fed, _EVERY_TIME, now_us)
        made = self._made(self._in_one_pane, fed, _EVERY_TIME, now_us)
        return [_in_pane(batch, pane) for batch in made]

    def _pane_of(self, extent: "_Extent") -> int | None:
        """The pane that all rows are in."""
        if self._panes is None or extent.low is None or extent.high is None or extent.nulls:
            return None
        pane = self._panes.number(extent.low)
        return pane if pane == self._panes.number(extent.high) else None

    def _made(
        self, main: "_Main", fed: Batches, bounds: Bounds, now_us: int
    ) -> list[pa.RecordBatch]:
        if self._all_finite and main.finite is not None:
            made = self._run(main.finite, fed, bounds, now_us)
            if all(_is_finite(batch, main.checks) for batch in made):
                return [batch.drop_columns(main.checks) for batch in made]
            self._all_finite = False
        return self._run(main.careful, fed, bounds, now_us)

    def diverted(self, rows: Batches, bounds: Bounds, now_us: int) -> list[pa.RecordBatch]:
        made = self._run(self._diverted, as_sql(rows, self.schema), bounds, now_us)
        return [batch.filter(pa.array(_codes(batch) > FILTERED)) for batch in made]

    def taken(self, rows: Batches, bounds: Bounds, now_us: int) -> list[pa.RecordBatch]:
        made = self._run(self._taken, as_sql(rows, self.schema), bounds, now_us)
        return [batch.filter(pa.array(_codes(batch) == AGGREGATED)) for batch in made]

    def partitions(self, rows: Batches, bounds: Bounds, now_us: int) -> Mapping[int, int | None]:
        if self._partitions is None:
            return {}
        return latest_of(self._run(self._partitions, as_sql(rows, self.schema), bounds, now_us))

    def _run(
        self, statement: _Statement, fed: Batches, bounds: Bounds, now_us: int
    ) -> list[pa.RecordBatch]:
        values = {
            "open_from_us": bounds.open_from_us,
            "latest_us": bounds.latest_us,
            "clock_us": now_us,
        }
        read = {name: values[name] for name in sorted(statement.reads)}
        key = (id(statement), *read.values())
        return self._query.run(fed, key, lambda: statement.text(read), parallel=True)


@dataclass(frozen=True, slots=True)
class _Extent:
    """The earliest and the latest time of some rows, and whether some have none."""

    low: int | None
    high: int | None
    nulls: bool

    @classmethod
    def of(cls, fed: Batches, name: str) -> "_Extent":
        ends: list[int] = []
        nulls = False
        for batch in fed:
            column = batch.column(name)
            times = numbers(column.cast(pa.int64())).values
            if column.null_count:
                times, nulls = times[validity(column)], True
            if len(times):
                ends += (int(times.min()), int(times.max()))
        return cls(min(ends, default=None), max(ends, default=None), nulls)

    def within(self, bounds: Bounds) -> bool:
        """Whether the bounds leave out no row that any bounds would take; NULL is out in any case."""
        if self.low is None or self.high is None:
            return True
        return bounds.open_from_us <= self.low and self.high <= bounds.latest_us


def _in_pane(batch: pa.RecordBatch, pane: int) -> pa.RecordBatch:
    panes = array_of(np.full(batch.num_rows, pane), None, pa.int64())
    names = [PANE.name, *batch.schema.names]
    return pa.RecordBatch.from_arrays([panes, *batch.columns], names=names)


def latest_of(batches: Batches) -> dict[int, int | None]:
    """What the query for partitions has found; rows that were handed over are of none."""
    found: dict[int, int | None] = {}
    for batch in batches:
        numbers_of = batch.column(PARTITION.name).to_pylist()
        times = conform(batch.column(MAX_TS), Scalar.BIGINT).to_pylist()
        for number, latest_us in zip(numbers_of, times, strict=True):
            known = [it for it in (found.get(number), latest_us) if it is not None]
            found[_NOBODY if number is None else number] = max(known, default=None)
    return found


def _time_column(branch: Branch) -> str | None:
    """The physical column that is the event time, if it is one."""
    if branch.time is None or len(branch.time.ladder) != 1:
        return None
    expr = branch.time.ladder[0][1]
    physical = dict(branch.input.columns)
    if isinstance(expr, Field) and expr.type is Scalar.TIMESTAMP:
        return physical.get(expr.name)
    return None


def _remembers(relation: Relation) -> bool:
    """Whether a plan keeps something of what it has read."""
    match relation:
        case Lookup() | Expand():
            return True
        case Scan():
            return False
        case _:
            return _remembers(relation.input)


# Extremes of floats


@dataclass(frozen=True, slots=True)
class _Main:
    """The careful statement, and one for finite numbers, if there are any, with columns that show whether all are."""

    careful: _Statement
    finite: _Statement | None
    checks: Sequence[str]

    @classmethod
    def of(cls, relation: Relation) -> "_Main":
        finite, checks = _of_finite(relation)
        return cls(_statement(relation), _statement(finite) if checks else None, checks)


def _of_finite(relation: Relation) -> tuple[Relation, list[str]]:
    """The relation with simple extremes, and the columns that show whether they are right."""
    if not isinstance(relation, Group):
        return relation, []
    checks: dict[PartialSpec, str] = {}
    partials = []
    for named in relation.partials:
        spec = named.spec
        if spec.op in _OF_FINITE and is_float(spec.type):
            total = PartialSpec(
                op=PartialOp.SUM,
                args=spec.args,
                filter=None,
                type=Scalar.DOUBLE,
                merge=Merge.ADD,
            )
            checks.setdefault(total, f"$finite{len(checks)}")
            spec = replace(spec, op=_OF_FINITE[spec.op])
        partials.append(NamedPartial(named.name, spec))
    partials += [NamedPartial(name, spec) for spec, name in checks.items()]
    return replace(relation, partials=tuple(partials)), list(checks.values())


def _is_finite(batch: pa.RecordBatch, checks: Sequence[str]) -> bool:
    """Whether all these sums are. Most often their sum is, which is quicker to see."""
    for name in checks:
        sums = numbers(batch.column(name)).filled(0.0)
        with np.errstate(all="ignore"):
            total = sums.sum()
        if not np.isfinite(total) and not np.isfinite(sums).all():
            return False
    return True
