"""The SELECT list: which columns come out, and what they are called.

Decided here: `*` is every visible column, in order; an expression without a name is called after its function; two
columns of one name are refused, because sinks and consumers go by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Expr, Field, Literal, Named
from tidegate.model.types import Scalar
from tidegate.plan.coercion import coerce
from tidegate.plan.diagnostics import Diagnostics
from tidegate.plan.expressions import Context, bind
from tidegate.plan.logical import window_field
from tidegate.plan.scope import ScopeInput
from tidegate.sql.places import head_of, span_of
from tidegate.sql.respelled import WRITTEN
from tidegate.sql.source import Span

TABLE_WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


class Origin(StrEnum):
    """Who chose a column's name: the query, the input that `*` stands for, or nobody."""

    WRITTEN = "written"
    STAR = "star"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result: its name, its expression, and where it is written."""

    name: str
    expr: Expr
    span: Span
    origin: Origin

    @property
    def named(self) -> Named:
        return Named(self.name, self.expr)


def bind_outputs(
    select: exp.Select, context: Context, diagnostics: Diagnostics, *, star_adds: Sequence[str] = ()
) -> list[Output]:
    """All columns; each refused item is reported, and the others are still bound."""
    outputs: list[Output] = []
    for item in select.expressions:
        with diagnostics.catching():
            outputs.extend(_bind_item(item, context, star_adds, len(outputs)))
    if not select.expressions or (not outputs and not diagnostics.errors):
        at = context.scope.source.location(context.within)
        raise errors.unexpected_token(at, expected="columns after SELECT", got="none")
    with diagnostics.catching():
        _refuse_duplicates(outputs, context)
    return _unique(outputs)


def _bind_item(
    item: exp.Expression, context: Context, star_adds: Sequence[str], place: int
) -> Iterator[Output]:
    span = span_of(item, context.scope.source, otherwise=context.within)
    star = _star(item)
    if star is not None:
        yield from _expand(item, star, context, star_adds, span)
        return
    inner = item.this if isinstance(item, exp.Alias) else item
    expr = bind(inner, context)
    if expr.type is Scalar.INTERVAL:
        raise errors.interval_column(context.at(inner))
    if expr.type is Scalar.NULL:
        expr = coerce(expr, Scalar.VARCHAR) if isinstance(expr, Literal) else expr
    if isinstance(item, exp.Alias):
        alias = item.args["alias"]
        if alias.name.startswith("$"):
            raise errors.reserved_name(context.at(alias), name=alias.name)
        yield Output(
            alias.name, expr, head_of(alias, context.scope.source, otherwise=span), Origin.WRITTEN
        )
    else:
        yield Output(
            _default_name(inner, place),
            expr,
            span,
            Origin.WRITTEN if isinstance(inner, exp.Column) else Origin.DEFAULT,
        )


def _star(item: exp.Expression) -> str | None:
    """The alias before `.*`, "" for a bare star, None for anything else."""
    if isinstance(item, exp.Star):
        return ""
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        return item.table
    return None


def _expand(
    item: exp.Expression, alias: str, context: Context, star_adds: Sequence[str], span: Span
) -> Iterator[Output]:
    star = item if isinstance(item, exp.Star) else item.this
    if any(star.args.get(part) for part in ("replace", "rename")):
        raise errors.unsupported_expression(
            context.at(item), what="REPLACE or RENAME behind *", instead="list the columns"
        )
    inputs = [
        given for given in context.scope.inputs if not alias or given.alias.lower() == alias.lower()
    ]
    if not inputs:
        known = [given.alias for given in context.scope.inputs]
        raise errors.unknown_relation(
            context.at(item),
            name=alias,
            hint=errors.nearest(alias, known, otherwise=f"there are {', '.join(known)}"),
        )
    left_out = _left_out(star, [*inputs], (*star_adds,) if not alias else (), context)
    for given in inputs:
        merged = frozenset[str]() if alias else given.merged
        yield from _columns(given, context, span, without=merged | left_out)
    if not alias:
        for name in star_adds:
            if name not in left_out:
                yield Output(name, window_field(name), span, Origin.STAR)


def _left_out(
    star: exp.Expression, inputs: Sequence[ScopeInput], adds: Sequence[str], context: Context
) -> frozenset[str]:
    """`* EXCEPT (a, b)`, also called EXCLUDE: columns that there must be."""
    named = star.args.get("except_") or star.args.get("except") or []
    known = [*(name for given in inputs for name in given.columns.names), *adds]
    for column in named:
        if column.name.lower() not in (name.lower() for name in known):
            hint = errors.nearest(column.name, known, otherwise=f"columns are {', '.join(known)}")
            raise errors.unknown_column(context.at(column), name=column.name, hint=hint)
    return frozenset(column.name.lower() for column in named)


def _columns(
    given: ScopeInput, context: Context, span: Span, *, without: frozenset[str]
) -> Iterator[Output]:
    for column in given.columns:
        if column.name.lower() in without:
            continue
        expr = context.scope.resolve(
            [given.alias, column.name] if given.prefix else [column.name], span
        )
        yield Output(column.name, expr, span, Origin.STAR)


def _default_name(node: exp.Expression, place: int) -> str:
    if WRITTEN in node.meta:
        return str(node.meta[WRITTEN])
    match node:
        case exp.Column():
            return node.name
        case exp.Anonymous():
            return node.name.lower()
        case exp.Filter() | exp.WithinGroup() | exp.Window() | exp.Paren() | exp.Cast():
            return _default_name(node.this, place)
        case _:
            return f"column{place + 1}"


def _refuse_duplicates(outputs: Sequence[Output], context: Context) -> None:
    """A written name is unique, also beside what `*` stands for; two inputs of `*` may share one."""
    seen: set[str] = set()
    for output in sorted(outputs, key=lambda output: output.origin is Origin.WRITTEN):
        if output.origin is Origin.WRITTEN and output.name.lower() in seen:
            hint = "give one of them another name with AS"
            raise errors.duplicate_name(
                context.scope.source.location(output.span),
                what="column",
                name=output.name,
                hint=hint,
            )
        if output.origin is not Origin.DEFAULT:
            seen.add(output.name.lower())


def _unique(outputs: Sequence[Output]) -> list[Output]:
    """Names that nobody chose get a number where they would collide."""
    taken = {output.name.lower() for output in outputs if output.origin is Origin.WRITTEN}
    unique: list[Output] = []
    for output in outputs:
        name, number = output.name, 1
        while output.origin is not Origin.WRITTEN and name.lower() in taken:
            name, number = f"{output.name}_{number}", number + 1
        taken.add(name.lower())
        unique.append(replace(output, name=name))
    return unique


def identity(columns: Sequence[Named]) -> bool:
    """Whether a projection only passes its input on."""
    return all(isinstance(named.expr, Field) and named.expr.name == named.name for named in columns)
