"""Order and equality of floats: NaN equals NaN and is larger than everything, -0.0 equals 0.0.

Spark and PostgreSQL have it so. DataFusion orders by bits, so its operands are normalised first, here and nowhere
else.
"""

import re
from collections.abc import Sequence

from tidegate.model.types import DataType, is_float
from tidegate.sql.functions.signature import Template

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")


def is_nonzero_number(sql: str) -> bool:
    """Whether rendered text is a numeric literal other than zero: comparing with one needs no normalisation."""
    digits = sql.partition("e")[0]
    return bool(_NUMBER.fullmatch(sql)) and any(digit in digits for digit in "123456789")


def datafusion_order_key(sql: str, kind: DataType) -> str:
    """A float whose bit order is its SQL order: one NaN (the largest), one zero. Other types order as they are."""
    if not is_float(kind) or is_nonzero_number(sql):
        return sql
    return f"(nanvl(CAST({sql} AS DOUBLE), CAST('NaN' AS DOUBLE)) + 0.0e0)"


def order_keys(args: Sequence[str], types: Sequence[DataType]) -> list[str]:
    return [datafusion_order_key(arg, kind) for arg, kind in zip(args, types, strict=True)]


def keyed(text: str) -> Template:
    """A template for DataFusion whose floating arguments are order keys."""

    def filled(args: Sequence[str], types: Sequence[DataType], _result: DataType) -> str:
        keys = order_keys(args, types)
        return text.format(*keys, rest=", ".join(keys[1:]))

    return filled
