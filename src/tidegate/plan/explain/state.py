"""What a window operator keeps: how much per group or row, and what each aggregate is made of."""

from collections.abc import Iterable

from tidegate.model.partials import PartialOp, PartialSpec, width_bytes
from tidegate.model.types import DataType
from tidegate.model.windows import Counting, Interval, Session, Sliding
from tidegate.plan.aggregates import AGGREGATES, APPROXIMATE
from tidegate.plan.display import Names, show_aggregate, show_partial
from tidegate.plan.physical import Panes, Pieces, Routing, Stage
from tidegate.plan.row_inputs import row_columns

_GROUP_BYTES = 24  # pane, row count, latest event time
_ROW_BYTES = 16  # event time, number of the row


def describe_state(stage: Stage) -> str:
    """Bytes in columnar state, and of what; how many of those there are is up to the data."""
    if stage.routing is Routing.ROWS:
        columns = [column.type for column in row_columns(stage)]
        return f"{_size(_ROW_BYTES, columns)} per {_row(stage)}"
    kinds = [key.type for key in stage.keys] + [spec.type for spec in stage.partials]
    return f"{_size(_GROUP_BYTES, kinds)} per group{_piece(stage)}"


def _row(stage: Stage) -> str:
    match stage.window:
        case Sliding():
            return "row within reach"
        case Interval():
            return "row that may be joined"
        case Counting(rows=rows):
            return f"row of the last {rows}"
        case _:
            return "row of an open window"


def _piece(stage: Stage) -> str:
    match stage.window, stage.panes:
        case None, _:
            return ""
        case Session(), _:
            return " and session"
        case _, Panes(copies=1) | Pieces():
            return " and pane"
        case _:
            return " and window"


def _size(fixed: int, kinds: Iterable[DataType]) -> str:
    widths = [width_bytes(kind) for kind in kinds]
    known = fixed + sum(width for width in widths if width is not None)
    growing = widths.count(None)
    values = f" and {growing} value{'' if growing == 1 else 's'} of variable length"
    return f"{known} bytes{values if growing else ''}"


def describe_aggregates(stage: Stage, names: Names) -> tuple[str, ...]:
    """Partial, merge and finish of each, and what it keeps if that grows with the rows."""
    lines = []
    for named, finish in zip(stage.aggregates, stage.finishes, strict=True):
        specs = [stage.partials[place] for place in finish.partials]
        partial = ", ".join(show_partial(spec, names) for spec in specs)
        merge = ", ".join(spec.merge.value for spec in specs)
        how = f"{finish.function}{' of the distinct values' if finish.distinct else ''}"
        kept = _kept(specs)
        if named.call.user is not None:
            kept += "; in Python"
        elif AGGREGATES[named.call.function].precision == APPROXIMATE:
            kept = "; a sketch, of bounded size"
        lines.append(
            f"{show_aggregate(named.call, names)}: partial {partial}; merge {merge}; finish {how}{kept}"
        )
    return tuple(lines)


def _kept(specs: list[PartialSpec]) -> str:
    ops = {spec.op for spec in specs if spec.user is None}
    if PartialOp.COLLECT in ops:
        return "; keeps every value"
    return "; keeps every different value" if PartialOp.COLLECT_SET in ops else ""
