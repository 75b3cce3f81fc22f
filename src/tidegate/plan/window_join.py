"""Two streams joined: windowed ones on the same window, others within an interval (`interval_join.py`).

In: what was joined so far, the stream beside it, and the condition. Out: an `Emission` over a `WindowJoin`: a stream of
its own, whose rows come when both sides have emitted all of a window. Decided here: which joins of streams there are.
Both sides are append streams of the same kind of window, and the condition says that windows are the same; else rows
would have to be kept for ever, or taken back. Of the rest of the condition, equalities of the sides are what rows are
looked up by; what remains is tested on joined rows, which only an inner join can do without another meaning.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import TRUE, Call, Expr, Field, Named, all_of, conjuncts, fields_of
from tidegate.model.policies import Emit, EmitMode, StreamKind
from tidegate.model.windows import Conditional, Counting, Inherited, Session, Sliding, Window
from tidegate.plan.catalog import Catalog, StreamDef
from tidegate.plan.dedup import KEY
from tidegate.plan.event_time import TimeChoice, attach_time
from tidegate.plan.interval_join import bounds_of
from tidegate.plan.lineage import bases, window_column
from tidegate.plan.logical import (
    Aggregate,
    Emission,
    Having,
    IntervalJoin,
    Logical,
    OverAggregate,
    Project,
    Source,
    StreamRef,
    Windowed,
    WindowJoin,
    inputs,
)
from tidegate.plan.quotas import refuse_quotas
from tidegate.plan.retraction import refuse_changing_input
from tidegate.plan.surroundings import Surroundings
from tidegate.sql.source import Span

_EDGES = ("window_start", "window_end", "window_time")
_KEEPS = {"": (False, False), "LEFT": (True, False), "RIGHT": (False, True), "FULL": (True, True)}
_CLOSING = (EmitMode.ON_WINDOW_CLOSE, EmitMode.FINAL)
_SAME_WINDOW = "a.window_start = b.window_start AND a.window_end = b.window_end"
_OF_ROWS = (Sliding, Counting, Conditional)
_WITH_WINDOWS = (
    f"give both the same window, GROUP BY k, TUMBLE(…), and join ON a.k = b.k AND {_SAME_WINDOW}; "
    "or join a stream with a table (CREATE TABLE)"
)
_BOUNDED = (
    "or bound the distance of their event times: ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '5' SECOND "
    "AND b.ts + INTERVAL '5' SECOND"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamJoin:
    """A join as it was written; `span` is where it is refused, `on` what it is joined on.

    `where` holds for joined rows anyway, of an inner join.
    """

    left: Logical
    right: Logical
    join: exp.Join
    on: Expr
    span: Span
    where: Expr = TRUE

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (*conjuncts(self.on), *conjuncts(self.where))


def join_streams(written: StreamJoin, around: Surroundings) -> Emission:
    """The joined rows, as a stream."""
    at = around.source.location(written.span)
    keeps = _keeps(written.join, at)
    options = around.own_options(around.inherited)
    if _goes_by_rows(written, around.catalog):
        joined, rest = _meeting(written, keeps, around)
        emit = EmitMode.ON_UPDATE
    else:
        joined, rest = _window_join(written, keeps, around)
        emit = EmitMode.ON_WINDOW_CLOSE
    known = set(conjuncts(written.on))
    rest = tuple(part for part in rest if part in known)
    if KEY in options:
        instead = "tell duplicates apart in the streams that are joined"
        raise errors.join_not_supported(at, what=f"{KEY} in a join of two streams", instead=instead)
    for side in (written.left, written.right):
        refuse_changing_input(side, (), at=at)
    if rest and keeps != _KEEPS[""]:
        what = "a condition of an outer join of two streams that is not an equality of both sides"
        instead = "put it into WHERE, or into the query that it is about"
        raise errors.join_not_supported(at, what=what, instead=instead)
    columns = tuple(Named(column.name, Field(column.name, column.type)) for column in joined.schema)
    if rest:
        joined = Having(input=joined, predicate=all_of(*rest))
    return Emission(
        input=Project(input=joined, columns=columns),
        emit=Emit(mode=emit),
        kind=StreamKind.APPEND,
        lateness_us=0,
        options=tuple(sorted(options.items())),
    )


def _window_join(
    written: StreamJoin, keeps: tuple[bool, bool], around: Surroundings
) -> tuple[Logical, tuple[Expr, ...]]:
    at = around.source.location(written.span)
    condition = _Condition.of(written, written.parts)
    _refuse_windows(written, condition, around.catalog, at)
    _refuse_clauses(written, around)
    left, right = _timed(written, around)
    joined = WindowJoin(
        left=left,
        right=right,
        keys=condition.keys,
        edges=condition.edges,
        keeps_left=keeps[0],
        keeps_right=keeps[1],
    )
    return joined, condition.rest


def _meeting(
    written: StreamJoin, keeps: tuple[bool, bool], around: Surroundings
) -> tuple[Logical, tuple[Expr, ...]]:
    """Neither side has windows: the condition has to say how far apart their times may be."""
    at = around.source.location(written.span)
    left, right = _timed(written, around)
    bounds = bounds_of(written.parts, left, right, at=at)
    if bounds.interval is None:
        outer = "an outer join of two streams" if written.join.side else "a join of two streams"
        what = f"{outer} without windows"
        raise errors.join_not_supported(at, what=what, instead=f"{_WITH_WINDOWS}; {_BOUNDED}")
    _refuse_clauses_of_rows(written, around)
    options = around.own_options(around.inherited)
    clauses, span = around.inherited, written.span
    refuse_quotas(bounds.interval, clauses, options, source=around.source, fallback=span)
    condition = _Condition.of(written, bounds.rest)
    joined = IntervalJoin(
        left=left,
        right=right,
        keys=condition.keys,
        interval=bounds.interval,
        keeps_left=keeps[0],
        keeps_right=keeps[1],
    )
    return joined, condition.rest


def _goes_by_rows(written: StreamJoin, catalog: Catalog) -> bool:
    """Whether a side has no windows, and the other one none or such as the watermark closes."""
    windows = {*_windows(written.left, catalog), *_windows(written.right, catalog)}
    return None in windows and not any(isinstance(one, _OF_ROWS) for one in windows)


def _timed(written: StreamJoin, around: Surroundings) -> tuple[Logical, Logical]:
    time = TimeChoice(expr=None, lag_us=None, options={})
    return (
        attach_time(written.left, time, around.catalog),
        attach_time(written.right, time, around.catalog),
    )


def _keeps(join: exp.Join, at: errors.Location) -> tuple[bool, bool]:
    """Which sides' rows come out without a match."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if join.method or side not in _KEEPS or kind not in ("", "INNER", "OUTER"):
        words = " ".join(word for word in (join.method, join.side, join.kind) if word).upper()
        instead = "streams are joined with JOIN, LEFT JOIN, RIGHT JOIN or FULL JOIN"
        raise errors.join_not_supported(at, what=f"a {words} join of two streams", instead=instead)
    if join.args.get("using") and side in ("RIGHT", "FULL"):
        instead = (
            f"write ON a.k = b.k AND {_SAME_WINDOW}, and COALESCE(a.k, b.k) for the column of both"
        )
        raise errors.join_not_supported(at, what=f"USING in a {side} join", instead=instead)
    return _KEEPS[side]


# The condition


@dataclass(frozen=True, slots=True, kw_only=True)
class _Condition:
    """What both sides agree in: their windows and their keys; and what else must hold."""

    edges: tuple[tuple[Expr, Expr, str], ...]
    keys: tuple[tuple[Expr, Expr], ...]
    rest: tuple[Expr, ...]

    @classmethod
    def of(cls, written: StreamJoin, parts: tuple[Expr, ...]) -> "_Condition":
        edges: dict[str, tuple[Expr, Expr, str]] = {}
        keys: list[tuple[Expr, Expr]] = []
        rest: list[Expr] = []
        for part in parts:
            pair = _sides(part, written)
            if pair is None:
                rest.append(part)
                continue
            meaning = window_column(written.left, pair[0])
            if meaning in _EDGES and meaning == window_column(written.right, pair[1]):
                edges.setdefault(meaning, (*pair, meaning))
            else:
                keys.append(pair)
        return cls(
            edges=tuple(edges.values()),
            keys=tuple(dict.fromkeys(keys)),
            rest=tuple(part for part in rest if part != TRUE),
        )


def _sides(part: Expr, written: StreamJoin) -> tuple[Expr, Expr] | None:
    """What is equal on the left and on the right, if that is what the condition says."""
    if not isinstance(part, Call) or part.function != "=":
        return None
    own = [set(side.schema.names) for side in (written.left, written.right)]
    one, other = part.args
    for left, right in ((one, other), (other, one)):
        read = fields_of(left), fields_of(right)
        if all(read) and read[0] <= own[0] and read[1] <= own[1]:
            return left, right
    return None


# Windows


def _refuse_windows(
    written: StreamJoin, condition: _Condition, catalog: Catalog, at: errors.Location
) -> None:
    left, right = (set(_windows(side, catalog)) for side in (written.left, written.right))
    outer = "an outer join of two streams" if written.join.side else "a join of two streams"
    if None in left | right:
        raise errors.join_not_supported(at, what=f"{outer} without windows", instead=_WITH_WINDOWS)
    kinds = left | right
    odd = next((kind for kind in kinds if isinstance(kind, _OF_ROWS)), None)
    if odd is not None:
        instead = "tumbling, hopping, cumulating and session windows can be joined"
        raise errors.join_not_supported(at, what=f"{outer} of {odd.kind} windows", instead=instead)
    if len(kinds) > 1:
        instead = "both sides need windows of the same kind, size and offset"
        raise errors.join_not_supported(at, what=f"{outer} of different windows", instead=instead)
    said = {meaning for _, _, meaning in condition.edges}
    whole = (
        {"window_start", "window_end"} if any(isinstance(it, Session) for it in kinds) else set()
    )
    if not said or not whole <= said:
        instead = f"say that the windows are the same: ON … AND {_SAME_WINDOW}"
        raise errors.join_not_supported(
            at, what=f"{outer} without equality of their windows", instead=instead
        )


def _windows(node: Logical, catalog: Catalog) -> Iterator[Window | None]:
    """The windows that the rows of a stream are of; None where they are of none."""
    match node:
        case Source():
            yield None
        case StreamRef(name=name):
            definition = catalog.find(name)
            assert isinstance(definition, StreamDef)
            yield from _windows(definition.logical, catalog)
        case Windowed(window=window) if not isinstance(window, Inherited):
            yield window
        case OverAggregate(frames=frames):
            yield frames[0].window
        case Aggregate(input=input) if not isinstance(input, Windowed):
            yield None
        case WindowJoin(left=left):
            yield from _windows(left, catalog)
        case _:
            for part in inputs(node):
                yield from _windows(part, catalog)


# What stands behind


def _refuse_clauses_of_rows(written: StreamJoin, around: Surroundings) -> None:
    """Joined rows come at once; when a window would be due, and how late a row may be, nobody asks."""
    clauses = around.inherited
    if clauses.emit is not None and clauses.emit.mode is not EmitMode.ON_UPDATE:
        raise errors.emit_not_for_window(
            around.source.location(clauses.emit.span),
            mode=clauses.emit.mode.sql,
            window="a join of two streams without windows",
            instead="rows are joined as they come: leave it out",
        )
    span = clauses.lateness_span or clauses.late_to_span
    if span is not None:
        clause = "ALLOWED LATENESS" if clauses.lateness_span else "LATE DATA TO"
        raise errors.clause_needs_window(around.source.location(span), clause=clause)


def _refuse_clauses(written: StreamJoin, around: Surroundings) -> None:
    """EMIT and lateness of the query around are those of its subqueries; a named stream has its own."""
    clauses = around.inherited
    if clauses.emit is not None and clauses.emit.mode not in _CLOSING:
        raise errors.emit_not_for_window(
            around.source.location(clauses.emit.span),
            mode=clauses.emit.mode.sql,
            window="a join of two streams",
            instead="rows of a window are joined when it closes: EMIT ON WINDOW CLOSE",
        )
    if any(
        isinstance(base, Emission) for side in (written.left, written.right) for base in bases(side)
    ):
        return
    span = clauses.lateness_span or clauses.late_to_span
    if span is not None:
        clause = "ALLOWED LATENESS" if clauses.lateness_span else "LATE DATA TO"
        raise errors.clause_needs_window(around.source.location(span), clause=clause)
