"""Arithmetic that the planner writes, on numbers that it knows to be in range; queries cannot call it.

Panes are computed for every row, so these forms are plain: no check, except that Spark must not raise for a row whose
event time is out of range and whose result nobody looks at.

A DECIMAL of more than 28 digits is added up in two parts, each of which leaves an engine ten digits to carry into:
`$fine` is its last digits, as many as there are beyond 28, and `$coarse` what is before them.
"""

from collections.abc import Sequence

from tidegate.model.expressions import Expr, call
from tidegate.model.partials import SPARE_DIGITS
from tidegate.model.types import MAX_PRECISION, DataType, Decimal, Scalar
from tidegate.sql.functions.signature import BIGINT, DECIMAL, Function, overload


def coarse(value: Expr) -> Expr:
    return call("$coarse", value, type=_coarse_type([value.type]))


def fine(value: Expr) -> Expr:
    return call("$fine", value, type=_fine_type([value.type]))


def coarse_unit(kind: Decimal) -> int:
    """What the coarse part counts where its digits end left of the point: the value is coarse * unit + fine.

    >>> coarse_unit(Decimal(38, 2)), coarse_unit(Decimal(38, 18))
    (100000000, 1)
    """
    return int(10 ** max(0, _extra(kind) - kind.scale))


def _extra(kind: Decimal) -> int:
    return kind.precision + SPARE_DIGITS - MAX_PRECISION


def _coarse_type(types: Sequence[DataType]) -> Decimal:
    (kind,) = types
    assert isinstance(kind, Decimal)
    return Decimal(MAX_PRECISION - SPARE_DIGITS, max(0, kind.scale - _extra(kind)))


def _fine_type(types: Sequence[DataType]) -> Decimal:
    (kind,) = types
    assert isinstance(kind, Decimal)
    return Decimal(max(_extra(kind), kind.scale), kind.scale)


def _fine(args: Sequence[str], types: Sequence[DataType], result: DataType) -> str:
    return f"CAST({args[0]} % {_power_of_ten(types[0])} AS {result})"


def _coarse(args: Sequence[str], types: Sequence[DataType], result: DataType) -> str:
    (kind,) = types
    assert isinstance(kind, Decimal)
    rest = f"({args[0]} - {args[0]} % {_power_of_ten(kind)})"
    shift = _extra(kind) - kind.scale
    if shift > 0:
        rest = f"{rest} * CAST('0.{'1'.zfill(shift)}' AS DECIMAL({shift}, {shift}))"
    return f"CAST({rest} AS {result})"


def _power_of_ten(kind: DataType) -> str:
    """The unit of the coarse part."""
    assert isinstance(kind, Decimal)
    power = _extra(kind) - kind.scale
    if power >= 0:
        return f"CAST('1{'0' * power}' AS DECIMAL({power + 1}, 0))"
    return f"CAST('0.{'1'.zfill(-power)}' AS DECIMAL({-power}, {-power}))"


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
    Function(
        name="$coarse",
        overloads=(overload([DECIMAL], _coarse_type, _coarse),),
        doc="A long DECIMAL without its last digits.",
        family="internal",
    ),
    Function(
        name="$fine",
        overloads=(overload([DECIMAL], _fine_type, _fine),),
        doc="The last digits of a long DECIMAL.",
        family="internal",
    ),
)
