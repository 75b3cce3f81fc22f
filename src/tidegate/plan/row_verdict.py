"""What becomes of a row: its event time, whether WHERE keeps it, what goes wrong in it, and the code that sums it up.

Decided here, once for every way in which rows cross the seam: the order in which reasons are looked for. WHERE comes
first, so that a row nobody asked for is never an error; then the event time; then keys and arguments. What only
filtered aggregates read counts only where one of their filters holds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidegate.model.expressions import (
    TRUE,
    Case,
    Expr,
    Field,
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
from tidegate.model.policies import DISPOSITION, FILTERED, MissingEventTime, PreEpoch, Reason
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar
from tidegate.model.windows import Conditional, Counting
from tidegate.plan.expressions import CLOCK
from tidegate.plan.physical import TS, Branch, RowTime, Stage
from tidegate.plan.row_errors import NO_ERROR, error_of, first_of, only_where

OPEN_FROM = Parameter("open_from_us", Scalar.BIGINT)
LATEST = Parameter("latest_us", Scalar.BIGINT)
KEEP = Field("$keep", Scalar.BOOLEAN)
FAILED_PREDICATE = Field("$failed_predicate", Scalar.BIGINT)
FAILED_VALUES = Field("$failed_values", Scalar.BIGINT)
STAMPED = Field("$stamped", Scalar.BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`columns` are computed beside the branch's own; `good` and `code` are in terms of them.

    `good` holds for rows to be aggregated and is the fast path, which may be NULL; `code` is 0 for those, 1 for rows
    that WHERE removes, else the reason. `timed`: there is a `$ts`. `stamps`: there is a `$stamped`, true for rows that
    got the clock's time. `moves` is false for rows that say nothing of the watermark. `by_time`: a row with a time in
    bounds is good, whatever else it is.
    """

    columns: tuple[Named, ...]
    good: Expr
    code: Expr
    timed: bool
    stamps: bool
    moves: Expr
    by_time: bool


def verdict_of(stage: Stage, branch: Branch) -> Verdict:
    """How rows of the branch are judged."""
    bound = branch.time if _bound_by_time(stage) else None
    predicate = _predicate(branch)
    checks = _Checks(
        predicate=predicate,
        failed_predicate=first_of(
            *(error_of(lookup.on) for lookup in branch.lookups), error_of(predicate)
        ),
        failed_values=_failed_values(stage, branch),
        time=bound,
    )
    stamps = bound is not None and _stamps(bound)
    # WHERE is looked at before the time, so what it removed may be from the future.
    # A value that overflows has the code of a time outside all years, so only times within reach are certain then, too.
    first_is_time = all(
        failed == NO_ERROR for failed in (checks.failed_predicate, checks.failed_values)
    )
    first_is_time = first_is_time and predicate == TRUE
    always = bound is not None and bound.pre_epoch is not PreEpoch.DIVERT and not stamps
    by_time = first_is_time and always
    # Without a window a row from the future is aggregated, and still must not move the watermark.
    if bound is None:
        first_is_time = branch.time is None or branch.time.max_future_skew_us is None
    certain = TRUE if first_is_time else call("<=", TS, LATEST)
    return Verdict(
        columns=(*_time_columns(branch, stamps=stamps), *checks.columns()),
        good=checks.good(),
        code=checks.code(),
        timed=branch.time is not None,
        stamps=stamps,
        moves=all_of(negate(STAMPED) if stamps else TRUE, certain),
        by_time=by_time,
    )


# Event time


def _bound_by_time(stage: Stage) -> bool:
    """Whether a row needs an event time that is in reach; counting and state windows do not ask for one."""
    return stage.window is not None and not isinstance(stage.window, (Counting, Conditional))


def _ladder(time: RowTime) -> tuple[Expr, ...]:
    """The rungs that a row may fall through: without `fallback`, the first is the only one."""
    rungs = tuple(expr for _, expr in time.ladder)
    return rungs if time.on_missing is MissingEventTime.FALLBACK else rungs[:1]


def _stamps(time: RowTime) -> bool:
    """Whether rows without a time of their own get the clock's."""
    return time.on_missing is MissingEventTime.FALLBACK and CLOCK not in _ladder(time)


def _time_columns(branch: Branch, *, stamps: bool) -> Iterator[Named]:
    if branch.time is None:
        return
    rungs = _ladder(branch.time)
    own = rungs[0] if len(rungs) == 1 else call("coalesce", *rungs, type=Scalar.TIMESTAMP)
    found = call("coalesce", *rungs, CLOCK, type=Scalar.TIMESTAMP) if stamps else own
    yield Named(TS.name, call("unix_micros", found, type=Scalar.BIGINT))
    if stamps:
        yield Named(STAMPED.name, is_null(own))


# WHERE, and what goes wrong


def _predicate(branch: Branch) -> Expr:
    """WHERE, and a match for every inner join: rows without one are removed, and counted as such."""
    matches = [
        negate(is_null(Field(lookup.matched, Scalar.BOOLEAN)))
        for lookup in branch.lookups
        if not lookup.outer
    ]
    return all_of(*matches, branch.predicate)


def _failed_values(stage: Stage, branch: Branch) -> Expr:
    made = {named.name: named.expr for named in branch.columns}
    conditions = _conditions(stage)
    return first_of(
        *(
            only_where(
                any_of(*(_resolved(condition, made) for condition in conditions[named.name])),
                error_of(named.expr),
            )
            if named.name in conditions
            else error_of(named.expr)
            for named in branch.columns
        )
    )


def _resolved(condition: Expr, made: Mapping[str, Expr]) -> Expr:
    return made.get(condition.name, condition) if isinstance(condition, Field) else condition


def _conditions(stage: Stage) -> Mapping[str, list[Expr]]:
    """The filters of the aggregates that read a column, for columns that nothing else reads."""
    read_always = {field.name for field in (*stage.keys, *stage.partition_by)}
    read_always.update(field.name for field, _ in stage.inherited)
    read_always.update(name for frame in stage.frames for name in frame.partition_by)
    read_always |= fields_of(*(named.expr for named in stage.output))
    read_always |= fields_of(*(key.expr for key in stage.order))
    if stage.having is not None:
        read_always |= fields_of(stage.having)
    if isinstance(stage.window, Conditional):
        read_always |= fields_of(stage.window.open, stage.window.close)
    filtered: dict[str, list[Expr]] = {}
    for named in stage.aggregates:
        condition = named.call.filter
        read = fields_of(*named.call.args, *(key.expr for key in named.call.order))
        if condition is None:
            read_always |= read
            continue
        read_always |= fields_of(condition)
        for name in read:
            filtered.setdefault(name, []).append(condition)
    return {name: filters for name, filters in filtered.items() if name not in read_always}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checks:
    """What a row is checked for; the literal 0 stands for what cannot go wrong. `time` is None where none is needed."""

    predicate: Expr
    failed_predicate: Expr
    failed_values: Expr
    time: RowTime | None

    def columns(self) -> Iterator[Named]:
        if self.predicate != TRUE:
            yield Named(KEEP.name, self.predicate)
        if self.failed_predicate != NO_ERROR:
            yield Named(FAILED_PREDICATE.name, self.failed_predicate)
        if self.failed_values != NO_ERROR:
            yield Named(FAILED_VALUES.name, self.failed_values)

    def good(self) -> Expr:
        conditions: list[Expr] = []
        if self.time is not None:
            conditions += [call(">=", TS, OPEN_FROM), call("<=", TS, LATEST)]
            if self.time.pre_epoch is PreEpoch.DIVERT:
                conditions.append(call(">=", TS, bigint(0)))
        if self.predicate != TRUE:
            conditions.append(KEEP)
        if self.failed_predicate != NO_ERROR:
            conditions.append(call("=", FAILED_PREDICATE, NO_ERROR))
        if self.failed_values != NO_ERROR:
            conditions.append(call("=", FAILED_VALUES, NO_ERROR))
        return all_of(*conditions)

    def code(self) -> Expr:
        """The last reason is what is left when no other holds, so it is not tested for."""
        *reasons, (_, last) = ((self.good(), NO_ERROR), *self._reasons())
        return Case(tuple(reasons), last, Scalar.BIGINT) if reasons else last

    def _reasons(self) -> Iterator[tuple[Expr, Expr]]:
        if self.failed_predicate != NO_ERROR:
            yield call("<>", FAILED_PREDICATE, NO_ERROR), FAILED_PREDICATE
        if self.predicate != TRUE:
            yield call("is_distinct", KEEP, TRUE), bigint(FILTERED)
        if self.time is not None:
            yield from _time_reasons(self.time)
        if self.failed_values != NO_ERROR:
            yield call("<>", FAILED_VALUES, NO_ERROR), FAILED_VALUES


def _time_reasons(time: RowTime) -> Iterator[tuple[Expr, Expr]]:
    yield is_null(TS), bigint(DISPOSITION[Reason.MISSING_EVENT_TIME])
    outside = any_of(
        call("<", TS, bigint(MIN_EVENT_TIME_US)), call(">", TS, bigint(MAX_EVENT_TIME_US))
    )
    yield outside, bigint(DISPOSITION[Reason.OVERFLOW])
    yield call(">", TS, LATEST), bigint(DISPOSITION[Reason.FUTURE_EVENT_TIME])
    if time.pre_epoch is PreEpoch.DIVERT:
        yield call("<", TS, bigint(0)), bigint(DISPOSITION[Reason.PRE_EPOCH_EVENT_TIME])
    yield call("<", TS, OPEN_FROM), bigint(DISPOSITION[Reason.ALLOWED_LATENESS_EXCEEDED])
