"""Two streams joined row by row, where the condition bounds how far their times are apart.

In: the parts of a condition that are not equalities. Out: `Interval`: how much later than its left row a right row may
be. Decided here: what is a bound. It compares the event times of both sides, each at most shifted by a literal
interval; other columns may say when something was, but no watermark tells when no more such rows come, so rows would
have to be kept for ever. Both bounds are needed, for the same reason. A side on the clock has no event time to compare.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tidegate import errors
from tidegate.model.expressions import Call, Expr, Literal, fields_of
from tidegate.model.types import Scalar
from tidegate.model.windows import Interval, InvalidLength
from tidegate.plan.lineage import through, window_column
from tidegate.plan.logical import (
    Emission,
    EventTime,
    Filter,
    Having,
    IntervalJoin,
    Logical,
    Project,
    Rung,
    TopN,
)

_MIRRORED = {">=": "<=", ">": "<", "=": "=", "<=": ">=", "<": ">"}
_AFTER_ROWS = {
    "window_time": 0,
    "window_end": 1,
}  # a row of a window that the watermark closes is of its last instant


@dataclass(frozen=True, slots=True)
class Bounds:
    """`interval` None: the times of both sides are not bounded. `rest` is what else must hold."""

    interval: Interval | None
    rest: tuple[Expr, ...]


def bounds_of(
    parts: Iterable[Expr], left: Logical, right: Logical, *, at: errors.Location
) -> Bounds:
    """What conditions say of the distance of the times of two sides, whose times are attached."""
    lowest: list[int] = []
    highest: list[int] = []
    rest = []
    for part in parts:
        found = _bound(part, left, right)
        if found is None:
            rest.append(part)
            continue
        compared, distance_us = found
        if compared in (">=", ">", "="):
            lowest.append(distance_us + (compared == ">"))
        if compared in ("<=", "<", "="):
            highest.append(distance_us - (compared == "<"))
    if not lowest or not highest:
        return Bounds(None, (*rest,))
    try:
        return Bounds(Interval(lower_us=max(lowest), upper_us=min(highest)), tuple(rest))
    except InvalidLength as invalid:
        raise invalid.kind(at, **invalid.facts) from None


def is_meeting(node: Logical) -> bool:
    """Whether the rows are those of such a join, passed on or not."""
    while isinstance(node, (Emission, Project, Having, TopN)):
        node = node.input
    return isinstance(node, IntervalJoin)


def _bound(part: Expr, left: Logical, right: Logical) -> tuple[str, int] | None:
    """How the time of the right row, less that of the left row, compares with so many microseconds."""
    if not isinstance(part, Call) or part.function not in _MIRRORED or len(part.args) != 2:
        return None
    compared, sides = part.function, [_shifted(arg) for arg in part.args]
    if sides[0] is None or sides[1] is None:
        return None
    (one, one_us), (other, other_us) = sides[0], sides[1]
    for this, that, seen in ((left, right, _MIRRORED[compared]), (right, left, compared)):
        before_us, after_us = _after_time(this, one), _after_time(that, other)
        if before_us is not None and after_us is not None:
            distance_us = (one_us + before_us) - (other_us + after_us)
            return seen, distance_us if this is left else -distance_us
    return None


def _shifted(expr: Expr) -> tuple[Expr, int] | None:
    """What an instant is shifted from, and by how much."""
    if expr.type is not Scalar.TIMESTAMP:
        return None
    if not isinstance(expr, Call) or expr.function not in ("+", "-"):
        return expr, 0
    one, other = expr.args
    if expr.function == "+" and isinstance(one, Literal):
        one, other = other, one
    if not isinstance(other, Literal) or type(other.value) is not int:
        return expr, 0
    inner = _shifted(one)
    if inner is None or other.type is not Scalar.INTERVAL:
        return None
    base, shift_us = inner
    return base, shift_us + (other.value if expr.function == "+" else -other.value)


def _after_time(node: Logical, expr: Expr) -> int | None:
    """How much later the expression is than what the watermark of that side is about; None if it is something else."""
    if not fields_of(expr) or not fields_of(expr) <= set(node.schema.names):
        return None
    match node:
        case Project(input=input, columns=columns):
            return _after_time(input, through(columns, expr))
        case Filter(input=input):
            return _after_time(input, expr)
        case EventTime(ladder=ladder) if ladder[0].rung is not Rung.UPSTREAM:
            return 0 if ladder[0].expr == expr else None
        case EventTime(input=input):
            return _AFTER_ROWS.get(window_column(input, expr) or "")
        case _:
            return None
