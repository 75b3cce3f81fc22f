"""INSERT INTO … VALUES: constant rows for a memory source, as values of its columns' types."""

from dataclasses import dataclass, replace
from decimal import Decimal as Number

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Call, Cast, Expr, Literal
from tidegate.model.types import (
    Array,
    DataType,
    Decimal,
    Scalar,
    common_type,
    is_numeric,
)
from tidegate.plan.calls import CallRules
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.coercion import coerce
from tidegate.plan.expressions import Context, bind
from tidegate.plan.scope import Scope as NameScope
from tidegate.plan.types import instant_literal
from tidegate.sql.places import span_of
from tidegate.sql.statements import (
    Insert,
)

_BITS = {Scalar.TINYINT: 8, Scalar.SMALLINT: 16, Scalar.INTEGER: 32, Scalar.BIGINT: 64}


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertedRows:
    """Constant rows for a memory source, converted to its columns."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Expr, ...], ...]


def bind_insert(statement: Insert, target: SourceDef | TableDef) -> InsertedRows:
    """The rows, each value as its column's type."""
    source = statement.source
    names = [name.text for name in statement.columns] or list(target.physical.names)
    for name in statement.columns:
        if target.physical.find(name.text) is None:
            hint = errors.nearest(name.text, target.physical.names)
            raise errors.unknown_column(source.location(name.span), name=name, hint=hint)
    context = Context(
        scope=NameScope(source=source, inputs=()),
        clause="VALUES",
        call=CallRules().bind,
        within=statement.span,
    )
    rows = []
    for row in statement.rows:
        if len(row) != len(names):
            at = source.location(span_of(row[0], source, otherwise=statement.span))
            raise errors.bad_values(at, problem=f"{len(row)} values for {len(names)} columns")
        rows.append(
            tuple(
                _value(node, target, name, context) for node, name in zip(row, names, strict=True)
            )
        )
    return InsertedRows(source=target.name, columns=tuple(names), rows=tuple(rows))


def _value(node: exp.Expression, target: SourceDef | TableDef, name: str, context: Context) -> Expr:
    column = target.physical.find(name)
    assert column is not None
    value = bind(node, context)
    if isinstance(value.value if isinstance(value, Literal) else None, str) and column.type in (
        Scalar.TIMESTAMP,
        Scalar.DATE,
    ):
        assert isinstance(value, Literal)
        assert isinstance(column.type, Scalar)
        return instant_literal(
            str(value.value),
            column.type,
            source=context.scope.source,
            span=span_of(node, context.scope.source),
        )
    value = _elements_as(value, column.type)
    if not _fits(value.type, column.type):
        raise errors.impossible_cast(
            context.at(node),
            source=value.type,
            target=column.type,
            hint="write a value of the column's type",
        )
    return _converted(value, column.type)


def _elements_as(value: Expr, kind: DataType) -> Expr:
    """`ARRAY[1, 2]` is of BIGINT; for a column of smaller numbers its elements are converted, as single values are."""
    match value, kind:
        case Call(function="make_array", args=args), Array(element):
            fitted = tuple(_elements_as(one, element) for one in args)
            if all(_fits(one.type, element) for one in fitted):
                return replace(
                    value, args=tuple(_converted(one, element) for one in fitted), type=kind
                )
    return value


def _converted(value: Expr, kind: DataType) -> Expr:
    """A number that is too large is for CAST to find; a literal of a type that it does not fit would be none."""
    number = value.value if isinstance(value, Literal) else None
    if isinstance(number, (int, Number)) and not _holds(kind, number):
        return Cast(value, kind)
    return coerce(value, kind)


def _holds(kind: DataType, number: int | Number) -> bool:
    """Whether the type, if it has bounds, has the number as it is."""
    if isinstance(kind, Decimal):
        limit = Number(10) ** (kind.precision - kind.scale)
        return -limit < number < limit and round(Number(number), kind.scale) == number
    if isinstance(kind, Scalar) and kind in _BITS:
        limit = Number(2) ** (_BITS[kind] - 1)
        return -limit <= number < limit
    return True


def _fits(given: DataType, wanted: DataType) -> bool:
    both_numbers = is_numeric(given) and is_numeric(wanted)
    return both_numbers or common_type(given, wanted) == wanted
