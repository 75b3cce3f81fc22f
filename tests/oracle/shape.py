"""A query taken apart: what it reads, its window, its aggregates, and what is done with their values."""

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.model.expressions import Expr, Field, Literal, Named, SortKey, children
from tidegate.plan.logical import (
    Aggregate,
    Emission,
    Having,
    IntervalJoin,
    Logical,
    OverAggregate,
    Project,
    TopN,
    Windowed,
    WindowJoin,
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """`reads` is the plan below window and aggregates; `output` None passes rows on as they are."""

    emission: Emission
    reads: Logical
    windowed: Windowed | None = None
    grouped: Aggregate | None = None
    over: OverAggregate | None = None
    joined: WindowJoin | IntervalJoin | None = None
    having: tuple[Expr, ...] = ()
    order: tuple[SortKey, ...] = ()
    within: tuple[Expr, ...] = ()
    limit: int | None = None
    output: tuple[Named, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.emission.schema.names

    def row_exprs(self) -> Iterator[Expr]:
        """What is computed per row of a stage that keeps whole rows, and may go wrong for a row."""
        if self.grouped is not None or self.joined is not None:
            return
        exprs = [named.expr for named in self.output or ()]
        for expr in (*exprs, *self.having, *self.within, *(key.expr for key in self.order)):
            yield from _about_rows(expr)


def _about_rows(expr: Expr) -> Iterator[Expr]:
    if not _is_about_windows(expr):
        if not isinstance(expr, Literal):
            yield expr
        return
    for part in children(expr):
        yield from _about_rows(part)


def _is_about_windows(expr: Expr) -> bool:
    own = isinstance(expr, Field) and expr.name.startswith(("$window_", "$a", "$o", "$k", "$rank"))
    return own or any(_is_about_windows(part) for part in children(expr))


def shape_of(emission: Emission) -> Shape:
    """The query under an emission."""
    node = emission.input
    if not isinstance(node, Project):
        return Shape(emission=emission, reads=node)
    output, below = node.columns, node.input
    having: list[Expr] = []
    order: tuple[SortKey, ...] = ()
    within: tuple[Expr, ...] = ()
    limit = None
    while isinstance(below, (Having, TopN)):
        if isinstance(below, Having):
            having.append(below.predicate)
        else:
            order, within, limit = below.order, below.within, below.limit
        below = below.input
    grouped = below if isinstance(below, Aggregate) else None
    over = below if isinstance(below, OverAggregate) else None
    joined = below if isinstance(below, (WindowJoin, IntervalJoin)) else None
    core = below.input if isinstance(below, (Aggregate, OverAggregate)) else below
    windowed = core if isinstance(core, Windowed) else None
    if grouped is None and over is None and windowed is None and joined is None:
        return Shape(emission=emission, reads=node)
    return Shape(
        emission=emission,
        reads=windowed.input if windowed else core,
        windowed=windowed,
        grouped=grouped,
        over=over,
        joined=joined,
        having=tuple(reversed(having)),
        order=order,
        within=within,
        limit=limit,
        output=output,
    )
