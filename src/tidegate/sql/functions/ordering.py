"""Order and equality of floats: NaN equals NaN and is larger than everything, -0.0 equals 0.0.

Spark and PostgreSQL have it so. DataFusion orders by bits, so its operands are normalised first, here and nowhere
else.
"""

import re
from collections.abc import Sequence

from tidegate.model.types import DataType, Scalar, is_float
from tidegate.sql.functions.signature import Template

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")


def _is_number(sql: str) -> bool:
    """Whether rendered text is a numeric literal (without a sign): comparing with one needs no normalisation."""
    return bool(_NUMBER.fullmatch(sql))


def datafusion_order_key(sql: str, kind: DataType) -> str:
    """A float whose bit order is its SQL order: one NaN (the largest), one zero. Other types order as they are."""
    if not is_float(kind) or _is_number(sql):
        return sql
    double = sql if kind is Scalar.DOUBLE else f"CAST({sql} AS DOUBLE)"
    return f"(nanvl({double}, CAST('NaN' AS DOUBLE)) + 0.0e0)"


def order_keys(args: Sequence[str], types: Sequence[DataType]) -> list[str]:
    return [datafusion_order_key(arg, kind) for arg, kind in zip(args, types, strict=True)]


def keyed(text: str) -> Template:
    """A template for DataFusion whose floating arguments are order keys."""

    def filled(args: Sequence[str], types: Sequence[DataType], _result: DataType) -> str:
        keys = order_keys(args, types)
        return text.format(*keys, rest=", ".join(keys[1:]))

    return filled
