"""`agg(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN … PRECEDING AND …)`: sliding windows in standard SQL.

In: the SELECT list of a query. Out: frames, one per different OVER clause, each a sliding window, and the time that all
of them are ordered by. Only frames that streams can keep are accepted: by time, with both ends at a fixed distance.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Expr, Field
from tidegate.model.types import Scalar
from tidegate.model.windows import InvalidLength, Sliding
from tidegate.plan.aggregate_calls import AggregateSink
from tidegate.plan.aggregates import find_aggregate
from tidegate.plan.calls import CallRules, unknown_function
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.expressions import Context, bind
from tidegate.plan.logical import Frame, NamedAggregate
from tidegate.sql.functions.catalogue import find_function
from tidegate.sql.intervals import is_interval
from tidegate.sql.lengths import CalendarLength, interval_us
from tidegate.sql.places import span_of
from tidegate.sql.source import Span

_RANKING = (
    "row_number",
    "rank",
    "dense_rank",
    "ntile",
    "lag",
    "lead",
    "percent_rank",
    "cume_dist",
    "nth_value",
)


_Owner = tuple[Sliding, tuple[Expr, ...]]
_FRAME_WORD = re.compile(r"\b(?:ROWS|RANGE|GROUPS)\b", re.IGNORECASE)


@dataclass(slots=True)
class OverSink:
    """Collects OVER aggregates of a SELECT list. `named` are the windows of a WINDOW clause."""

    named: dict[str, exp.Window]
    calls: AggregateSink = field(default_factory=lambda: AggregateSink(prefix="$o"))
    owners: dict[str, _Owner] = field(default_factory=dict)
    names: dict[tuple[AggregateCall, _Owner], str] = field(default_factory=dict)
    time: Expr | None = None

    def bind(self, node: exp.Expression, context: Context) -> Expr:
        """The call binder of the SELECT list: OVER here, everything else by the rules of rows."""
        if not isinstance(node, exp.Window):
            return CallRules().bind(node, context)
        refuse_ranking(node, context)
        clause = clause_of(node, self.named, context)
        self._order(node, clause, context)
        window = _frame(node, clause, context)
        partition = tuple(
            bind(key, replace(context, clause="PARTITION BY", call=CallRules().bind))
            for key in clause.args.get("partition_by") or ()
        )
        own = AggregateSink(prefix="$o")
        inner = replace(context, call=CallRules(aggregates=own).bind)
        bind(node.this, inner)
        if not own.calls:
            raise errors.frame(context.at_head(node.this), problem="only aggregates have one")
        return self._add(own.calls[0], window, partition)

    def _add(self, named: NamedAggregate, window: Sliding, partition: tuple[Expr, ...]) -> Field:
        owner = (window, partition)
        name = self.names.get((named.call, owner))
        if name is None:
            name = self.names[named.call, owner] = f"$o{len(self.calls.calls)}"
            self.calls.calls.append(NamedAggregate(name, named.call))
            self.owners[name] = owner
        return Field(name, named.call.type)

    def frames(self) -> tuple[Frame, ...]:
        """The aggregates by the frame that they share."""
        grouped: dict[_Owner, list[NamedAggregate]] = {}
        for named in self.calls.calls:
            grouped.setdefault(self.owners[named.name], []).append(named)
        return tuple(
            Frame(window, partition, tuple(calls)) for (window, partition), calls in grouped.items()
        )

    def _order(self, node: exp.Window, clause: exp.Window, context: Context) -> None:
        order = clause.args.get("order")
        keys = order.expressions if order is not None else []
        if len(keys) != 1:
            raise errors.frame(
                context.at_head(node.this), problem="ORDER BY must be the event time"
            )
        if keys[0].args.get("desc"):
            raise errors.frame(
                context.at(keys[0]), problem="ORDER BY must be the event time, ascending, not DESC"
            )
        time = bind(keys[0].this, replace(context, clause="ORDER BY", call=CallRules().bind))
        if time.type is not Scalar.TIMESTAMP:
            instead = "order by the event time"
            raise errors.time_argument(
                context.at(keys[0]), window="OVER", name="this", type=time.type, instead=instead
            )
        if self.time is not None and time != self.time:
            raise errors.frame(
                context.at(keys[0]),
                problem="all OVER clauses of a query must be ordered by the same time",
            )
        self.time = time


def clause_of(node: exp.Window, named: dict[str, exp.Window], context: Context) -> exp.Window:
    """What stands behind OVER, or what the name there stands for."""
    alias = node.args.get("alias")
    if alias is None:
        return node
    found = named.get(alias.name.lower())
    if found is None:
        raise errors.unknown_relation(
            context.at(alias),
            name=f"window {alias.name}",
            hint=errors.nearest(alias.name, named),
        )
    return found


def named_windows(select: exp.Select) -> dict[str, exp.Window]:
    return {
        window.this.name.lower(): window
        for window in select.args.get("windows") or ()
        if isinstance(window.this, exp.Identifier)
    }


def overs(select: exp.Select) -> Iterator[exp.Window]:
    """Every OVER of the SELECT list, not looking into subqueries."""
    for item in select.expressions:
        for node in item.walk(prune=lambda part: isinstance(part, exp.Query)):
            if isinstance(node, exp.Window):
                yield node


def has_over(select: exp.Select) -> exp.Window | None:
    """The first of them that is not of a query that only numbers its rows (`ranking.py`)."""
    found = [*overs(select)]
    return None if all(map(is_row_number, found)) else found[0]


def is_row_number(node: exp.Window) -> bool:
    called = node.this
    return isinstance(called, exp.Anonymous) and called.name.lower() == "row_number"


def refuse_ranking(node: exp.Window, context: Context) -> None:
    """Only aggregates have frames that a stream can keep."""
    called = node.this
    while isinstance(called, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        called = called.this
    if not isinstance(called, exp.Anonymous):
        raise errors.frame(context.at(called), problem=f"{called.key.upper()} is no aggregate")
    name = called.name.lower()
    if name in _RANKING:
        instead = "for the first n rows of each window write ROW_NUMBER() or ORDER BY … LIMIT n in a windowed query"
        raise errors.not_supported(
            context.at_head(called), what=f"{called.name.upper()}() OVER", instead=instead
        )
    if find_aggregate(name, context.scope.aggregates) is None:
        if find_function(name) is None:
            raise unknown_function(called, context)
        raise errors.frame(context.at_head(called), problem=f"{called.name} is no aggregate")


def _frame(node: exp.Window, clause: exp.Window, context: Context) -> Sliding:
    spec = clause.args.get("spec")
    if spec is None:
        raise errors.frame(
            context.at_head(node.this),
            problem="it has no RANGE, so it would hold every row since the beginning",
        )
    place = _frame_place(clause, context)
    if (spec.args.get("kind") or "").upper() != "RANGE":
        problem = f"{spec.args.get('kind')} counts rows; only RANGE by time is possible (countwindow(n) counts rows)"
        raise errors.frame(place, problem=problem)
    if spec.args.get("exclude"):
        raise errors.frame(place, problem="EXCLUDE")
    lookback = _bound(spec, "start", "PRECEDING", context, place)
    lookahead = _bound(spec, "end", "FOLLOWING", context, place)
    if lookback is None:
        raise errors.frame(place, problem="it must begin at INTERVAL … PRECEDING")
    try:
        return Sliding(lookback_us=lookback, lookahead_us=lookahead)
    except InvalidLength as invalid:
        culprit = spec.args["start" if invalid.argument == "lookback" else "end"]
        raise invalid.kind(context.at(culprit), **invalid.facts) from None


def _frame_place(clause: exp.Window, context: Context) -> errors.Location:
    """The word that begins the frame, behind ORDER BY; sqlglot does not say where it stood."""
    source = context.scope.source
    order = span_of(clause.args["order"], source, otherwise=context.within)
    found = _FRAME_WORD.search(source.text, order.end)
    return source.location(Span(found.start(), found.end()) if found else order)


def _bound(
    spec: exp.Expression, end: str, side: str, context: Context, place: errors.Location
) -> int | None:
    """Microseconds of one end of the frame; None for CURRENT ROW, and for an end that is left out."""
    bound = spec.args.get(end)
    if bound is None or bound == "CURRENT ROW":
        return None
    if bound == "UNBOUNDED":
        raise errors.frame(
            place, problem=f"UNBOUNDED {side} would hold every row since the beginning"
        )
    if (spec.args.get(f"{end}_side") or "").upper() != side:
        raise errors.frame(
            context.at(bound), problem=f"it must {'begin' if end == 'start' else 'end'} with {side}"
        )
    if not is_interval(bound):
        raise errors.frame(context.at(bound), problem="its ends are literal INTERVALs")
    try:
        return interval_us(bound, context.scope.source)
    except CalendarLength as calendar:
        raise errors.calendar_length(context.at(bound), unit=calendar.unit) from None
