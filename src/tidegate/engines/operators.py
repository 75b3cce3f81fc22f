"""From a planned stage to the kernel's description of its operator.

Decided here: what of a plan the kernel has to know, for every engine.
"""

from dataclasses import replace

from tidegate.engines.row_windows import row_window_spec
from tidegate.engines.stage_parts import (
    dedup_of,
    input_of,
    inputs_of,
    keys_of,
    limits_of,
    output_of,
    row_columns_of,
)
from tidegate.kernel.finishing import OutputSpec
from tidegate.kernel.joining import JoinShape
from tidegate.kernel.operator import OperatedWindow, OperatorSpec
from tidegate.kernel.row_operator import RowWindowSpec
from tidegate.kernel.rows import RowShape
from tidegate.model.grid import EVERY_INSTANT, Marks
from tidegate.model.windows import Conditional, Counting, Interval, Session, Sliding
from tidegate.plan.physical import SIDE, Routing, Stage, StageKind
from tidegate.plan.row_inputs import has_inputs
from tidegate.plan.rules.panes import widest_panes

__all__ = ["keys_of", "operator_spec"]


def operator_spec(stage: Stage, plan_id: str) -> OperatorSpec | RowWindowSpec:
    """The operator of a stage that keeps something."""
    match stage.window:
        case None if stage.kind is StageKind.STATELESS:
            return row_window_spec(stage, plan_id)
        case Sliding() | Counting() | Conditional() | Interval():
            return row_window_spec(stage, plan_id)
        case window:
            return _pane_spec(stage, window, plan_id)


def _pane_spec(stage: Stage, window: OperatedWindow | None, plan_id: str) -> OperatorSpec:
    panes = stage.panes or (None if window is None else widest_panes(window))
    marks = EVERY_INSTANT if panes is None else panes.marks
    rows = _row_shape(stage, marks)
    whole_rows = rows is not None and rows.inputs is None
    starts = [field.name for field, meaning in stage.inherited if meaning == "window_start"]
    return OperatorSpec(
        window=window,
        marks=marks,
        direct=panes is not None and panes.copies > 1,
        keys=keys_of(stage),
        partials=stage.partials,
        output=_output(stage, plan_id, whole_rows=whole_rows),
        emit=stage.emit,
        kind=stage.stream_kind,
        lateness_us=stage.lateness_us,
        inputs=tuple(input_of(branch) for branch in stage.branches),
        limits=limits_of(stage),
        brought_start=starts[0] if starts else None,
        rows=rows,
        dedup=dedup_of(stage),
        timed=stage.branches[0].time is not None,
    )


def _row_shape(stage: Stage, marks: Marks) -> RowShape | None:
    if stage.routing is not Routing.ROWS:
        return None
    return RowShape(
        columns=row_columns_of(stage),
        keys=keys_of(stage),
        marks=marks,
        inputs=inputs_of(stage) if has_inputs(stage) else None,
        paned=stage.window is not None,
    )


def _output(stage: Stage, plan_id: str, *, whole_rows: bool) -> OutputSpec:
    return replace(
        output_of(stage, plan_id),
        rows="$p0" if whole_rows else None,
        join=_join_shape(stage),
        per_group=isinstance(stage.window, Session),
    )


def _join_shape(stage: Stage) -> JoinShape | None:
    join = stage.join
    if join is None:
        return None
    return JoinShape(
        side=SIDE.name,
        left=join.left,
        right=join.right,
        keys=tuple(key.name for key in stage.keys),
        keeps_left=join.keeps_left,
        keeps_right=join.keeps_right,
    )
