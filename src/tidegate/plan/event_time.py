"""The event-time ladder, and what moves the watermark.

In: what a query reads, and the time it names, if any. Out: the same tree with an `EventTime` directly above each
stream that rows come in by, below all filters, so that removed rows move the watermark too. The ladder per row is
semantics §1.1: the query's own time, the source's declared column or `event_time_field`, source metadata, the clock.
"""

from dataclasses import dataclass, replace

from tidegate.model.expressions import Expr, Field, substitute
from tidegate.model.options import OptionValue
from tidegate.model.policies import MissingEventTime, TimeMode, WatermarkOrigin
from tidegate.model.types import Scalar
from tidegate.plan.catalog import Catalog, SourceDef
from tidegate.plan.expressions import CLOCK
from tidegate.plan.lineage import through
from tidegate.plan.logical import (
    Emission,
    EventTime,
    Filter,
    Logical,
    Project,
    Rung,
    Source,
    StaticTable,
    StreamRef,
    TableJoin,
    TimeStep,
    UnionAll,
)

SOURCE_TIME = Field("$source_time", Scalar.TIMESTAMP)
PARTITION = Field("$partition", Scalar.BIGINT)
UPSTREAM_TIME = Field("$time", Scalar.TIMESTAMP)
_METADATA_COLUMNS = ("received_at", "@timestamp")
_TIMED_CONNECTORS = ("kafka", "file", "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeChoice:
    """What the query says of its time. `lag_us` is its own WATERMARK(…) or `watermark_lag`, which beats a source's."""

    expr: Expr | None
    lag_us: int | None
    options: dict[str, OptionValue]


def attach_time(node: Logical, choice: TimeChoice, catalog: Catalog) -> Logical:
    """The tree with event time resolved at the bottom."""
    match node:
        case Project(input=input, columns=columns):
            lowered = None if choice.expr is None else through(columns, choice.expr)
            return replace(node, input=attach_time(input, replace(choice, expr=lowered), catalog))
        case Filter(input=input):
            return replace(node, input=attach_time(input, choice, catalog))
        case UnionAll(inputs=parts):
            return replace(
                node,
                inputs=tuple(
                    attach_time(part, _renamed(choice, node, part), catalog) for part in parts
                ),
            )
        case TableJoin():
            return _stamp(node, _stream_side(node), choice, catalog)
        case Source() | StreamRef() | Emission():
            return _stamp(node, node, choice, catalog)
        case _:
            return node


def _renamed(choice: TimeChoice, union: UnionAll, part: Logical) -> TimeChoice:
    """Columns of a union go by position: the time is another column in each part."""
    if choice.expr is None:
        return choice
    names = dict(zip(union.schema.names, part.schema, strict=True))
    columns = {name: Field(column.name, column.type) for name, column in names.items()}
    renamed = choice.expr
    if isinstance(renamed, Field):
        renamed = columns[renamed.name]
    return replace(choice, expr=renamed)


def _stream_side(node: Logical) -> Logical:
    while isinstance(node, (TableJoin, Project, Filter)):
        node = node.input
    return node


def _stamp(node: Logical, base: Logical, choice: TimeChoice, catalog: Catalog) -> Logical:
    match base:
        case Source():
            definition = catalog.find(base.name)
            assert isinstance(definition, SourceDef)
            return _stamp_source(node, base, definition, choice)
        case StaticTable():
            return node
        case _:
            expr = choice.expr or UPSTREAM_TIME
            rung = Rung.QUERY if choice.expr is not None else Rung.UPSTREAM
            return EventTime(
                input=node,
                mode=TimeMode.EVENT,
                ladder=(TimeStep(rung, expr),),
                watermark=WatermarkOrigin.UPSTREAM,
                lag_us=0,
            )


def _stamp_source(
    node: Logical, base: Source, definition: SourceDef, choice: TimeChoice
) -> Logical:
    ladder = _ladder(base, definition, choice)
    asked_for_clock = (
        choice.expr is None and choice.options.get("time") == TimeMode.PROCESSING.value
    )
    if not ladder or ladder[0].expr == CLOCK or asked_for_clock:
        clock = (TimeStep(Rung.PROCESSING, CLOCK),)
        return EventTime(
            input=node,
            mode=TimeMode.PROCESSING,
            ladder=clock,
            watermark=WatermarkOrigin.CLOCK,
            lag_us=0,
        )
    origin, lag_us = _watermark(base, definition, choice, ladder)
    return EventTime(
        input=node, mode=TimeMode.EVENT, ladder=ladder, watermark=origin, lag_us=lag_us
    )


def _ladder(base: Source, definition: SourceDef, choice: TimeChoice) -> tuple[TimeStep, ...]:
    """The rungs that exist for this source, each expression once. The clock, below them all, is not among them."""
    option = choice.options.get("event_time_field")
    column = definition.physical.find(str(option)) if option is not None else None
    declared = definition.watermark
    steps = [
        TimeStep(Rung.QUERY, choice.expr),
        TimeStep(Rung.DECLARED, _prefix(declared.expr, base.prefix) if declared else None),
        TimeStep(Rung.OPTION, Field(base.prefix + column.name, column.type) if column else None),
        TimeStep(Rung.METADATA, _metadata(base, definition)),
    ]
    kept: list[TimeStep] = []
    for step in steps:
        if step.expr is not None and step.expr not in [other.expr for other in kept]:
            kept.append(step)
    if len(kept) > 1 and kept[-1].expr == SOURCE_TIME and not _wants_file_time(definition, choice):
        kept.pop()
    return tuple(kept)


def _wants_file_time(definition: SourceDef, choice: TimeChoice) -> bool:
    """When a file was last changed says little of its rows: one row without a time would move the watermark to today.

    So it stands in for another time only if that is asked for.
    """
    asked = choice.options.get("on_missing_event_time")
    return definition.connector != "file" or asked == MissingEventTime.FALLBACK.value


def _prefix(expr: Expr, prefix: str) -> Expr:
    return substitute(
        expr, lambda node: Field(prefix + node.name, node.type) if isinstance(node, Field) else None
    )


def _metadata(base: Source, definition: SourceDef) -> Expr | None:
    for name in _METADATA_COLUMNS:
        column = definition.physical.find(name)
        if column is not None and column.type is Scalar.TIMESTAMP:
            return Field(base.prefix + column.name, column.type)
    return SOURCE_TIME if definition.connector in _TIMED_CONNECTORS else None


def _watermark(
    base: Source, definition: SourceDef, choice: TimeChoice, ladder: tuple[TimeStep, ...]
) -> tuple[WatermarkOrigin, int]:
    declared = definition.watermark
    if choice.lag_us is not None:
        return WatermarkOrigin.ROWS, choice.lag_us
    if declared is not None:
        on_declared = ladder[0].expr == _prefix(declared.expr, base.prefix)
        if declared.lag_us is None:
            return (WatermarkOrigin.EXPLICIT, 0) if on_declared else (WatermarkOrigin.NONE, 0)
        return WatermarkOrigin.ROWS, declared.lag_us
    configured_lag = choice.options.get("watermark_lag")
    if isinstance(configured_lag, int):
        return WatermarkOrigin.ROWS, configured_lag
    named_by_query = choice.expr is not None
    configured = any(step.rung is Rung.OPTION for step in ladder)
    if named_by_query and not configured:
        return WatermarkOrigin.NONE, 0
    return WatermarkOrigin.ROWS, 0
