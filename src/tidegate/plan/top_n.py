"""ORDER BY … LIMIT: the first rows of each window.

On a stream one needs the other: there is no end to sort at, and no first rows without an order. Keys may be output
names, positions, or expressions over the query's groups.
"""

from collections.abc import Sequence

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import SortKey
from tidegate.plan.aggregate_calls import sort_key
from tidegate.plan.expressions import Context
from tidegate.plan.outputs import Output
from tidegate.plan.types import whole_number
from tidegate.sql.places import span_of


def bind_order(
    select: exp.Select, outputs: Sequence[Output], context: Context
) -> tuple[tuple[SortKey, ...], int | None]:
    """The order and the limit; keys are still in terms of rows."""
    order, limit = select.args.get("order"), select.args.get("limit")
    if order is not None and limit is None:
        instead = "a stream has no end to sort at: add LIMIT n for the first n of each window"
        raise errors.top_n_incomplete(
            context.at(order), clause="ORDER BY", missing="LIMIT", instead=instead
        )
    if order is None and limit is not None:
        instead = "say which rows come first: ORDER BY n DESC LIMIT 3"
        raise errors.top_n_incomplete(
            context.at(limit), clause="LIMIT", missing="ORDER BY", instead=instead
        )
    if order is None or limit is None:
        return (), None
    keys = tuple(_sort_key(item, outputs, context) for item in order.expressions)
    return keys, _limit(limit, context)


def _sort_key(item: exp.Expression, outputs: Sequence[Output], context: Context) -> SortKey:
    inner = item.this
    if isinstance(inner, exp.Literal) and inner.name.isdecimal():
        place = whole_number(inner.name)
        if 1 <= place <= len(outputs):
            return sort_key(item, context, chosen=outputs[place - 1].expr)
    if isinstance(inner, exp.Column) and not inner.table:
        for output in outputs:
            if output.name.lower() == inner.name.lower():
                return sort_key(item, context, chosen=output.expr)
    return sort_key(item, context)


def _limit(limit: exp.Expression, context: Context) -> int:
    count = limit.expression
    if isinstance(count, exp.Literal) and not count.is_string and count.name.isdecimal():
        number = whole_number(count.name)
        if 0 < number < 2**31:
            return number
    source = context.scope.source
    raise errors.not_a_literal(
        source.location(span_of(count, source, otherwise=context.within)),
        argument="the count",
        function="LIMIT",
        expected="a literal whole number above zero",
        form="",
    )
