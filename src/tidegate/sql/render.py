"""Bound expressions as SQL text for one engine.

In: `model.expressions`. Out: text that computes the same value on DataFusion and on Spark, and never raises for any
row. All coercions are explicit by now, so nothing here depends on an engine's own typing rules. INTERVALs are BIGINT
microseconds in this text. Parameters stay as `:name` unless their values are given.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal as Number
from typing import assert_never

from tidegate import errors
from tidegate.model.expressions import Call, Case, Cast, Expr, Field, Literal, Parameter
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.sql.functions import spelling
from tidegate.sql.functions.casts import cast_template
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.functions.signature import Engine, Template
from tidegate.sql.functions.spelling import quote, type_name

# Some templates name an argument several times, so text can grow exponentially with nesting.
_LONGEST = 1_000_000

__all__ = ["quote", "render", "type_name"]


def render(expr: Expr, engine: Engine, values: Mapping[str, int] | None = None) -> str:
    """The expression as text of the engine's SQL."""
    match expr:
        case Field(name=name):
            return quote(name, engine)
        case Parameter(name=name):
            if values is None or name not in values:
                return f":{name}"
            return _literal(Literal(values[name], expr.type), engine)
        case Literal():
            return _literal(expr, engine)
        case Call():
            return _call(expr, engine, values)
        case Cast(operand=operand):
            template = cast_template(operand.type, expr.type, engine)
            return _fill(template, [render(operand, engine, values)], [operand.type], expr.type)
        case Case():
            return _case(expr, engine, values)
        case _:
            assert_never(expr)


def _call(expr: Call, engine: Engine, values: Mapping[str, int] | None) -> str:
    types = [arg.type for arg in expr.args]
    resolved = FUNCTIONS[expr.function].resolve(types)
    assert resolved is not None, expr
    template = resolved[0].spark if engine is Engine.SPARK else resolved[0].datafusion
    return _fill(template, [render(arg, engine, values) for arg in expr.args], types, expr.type)


def _fill(
    template: Template, args: Sequence[str], types: Sequence[DataType], result: DataType
) -> str:
    if isinstance(template, str):
        text = template.format(*args, args=", ".join(args), rest=", ".join(args[1:]))
    else:
        text = template(args, types, result)
    if len(text) > _LONGEST:
        raise errors.not_supported(
            what="an expression of this size", instead="compute its parts in a subquery"
        )
    return text


def _case(expr: Case, engine: Engine, values: Mapping[str, int] | None) -> str:
    branches = " ".join(
        f"WHEN {render(when, engine, values)} THEN {render(then, engine, values)}"
        for when, then in expr.branches
    )
    return f"CASE {branches} ELSE {render(expr.otherwise, engine, values)} END"


def _literal(literal: Literal, engine: Engine) -> str:
    name = type_name(literal.type, engine)
    match literal.value:
        case None:
            bare = literal.type is Scalar.NULL or _nameless(literal.type, engine)
            return "NULL" if bare else f"CAST(NULL AS {name})"
        case bool(value):
            return "TRUE" if value else "FALSE"
        case int(value):
            return _integer(value, literal.type, engine)
        case float(value):
            number = spelling.double(value)
            return f"CAST({number} AS {name})" if literal.type is Scalar.REAL else number
        case Number() as number:
            return f"CAST('{number:f}' AS {name})"
        case str(value):
            return spelling.string(value, engine)
        case bytes(value):
            return f"X'{value.hex()}'"
        case _:
            assert_never(literal.value)


def _nameless(kind: DataType, engine: Engine) -> bool:
    """DataFusion's CAST does not know STRUCT and MAP; what stands around a NULL of theirs says what it is."""
    if isinstance(kind, Array):
        return _nameless(kind.element, engine)
    return engine is Engine.DATAFUSION and isinstance(kind, (Map, Struct))


def _integer(value: int, kind: DataType, engine: Engine) -> str:
    number = spelling.bigint(value, engine)
    match kind:
        case Scalar.TIMESTAMP:
            return spelling.timestamp_micros(number, engine)
        case Scalar.DATE if engine is Engine.SPARK:
            return f"date_add(DATE '1970-01-01', {value})"
        case Scalar.DATE | Scalar.TINYINT | Scalar.SMALLINT | Scalar.INTEGER:
            return f"CAST({number} AS {type_name(kind, engine)})"
        case Decimal():
            return f"CAST('{value}' AS {type_name(kind, engine)})"
        case Scalar.DOUBLE | Scalar.REAL:
            return _literal(Literal(float(value), kind), engine)
        case _:
            return number
