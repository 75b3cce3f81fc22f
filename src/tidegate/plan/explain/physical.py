"""The physical plan as a tree: what runs where, and why.

Stages from the last to the first; in each, from what is emitted down to the input: emission and finish, the window
operator with its state (`state.py`), and the row SQL that feeds it (`rows.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate.model.options import OPTIONS, describe_value
from tidegate.model.time import format_duration
from tidegate.model.windows import Calendar
from tidegate.plan.display import (
    Names,
    Shown,
    show,
    show_aggregate,
    show_named,
    show_top,
    shown,
    window_facts,
)
from tidegate.plan.explain.logical import frame_line
from tidegate.plan.explain.rows import row_tree
from tidegate.plan.explain.state import describe_aggregates, describe_state
from tidegate.plan.explain.tree import Facts, Node, facts
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.logical import RANK, WINDOW_COLUMNS
from tidegate.plan.physical import InputKind, JoinSpec, Plan, Stage, StageKind

# These stand where they act: with the watermark, the window, the emission, or in a decision.
_SHOWN_ELSEWHERE = frozenset(
    "event_time_field watermark_lag idle_timeout max_future_skew on_missing_event_time pre_epoch time "
    "session_gap time_zone allowed_lateness fuse_sliding".split()
)


def physical_tree(plan: Plan, *, sql: bool = False) -> Node:
    """The plan under its identity; with `sql`, the text that each engine runs."""
    identity = facts(plan_id=fingerprint(plan).plan_id, kind=plan.last.stream_kind.value)
    context = _Context({stage.name: stage for stage in plan.stages}, sql)
    return Node(f"Plan {plan.name}", identity, (_stage(plan.last, context),))


@dataclass(frozen=True, slots=True)
class _Context:
    stages: Mapping[str, Stage]
    sql: bool


def _stage(stage: Stage, context: _Context) -> Node:
    rows = []
    for branch in stage.branches:
        inner = branch.input.kind is InputKind.STAGE
        below = _stage(context.stages[branch.input.name], context) if inner else None
        rows.append(row_tree(stage, branch, below, sql=context.sql))
    children = tuple(rows) if stage.kind is StageKind.STATELESS else (_operator(stage, rows),)
    decisions = tuple(f"{made.rule}: {made.choice} ({made.reason})" for made in stage.decisions)
    described = (*_emission(stage), *facts(options=_options(stage), decisions=decisions))
    return Node(f"Stage {stage.name}", described, children)


def _emission(stage: Stage) -> Facts:
    names = _names(stage)
    every = None if stage.emit.interval_us is None else format_duration(stage.emit.interval_us)
    lateness = format_duration(stage.lateness_us) if stage.lateness_us else None
    return facts(
        emit=stage.emit.mode.value,
        every=every,
        kind=stage.stream_kind.value,
        lateness=lateness,
        output=tuple(show_named(named, names) for named in stage.output),
        having=None if stage.having is None else (show(stage.having, names),),
        top=(show_top(stage, names),) if stage.order else None,
    )


def _options(stage: Stage) -> tuple[str, ...]:
    """Options that somebody set, and that no other part of the tree shows."""
    return tuple(
        f"{name} = {describe_value(OPTIONS[name], value)}"
        for name, value in stage.options
        if name not in _SHOWN_ELSEWHERE
    )


def _names(stage: Stage) -> Names:
    """What the names of this stage stand for, in terms of its inputs where all of them say the same."""
    names = {f"${name}": Shown(name) for name in WINDOW_COLUMNS}
    names[RANK.name] = Shown("ROW_NUMBER()")
    for columns in zip(*(branch.columns for branch in stage.branches), strict=True):
        if len({named.expr for named in columns}) == 1:
            names[columns[0].name] = shown(columns[0].expr)
    if stage.join is not None:
        names |= _side_names(stage, stage.join)
    calls = {named.name: show_aggregate(named.call, names) for named in stage.aggregates}
    over = {
        name: f" OVER {number}"
        for number, frame in enumerate(stage.frames, start=1)
        for name in frame.aggregates
    }
    return names | {name: Shown(call + over.get(name, "")) for name, call in calls.items()}


def _side_names(stage: Stage, join: JoinSpec) -> Names:
    """What the columns of each side are called there; keys and edges by their names on the left."""
    left, right = stage.branches[0], stage.branches[-1]
    found = {
        named.name: shown(named.expr) for named in left.columns if named.name not in join.right
    }
    return found | {
        named.name: shown(named.expr) for named in right.columns if named.name in join.right
    }


def _operator(stage: Stage, rows: list[Node]) -> Node:
    names = _names(stage)
    decided = {made.rule: made.choice for made in stage.decisions}
    inherited = [show(column, names) for column, _ in stage.inherited]
    described = (
        *facts(**_window(stage, names)),
        *facts(
            columns=", ".join(inherited),
            panes=_panes(stage),
            plan=decided.get("sliding"),
            join=None if stage.join is None else stage.join.manner,
            keys=", ".join(show(key, names) for key in stage.keys),
            partition_by=", ".join(show(key, names) for key in stage.partition_by),
            state=describe_state(stage),
            on_spark=None if stage.placement == "none" else stage.placement,
            frames=_frames(stage, names),
            aggregates=describe_aggregates(stage, names),
        ),
    )
    return Node("Window" if stage.window is not None else "Groups", described, tuple(rows))


def _window(stage: Stage, names: Names) -> dict[str, str]:
    """The window; several frames of OVER have a line each instead."""
    if stage.window is None:
        return {}
    several = len(stage.frames) > 1
    return {"kind": stage.window.kind} if several else window_facts(stage.window, names)


def _frames(stage: Stage, names: Names) -> tuple[str, ...]:
    calls = {named.name: show_aggregate(named.call, names) for named in stage.aggregates}
    return tuple(
        frame_line(
            number,
            [calls[name] for name in frame.aggregates],
            window_facts(frame.window),
            [names[name].text for name in frame.partition_by],
        )
        for number, frame in enumerate(stage.frames, start=1)
    )


def _panes(stage: Stage) -> str | None:
    if stage.panes is None:
        return None
    if isinstance(stage.window, Calendar):
        return str(stage.window.pane)
    return format_duration(stage.panes.width_us) if stage.panes.copies == 1 else "none"
