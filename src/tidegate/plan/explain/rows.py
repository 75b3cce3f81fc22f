"""The part of a stage that the engine's SQL does: row by row, from the input to the seam."""

from collections.abc import Iterator

from tidegate.model.expressions import TRUE
from tidegate.model.policies import PreEpoch, WatermarkOrigin
from tidegate.model.time import format_duration
from tidegate.plan.display import show, show_name, show_named
from tidegate.plan.explain.tree import Node, facts
from tidegate.plan.physical import Branch, Input, Routing, RowTime, Stage, StageKind, TableLookup
from tidegate.plan.row_errors import NO_ERROR, error_of
from tidegate.plan.row_sql import row_queries
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation


def row_tree(stage: Stage, branch: Branch, below: Node | None, *, sql: bool) -> Node:
    """One branch; `below` is the stage that its rows come from, if they do. Tables it is joined to stand beside."""
    inputs = (below or _input(branch.input), *map(_table, branch.lookups))
    one_of_many = len(stage.branches) > 1
    described = facts(
        computes=", ".join(_computed(stage, branch)),
        crosses=_crossing(stage),
        where=None if branch.predicate == TRUE else (show(branch.predicate),),
        columns=tuple(map(show_named, branch.columns)) if one_of_many else None,
        **(_sql(stage, branch) if sql else {}),
    )
    if branch.time is not None:
        inputs = (_watermark(branch.time, inputs),)
    return Node("RowSql", described, inputs)


def _crossing(stage: Stage) -> str:
    """What leaves the engine: of Python aggregates, all that they read of each row."""
    if stage.kind is StageKind.STATELESS:
        return "nothing"
    in_python = dict.fromkeys(spec.user.name.upper() for spec in stage.partials if spec.user)
    if stage.routing is Routing.ROWS or not in_python:
        return stage.routing.value
    return f"{stage.routing.value}; rows, as arguments of {', '.join(in_python)}"


def _sql(stage: Stage, branch: Branch) -> dict[str, str]:
    relation = row_queries(stage, branch).main
    return {
        "datafusion": render_relation(relation, Engine.DATAFUSION),
        "spark": render_relation(relation, Engine.SPARK),
    }


def _computed(stage: Stage, branch: Branch) -> Iterator[str]:
    """What the engine's SQL does per row, in order."""
    if branch.lookups:
        yield "joins"
    if branch.time is not None:
        yield "event time"
    if branch.predicate != TRUE:
        yield "filter"
    yield "projection"
    exprs = (branch.predicate, *(named.expr for named in branch.columns))
    if any(error_of(expr) != NO_ERROR for expr in exprs):
        yield "row errors"
    if stage.panes is not None:
        yield "panes" if stage.panes.copies == 1 else "windows"
    if stage.routing is Routing.PARTIALS:
        yield "partial aggregates"


def _watermark(time: RowTime, inputs: tuple[Node, ...]) -> Node:
    lag = format_duration(time.lag_us) if time.watermark is WatermarkOrigin.ROWS else None
    described = facts(
        mode=time.mode.value,
        origin=time.watermark.value,
        lag=lag,
        on_missing=time.on_missing.value,
        pre_epoch=None if time.pre_epoch is PreEpoch.ALLOW else time.pre_epoch.value,
        idle_timeout=_duration(time.idle_timeout_us),
        per="partition" if time.partitioned else None,
        max_future_skew=_duration(time.max_future_skew_us),
        ladder=", ".join(f"{show(expr)} ({rung})" for rung, expr in time.ladder),
    )
    return Node("Watermark", described, inputs)


def _duration(length_us: int | None) -> str | None:
    return None if length_us is None else format_duration(length_us)


def _input(input: Input) -> Node:
    described = facts(connector=input.connector, columns=_columns(input))
    return Node(f"{input.kind.value.capitalize()} {input.name}", described)


def _table(lookup: TableLookup) -> Node:
    table = lookup.table
    described = facts(
        join="left" if lookup.outer else "inner",
        on=show(lookup.on),
        filter=None if table.predicate == TRUE else show(table.predicate),
        connector=table.connector,
        columns=_columns(table),
    )
    return Node(f"Table {table.name}", described)


def _columns(input: Input) -> str:
    return ", ".join(show_name(physical) for _, physical in input.columns)
