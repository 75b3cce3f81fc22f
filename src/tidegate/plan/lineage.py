"""Where a column comes from: expressions traced down to the relation that rows enter a query with.

A query reads sources, other streams and tables through projections, filters, joins and unions. What event time means,
and whether a column is a window edge of an inner query, is decided by what the column is at the bottom.
"""

from collections.abc import Iterator

from tidegate.model.expressions import Expr, Field, Named, fields_of, substitute
from tidegate.plan.limits import refuse_doubled
from tidegate.plan.logical import (
    WINDOW_COLUMNS,
    Emission,
    EventTime,
    Filter,
    Having,
    IntervalJoin,
    Logical,
    Project,
    Source,
    StaticTable,
    StreamRef,
    TableJoin,
    TopN,
    UnionAll,
    WindowJoin,
)


def through(columns: tuple[Named, ...], expr: Expr) -> Expr:
    """The expression over a projection's input instead of its output."""
    refuse_doubled(columns, expr)
    made = {named.name: named.expr for named in columns}
    return substitute(expr, lambda node: made.get(node.name) if isinstance(node, Field) else None)


def bases(node: Logical) -> Iterator[Source | StreamRef | Emission]:
    """The streams that rows come in by."""
    match node:
        case Source() | StreamRef() | Emission():
            yield node
        case StaticTable():
            return
        case UnionAll(inputs=parts):
            for part in parts:
                yield from bases(part)
        case WindowJoin(left=left, right=right) | IntervalJoin(left=left, right=right):
            yield from bases(left)
            yield from bases(right)
        case _:
            yield from bases(node.input)


def window_column(node: Logical, expr: Expr) -> str | None:
    """`window_start` and so on, where the expression is that column of the windowed query that `node` reads."""
    match node:
        case Project(input=input, columns=columns):
            return window_column(input, through(columns, expr))
        case Filter(input=input) | TableJoin(input=input) | EventTime(input=input):
            return window_column(input, expr)
        case StreamRef(window_columns=known, prefix=prefix):
            names = {prefix + column: meaning for column, meaning in known}
            return names.get(expr.name) if isinstance(expr, Field) else None
        case Emission(input=input):
            return own_window_column(input, expr)
        case _:
            return None


def own_window_column(node: Logical, expr: Expr) -> str | None:
    """The same for a query's own window, seen from its output."""
    while isinstance(node, (Project, Having, TopN, Emission)):
        if isinstance(node, Project):
            expr = through(node.columns, expr)
        node = node.input
    if isinstance(node, WindowJoin):
        return _joined_window_column(node, expr)
    if isinstance(expr, Field) and expr.name.startswith("$") and expr.name[1:] in WINDOW_COLUMNS:
        return expr.name[1:]
    return None


def _joined_window_column(node: WindowJoin, expr: Expr) -> str | None:
    """Both sides are of one window; but the columns of a side that may have no row do not always say which."""
    sides = ((node.left, node.keeps_right), (node.right, node.keeps_left))
    for side, may_be_absent in sides:
        if fields_of(expr) & set(side.schema.names):
            meaning = None if may_be_absent else window_column(side, expr)
            return None if meaning == "window_id" else meaning
    return None
