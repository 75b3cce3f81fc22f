"""From a planned stage to the kernel's description of its operator.

Decided here: what of a plan the kernel has to know, for every engine, and what no engine can run yet. A stage that is
refused here is refused before anything is read.
"""

from dataclasses import replace

from tidegate import errors
from tidegate.engines.row_windows import row_window_spec
from tidegate.engines.stage_parts import field_of, input_of, keys_of, limits_of, output_of
from tidegate.kernel.finishing import OutputSpec
from tidegate.kernel.joining import JoinShape
from tidegate.kernel.operator import OperatedWindow, OperatorSpec
from tidegate.kernel.row_operator import RowWindowSpec
from tidegate.kernel.rows import RowShape
from tidegate.model.windows import Conditional, Counting, Session, Sliding
from tidegate.plan.physical import SIDE, Stage, StageKind
from tidegate.plan.rules.panes import widest_panes

__all__ = ["keys_of", "operator_spec", "refuse_unsupported"]


def refuse_unsupported(stage: Stage) -> None:
    """Say so if the stage needs what is not there yet."""
    if stage.option("dedup_key") is not None:
        raise errors.cannot_run(what="dedup_key", instead="drop the option")


def operator_spec(stage: Stage, plan_id: str) -> OperatorSpec | RowWindowSpec:
    """The operator of a stage that keeps something."""
    assert stage.kind is not StageKind.STATELESS
    refuse_unsupported(stage)
    match stage.window:
        case Sliding() | Counting() | Conditional():
            return row_window_spec(stage, plan_id)
        case window:
            return _pane_spec(stage, window, plan_id)


def _pane_spec(stage: Stage, window: OperatedWindow | None, plan_id: str) -> OperatorSpec:
    panes = stage.panes or (None if window is None else widest_panes(window))
    pane_us, offset_us = (1, 0) if panes is None else (panes.width_us, panes.offset_us)
    rows = _row_shape(stage, pane_us, offset_us)
    starts = [field.name for field, meaning in stage.inherited if meaning == "window_start"]
    return OperatorSpec(
        window=window,
        pane_us=pane_us,
        offset_us=offset_us,
        direct=panes is not None and panes.copies > 1,
        keys=keys_of(stage),
        partials=stage.partials,
        output=_output(stage, plan_id, whole_rows=rows is not None),
        emit=stage.emit,
        kind=stage.stream_kind,
        lateness_us=stage.lateness_us,
        inputs=tuple(input_of(branch) for branch in stage.branches),
        limits=limits_of(stage),
        brought_start=starts[0] if starts else None,
        rows=rows,
        timed=stage.branches[0].time is not None,
    )


def _row_shape(stage: Stage, pane_us: int, offset_us: int) -> RowShape | None:
    if stage.kind not in (StageKind.ROWS, StageKind.JOIN):
        return None
    keys = keys_of(stage)
    every = (field_of(named) for named in stage.branches[0].columns)
    columns = tuple(field for field in every if stage.join is None or field not in keys)
    return RowShape(columns=columns, keys=keys, width_us=pane_us, offset_us=offset_us)


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
