"""Arithmetic that the planner writes, on numbers that it knows to be in range; queries cannot call it.

Panes are computed for every row, so these forms are plain: no check, except that Spark must not raise for a row whose
event time is out of range and whose result nobody looks at.
"""

from tidegate.model.types import Scalar
from tidegate.sql.functions.signature import BIGINT, Function, overload


def _internal(name: str, doc: str, datafusion: str, spark: str, *, operands: int) -> Function:
    form = overload([BIGINT] * operands, Scalar.BIGINT, datafusion=datafusion, spark=spark)
    return Function(name=name, overloads=(form,), doc=doc, family="internal")


INTERNAL = (
    _internal("$shift", "Sum.", "({0} + {1})", "try_add({0}, {1})", operands=2),
    _internal(
        "$divide", "Quotient by a positive constant.", "({0} / {1})", "({0} DIV {1})", operands=2
    ),
    _internal(
        "$remainder", "Remainder by a positive constant.", "({0} % {1})", "({0} % {1})", operands=2
    ),
    _internal("$scale", "Product of small numbers.", "({0} * {1})", "({0} * {1})", operands=2),
    _internal("$negate", "The opposite of a small number.", "(-{0})", "(-{0})", operands=1),
)
