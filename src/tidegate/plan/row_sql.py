"""Row SQL: everything that is done per row, as relations that both engines run.

In: a branch of a stage whose rules have spoken. Out: `RowQueries`: one relation that makes what crosses the seam
(partials, or rows), counts included, and one that fetches the diverted rows whole, run only if there are any.

The shape is the same for every query. First the input, joined; then one SELECT for event time, predicate, keys and
arguments; then `$pane`, which is the number of the row's pane or, if the row is not to be aggregated, minus the code
of what became of it (`row_verdict`). So one GROUP BY makes the partials and the counts of filtered and diverted rows in
one pass, and its fast path is one comparison: lateness, range and future skew are all
`$ts BETWEEN :open_from_us AND :latest_us`, two numbers that the kernel computes once per epoch (`model/grid.py`).

Counts are of joined rows: one that a table has two matches for counts twice. Where a row goes to several windows
directly, `$rows_once` counts it in the last of them only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.model.calendar import PIECES_FROM_US
from tidegate.model.expressions import (
    TRUE,
    Case,
    Expr,
    Field,
    Literal,
    Named,
    all_of,
    any_of,
    bigint,
    call,
    fields_of,
)
from tidegate.model.grid import NO_PANES, pane_shift_us
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.policies import AGGREGATED, DISPOSITION, FILTERED, Reason
from tidegate.model.relations import (
    Derive,
    Expand,
    Group,
    Keep,
    Lookup,
    NamedPartial,
    Relation,
    Scan,
)
from tidegate.model.types import Scalar
from tidegate.model.windows import Hopping, Session
from tidegate.plan.event_time import PARTITION
from tidegate.plan.physical import (
    CODE,
    PANE,
    TS,
    Branch,
    Input,
    Panes,
    Pieces,
    Routing,
    Stage,
    StageKind,
    TableLookup,
)
from tidegate.plan.row_inputs import has_inputs, inputs_of, read_whole
from tidegate.plan.row_verdict import LATEST, OPEN_FROM, STAMPED, Verdict, verdict_of

MOVES = "$moves"
COPY = Field("$copy", Scalar.BIGINT)
BATCH = "$batch"
_WITHOUT_TIME = (
    Reason.MISSING_EVENT_TIME,
    Reason.FUTURE_EVENT_TIME,
    Reason.PRE_EPOCH_EVENT_TIME,
)

__all__ = ["BATCH", "LATEST", "OPEN_FROM", "RowQueries", "row_queries", "used_columns"]


@dataclass(frozen=True, slots=True)
class RowQueries:
    """`main` makes what crosses the seam.

    `in_one_pane` makes the same, but for `$pane`, of rows that all have a time in bounds and are of one pane; None
    where that does not say what becomes of a row. A batch of a stream is often such: then groups go by keys alone.

    The others give whole rows, with `$code`, `$ts` and their keys: those that are diverted, and those that are not,
    among which the kernel may have to find what it has refused. `partitions` has the latest time of each partition that
    rows have come by; None where partitions do not count.
    """

    main: Relation
    in_one_pane: Relation | None
    diverted: Relation
    taken: Relation
    partitions: Relation | None


def row_queries(stage: Stage, branch: Branch) -> RowQueries:
    """The SQL of one branch."""
    made = _RowSql(stage, branch, verdict_of(stage, branch))
    whole = made.whole()
    return RowQueries(
        main=made.main(),
        in_one_pane=made.in_one_pane(),
        diverted=Keep(whole, call(">", CODE, bigint(FILTERED))),
        taken=Keep(whole, call("=", CODE, bigint(AGGREGATED))),
        partitions=made.partitions(),
    )


@dataclass(frozen=True, slots=True)
class _RowSql:
    stage: Stage
    branch: Branch
    verdict: Verdict

    def in_one_pane(self) -> Relation | None:
        panes = self.stage.panes
        whole = self.stage.kind is StageKind.STATELESS or self.stage.routing is Routing.ROWS
        if whole or not isinstance(panes, Panes) or panes.copies > 1:
            return None
        if not self.verdict.by_time or not self._keys:
            return None
        rows = Derive(self._prepared, tuple(self._passed_on()))
        return Group(rows, self._keys, tuple(self._partials()))

    @property
    def _prepared(self) -> Relation:
        columns = (*self.verdict.columns, *self.branch.columns)
        return Derive(_joined(self.branch, self.branch.input), columns)

    def main(self) -> Relation:
        prepared = self._prepared
        if self.stage.kind is StageKind.STATELESS or self.stage.routing is Routing.ROWS:
            return Derive(prepared, (Named(CODE.name, self.verdict.code), *self._passed_on()))
        return self._partial_groups(prepared)

    def _passed_on(self) -> Iterator[Named]:
        """Everything of a row that is needed above; stateless rows keep no time, and aggregated ones are partials."""
        if self.verdict.timed and self.stage.kind is not StageKind.STATELESS:
            yield Named(TS.name, TS)
        if self.verdict.stamps:
            yield Named(STAMPED.name, STAMPED)
        rows = self.stage.routing is Routing.ROWS and self.stage.kind is not StageKind.STATELESS
        if rows and self.verdict.moves != TRUE:
            yield Named(MOVES, self.verdict.moves)
        bring = rows and has_inputs(self.stage)
        whole = read_whole(self.stage) if bring else None
        for named in self.branch.columns:
            if whole is None or named.name in whole:
                yield Named(named.name, Field(named.name, named.expr.type))
        if bring:
            yield from inputs_of(self.stage)

    def whole(self) -> Relation:
        """Every row with the input's own columns, all of them, so that the original event can be shown."""
        whole = self.branch.input.whole
        keys = {key.name for key in self._keys}
        originals = {
            made: Field(made, column.type)
            for (made, _), column in zip(whole.columns, whole.schema, strict=True)
        }
        prepared = Derive(
            _joined(self.branch, whole),
            (
                *(Named(name, field) for name, field in originals.items()),
                *self.verdict.columns,
                *(named for named in self.branch.columns if named.name in keys),
            ),
        )
        time = TS if self.verdict.timed else Literal(None, Scalar.BIGINT)
        told = (Named(key.name, key) for key in self._keys)
        shown = (
            Named(physical, originals[made])
            for made, physical in whole.columns
            if not physical.startswith("$")
        )
        code = Named(CODE.name, self.verdict.code)
        return Derive(prepared, (code, Named(TS.name, time), *told, *shown))

    def partitions(self) -> Relation | None:
        """How far each partition has come, by the rows that tell: those with a time that is of this world."""
        if self.branch.time is None or not self.branch.time.partitioned:
            return None
        whole = self.branch.input.whole
        prepared = Derive(
            _joined(self.branch, whole), (*self.verdict.columns, Named(PARTITION.name, PARTITION))
        )
        told = (
            Named(CODE.name, self.verdict.code),
            Named(TS.name, TS),
            Named(MOVES, self.verdict.moves),
            Named(PARTITION.name, PARTITION),
        )
        tells = all_of(
            Field(MOVES, Scalar.BOOLEAN),
            *(call("<>", CODE, bigint(DISPOSITION[reason])) for reason in _WITHOUT_TIME),
        )
        latest = NamedPartial("$max_ts", _latest(tells))
        return Group(Derive(prepared, told), (PARTITION,), (latest,))

    # Partials

    @property
    def _keys(self) -> tuple[Field, ...]:
        """What tells groups apart besides time: keys, what windows are kept per, and the window of an earlier stage."""
        inherited = (field for field, _ in self.stage.inherited)
        return tuple(dict.fromkeys((*self.stage.keys, *self.stage.partition_by, *inherited)))

    def _partial_groups(self, prepared: Relation) -> Relation:
        panes = self.stage.panes
        if not isinstance(panes, Panes) or panes.copies == 1:
            paned = Derive(prepared, (Named(PANE.name, self._pane()), *self._passed_on()))
            return Group(paned, (PANE, *self._keys), tuple(self._partials()))
        copied = Keep(Expand(prepared, COPY.name, panes.copies), self._is_in_copy(panes))
        made = (Named(PANE.name, self._pane()), Named(COPY.name, COPY), *self._passed_on())
        once = _rows_where(call("=", COPY, bigint(0)))
        partials = (NamedPartial("$rows_once", once), *self._partials())
        return Group(Derive(copied, made), (PANE, *self._keys), partials)

    def _is_in_copy(self, panes: Panes) -> Expr:
        """A row goes once to each window that holds it; a row that is not aggregated is counted once."""
        window = self.stage.window
        assert isinstance(window, Hopping)
        into = call("$remainder", _shifted(panes), bigint(panes.width_us), type=Scalar.BIGINT)
        back = call("$scale", COPY, bigint(panes.width_us), type=Scalar.BIGINT)
        inside = call("<", call("$shift", into, back, type=Scalar.BIGINT), bigint(window.size_us))
        return any_of(call("=", COPY, bigint(0)), all_of(self.verdict.good, inside))

    def _pane(self) -> Expr:
        number = self._pane_number()
        code = self.verdict.code
        if not isinstance(code, Case):
            return number
        (good, _), *reasons = code.branches
        others = ((when, _opposite(reason)) for when, reason in reasons)
        return Case(((good, number), *others), _opposite(code.otherwise), Scalar.BIGINT)

    def _pane_number(self) -> Expr:
        panes = self.stage.panes
        if panes is None:
            return bigint(NO_PANES)
        if isinstance(panes, Pieces):
            return _piece(panes)
        number = call("$divide", _shifted(panes), bigint(panes.width_us), type=Scalar.BIGINT)
        if panes.copies == 1:
            return number
        return call("$shift", number, _opposite(COPY), type=Scalar.BIGINT)

    def _partials(self) -> Iterator[NamedPartial]:
        """What every group has: row count, times, rows that the clock stamped. Then the columns of the aggregates."""
        yield NamedPartial("$rows", _rows_where(None))
        if self.verdict.timed:
            own = None if self.verdict.moves == TRUE else self.verdict.moves
            yield NamedPartial("$max_ts", _latest(own))
        if isinstance(self.stage.window, Session):
            yield NamedPartial("$first_ts", _earliest(TS))
            yield NamedPartial("$last_ts", _latest(None))
        if self.verdict.stamps:
            yield NamedPartial("$stamped_rows", _rows_where(STAMPED))
        for place, spec in enumerate(self.stage.partials):
            yield NamedPartial(f"$p{place}", spec)


def _rows_where(condition: Expr | None) -> PartialSpec:
    return PartialSpec(
        op=PartialOp.ROWS, args=(), filter=condition, type=Scalar.BIGINT, merge=Merge.ADD
    )


def _earliest(number: Field) -> PartialSpec:
    return PartialSpec(
        op=PartialOp.MIN, args=(number,), filter=None, type=Scalar.BIGINT, merge=Merge.MIN
    )


def _latest(condition: Expr | None) -> PartialSpec:
    return PartialSpec(
        op=PartialOp.MAX, args=(TS,), filter=condition, type=Scalar.BIGINT, merge=Merge.MAX
    )


def _opposite(number: Expr) -> Expr:
    if isinstance(number, Literal) and isinstance(number.value, int):
        return bigint(-number.value)
    return call("$negate", number, type=Scalar.BIGINT)


def _shifted(panes: Panes) -> Expr:
    shift = bigint(pane_shift_us(panes.width_us, panes.offset_us))
    return call("$shift", TS, shift, type=Scalar.BIGINT)


def _piece(pieces: Pieces) -> Expr:
    """Where the row's piece begins: its own time without what it is into the piece."""
    first, *others = pieces.cuts_us
    time = call("$shift", TS, bigint(-PIECES_FROM_US - first), type=Scalar.BIGINT)
    into = call("$remainder", time, bigint(pieces.width_us), type=Scalar.BIGINT)
    start = call("$shift", time, _opposite(into), type=Scalar.BIGINT)
    cuts = [(call(">=", into, bigint(cut - first)), bigint(cut)) for cut in reversed(others)]
    cut = Case(tuple(cuts), bigint(first), Scalar.BIGINT) if cuts else bigint(first)
    return call("$shift", start, cut, type=Scalar.BIGINT)


# Input


def _joined(branch: Branch, input: Input) -> Relation:
    relation = _input(input, name=BATCH)
    for lookup in branch.lookups:
        relation = Lookup(relation, _table(lookup), lookup.on)
    return relation


def _input(input: Input, *, name: str) -> Relation:
    scan = Scan(name, input.columns)
    return scan if input.predicate == TRUE else Keep(scan, input.predicate)


def _table(lookup: TableLookup) -> Relation:
    mark = (Named(lookup.matched, TRUE),)
    return Derive(_input(lookup.table, name=lookup.table.name), (*lookup.columns, *mark))


def used_columns(branch: Branch) -> frozenset[str]:
    """Columns of the joined input that the main query reads."""
    exprs = [
        branch.predicate,
        *(named.expr for named in branch.columns),
        *(lookup.on for lookup in branch.lookups),
    ]
    if branch.time is not None:
        exprs += [expr for _, expr in branch.time.ladder]
    return fields_of(*exprs)
