"""Function calls: scalar functions, aggregates, and the columns of the query's window.

In: a syntax node that `expressions.py` has no handler for. Scalar calls are resolved against the catalogue. Aggregates
go to the query's `AggregateSink`, which gives each different one a column; where none may stand there is no sink.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Expr
from tidegate.plan.aggregate_calls import AggregateSink, bind_aggregate
from tidegate.plan.aggregates import (
    AggregateFunction,
    aggregate_names,
    find_aggregate,
)
from tidegate.plan.expressions import CLOCK, Context, bind_condition, bind_interval, unsupported
from tidegate.plan.logical import window_field
from tidegate.plan.scalar_calls import bind_function, special_form
from tidegate.sql.functions.catalogue import find_function, function_names
from tidegate.sql.intervals import is_interval
from tidegate.sql.respelled import form_of, respelled_names
from tidegate.sql.windows import SPELLINGS, WindowSyntax, read_window, spelling_of

_WINDOW_FUNCTIONS = {
    f"{family}_{edge}": f"window_{edge}"
    for family in ("tumble", "hop", "cumulate", "session")
    for edge in ("start", "end")
}
_WINDOW_FUNCTIONS |= {
    f"{family}_rowtime": "window_time" for family in ("tumble", "hop", "cumulate", "session")
}
_EKUIPER_COLUMNS = frozenset({"window_start", "window_end"})  # there, they are functions


_ELSEWHERE = {
    "row_number": "write ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY …), or ORDER BY … LIMIT n",
    "rank": "write ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY …), or ORDER BY … LIMIT n",
    "lag": "write LAST_VALUE(x) OVER (… RANGE BETWEEN … PRECEDING AND CURRENT ROW)",
    "windowstart": "use window_start",
    "windowend": "use window_end",
    "window_time": "it is a column: write window_time without parentheses",
    "slide": "write HOP(time, slide, size)",
    "now": "results may not depend on when they are computed; use event time, or a column AS PROCTIME()",
    "current_timestamp": "results may not depend on when they are computed; use event time, or a column AS PROCTIME()",
    "explode": "an ARRAY stays one value; ARRAY_CONTAINS and ELEMENT_AT look into it",
    "json_value": "declare what is in the JSON as a STRUCT or MAP, and write s.field or m['key']",
    "get_json_object": "declare what is in the JSON as a STRUCT or MAP, and write s.field or m['key']",
    "random": "results must be the same after a restart",
    "rand": "results must be the same after a restart",
    "uuid": "results must be the same after a restart",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """What calls may stand in a clause. `window` is the query's own, where its columns are visible."""

    aggregates: AggregateSink | None = None
    inside: str = ""
    window: WindowSyntax | None = None

    def bind(self, node: exp.Expression, context: Context) -> Expr:
        """The binder of every node that is a call of some sort."""
        match node:
            case exp.Filter() | exp.WithinGroup():
                return self._aggregate_with_clauses(node, context)
            case exp.Anonymous():
                return self._named(node, context)
            case exp.Window():
                raise unsupported(
                    node,
                    context,
                    f"OVER in {context.clause}",
                    instead="OVER stands in the SELECT list",
                )
            case exp.Subquery() | exp.Select() | exp.Exists():
                raise unsupported(
                    node,
                    context,
                    "a subquery inside an expression",
                    instead="join with a table, or use a subquery in FROM",
                )
            case exp.AtTimeZone():
                raise errors.not_supported(
                    context.at(node), what="AT TIME ZONE", instead="times are UTC"
                )
            case _:
                return self._special_form(node, context)

    def _named(self, node: exp.Anonymous, context: Context) -> Expr:
        name = node.name.lower()
        if is_interval(node):
            return bind_interval(node, context)
        if name == "proctime" and not node.expressions:
            return CLOCK
        aggregate = find_aggregate(name, context.scope.aggregates)
        if aggregate is not None and (
            self.aggregates or self.inside or find_function(name) is None
        ):
            return self._aggregate(aggregate, node, context)
        function = find_function(name)
        if function is not None:
            return bind_function(function, node, node.expressions, context)
        if name in _WINDOW_FUNCTIONS:
            return self._window_edge(_WINDOW_FUNCTIONS[name], node, context)
        if name in _EKUIPER_COLUMNS and not node.expressions:
            return self._window_edge(name, node, context)
        if spelling_of(node) is not None:
            instead = (
                "name the columns window_start and window_end to see the window"
                if context.clause == "SELECT"
                else ""
            )
            place = (
                "inside an expression" if context.clause == "GROUP BY" else f"in {context.clause}"
            )
            if spelling_of(exp.Anonymous(this=context.clause)) is not None:
                place = f"inside {context.clause}"
            raise errors.window_misplaced(
                context.at_head(node), function=node.name, place=place, instead=instead
            )
        raise unknown_function(node, context)

    def _window_edge(self, column: str, node: exp.Anonymous, context: Context) -> Expr:
        """TUMBLE_START(…) and its like; arguments, if any, must repeat the query's window."""
        if self.window is None:
            raise errors.window_misplaced(
                context.at_head(node),
                function=node.name,
                place=f"in {context.clause} of a query without a window",
                instead="add the window to GROUP BY",
            )
        if node.expressions:
            family = node.name.rsplit("_", 1)[0]
            repeated = exp.Anonymous(this=family, expressions=node.expressions)
            repeated.meta.update(node.meta)
            syntax = read_window(repeated, context.scope.source)
            if syntax is None or syntax.window != self.window.window:
                raise errors.two_windows(
                    context.at_head(node), first=self.window.spelling, second=node.name
                )
        return window_field(column)

    # Aggregates

    def _aggregate_with_clauses(self, node: exp.Expression, context: Context) -> Expr:
        """`f(x) FILTER (WHERE …)`, `f(p) WITHIN GROUP (ORDER BY x)`, or both."""
        condition, within, inner = None, None, node
        while isinstance(inner, (exp.Filter, exp.WithinGroup)):
            if isinstance(inner, exp.Filter):
                condition = inner.expression.this
            else:
                within = inner.expression
            inner = inner.this
        users = context.scope.aggregates
        function = find_aggregate(inner.name, users) if isinstance(inner, exp.Anonymous) else None
        if function is None or not isinstance(inner, exp.Anonymous):
            clause = "FILTER" if condition is not None else "WITHIN GROUP"
            raise unsupported(node, context, f"{clause} on something that is no aggregate")
        return self._aggregate(function, inner, context, condition=condition, within=within)

    def _aggregate(
        self,
        function: AggregateFunction,
        node: exp.Anonymous,
        context: Context,
        *,
        condition: exp.Expression | None = None,
        within: exp.Expression | None = None,
    ) -> Expr:
        if self.inside:
            raise errors.nested_aggregate(context.at_head(node), function=node.name)
        if self.aggregates is None:
            instead = "use HAVING" if context.clause == "WHERE" else ""
            raise errors.aggregate_not_allowed(
                context.at_head(node), function=node.name, clause=context.clause, instead=instead
            )
        inner = replace(context, call=CallRules(inside=node.name).bind, clause=node.name)
        inner.scope.windowed, hidden = False, inner.scope.windowed
        try:
            rows_only = replace(context, clause="FILTER", call=CallRules().bind)
            where = None if condition is None else bind_condition(condition, rows_only)
            aggregate = bind_aggregate(function, node, inner, condition=where, within=within)
        finally:
            inner.scope.windowed = hidden
        return self.aggregates.add(aggregate)

    def _special_form(self, node: exp.Expression, context: Context) -> Expr:
        """Calls with a syntax of their own: EXTRACT(f FROM x), TRIM, POSITION, SUBSTRING … FROM, ARRAY[…]."""
        form = special_form(node)
        if form is None:
            what = "* here" if isinstance(node, exp.Star) else f"{node.key.upper()} here"
            raise unsupported(node, context, what)
        name, args = form
        function = find_function(name)
        if function is None:
            raise unsupported(node, context, name.replace("_", " ").upper())
        return bind_function(function, node, args, context)


def is_function(name: str) -> bool:
    """Whether a call of this name means something already."""
    lowered = name.lower()
    known = (_WINDOW_FUNCTIONS, _ELSEWHERE, SPELLINGS, respelled_names(), ("proctime",))
    built_in = find_aggregate(name) is not None or find_function(lowered) is not None
    return built_in or any(lowered in names for names in known)


def unknown_function(node: exp.Anonymous, context: Context) -> errors.TidegateError:
    known = (
        *function_names(),
        *respelled_names(),
        *aggregate_names(context.scope.aggregates),
        *SPELLINGS,
    )
    form = form_of(node.name)
    hint = _ELSEWHERE.get(node.name.lower()) or (f"write {form}" if form else "")
    hint = hint or errors.nearest(
        node.name,
        (name.upper() for name in known),
        otherwise="`tidegate functions` lists all there are",
    )
    return errors.unknown_function(context.at_head(node), name=node.name, hint=hint)
