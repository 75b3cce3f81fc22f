"""Whole queries: WITH, UNION ALL and parentheses around SELECTs, and the top of a stream."""

from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Field, Literal, Named
from tidegate.model.options import OptionValue
from tidegate.model.policies import Emit, EmitMode, StreamKind
from tidegate.model.types import DataType, Scalar, common_type
from tidegate.plan.coercion import coerce
from tidegate.plan.emission import Shape, choose_emit, choose_lateness
from tidegate.plan.grouping_sets import one_per_set
from tidegate.plan.limits import MAX_NAMES
from tidegate.plan.lineage import bases
from tidegate.plan.logical import Emission, Logical, Project, UnionAll
from tidegate.plan.outputs import identity
from tidegate.plan.select import bind_select
from tidegate.plan.surroundings import Subquery, Surroundings
from tidegate.sql.places import span_of
from tidegate.sql.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundQuery:
    """A query ready to run. `stateless`: its rows are passed on as they come."""

    logical: Emission
    stateless: bool


def bind_top(tree: exp.Expression, around: Surroundings) -> BoundQuery:
    """The query of a stream, with an `Emission` on top whatever it is."""
    node = bind_query(tree, around)
    if isinstance(node, Emission):
        return BoundQuery(logical=node, stateless=False)
    clauses = around.clauses(_last_select(tree))
    options = tuple(sorted(around.own_options(clauses).items()))
    inner = [base for base in bases(node) if isinstance(base, Emission)]
    if inner:
        return BoundQuery(logical=_over_windows(node, inner, options, around), stateless=False)
    shape = Shape(
        window=None,
        spelling=None,
        aggregated=False,
        over=False,
        node=node,
        reads="",
        time_column="ts",
    )
    emit, kind = choose_emit(clauses, shape, around.source, fallback=around.query.span)
    choose_lateness(
        clauses, shape, emit, option_us=0, source=around.source, fallback=around.query.span
    )
    return BoundQuery(
        logical=Emission(input=node, emit=emit, kind=kind, lateness_us=0, options=options),
        stateless=True,
    )


def _over_windows(
    node: Logical,
    inner: list[Emission],
    options: tuple[tuple[str, OptionValue], ...],
    around: Surroundings,
) -> Emission:
    """A union of, or a table joined to, windowed queries: their rows, passed on."""
    kinds = {emission.kind for emission in inner}
    if kinds != {StreamKind.APPEND}:
        at = around.source.location(around.query.span)
        kind = next(kind for kind in kinds if kind is not StreamKind.APPEND)
        raise errors.cascade_cannot_retract(
            at,
            stream="the subquery",
            kind=kind,
            what="this query",
            instead="use EMIT ON WINDOW CLOSE inside",
        )
    return Emission(
        input=node,
        emit=Emit(mode=EmitMode.ON_UPDATE),
        kind=StreamKind.APPEND,
        lateness_us=0,
        options=options,
    )


def bind_query(tree: exp.Expression, around: Surroundings) -> Logical:
    """Any query: a SELECT, a UNION ALL, or one of these in parentheses, after its WITH."""
    around = _with_names(tree, around)
    match tree:
        case exp.Subquery():
            return bind_query(tree.this, around)
        case exp.Union():
            return _bind_union(tree, around)
        case exp.Select():
            sets = one_per_set(tree, around)
            return bind_select(tree, around) if sets is None else bind_query(sets, around)
        case _:
            at = around.source.location(_operator_span(tree, around))
            raise errors.not_supported(
                at, what=tree.key.upper(), instead="use UNION ALL, or a join with a table"
            )


def _with_names(tree: exp.Expression, around: Surroundings) -> Surroundings:
    clause = tree.args.get("with_")
    if clause is None:
        return around
    if clause.args.get("recursive"):
        raise errors.not_supported(
            around.source.location(around.query.span), what="WITH RECURSIVE", instead=""
        )
    names = dict(around.names)
    if len(clause.expressions) > MAX_NAMES:
        first = clause.expressions[MAX_NAMES].args["alias"]
        at = around.source.location(span_of(first, around.source, otherwise=around.query.span))
        instead = "make streams of some of them"
        raise errors.not_supported(at, what=f"WITH of more than {MAX_NAMES} names", instead=instead)
    for entry in clause.expressions:
        if entry.alias.lower() in names and entry.alias.lower() not in around.names:
            at = around.source.location(
                span_of(entry.args["alias"], around.source, otherwise=around.query.span)
            )
            raise errors.duplicate_name(at, what="the name", name=entry.alias)
        named = Subquery(tree=entry.this, names=dict(names))
        if entry.args["alias"].args.get("columns"):
            at = around.source.location(around.query.span)
            raise errors.not_supported(
                at,
                what="column names behind the name of WITH",
                instead="name the columns inside with AS",
            )
        names[entry.alias.lower()] = named
    return replace(around, names=names)


def _last_select(tree: exp.Expression) -> exp.Expression:
    """The SELECT that trailing clauses are written behind."""
    while isinstance(tree, (exp.Subquery, exp.SetOperation)):
        tree = tree.expression if isinstance(tree, exp.SetOperation) else tree.this
    return tree


def _operator_span(tree: exp.Expression, around: Surroundings) -> Span:
    """The word UNION, INTERSECT or EXCEPT, which sqlglot gives no place; else the last SELECT."""
    right: exp.Expression = tree.expression if isinstance(tree, exp.SetOperation) else tree
    while isinstance(right, (exp.Subquery, exp.SetOperation)):
        right = right.this
    select = around.span(right)
    found = around.source.text.upper().rfind(tree.key.upper(), 0, select.start)
    return Span(found, found + len(tree.key)) if found >= 0 else select


def _parts(tree: exp.Expression) -> list[exp.Expression]:
    """The queries of a chain of UNION ALLs, left to right; a long chain does not nest."""
    parts: list[exp.Expression] = []
    while isinstance(tree, exp.Union):
        parts.append(tree.expression)
        tree = tree.this
    return [tree, *reversed(parts)]


def _bind_union(tree: exp.Union, around: Surroundings) -> Logical:
    at = around.source.location(around.span(_last_select(tree)))
    node: exp.Expression = tree
    while isinstance(node, exp.Union):
        if node.args.get("distinct") or node.args.get("order") or node.args.get("limit"):
            what = (
                "UNION without ALL"
                if node.args.get("distinct")
                else "ORDER BY or LIMIT behind UNION ALL"
            )
            place = around.source.location(_operator_span(node, around))
            raise errors.not_supported(
                place, what=what, instead="use UNION ALL, and put the rest into a query around it"
            )
        node = node.this
    around = replace(around, inherited=around.clauses(_last_select(tree)))
    bound = [bind_query(part, around) for part in _parts(tree)]
    widths = {len(part.schema) for part in bound}
    if len(widths) > 1:
        left, right = sorted(widths)[:2]
        raise errors.columns_differ(at, what="the parts of UNION ALL", left=left, right=right)
    types = _common_types(bound, at)
    return UnionAll(inputs=tuple(_converted(part, bound[0].schema.names, types) for part in bound))


def _common_types(parts: list[Logical], at: errors.Location) -> list[DataType]:
    shared: list[DataType] = []
    for place, kinds in enumerate(zip(*map(_column_types, parts), strict=True)):
        kind = kinds[0]
        for other in kinds[1:]:
            merged = common_type(kind, other)
            if merged is None:
                types = " and ".join(dict.fromkeys(map(str, kinds)))
                raise errors.no_common_type(
                    at, what=f"column {place + 1} of UNION ALL", types=types
                )
            kind = merged
        shared.append(Scalar.VARCHAR if kind is Scalar.NULL else kind)
    return shared


def _column_types(part: Logical) -> list[DataType]:
    """The types of a part's columns; a bare NULL has none of its own."""
    if isinstance(part, Emission):
        part = part.input
    if not isinstance(part, Project):
        return [column.type for column in part.schema]
    return [
        Scalar.NULL if named.expr == Literal(None, Scalar.VARCHAR) else named.expr.type
        for named in part.columns
    ]


def _converted(part: Logical, names: tuple[str, ...], types: list[DataType]) -> Logical:
    columns = tuple(
        Named(name, coerce(Field(column.name, column.type), kind))
        for name, column, kind in zip(names, part.schema, types, strict=True)
    )
    return part if identity(columns) else Project(input=part, columns=columns)
