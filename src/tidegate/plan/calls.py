"""Function calls: scalar functions, aggregates, and the columns of the query's window.

In: a syntax node that `expressions.py` has no handler for. Scalar calls are resolved against the catalogue. Aggregates
go to the query's `AggregateSink`, which gives each different one a column; where none may stand there is no sink.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Call, Expr, Field, Literal, SortKey, text
from tidegate.model.types import DataType, Scalar
from tidegate.plan.aggregates import (
    AggregateCall,
    AggregateFunction,
    aggregate_names,
    find_aggregate,
)
from tidegate.plan.coercion import coerce
from tidegate.plan.expressions import (
    CLOCK,
    Context,
    bind,
    bind_condition,
    bind_interval,
    unsupported,
)
from tidegate.plan.logical import NamedAggregate, window_field
from tidegate.sql.functions.catalogue import find_function, function_names
from tidegate.sql.functions.signature import Function, Overload
from tidegate.sql.intervals import is_interval
from tidegate.sql.windows import SPELLINGS, WindowSyntax, read_window, spelling_of

_WINDOW_FUNCTIONS = {
    f"{family}_{edge}": f"window_{edge}"
    for family in ("tumble", "hop", "cumulate", "session")
    for edge in ("start", "end")
}
_ELSEWHERE = {
    "row_number": "ROW_NUMBER is not supported yet: for the first n rows of each window write ORDER BY … LIMIT n",
    "rank": "RANK is not supported yet: for the first n rows of each window write ORDER BY … LIMIT n",
    "lag": "write LAST_VALUE(x) OVER (… RANGE BETWEEN … PRECEDING AND CURRENT ROW)",
    "tumble_rowtime": "use window_time",
    "hop_rowtime": "use window_time",
    "session_rowtime": "use window_time",
    "windowstart": "use window_start",
    "windowend": "use window_end",
    "window_start": "it is a column: write window_start without parentheses",
    "window_end": "it is a column: write window_end without parentheses",
    "window_time": "it is a column: write window_time without parentheses",
    "slide": "write HOP(time, slide, size)",
    "now": "results may not depend on when they are computed; use event time, or a column AS PROCTIME()",
    "current_timestamp": "results may not depend on when they are computed; use event time, or a column AS PROCTIME()",
    "random": "results must be the same after a restart",
    "rand": "results must be the same after a restart",
    "uuid": "results must be the same after a restart",
}


@dataclass(slots=True)
class AggregateSink:
    """The aggregates of one query, each different one once."""

    calls: list[NamedAggregate] = field(default_factory=list)
    prefix: str = "$a"
    names: dict[AggregateCall, str] = field(default_factory=dict)

    def add(self, aggregate: AggregateCall) -> Field:
        name = self.names.get(aggregate)
        if name is None:
            name = self.names[aggregate] = f"{self.prefix}{len(self.calls)}"
            self.calls.append(NamedAggregate(name, aggregate))
        return Field(name, aggregate.type)


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
        aggregate = find_aggregate(name)
        if aggregate is not None and (
            self.aggregates or self.inside or find_function(name) is None
        ):
            return self._aggregate(aggregate, node, context)
        function = find_function(name)
        if function is not None:
            return bind_function(function, node, node.expressions, context)
        if name in _WINDOW_FUNCTIONS:
            return self._window_edge(_WINDOW_FUNCTIONS[name], node, context)
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
        function = find_aggregate(inner.name) if isinstance(inner, exp.Anonymous) else None
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
            aggregate = bind_aggregate(function, node, inner, condition=condition, within=within)
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


def special_form(node: exp.Expression) -> tuple[str, list[exp.Expression]] | None:
    """The ordinary call that a special form means."""
    match node:
        case exp.Extract():
            return f"extract_{node.this.name.lower()}", [node.expression]
        case exp.Trim():
            side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
                str(node.args.get("position") or "").upper(), "trim"
            )
            return side, [node.this, *([node.expression] if node.expression else [])]
        case exp.StrPosition():
            return "strpos", [node.this, node.args["substr"]]
        case exp.Substring():
            return "substring", [
                part
                for part in (node.this, node.args.get("start"), node.args.get("length"))
                if part is not None
            ]
        case exp.Array():
            return "make_array", list(node.expressions)
        case _:
            return None


def unknown_function(node: exp.Anonymous, context: Context) -> errors.TidegateError:
    known = (*function_names(), *aggregate_names(), *SPELLINGS)
    hint = _ELSEWHERE.get(node.name.lower()) or errors.nearest(
        node.name,
        (name.upper() for name in known),
        otherwise="`tidegate functions` lists all there are",
    )
    return errors.unknown_function(context.at_head(node), name=node.name, hint=hint)


def bind_function(
    function: Function, node: exp.Expression, args: Sequence[exp.Expression], context: Context
) -> Expr:
    """A scalar call: arguments bound, converted, and checked where they must be constants."""
    bound = [_argument(function, place, arg, context) for place, arg in enumerate(args)]
    resolved = function.resolve([arg.type for arg in bound])
    if resolved is None:
        raise _misfit(function, node, args, bound, context)
    overload, targets = resolved
    converted = tuple(coerce(arg, target) for arg, target in zip(bound, targets, strict=True))
    checked = tuple(
        _constant(overload, place, arg, args[place], node, context)
        for place, arg in enumerate(converted)
    )
    return Call(function.name, checked, overload.result(targets))


def _argument(function: Function, place: int, arg: exp.Expression, context: Context) -> Expr:
    """Keywords such as SECOND in TIMESTAMPDIFF(SECOND, a, b) are the literals that they name."""
    if isinstance(arg, (exp.Star, exp.Kwarg, exp.PropertyEQ, exp.Distinct)):
        raise unsupported(arg, context, f"this argument of {function.name.upper()}")
    word = (
        arg.name.lower()
        if isinstance(arg, (exp.Column, exp.Var)) and not arg.args.get("table")
        else ""
    )
    if word and any(word in _choices(overload, place) for overload in function.overloads):
        return text(word)
    return bind(arg, context)


def _choices(overload: Overload, place: int) -> tuple[str, ...]:
    return overload.params[place].choices if place < len(overload.params) else ()


def _constant(
    overload: Overload,
    place: int,
    arg: Expr,
    written: exp.Expression,
    node: exp.Expression,
    context: Context,
) -> Expr:
    param = overload.params[min(place, len(overload.params) - 1)]
    if not param.literal:
        return arg
    name = _name_of(node)
    if not isinstance(arg, Literal):
        raise errors.argument_not_constant(
            context.at(written),
            argument=f"argument {place + 1}",
            function=name,
            expected=param.label,
        )
    if param.choices:
        return _chosen(param.choices, arg, written, node, context)
    problem = param.problem(arg.value)
    if problem:
        raise errors.argument_not_constant(
            context.at(written),
            argument=f"argument {place + 1}",
            function=name,
            expected=f"{param.label}: {problem}",
        )
    return arg


def _chosen(
    choices: tuple[str, ...],
    arg: Literal,
    written: exp.Expression,
    node: exp.Expression,
    context: Context,
) -> Expr:
    value = str(arg.value).lower()
    for candidate in (value, value.removesuffix("s")):
        if candidate in choices:
            return text(candidate)
    hint = errors.nearest(value, choices, otherwise=f"possible are {', '.join(choices)}")
    raise errors.bad_literal(
        context.at(written), text=repr(arg.value), type=f"argument of {_name_of(node)}", form=hint
    )


def _name_of(node: exp.Expression) -> str:
    return node.name if isinstance(node, exp.Anonymous) else node.key.upper()


def _misfit(
    function: Function,
    node: exp.Expression,
    args: Sequence[exp.Expression],
    bound: Sequence[Expr],
    context: Context,
) -> errors.TidegateError:
    name = _name_of(node)
    fitting = [
        overload
        for overload in function.overloads
        if len(overload.params) == len(bound)
        or (overload.variadic and len(bound) >= len(overload.params))
    ]
    if not fitting:
        counts = " or ".join(map(str, function.arities))
        expected = f"{counts} argument{'' if counts == '1' else 's'}"
        return errors.wrong_arity(
            context.at_head(node),
            function=name,
            expected=expected,
            got=len(bound),
            form=function.example,
        )
    return _wrong_type(
        name,
        [overload.params for overload in fitting],
        args,
        [expr.type for expr in bound],
        context,
    )


def _wrong_type(
    name: str,
    params: Sequence[Sequence[object]],
    args: Sequence[exp.Expression],
    given: Sequence[DataType],
    context: Context,
) -> errors.TidegateError:
    """Points at the first argument that no way of calling the function takes."""
    for place, kind in enumerate(given):
        possible = [signature[min(place, len(signature) - 1)] for signature in params]
        if not any(param.accepts(kind) is not None for param in possible):  # type: ignore[attr-defined]
            expected = " or ".join(dict.fromkeys(param.label for param in possible))  # type: ignore[attr-defined]
            return errors.wrong_argument_type(
                context.at(args[place]),
                function=name,
                got=kind,
                expected=expected,
                cast="convert it with CAST, or TRY_CAST where values may be bad",
            )
    types = " and ".join(map(str, given))
    return errors.no_common_type(context.at(args[-1]), what=f"the arguments of {name}", types=types)


def bind_aggregate(
    function: AggregateFunction,
    node: exp.Anonymous,
    context: Context,
    *,
    condition: exp.Expression | None = None,
    within: exp.Expression | None = None,
) -> AggregateCall:
    """An aggregate: DISTINCT, ORDER BY inside, WITHIN GROUP and FILTER taken apart."""
    args, order, distinct = _aggregate_arguments(node, within)
    if function.star and len(args) == 1 and isinstance(args[0], exp.Star):
        args = []
    bound = [bind(arg, context) for arg in args]
    types = [expr.type for expr in bound]
    keys = _order_keys(function, node, order, context)
    if function.star and not args:
        if distinct:
            raise unsupported(node, context, "COUNT(DISTINCT *)", instead="name a column")
        targets: tuple[DataType, ...] = ()
        kind: DataType = Scalar.BIGINT
    else:
        resolved = function.resolve(types)
        if resolved is None:
            raise _aggregate_misfit(function, node, args, types, context)
        targets, kind = resolved
    converted = tuple(coerce(expr, target) for expr, target in zip(bound, targets, strict=True))
    _check_constants(function, node, args, converted, context)
    filter_expr = (
        bind_condition(condition, replace(context, clause="FILTER", call=CallRules().bind))
        if condition is not None
        else None
    )
    return AggregateCall(
        function=function.name,
        args=converted,
        type=kind,
        distinct=distinct,
        filter=filter_expr,
        order=keys,
    )


def _aggregate_arguments(
    node: exp.Anonymous, within: exp.Expression | None
) -> tuple[list[exp.Expression], list[exp.Expression], bool]:
    args, order, distinct = list(node.expressions), [], False
    if args and isinstance(args[-1], exp.Order):
        order = list(args[-1].expressions)
        args[-1] = args[-1].this
    if len(args) == 1 and isinstance(args[0], exp.Distinct):
        distinct, args = True, list(args[0].expressions)
    if args and isinstance(args[-1], exp.Order):
        order = list(args[-1].expressions)
        args[-1] = args[-1].this
    if within is not None:
        order = list(within.expressions)
        args = [*(key.this for key in order), *args]
    return args, order, distinct


def _order_keys(
    function: AggregateFunction,
    node: exp.Anonymous,
    order: Sequence[exp.Expression],
    context: Context,
) -> tuple[SortKey, ...]:
    if order and not function.ordered:
        raise unsupported(
            node,
            context,
            f"ORDER BY inside {node.name.upper()}",
            instead="its value does not depend on an order",
        )
    return tuple(sort_key(key, context) for key in order)


def sort_key(node: exp.Expression, context: Context, *, chosen: Expr | None = None) -> SortKey:
    """One item of ORDER BY; `chosen` is what it names. NULLs come last unless NULLS FIRST is written."""
    expr = bind(node.this, context) if chosen is None else chosen
    written = context.scope.source.text.lower()
    first = bool(node.args.get("nulls_first")) and _says_nulls_first(node, written)
    return SortKey(expr, descending=bool(node.args.get("desc")), nulls_first=first)


def _says_nulls_first(node: exp.Expression, written: str) -> bool:
    """sqlglot fills in a default for NULLS FIRST; only what is written counts here."""
    ends = [part.meta["end"] for part in node.walk() if "end" in part.meta]
    rest = written[max(ends) + 1 :] if ends else ""
    return (
        rest.lstrip(") \n\r\t")
        .removeprefix("desc")
        .removeprefix("asc")
        .lstrip()
        .startswith("nulls first")
    )


def _check_constants(
    function: AggregateFunction,
    node: exp.Anonymous,
    args: Sequence[exp.Expression],
    bound: Sequence[Expr],
    context: Context,
) -> None:
    for place in range(len(bound) - function.constants, len(bound)):
        value = bound[place]
        if not isinstance(value, Literal):
            raise errors.argument_not_constant(
                context.at(args[place]),
                argument=f"argument {place + 1}",
                function=node.name,
                expected="literal",
            )
        if isinstance(value.value, float) and not 0 <= value.value <= 1:
            raise errors.argument_not_constant(
                context.at(args[place]),
                argument=f"argument {place + 1}",
                function=node.name,
                expected="between 0 and 1",
            )


def _aggregate_misfit(
    function: AggregateFunction,
    node: exp.Anonymous,
    args: Sequence[exp.Expression],
    types: Sequence[DataType],
    context: Context,
) -> errors.TidegateError:
    fitting = [
        overload.params for overload in function.signatures if len(overload.params) == len(types)
    ]
    if not fitting:
        count = len(function.signatures[0].params)
        expected = f"{count} argument{'' if count == 1 else 's'}"
        return errors.wrong_arity(
            context.at_head(node),
            function=node.name,
            expected=expected,
            got=len(types),
            form=function.doc,
        )
    return _wrong_type(node.name, fitting, args, types, context)
