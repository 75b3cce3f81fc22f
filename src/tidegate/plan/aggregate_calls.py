"""Aggregate calls: DISTINCT, ORDER BY inside, WITHIN GROUP and FILTER taken apart, arguments converted.

Each query has an `AggregateSink`, which gives every different aggregate one column. ORDER BY of a query is bound here
too, since it is the same syntax.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Expr, Field, Literal, SortKey
from tidegate.model.types import DataType, Scalar, is_comparable
from tidegate.plan.aggregates import AggregateFunction
from tidegate.plan.coercion import coerce
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.expressions import (
    Context,
    bind,
    unsupported,
)
from tidegate.plan.logical import NamedAggregate
from tidegate.plan.scalar_calls import wrong_type


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


def bind_aggregate(
    function: AggregateFunction,
    node: exp.Anonymous,
    context: Context,
    *,
    condition: Expr | None = None,
    within: exp.Expression | None = None,
) -> AggregateCall:
    """An aggregate: DISTINCT, ORDER BY inside and WITHIN GROUP taken apart; `condition` is its FILTER, bound."""
    args, order, distinct = _aggregate_arguments(node, within)
    if function.star and len(args) == 1 and isinstance(args[0], exp.Star):
        if any(args[0].args.values()):
            raise unsupported(args[0], context, "EXCEPT, REPLACE or RENAME behind * here")
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
    if distinct:
        _check_distinct(node, args, bound, keys, context)
    return AggregateCall(
        function=function.name,
        args=converted,
        type=kind,
        distinct=distinct,
        filter=condition,
        order=keys,
        user=function.user,
    )


def _check_distinct(
    node: exp.Anonymous,
    args: Sequence[exp.Expression],
    bound: Sequence[Expr],
    keys: Sequence[SortKey],
    context: Context,
) -> None:
    """Values must be comparable, and have no order but their own: of equal ones, only one is kept."""
    for written, value in zip(args, bound, strict=True):
        if not is_comparable(value.type):
            raise errors.wrong_argument_type(
                context.at(written),
                function=f"{node.name.upper()}(DISTINCT)",
                got=value.type,
                expected="a comparable value",
                cast="",
            )
    if any(key.expr != bound[0] for key in keys):
        what = f"ORDER BY something else than the value inside {node.name.upper()}(DISTINCT)"
        raise unsupported(node, context, what, instead="order by the value itself, or leave it out")


def _aggregate_arguments(
    node: exp.Anonymous, within: exp.Expression | None
) -> tuple[list[exp.Expression], list[exp.Expression], bool]:
    args, order, distinct = list(node.expressions), [], False
    if args and isinstance(args[-1], exp.Order):
        order = list(args[-1].expressions)
        args[-1:] = [args[-1].this] if args[-1].this is not None else []
    if len(args) == 1 and isinstance(args[0], exp.Distinct):
        distinct, args = True, list(args[0].expressions)
    if args and isinstance(args[-1], exp.Order):
        order = list(args[-1].expressions)
        args[-1:] = [args[-1].this] if args[-1].this is not None else []
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
    return wrong_type(node.name, fitting, args, types, context)
