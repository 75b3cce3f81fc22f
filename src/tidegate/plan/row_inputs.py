"""What a single row adds to partials, where rows cross the seam whole.

Decided here: a row that crosses whole is a partial of one row. Its filters, conversions and halves are computed by row
SQL, as those of partials are, so the kernel combines rows of sliding, counting and state windows exactly as it combines
partials of many rows, and knows no expressions.
"""

from collections.abc import Iterator

from tidegate.model.expressions import (
    TRUE,
    Case,
    Cast,
    Expr,
    Field,
    Literal,
    Named,
    all_of,
    bigint,
    fields_of,
    is_null,
    negate,
)
from tidegate.model.partials import PartialOp, PartialSpec, row_inputs
from tidegate.model.types import Scalar
from tidegate.model.windows import Conditional
from tidegate.plan.physical import Stage, StageKind

_NOTHING = Literal(0.0, Scalar.DOUBLE)


def inputs_of(stage: Stage) -> tuple[Named, ...]:
    """The columns of all partials."""
    return tuple(
        named for place, spec in enumerate(stage.partials) for named in _inputs(spec, place)
    )


def _inputs(spec: PartialSpec, place: int) -> Iterator[Named]:
    columns = row_inputs(spec, place)
    if columns:
        for column, expr in zip(columns, _exprs(spec), strict=True):
            yield Named(column.name, expr)


def _exprs(spec: PartialSpec) -> tuple[Expr, ...]:
    condition = TRUE if spec.filter is None else spec.filter
    match spec.op:
        case PartialOp.ROWS | PartialOp.COUNT:
            return (_one_where(all_of(condition, *_present(spec))),)
        case PartialOp.MEAN:
            (value,) = spec.args
            own = value if value.type is Scalar.DOUBLE else Cast(value, Scalar.DOUBLE)
            return (_where(condition, own),)
        case PartialOp.M2 | PartialOp.COMOMENT:
            return (_where(all_of(condition, *_present(spec)), _NOTHING),)
        case PartialOp.COLLECT | PartialOp.COLLECT_SET if len(spec.args) > 1:
            return (condition, *spec.args)
        case _:
            return (_where(condition, spec.args[-1]),)


def _present(spec: PartialSpec) -> tuple[Expr, ...]:
    return tuple(negate(is_null(arg)) for arg in spec.args)


def _one_where(condition: Expr) -> Expr:
    return Case(((condition, bigint(1)),), bigint(0), Scalar.BIGINT)


def _where(condition: Expr, value: Expr) -> Expr:
    if condition == TRUE:
        return value
    return Case(((condition, value),), Literal(None, value.type), value.type)


def read_whole(stage: Stage) -> frozenset[str]:
    """The row columns that are needed as they are: keys, conditions, and what the output reads."""
    read = {field.name for field in (*stage.keys, *stage.partition_by)}
    read |= {field.name for field, _ in stage.inherited}
    read |= {name for frame in stage.frames for name in frame.partition_by}
    read |= fields_of(*(named.expr for named in stage.output))
    read |= fields_of(*(key.expr for key in stage.order))
    if stage.having is not None:
        read |= fields_of(stage.having)
    if stage.dedup is not None:
        read |= {key.name for key in stage.dedup.keys}
    if isinstance(stage.window, Conditional):
        read |= fields_of(stage.window.open, stage.window.close)
    return frozenset(read)


def row_columns(stage: Stage) -> tuple[Field, ...]:
    """All columns in which a row of the stage crosses whole, besides its time."""
    columns = tuple(Field(named.name, named.expr.type) for named in stage.branches[0].columns)
    if not has_inputs(stage):
        return columns
    whole = read_whole(stage)
    brought = (
        column for place, spec in enumerate(stage.partials) for column in row_inputs(spec, place)
    )
    return (*(column for column in columns if column.name in whole), *brought)


def has_inputs(stage: Stage) -> bool:
    """Whether rows bring what aggregates need, and nothing else of it."""
    return stage.kind in (StageKind.AGGREGATE, StageKind.SLIDING)
