"""GROUP BY: keys, the window among them, and the rule that everything else must be aggregated.

In: the GROUP BY of a SELECT, its WINDOW clause, and windows of FROM. Out: `Grouping`. A query has one window; all its
spellings end here as one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Expr, Field, Named, substitute, walk
from tidegate.model.types import Scalar, is_comparable
from tidegate.plan.expressions import Context, bind
from tidegate.plan.lineage import window_column
from tidegate.plan.logical import WINDOW_COLUMNS, Logical
from tidegate.plan.scope import Scope
from tidegate.plan.types import whole_number
from tidegate.sql.places import span_of
from tidegate.sql.source import SourceText, Span
from tidegate.sql.windows import WindowSyntax, read_window


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupItems:
    """GROUP BY taken apart: the window kept apart from the keys."""

    windows: tuple[WindowSyntax, ...]
    keys: tuple[exp.Expression, ...]
    present: bool


def split_group(select: exp.Select, source: SourceText) -> GroupItems:
    """The windows and the other items of GROUP BY."""
    group = select.args.get("group")
    if group is None:
        return GroupItems(windows=(), keys=(), present=False)
    for part, what in (
        ("cube", "CUBE"),
        ("rollup", "ROLLUP"),
        ("grouping_sets", "GROUPING SETS"),
        ("totals", "TOTALS"),
    ):
        if group.args.get(part):
            raise errors.not_supported(
                source.location(span_of(group, source)),
                what=what,
                instead="write one query per grouping",
            )
    if group.args.get("all"):
        raise errors.not_supported(
            source.location(span_of(select, source)),
            what="GROUP BY ALL",
            instead="name the keys: GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)",
        )
    windows: list[WindowSyntax] = []
    keys: list[exp.Expression] = []
    for item in group.expressions:
        if isinstance(item, (exp.GroupingSets, exp.Cube, exp.Rollup)):
            what = {exp.GroupingSets: "GROUPING SETS", exp.Cube: "CUBE", exp.Rollup: "ROLLUP"}[
                type(item)
            ]
            raise errors.not_supported(
                source.location(span_of(item, source)),
                what=what,
                instead="write one query per grouping",
            )
        window = _state_window(item, source) or read_window(_unwrapped(item), source)
        if window is not None:
            windows.append(window)
        else:
            keys.append(item)
    return GroupItems(windows=tuple(windows), keys=tuple(keys), present=True)


def _unwrapped(item: exp.Expression) -> exp.Expression:
    while isinstance(item, exp.Paren):
        item = item.this
    return item


def _state_window(item: exp.Expression, source: SourceText) -> WindowSyntax | None:
    """eKuiper's `statewindow(…) OVER (PARTITION BY k)` and the same of `countwindow`."""
    if not isinstance(item, exp.Window) or item.args.get("order") or item.args.get("spec"):
        return None
    window = read_window(item.this, source)
    if window is None or window.spelling.lower() not in ("statewindow", "countwindow"):
        return None
    return WindowSyntax(
        spelling=window.spelling,
        span=window.span,
        window=window.window,
        conditions=window.conditions,
        partition_by=tuple(item.args.get("partition_by") or ()),
    )


def one_window(candidates: Sequence[WindowSyntax], source: SourceText) -> WindowSyntax | None:
    """The query's window; two are an error that names both, at the second."""
    if len(candidates) > 1:
        first, second = sorted(candidates, key=lambda window: window.span.start)[:2]
        raise errors.two_windows(
            source.location(second.span), first=first.spelling, second=second.spelling
        )
    return candidates[0] if candidates else None


@dataclass(frozen=True, slots=True)
class Keys:
    """Bound keys. `inherited` are window columns of an inner query that were grouped by: they mean its window."""

    named: tuple[Named, ...]
    inherited: tuple[tuple[Expr, str], ...]

    def over_groups(self) -> dict[Expr, Field]:
        """What each key is called once rows are grouped."""
        windows = {
            inner: Field(f"${meaning}", WINDOW_COLUMNS[meaning])
            for inner, meaning in self.inherited
        }
        return windows | {named.expr: Field(named.name, named.expr.type) for named in self.named}


def bind_keys(
    items: GroupItems, context: Context, *, node: Logical, select: exp.Select, windowed: bool
) -> Keys:
    """Keys as `$k0` …; a key may be a column, an expression, an output name, or a position in the SELECT list."""
    named: dict[Expr, Named] = {}
    inherited: list[tuple[Expr, str]] = []
    for item in items.keys:
        if windowed and _is_own_window_column(item, context):
            continue
        expr = _bind_key(item, context, select)
        meaning = window_column(node, expr)
        if meaning in ("window_start", "window_end", "window_time") and not windowed:
            inherited.append((expr, meaning))
            continue
        if not is_comparable(expr.type):
            raise errors.not_comparable(context.at(item), use="GROUP BY", type=expr.type)
        named.setdefault(expr, Named(f"$k{len(named)}", expr))
    return Keys(tuple(named.values()), tuple(inherited))


def conjunction(condition: exp.Expression) -> list[exp.Expression]:
    """The parts of a condition that all have to hold."""
    whole = _unwrapped(condition)
    if not isinstance(whole, exp.And):
        return [condition]
    return [*conjunction(whole.this), *conjunction(whole.expression)]


def chooses_windows(condition: exp.Expression, scope: Scope) -> bool:
    """Whether it is about the edges of the query's window, and nothing else."""
    columns = list(condition.find_all(exp.Column))
    return bool(columns) and all(_names_window(column, scope) for column in columns)


def _names_window(column: exp.Column, scope: Scope) -> bool:
    if column.table:
        return scope.names_own_window((column.table, column.name))
    return column.name.lower() in WINDOW_COLUMNS and not _is_column(column.name, scope)


def _is_own_window_column(item: exp.Expression, context: Context) -> bool:
    """`GROUP BY window_start, window_end` beside a window of the query's own names that window."""
    inner = _unwrapped(item)
    if not isinstance(inner, exp.Column):
        return False
    if inner.table:
        return context.scope.names_own_window((inner.table, inner.name))
    return inner.name.lower() in WINDOW_COLUMNS


def _bind_key(item: exp.Expression, context: Context, select: exp.Select) -> Expr:
    inner = _unwrapped(item)
    if isinstance(inner, exp.Literal) and not inner.is_string and inner.name.isdecimal():
        place = whole_number(inner.name)
        if not 1 <= place <= len(select.expressions):
            at = context.at(item)
            raise errors.bad_values(
                at,
                problem=f"GROUP BY {inner.name[:20]}: the SELECT list has {len(select.expressions)} items",
            )
        return bind(_without_alias(select.expressions[place - 1]), context)
    if (
        isinstance(inner, exp.Column)
        and not inner.table
        and not _is_column(inner.name, context.scope)
    ):
        for output in select.expressions:
            if isinstance(output, exp.Alias) and output.alias.lower() == inner.name.lower():
                return bind(output.this, context)
    return bind(item, context)


def _without_alias(node: exp.Expression) -> exp.Expression:
    return node.this if isinstance(node, exp.Alias) else node


def _is_column(name: str, scope: Scope) -> bool:
    return any(given.columns.find(name) for given in scope.inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Rewrites expressions over rows into expressions over groups, and refuses what is neither key nor aggregate."""

    keys: Mapping[Expr, Field]
    scope: Scope
    within: Span
    windowed: bool = False

    def over_groups(self, expr: Expr) -> Expr:
        rewritten = substitute(expr, self.keys.get)
        for node in walk(rewritten):
            if isinstance(node, Field) and not node.name.startswith("$"):
                written = self.scope.seen.get(node.name)
                name, span = (written.text, written.span) if written else (node.name, self.within)
                raise errors.not_grouped(
                    self.scope.source.location(span), name=name, **self._hint(node)
                )
        return rewritten

    def _hint(self, column: Field) -> dict[str, str]:
        """The time of the window is not one value per group; its edges are."""
        if column.type is Scalar.TIMESTAMP and self.windowed:
            return {"hint": "use window_start or window_end, or aggregate it, for example MAX"}
        return {}
