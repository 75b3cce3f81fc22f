"""From a planned stage to the kernel's description of its operator.

Decided here: what of a plan the kernel has to know, for every engine, and what no engine can run yet. A stage that is
refused here is refused before anything is read.
"""

from tidegate import errors
from tidegate.kernel.finishing import OutputSpec
from tidegate.kernel.operator import InputSpec, OperatedWindow, OperatorSpec
from tidegate.kernel.quotas import Limits
from tidegate.kernel.ranking import Direction
from tidegate.kernel.rows import RowShape
from tidegate.kernel.watermark import InputTime
from tidegate.model.expressions import Field, Named
from tidegate.model.policies import TimeMode, WatermarkOrigin
from tidegate.model.schema import schema_of
from tidegate.model.windows import Conditional, Counting, Session, Sliding
from tidegate.plan.group_sql import group_query
from tidegate.plan.physical import Branch, Stage, StageKind
from tidegate.plan.rules.panes import widest_panes

_NOT_YET = "use a tumbling, hopping, cumulating or session window"


def refuse_unsupported(stage: Stage) -> None:
    """Say so if the stage needs what is not there yet."""
    if stage.frames:
        raise errors.cannot_run(what="OVER (… RANGE …)", instead=_NOT_YET)
    if isinstance(stage.window, (Sliding, Counting, Conditional)):
        raise errors.cannot_run(what=f"a {stage.window.kind} window", instead=_NOT_YET)
    if stage.option("dedup_key") is not None:
        raise errors.cannot_run(what="dedup_key", instead="drop the option")


def operator_spec(stage: Stage, plan_id: str) -> OperatorSpec:
    """The operator of a stage that keeps something."""
    assert stage.kind is not StageKind.STATELESS
    refuse_unsupported(stage)
    window = _window(stage)
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
        inputs=tuple(_input(branch) for branch in stage.branches),
        limits=_limits(stage),
        brought_start=starts[0] if starts else None,
        rows=rows,
        timed=stage.branches[0].time is not None,
    )


def keys_of(stage: Stage) -> tuple[Field, ...]:
    """What tells groups apart, in the order in which row SQL has it."""
    inherited = (field for field, _ in stage.inherited)
    return tuple(dict.fromkeys((*stage.keys, *stage.partition_by, *inherited)))


def _window(stage: Stage) -> OperatedWindow | None:
    assert not isinstance(stage.window, (Sliding, Counting, Conditional))
    return stage.window


def _row_shape(stage: Stage, pane_us: int, offset_us: int) -> RowShape | None:
    if stage.kind is not StageKind.ROWS:
        return None
    columns = tuple(_field(named) for named in stage.branches[0].columns)
    return RowShape(columns=columns, keys=keys_of(stage), width_us=pane_us, offset_us=offset_us)


def _field(named: Named) -> Field:
    return Field(named.name, named.expr.type)


def _output(stage: Stage, plan_id: str, *, whole_rows: bool) -> OutputSpec:
    query = group_query(stage)
    calls = zip(stage.aggregates, stage.finishes, strict=True)
    return OutputSpec(
        plan_id=plan_id,
        keys=keys_of(stage),
        aggregates=tuple((named.name, finish) for named, finish in calls),
        reads=frozenset(field.name for field in query.columns),
        schema=schema_of(stage.output),
        plain=query.plain,
        sort=query.sort,
        directions=tuple(Direction(key.descending, key.nulls_first) for key in stage.order),
        limit=stage.limit,
        rows="$p0" if whole_rows else None,
        per_group=isinstance(stage.window, Session),
    )


def _input(branch: Branch) -> InputSpec:
    time = branch.time
    if time is None:
        return InputSpec(time=InputTime(origin=WatermarkOrigin.NONE))
    return InputSpec(
        time=InputTime(
            origin=time.watermark,
            lag_us=time.lag_us,
            idle_timeout_us=time.idle_timeout_us,
            processing=time.mode is TimeMode.PROCESSING,
        ),
        max_future_skew_us=time.max_future_skew_us,
    )


def _limits(stage: Stage) -> Limits:
    groups, windows, state_bytes = (
        value if isinstance(value, int) else None
        for value in map(stage.option, ("max_groups", "max_open_windows", "max_state_bytes"))
    )
    return Limits(groups=groups, windows=windows, state_bytes=state_bytes)
