"""Row SQL: everything that is done per row, as relations that both engines run.

In: a branch of a stage whose rules have spoken. Out: `RowQueries`: one relation that makes what crosses the seam
(partials, or rows), counts included, and one that fetches the diverted rows whole, run only if there are any.

The shape is the same for every query. First the input, joined; then one SELECT for event time, predicate, keys and
arguments; then `$pane`, which is the number of the row's pane or, if the row is not to be aggregated, minus the code of
what became of it. So one GROUP BY makes the partials and the counts of filtered and diverted rows in one pass, and its
fast path is one comparison: lateness, range and future skew are all `$ts BETWEEN :open_from_us AND :latest_us`, two
numbers that the kernel computes once per epoch (`model/grid.py`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidegate.model.expressions import (
    TRUE,
    Case,
    Expr,
    Field,
    Literal,
    Named,
    Parameter,
    all_of,
    any_of,
    bigint,
    call,
    fields_of,
    is_null,
    negate,
)
from tidegate.model.grid import NO_PANES, pane_shift_us
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.policies import DISPOSITION, FILTERED, MissingEventTime, PreEpoch, Reason
from tidegate.model.relations import (
    Derive,
    Expand,
    Group,
    Keep,
    Lookup,
    NamedPartial,
    Relation,
    Scan,
    Sessionize,
)
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar
from tidegate.model.windows import Conditional, Counting, Hopping, Session
from tidegate.plan.expressions import CLOCK
from tidegate.plan.physical import (
    CODE,
    PANE,
    SESSION,
    TS,
    Branch,
    Input,
    Panes,
    Routing,
    Stage,
    StageKind,
    TableLookup,
)
from tidegate.plan.row_errors import NO_ERROR, error_of, first_of

OPEN_FROM = Parameter("open_from_us", Scalar.BIGINT)
LATEST = Parameter("latest_us", Scalar.BIGINT)
KEEP = Field("$keep", Scalar.BOOLEAN)
FAILED_PREDICATE = Field("$failed_predicate", Scalar.BIGINT)
FAILED_VALUES = Field("$failed_values", Scalar.BIGINT)
STAMPED = Field("$stamped", Scalar.BOOLEAN)
COPY = Field("$copy", Scalar.BIGINT)
BATCH = "$batch"


@dataclass(frozen=True, slots=True)
class RowQueries:
    """`main` makes what crosses the seam; `diverted` the whole rows that did not, with `$ts` and `$code`."""

    main: Relation
    diverted: Relation


def row_queries(stage: Stage, branch: Branch) -> RowQueries:
    """The SQL of one branch."""
    judged = _Judged(stage, branch)
    return RowQueries(main=judged.main(), diverted=judged.diverted())


def input_relation(input: Input, *, name: str) -> Relation:
    scan = Scan(name, input.columns)
    return scan if input.predicate == TRUE else Keep(scan, input.predicate)


@dataclass(frozen=True, slots=True)
class _Judged:
    stage: Stage
    branch: Branch

    def main(self) -> Relation:
        prepared = Derive(self._joined(self.branch.input), tuple(self._prepared()))
        carried = tuple(
            Named(named.name, Field(named.name, named.expr.type)) for named in self.branch.columns
        )
        if self.stage.kind is StageKind.STATELESS:
            return Derive(prepared, (Named(CODE.name, self._code()), *carried))
        if self.stage.routing is Routing.ROWS:
            return Derive(prepared, (Named(TS.name, TS), Named(CODE.name, self._code()), *carried))
        if isinstance(self.stage.window, Session):
            return self._session_partials(prepared, carried)
        return self._pane_partials(prepared, carried)

    def diverted(self) -> Relation:
        """All columns of the input, so that the original event can be shown."""
        whole = self.branch.input.schema
        originals = tuple(Named(column.name, Field(column.name, column.type)) for column in whole)
        prepared = Derive(
            self._joined(self.branch.input), (*originals, *self._prepared(values=True))
        )
        judged = Derive(
            prepared, (*originals, *self._time_column(), Named(CODE.name, self._code()))
        )
        return Keep(judged, call(">", CODE, bigint(FILTERED)))

    # Input

    def _joined(self, input: Input) -> Relation:
        relation = input_relation(input, name=BATCH)
        for lookup in self.branch.lookups:
            relation = Lookup(relation, _table(lookup), lookup.on)
        return relation

    # One SELECT of everything that is computed per row

    def _prepared(self, *, values: bool = True) -> Iterator[Named]:
        if self._timed:
            yield Named(TS.name, self._event_time())
        if self._stamps:
            yield Named(STAMPED.name, is_null(_first_time(self._ladder)))
        predicate = self._predicate()
        if predicate != TRUE:
            yield Named(KEEP.name, predicate)
        failed = error_of(predicate)
        if failed != NO_ERROR:
            yield Named(FAILED_PREDICATE.name, failed)
        failed = first_of(*(error_of(named.expr) for named in self.branch.columns))
        if failed != NO_ERROR:
            yield Named(FAILED_VALUES.name, failed)
        if values:
            yield from self.branch.columns

    def _time_column(self) -> Iterable[Named]:
        return (Named(TS.name, TS if self._timed else Literal(None, Scalar.BIGINT)),)

    def _predicate(self) -> Expr:
        """WHERE, and a match for every inner join: rows without one are removed, and counted as such."""
        matches = [
            negate(is_null(Field(lookup.matched, Scalar.BOOLEAN)))
            for lookup in self.branch.lookups
            if not lookup.outer
        ]
        return all_of(*matches, self.branch.predicate)

    @property
    def _timed(self) -> bool:
        return self.branch.time is not None

    @property
    def _bound_by_time(self) -> bool:
        """Whether a row needs an event time that is in reach; counting and state windows do not ask for one."""
        return (
            self._timed
            and self.stage.window is not None
            and not isinstance(self.stage.window, (Counting, Conditional))
        )

    @property
    def _ladder(self) -> tuple[Expr, ...]:
        assert self.branch.time is not None
        return tuple(expr for _, expr in self.branch.time.ladder)

    @property
    def _stamps(self) -> bool:
        """Whether rows without a time of their own get the clock's."""
        time = self.branch.time
        return (
            self._bound_by_time
            and time is not None
            and time.on_missing is MissingEventTime.FALLBACK
            and CLOCK not in self._ladder
        )

    def _event_time(self) -> Expr:
        found = _first_time(self._ladder)
        if self._stamps:
            found = call("coalesce", found, CLOCK, type=Scalar.TIMESTAMP)
        return call("unix_micros", found, type=Scalar.BIGINT)

    # What becomes of a row

    def _failed(self) -> tuple[Expr, Expr]:
        """Codes of what went wrong in the predicate and in the values; the literal 0 where nothing can."""
        predicate = NO_ERROR if error_of(self._predicate()) == NO_ERROR else FAILED_PREDICATE
        values = [error_of(named.expr) for named in self.branch.columns]
        return predicate, NO_ERROR if first_of(*values) == NO_ERROR else FAILED_VALUES

    def _good(self) -> Expr:
        """The fast path: whether the row is aggregated."""
        in_reach = (
            [call(">=", TS, OPEN_FROM), call("<=", TS, LATEST)] if self._bound_by_time else []
        )
        kept = [] if self._predicate() == TRUE else [KEEP]
        failed = [call("=", code, NO_ERROR) for code in self._failed() if code != NO_ERROR]
        return all_of(*in_reach, *kept, *failed)

    def _code(self) -> Expr:
        """0 for a row to be aggregated; else why not: removed by WHERE before anything else, then time, then values."""
        good = self._good()
        if good == TRUE:
            return NO_ERROR
        failed_predicate, failed_values = self._failed()
        branches: list[tuple[Expr, Expr]] = [(good, NO_ERROR)]
        if failed_predicate != NO_ERROR:
            branches.append((call("<>", failed_predicate, NO_ERROR), failed_predicate))
        if self._predicate() != TRUE:
            branches.append((call("is_not_distinct", KEEP, TRUE), NO_ERROR))
            branches[-1] = (negate(branches[-1][0]), bigint(FILTERED))
        if self._bound_by_time:
            branches.extend(self._time_failures())
        return Case(tuple(branches), failed_values, Scalar.BIGINT)

    def _time_failures(self) -> Iterator[tuple[Expr, Expr]]:
        assert self.branch.time is not None
        yield is_null(TS), bigint(DISPOSITION[Reason.MISSING_EVENT_TIME])
        outside = any_of(
            call("<", TS, bigint(MIN_EVENT_TIME_US)), call(">", TS, bigint(MAX_EVENT_TIME_US))
        )
        yield outside, bigint(DISPOSITION[Reason.OVERFLOW])
        yield call(">", TS, LATEST), bigint(DISPOSITION[Reason.FUTURE_EVENT_TIME])
        if self.branch.time.pre_epoch is PreEpoch.DIVERT:
            yield call("<", TS, bigint(0)), bigint(DISPOSITION[Reason.PRE_EPOCH_EVENT_TIME])
        yield call("<", TS, OPEN_FROM), bigint(DISPOSITION[Reason.ALLOWED_LATENESS_EXCEEDED])

    # Partials

    def _pane_partials(self, prepared: Relation, carried: tuple[Named, ...]) -> Relation:
        timed = [Named(TS.name, TS)] if self._timed else []
        stamped = [Named(STAMPED.name, STAMPED)] if self._stamps else []
        relation = prepared
        panes = self.stage.panes
        if panes is not None and panes.copies > 1:
            relation = Keep(Expand(prepared, COPY.name, panes.copies), self._copy_counts())
        paned = Derive(relation, (Named(PANE.name, self._pane()), *timed, *stamped, *carried))
        keys = (PANE, *self.stage.keys, *(field for field, _ in self.stage.inherited))
        return Group(paned, keys, tuple(self._partials()))

    def _copy_counts(self) -> Expr:
        """A row goes once to each window that holds it; a row that is not aggregated is counted once."""
        window, panes = self.stage.window, self.stage.panes
        assert isinstance(window, Hopping) and panes is not None
        into = call("$remainder", _shifted(panes), bigint(panes.width_us), type=Scalar.BIGINT)
        back = call("$scale", COPY, bigint(panes.width_us), type=Scalar.BIGINT)
        inside = call("<", call("$shift", into, back, type=Scalar.BIGINT), bigint(window.size_us))
        return any_of(call("=", COPY, bigint(0)), all_of(self._good(), inside))

    def _pane(self) -> Expr:
        code = self._code()
        panes = self.stage.panes
        number: Expr = bigint(NO_PANES)
        if panes is not None:
            number = call("$divide", _shifted(panes), bigint(panes.width_us), type=Scalar.BIGINT)
            if panes.copies > 1:
                number = call(
                    "$shift", number, call("$negate", COPY, type=Scalar.BIGINT), type=Scalar.BIGINT
                )
        if not isinstance(code, Case):
            return number
        (good, _), *rest = code.branches
        others: Expr = code.otherwise
        if rest or others != NO_ERROR:
            others = Case(tuple(rest), others, Scalar.BIGINT) if rest else others
        return Case(((good, number),), call("$negate", others, type=Scalar.BIGINT), Scalar.BIGINT)

    def _session_partials(self, prepared: Relation, carried: tuple[Named, ...]) -> Relation:
        window = self.stage.window
        assert isinstance(window, Session)
        stamped = [Named(STAMPED.name, STAMPED)] if self._stamps else []
        coded = Derive(
            prepared, (Named(CODE.name, self._code()), Named(TS.name, TS), *stamped, *carried)
        )
        keys = (CODE, *self.stage.keys)
        numbered = Sessionize(
            coded,
            keys=keys,
            time=TS,
            gap_us=window.gap_us,
            inclusive=window.inclusive,
            number=SESSION.name,
        )
        first = PartialSpec(
            op=PartialOp.MIN, args=(TS,), filter=None, type=Scalar.BIGINT, merge=Merge.MIN
        )
        return Group(
            numbered, (*keys, SESSION), (NamedPartial("$first_ts", first), *self._partials())
        )

    def _partials(self) -> Iterator[NamedPartial]:
        """Row count and latest event time of every group, then the columns of the aggregates."""
        count = PartialSpec(
            op=PartialOp.ROWS, args=(), filter=None, type=Scalar.BIGINT, merge=Merge.ADD
        )
        yield NamedPartial("$rows", count)
        if self._timed:
            own = negate(STAMPED) if self._stamps else None
            latest = PartialSpec(
                op=PartialOp.MAX, args=(TS,), filter=own, type=Scalar.BIGINT, merge=Merge.MAX
            )
            yield NamedPartial("$max_ts", latest)
        if self._stamps:
            stamped = PartialSpec(
                op=PartialOp.ROWS, args=(), filter=STAMPED, type=Scalar.BIGINT, merge=Merge.ADD
            )
            yield NamedPartial("$stamped_rows", stamped)
        for place, spec in enumerate(self.stage.partials):
            yield NamedPartial(f"$p{place}", spec)


def _shifted(panes: Panes) -> Expr:
    return call(
        "$shift", TS, bigint(pane_shift_us(panes.width_us, panes.offset_us)), type=Scalar.BIGINT
    )


def _first_time(ladder: tuple[Expr, ...]) -> Expr:
    return ladder[0] if len(ladder) == 1 else call("coalesce", *ladder, type=Scalar.TIMESTAMP)


def _table(lookup: TableLookup) -> Relation:
    mark = (Named(lookup.matched, TRUE),)
    return Derive(input_relation(lookup.table, name=lookup.table.name), (*lookup.columns, *mark))


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
