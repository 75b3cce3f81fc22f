"""EMIT and its companions: when rows come out, as what kind of stream, and what a query needs for it.

Everything that semantics §5 calls a plan-time error about emission is refused here.
"""

from dataclasses import dataclass

from tidegate import errors
from tidegate.model.connectors import CONNECTORS, find_connector
from tidegate.model.policies import (
    NEEDS_WINDOW_AND_WATERMARK,
    STREAM_KIND,
    Emit,
    EmitMode,
    StreamKind,
    TimeMode,
    WatermarkOrigin,
)
from tidegate.model.windows import Conditional, Counting, Sliding, Window
from tidegate.plan.logical import EventTime, Logical, walk
from tidegate.sql.source import SourceText, Span
from tidegate.sql.statements import Clauses
from tidegate.sql.windows import WindowSyntax

_SLIDING_MODES = (EmitMode.ON_WINDOW_CLOSE, EmitMode.FINAL, EmitMode.ON_UPDATE)
_CLOSING_MODES = (EmitMode.ON_WINDOW_CLOSE, EmitMode.FINAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the rest of the query turned out to be."""

    window: Window | None
    spelling: WindowSyntax | None
    aggregated: bool
    over: bool
    node: Logical
    reads: str
    time_column: str


def choose_emit(
    clauses: Clauses, shape: Shape, source: SourceText, *, fallback: Span
) -> tuple[Emit, StreamKind]:
    """The mode in force and the kind of stream it makes."""
    clause = clauses.emit
    span = clause.span if clause else (shape.spelling.span if shape.spelling else fallback)
    if clause is None:
        mode = EmitMode.ON_WINDOW_CLOSE if shape.window else EmitMode.ON_UPDATE
        emit = Emit(mode=mode)
    else:
        emit = Emit(mode=clause.mode, interval_us=clause.every.value_us if clause.every else None)
    at = source.location(span)
    if emit.mode in NEEDS_WINDOW_AND_WATERMARK:
        _refuse_without_window(emit, shape, at)
    _refuse_for_window(emit, shape, at)
    return emit, _kind(emit, shape)


def _refuse_without_window(emit: Emit, shape: Shape, at: errors.Location) -> None:
    if shape.window is None:
        raise errors.emit_needs_window(at, mode=emit.mode.sql, time=shape.time_column)
    if isinstance(shape.window, (Counting, Conditional)):
        return
    origins = [node.watermark for node in walk(shape.node) if isinstance(node, EventTime)]
    if WatermarkOrigin.NONE in origins:
        raise errors.emit_needs_watermark(
            at, mode=emit.mode.sql, source=shape.reads, time=shape.time_column
        )


def _refuse_for_window(emit: Emit, shape: Shape, at: errors.Location) -> None:
    window = shape.window
    if isinstance(window, Sliding) and emit.mode not in _SLIDING_MODES:
        instead = "sliding windows emit ON WINDOW CLOSE, FINAL, or at once with ON UPDATE"
        raise errors.emit_not_for_window(
            at, mode=emit.mode.sql, window="a sliding window", instead=instead
        )
    if isinstance(window, (Counting, Conditional)) and emit.mode not in _CLOSING_MODES:
        instead = "it emits when the window is complete: EMIT ON WINDOW CLOSE"
        raise errors.emit_not_for_window(
            at, mode=emit.mode.sql, window=f"a {window.kind} window", instead=instead
        )
    if (
        window is not None
        and not shape.aggregated
        and not shape.over
        and emit.mode not in _CLOSING_MODES
    ):
        instead = "rows of a window are emitted when it closes: EMIT ON WINDOW CLOSE"
        raise errors.emit_not_for_window(
            at, mode=emit.mode.sql, window="a windowed query without aggregates", instead=instead
        )
    if window is None and not shape.aggregated and emit.mode is EmitMode.EVERY:
        instead = "rows that are not aggregated are passed on as they come: leave EMIT out"
        raise errors.emit_not_for_window(
            at, mode=emit.mode.sql, window="a query without aggregates", instead=instead
        )


def _kind(emit: Emit, shape: Shape) -> StreamKind:
    if isinstance(shape.window, Sliding) or (
        shape.window is None and not shape.aggregated and emit.mode is EmitMode.ON_UPDATE
    ):
        return StreamKind.APPEND
    return STREAM_KIND[emit.mode]


def choose_lateness(
    clauses: Clauses,
    shape: Shape,
    emit: Emit,
    *,
    option_us: int,
    source: SourceText,
    fallback: Span,
) -> int:
    """Allowed lateness in force; the clause beats ADR-0001's WATERMARK(lag, lateness), and that the option."""
    given = clauses.lateness or (clauses.watermark.lateness if clauses.watermark else None)
    span = clauses.lateness_span or (clauses.watermark.span if clauses.watermark else None)
    if given is not None and span is not None:
        _refuse_lateness(shape, "ALLOWED LATENESS", source.location(span))
    if clauses.late_to is not None and shape.window is None:
        raise errors.clause_needs_window(
            source.location(clauses.late_to_span or fallback), clause="LATE DATA TO"
        )
    for option in clauses.options:
        if option.key.text.lower() == "allowed_lateness" and shape.window is None:
            raise errors.clause_needs_window(
                source.location(option.key.span), clause="allowed_lateness"
            )
    if clauses.watermark is not None and shape.window is None:
        raise errors.clause_needs_window(
            source.location(clauses.watermark.span), clause="WATERMARK"
        )
    if emit.mode is EmitMode.FINAL or shape.window is None:
        return 0
    return given.value_us if given is not None else option_us


def _refuse_lateness(shape: Shape, clause: str, at: errors.Location) -> None:
    if shape.window is None:
        raise errors.clause_needs_window(at, clause=clause)
    if any(
        node.mode is TimeMode.PROCESSING for node in walk(shape.node) if isinstance(node, EventTime)
    ):
        raise errors.clause_needs_event_time(at, clause=clause)
    if isinstance(shape.window, (Counting, Conditional)):
        what = f"a {shape.window.kind} window"
        raise errors.emit_not_for_window(
            at, mode=clause, window=what, instead="it closes by its rows, not by time"
        )


def refuse_sink(
    connector: str, *, stream: str, kind: StreamKind, emission: str, at: errors.Location
) -> None:
    """A sink that can only append does not take rows that replace or retract."""
    spec = find_connector(connector)
    assert spec is not None
    if kind.value in spec.holds:
        return
    able = ", ".join(other.name for other in CONNECTORS.values() if kind.value in other.holds)
    raise errors.sink_cannot_hold(
        at, connector=connector, stream=stream, kind=kind, why=f"EMIT {emission}", able=able
    )
