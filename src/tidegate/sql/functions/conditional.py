"""Choosing among values. IF and CASE are not here: binding turns them into `Case`."""

from collections.abc import Sequence
from functools import partial

from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions.ordering import datafusion_order_key, order_keys
from tidegate.sql.functions.signature import (
    COMPARABLE,
    DOUBLE,
    SAME,
    Template,
    entry,
    first,
    overload,
)


def _null_if(args: Sequence[str], types: Sequence[DataType], _result: DataType) -> str:
    """DataFusion's own NULLIF tells -0.0 from 0.0."""
    keys = order_keys(args, types)
    if keys == list(args):
        return f"NULLIF({args[0]}, {args[1]})"
    return f"CASE WHEN {keys[0]} = {keys[1]} THEN NULL ELSE {args[0]} END"


def _extreme(name: str) -> Template:
    def text(args: Sequence[str], types: Sequence[DataType], _result: DataType) -> str:
        keys = [datafusion_order_key(arg, kind) for arg, kind in zip(args, types, strict=True)]
        called = f"{name}({', '.join(keys)})"
        return f"CAST({called} AS REAL)" if types[0] is Scalar.REAL else called

    return text


_function = partial(entry, "conditional")


CONDITIONAL = (
    _function(
        "coalesce",
        "The first argument that is not NULL.",
        "coalesce(nickname, name, 'nobody')",
        overload([SAME], first, "coalesce({args})", variadic=True),
        aliases=("ifnull", "nvl"),
    ),
    _function(
        "nullif",
        "NULL where both are equal, else the first.",
        "nullif(price, 0)",
        overload([COMPARABLE, COMPARABLE], first, datafusion=_null_if, spark="NULLIF({0}, {1})"),
    ),
    _function(
        "greatest",
        "The largest argument; NULLs are left out, NaN is larger than every number.",
        "greatest(bid, ask)",
        overload(
            [COMPARABLE, COMPARABLE],
            first,
            datafusion=_extreme("greatest"),
            spark="greatest({args})",
            variadic=True,
        ),
    ),
    _function(
        "least",
        "The smallest argument; NULLs are left out.",
        "least(bid, ask)",
        overload(
            [COMPARABLE, COMPARABLE],
            first,
            datafusion=_extreme("least"),
            spark="least({args})",
            variadic=True,
        ),
    ),
    _function(
        "nanvl",
        "The first, or the second where the first is NaN.",
        "nanvl(ratio, 0)",
        overload([DOUBLE, DOUBLE], Scalar.DOUBLE, "nanvl({0}, {1})"),
    ),
)
