"""The seam between rows and windows: what an aggregate keeps per group, and how it is combined.

An engine's SQL computes the columns of a `PartialSpec` over the rows of a batch (`op`); the kernel combines equal
groups (`merge`) and turns the columns into the aggregate's value (`FinishSpec`). Every merge is associative and
commutative, and the partial of no rows (0, NULL, or an empty list, for which an engine may say NULL) is its identity;
so neither batching nor sharding can change an answer.

The key that a value follows, and the counts that moments go by, are the columns before it in `FinishSpec.partials`;
in the plan they may stand anywhere, since aggregates share equal columns. An exact sum is the sum of its columns:
BIGINT as multiples of 2^32 and the rest, long DECIMALs as `sql/functions/internal.py` says.

Of a Python aggregate the engine collects the values of its arguments, and the kernel makes states of them at once, so
that nothing behind the seam grows with the rows.
"""

from dataclasses import dataclass
from enum import StrEnum

from tidegate.model.expressions import Expr, Field, Literal, SortKey
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.model.user_aggregates import UserAggregate

# Digits that a sum of DECIMALs may have beyond those of its values; both sides of the seam split long ones by it.
SPARE_DIGITS = 10


class PartialOp(StrEnum):
    """What the engine's SQL computes over rows. NULL arguments are left out, except by ROWS."""

    ROWS = "rows"
    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    M2 = "m2"
    COMOMENT = "comoment"
    MIN = "min"
    MAX = "max"
    MIN_OF_FINITE = "min_of_finite"  # of floats of which none is NaN or infinite
    MAX_OF_FINITE = "max_of_finite"
    FIRST = "first"
    LAST = "last"
    BOOL_AND = "bool_and"
    BOOL_OR = "bool_or"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"
    COLLECT = "collect"
    COLLECT_SET = "collect_set"


class Merge(StrEnum):
    """How the kernel combines two partial columns of one group."""

    ADD = "add"
    MIN = "min"
    MAX = "max"
    FOLLOW_MIN = (
        "follow_min"  # the value that came with the smaller key; of equal keys the smaller value
    )
    FOLLOW_MAX = "follow_max"
    MOMENTS = "moments"  # means and squared deviations, by the counts
    AND = "and"
    OR = "or"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"
    CONCAT = "concat"
    UNION = "union"
    SMALLEST = "smallest"  # of a set, what has the smallest hashes (kernel/sketches.py)
    WEIGHTS = "weights"  # values with counts, rounded where there are many
    USER = "user"  # states of a Python aggregate, by its own merge


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialSpec:
    """One column of an aggregate's partial, as the engine's SQL gives it. `user` is whose states are kept of it."""

    op: PartialOp
    args: tuple[Expr, ...]
    filter: Expr | None
    type: DataType
    merge: Merge
    user: UserAggregate | None = None

    @property
    def kept_type(self) -> DataType:
        """What the column is behind the seam: states of Python aggregates are text (`model/plain_data.py`)."""
        return self.type if self.user is None else Scalar.VARCHAR


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishSpec:
    """How an aggregate's value comes from its partial columns (their positions)."""

    function: str
    partials: tuple[int, ...]
    type: DataType
    distinct: bool = False
    parameters: tuple[Literal, ...] = ()
    order: tuple[SortKey, ...] = ()
    user: UserAggregate | None = None


_WIDTHS = {
    Scalar.BOOLEAN: 1,
    Scalar.TINYINT: 1,
    Scalar.SMALLINT: 2,
    Scalar.INTEGER: 4,
    Scalar.REAL: 4,
    Scalar.DATE: 4,
}


def width_bytes(kind: DataType) -> int | None:
    """Bytes that a value takes in columnar state; None where that depends on the value."""
    match kind:
        case Decimal():
            return 16
        case Array() | Map() | Struct() | Scalar.VARCHAR | Scalar.BINARY:
            return None
        case _:
            return _WIDTHS.get(kind, 8)


def row_inputs(spec: PartialSpec, place: int) -> tuple[Field, ...]:
    """The columns in which one row, crossing whole, brings what it adds to the partial at that place.

    Rows that add nothing have NULL. Where several values are collected together, the first column says whether they
    are; where every row counts, no column is needed.
    """
    name = f"$p{place}"
    match spec.op:
        case PartialOp.ROWS if spec.filter is None:
            return ()
        case PartialOp.COLLECT | PartialOp.COLLECT_SET if len(spec.args) > 1:
            values = (Field(f"{name}_{n}", arg.type) for n, arg in enumerate(spec.args))
            return (Field(name, Scalar.BOOLEAN), *values)
        case PartialOp.COLLECT | PartialOp.COLLECT_SET | PartialOp.SUM:
            return (Field(name, spec.args[0].type),)
        case _:
            return (Field(name, spec.type),)
