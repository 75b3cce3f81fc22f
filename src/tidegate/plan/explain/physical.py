"""The physical plan as a tree: what runs where, and why.

Stages from the last to the first; in each, from what is emitted down to the input: emission and finish, the window
operator with its state, the seam with each aggregate's partial, merge and finish, the watermark, and the row SQL.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidegate.model.expressions import TRUE
from tidegate.model.partials import width_bytes
from tidegate.model.time import format_duration
from tidegate.plan.display import (
    show,
    show_aggregate,
    show_key,
    show_named,
    show_partial,
    window_facts,
)
from tidegate.plan.explain.tree import Node, Value, facts
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.logical import WINDOW_COLUMNS, WatermarkOrigin
from tidegate.plan.physical import Branch, InputKind, Plan, Routing, RowTime, Stage, StageKind
from tidegate.plan.row_errors import NO_ERROR, error_of
from tidegate.plan.row_sql import row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

Facts = tuple[tuple[str, Value], ...]
_BOOKKEEPING_BYTES = 24  # pane, row count, latest event time


def physical_tree(plan: Plan, *, sql: bool = False) -> Node:
    """The plan under its identity; with `sql`, the text that each engine runs."""
    identity = facts(plan_id=fingerprint(plan).plan_id, kind=plan.last.stream_kind.value)
    shown = _Shown({stage.name: stage for stage in plan.stages}, sql)
    return Node(f"Plan {plan.name}", identity, (_stage(plan.last, shown),))


@dataclass(frozen=True, slots=True)
class _Shown:
    stages: Mapping[str, Stage]
    sql: bool


def _stage(stage: Stage, shown: _Shown) -> Node:
    branches = tuple(_rows(stage, branch, shown) for branch in stage.branches)
    decisions = tuple(f"{made.rule}: {made.choice} ({made.reason})" for made in stage.decisions)
    below = branches if stage.kind is StageKind.STATELESS else (_operator(stage, branches),)
    return Node(f"Stage {stage.name}", (*_emission(stage), *facts(decisions=decisions)), below)


def _emission(stage: Stage) -> Facts:
    names = _names(stage)
    every = None if stage.emit.interval_us is None else format_duration(stage.emit.interval_us)
    lateness = format_duration(stage.lateness_us) if stage.lateness_us else None
    top = (
        f"{stage.limit} by {', '.join(show_key(key, names) for key in stage.order)}"
        if stage.limit
        else None
    )
    return facts(
        emit=stage.emit.mode.value,
        every=every,
        kind=stage.stream_kind.value,
        lateness=lateness,
        output=tuple(show_named(named, names) for named in stage.output),
        having=None if stage.having is None else (show(stage.having, names),),
        top=None if top is None else (top,),
    )


def _names(stage: Stage) -> dict[str, str]:
    """What the names of this stage stand for, in terms of its first input."""
    names = {f"${name}": name for name in WINDOW_COLUMNS}
    names.update((named.name, show(named.expr)) for named in stage.branches[0].columns)
    aggregates = {named.name: show_aggregate(named.call, names) for named in stage.aggregates}
    return names | aggregates


def _operator(stage: Stage, branches: tuple[Node, ...]) -> Node:
    names = _names(stage)
    window = window_facts(stage.window, names) if stage.window is not None else {"kind": "none"}
    where = None if stage.placement == "none" else stage.placement
    described = (
        *facts(**window),
        *facts(
            panes=_panes(stage),
            plan=_sliding(stage),
            keys=", ".join(names.get(key.name, key.name) for key in stage.keys) or None,
            partition_by=", ".join(names.get(key.name, key.name) for key in stage.partition_by)
            or None,
            state=_state(stage),
            on_spark=where,
            aggregates=_aggregates(stage, names),
        ),
    )
    return Node("Window" if stage.window is not None else "Groups", described, branches)


def _panes(stage: Stage) -> str | None:
    if stage.panes is None:
        return None
    width = format_duration(stage.panes.width_us)
    return width if stage.panes.copies == 1 else f"none, {stage.panes.copies} windows per row"


def _sliding(stage: Stage) -> str | None:
    return next((made.choice for made in stage.decisions if made.rule == "sliding"), None)


def _state(stage: Stage) -> str:
    """Bytes that a group of a pane takes in columnar state, where that can be said."""
    if stage.routing is Routing.ROWS and not stage.fused:
        return "rows within reach of a window"
    widths = [
        width_bytes(kind)
        for kind in (*(key.type for key in stage.keys), *(spec.type for spec in stage.partials))
    ]
    known = _BOOKKEEPING_BYTES + sum(width for width in widths if width is not None)
    growing = sum(width is None for width in widths)
    unit = (
        "row within reach"
        if stage.routing is Routing.ROWS
        else "group and pane"
        if stage.panes
        else "group"
    )
    return (
        f"{known} bytes{f' and {growing} values of variable length' if growing else ''} per {unit}"
    )


def _aggregates(stage: Stage, names: Mapping[str, str]) -> tuple[str, ...]:
    lines = []
    for named, finish in zip(stage.aggregates, stage.finishes, strict=True):
        specs = [stage.partials[place] for place in finish.partials]
        partial = ", ".join(show_partial(spec, names) for spec in specs)
        merge = ", ".join(spec.merge.value for spec in specs)
        how = f"{finish.function}{' of the distinct values' if finish.distinct else ''}"
        lines.append(
            f"{show_aggregate(named.call, names)}: partial {partial}; merge {merge}; finish {how}"
        )
    return tuple(lines)


def _rows(stage: Stage, branch: Branch, shown: _Shown) -> Node:
    relation = row_queries(stage, branch).main
    described = facts(
        computes=", ".join(_computed(stage, branch)),
        crosses="nothing" if stage.kind is StageKind.STATELESS else stage.routing.value,
        where=None if branch.predicate == TRUE else (show(branch.predicate),),
        datafusion=render_relation(relation, Engine.DATAFUSION) if shown.sql else None,
        spark=render_relation(relation, Engine.SPARK) if shown.sql else None,
    )
    below = _input(branch, shown)
    return Node(
        "RowSql", described, (below if branch.time is None else _watermark(branch.time, below),)
    )


def _computed(stage: Stage, branch: Branch) -> Iterator[str]:
    """What the engine's SQL does per row, in order."""
    if branch.time is not None:
        yield "event time"
    if branch.lookups:
        yield "joins"
    if branch.predicate != TRUE:
        yield "filter"
    yield (
        "row errors"
        if any(error_of(named.expr) != NO_ERROR for named in branch.columns)
        else "projection"
    )
    if stage.panes is not None:
        yield "panes"
    if stage.routing is Routing.PARTIALS:
        yield "partial aggregates"


def _watermark(time: RowTime, below: Node) -> Node:
    lag = format_duration(time.lag_us) if time.watermark is WatermarkOrigin.ROWS else None
    ladder = ", ".join(f"{show(expr)} ({rung})" for rung, expr in time.ladder)
    described = facts(
        mode=time.mode.value,
        origin=time.watermark.value,
        lag=lag,
        on_missing=time.on_missing.value,
        ladder=ladder,
    )
    return Node("Watermark", described, (below,))


def _input(branch: Branch, shown: _Shown) -> Node:
    input = branch.input
    titles = {
        InputKind.SOURCE: "Source",
        InputKind.STREAM: "Stream",
        InputKind.STAGE: "Stage",
        InputKind.TABLE: "Table",
    }
    if input.kind is InputKind.STAGE:
        return _stage(shown.stages[input.name], shown)
    columns = ", ".join(physical for _, physical in input.columns)
    tables = tuple(
        Node(
            f"Table {lookup.table.name}",
            facts(
                join="left" if lookup.outer else "inner",
                on=show(lookup.on),
                filter=None if lookup.table.predicate == TRUE else show(lookup.table.predicate),
                columns=", ".join(physical for _, physical in lookup.table.columns),
            ),
        )
        for lookup in branch.lookups
    )
    return Node(
        f"{titles[input.kind]} {input.name}",
        facts(connector=input.connector, columns=columns),
        tables,
    )
