"""From a planned stage to the kernel's description of windows that rows complete: sliding, counting, state.

A stage without a window is here, too, if rows are told apart in it: each row is complete by itself.

Decided here: which columns of a row are kept, how frames of OVER share what rows bring (each frame has partials of its
own, though several may be of the same column), and when a trigger fires at once.
"""

from collections.abc import Callable
from dataclasses import replace

from tidegate.engines.stage_parts import (
    dedup_of,
    input_of,
    inputs_of,
    keys_of,
    limits_of,
    output_of,
    row_columns_of,
)
from tidegate.kernel.conditional import ConditionalStore
from tidegate.kernel.counting import CountingStore
from tidegate.kernel.finishing import OutputSpec
from tidegate.kernel.frames import Frame
from tidegate.kernel.gathering import Input
from tidegate.kernel.meeting import MeetingSpec, MeetingStore
from tidegate.kernel.passing import PassingStore
from tidegate.kernel.row_operator import RowStore, RowWindowSpec
from tidegate.kernel.sliding import SlidingSpec, SlidingStore
from tidegate.kernel.windowed import Contained
from tidegate.model.expressions import Field
from tidegate.model.policies import EmitMode, TimeMode
from tidegate.model.windows import Conditional, Counting, Interval, Sliding
from tidegate.plan.physical import SIDE, FrameSpec, Stage
from tidegate.plan.row_inputs import has_inputs, read_whole


def row_window_spec(stage: Stage, plan_id: str) -> RowWindowSpec:
    """The operator of the stage."""
    what = _contained(stage)
    output = _numbered(stage, output_of(stage, plan_id))
    match stage.window:
        case Sliding() as window:
            sliding = _sliding(stage, window, what)
            output = _framed(stage, output)
            made = _spec(stage, window, lambda: SlidingStore(sliding), output)
            return replace(made, kept=what.kept, delay_us=sliding.delay_us, judged=True)
        case Counting() | Conditional() as window:
            kept = (*what.kept, *stage.partition_by)
            if isinstance(window, Conditional):
                kept = (*kept, _column(window.open), _column(window.close))
            made = _spec(stage, window, _completing(window, what, stage.partition_by), output)
            return replace(made, kept=tuple(dict.fromkeys(kept)))
        case Interval() as interval:
            meeting = _meeting(stage, interval, what)
            made = _spec(stage, interval, lambda: MeetingStore(meeting), output)
            return replace(made, kept=meeting.kept, judged=True, reach_us=interval.reach_us)
        case None:
            made = _spec(stage, None, lambda: PassingStore(what), output)
            return replace(made, kept=what.kept)
        case other:
            raise AssertionError(other)


def _spec(
    stage: Stage,
    window: Sliding | Counting | Conditional | Interval | None,
    store: Callable[[], RowStore],
    output: OutputSpec,
) -> RowWindowSpec:
    return RowWindowSpec(
        window=window,
        store=store,
        kept=(),
        output=output,
        inputs=tuple(input_of(branch) for branch in stage.branches),
        delay_us=stage.lateness_us,
        judged=False,
        limits=limits_of(stage),
        dedup=dedup_of(stage),
    )


def _meeting(stage: Stage, interval: Interval, what: Contained) -> MeetingSpec:
    assert stage.join is not None
    return MeetingSpec(
        what=what,
        interval=interval,
        side=SIDE.name,
        keys=stage.partition_by,
        own=(stage.join.left, stage.join.right),
        keeps=(stage.join.keeps_left, stage.join.keeps_right),
    )


def _contained(stage: Stage) -> Contained:
    columns = row_columns_of(stage)
    if not has_inputs(stage):
        return Contained(columns=columns, keys=(), inputs=(), exploded=True)
    whole = read_whole(stage)
    return Contained(
        columns=tuple(column for column in columns if column.name in whole),
        keys=keys_of(stage),
        inputs=inputs_of(stage),
        exploded=False,
    )


def _numbered(stage: Stage, output: OutputSpec) -> OutputSpec:
    return replace(output, numbered=True, exploded=not has_inputs(stage))


# Sliding windows


def _sliding(stage: Stage, window: Sliding, what: Contained) -> SlidingSpec:
    frames = tuple(_frame(stage, frame) for frame in stage.frames)
    shown = Frame(
        lookback_us=window.lookback_us,
        lookahead_us=window.lookahead_us or 0,
        partition=(),
        inputs=what.inputs,
    )
    every = frames or (shown,)
    lookahead_us = max(frame.lookahead_us for frame in every)
    on_clock = any(
        branch.time is not None and branch.time.mode is TimeMode.PROCESSING
        for branch in stage.branches
    )
    on_update = stage.emit.mode is EmitMode.ON_UPDATE
    return SlidingSpec(
        what=what,
        frames=frames,
        shown=shown,
        lookback_us=max(frame.lookback_us for frame in every),
        lookahead_us=lookahead_us,
        lateness_us=stage.lateness_us,
        at_once=on_update or (on_clock and lookahead_us == 0),
        fused=stage.fused,
    )


def _frame(stage: Stage, frame: FrameSpec) -> Frame:
    types = {named.name: named.expr.type for named in stage.branches[0].columns}
    return Frame(
        lookback_us=frame.window.lookback_us,
        lookahead_us=frame.window.lookahead_us or 0,
        partition=tuple(Field(name, types[name]) for name in frame.partition_by),
        inputs=tuple(Input(place, stage.partials[place]) for place in _places(stage, frame)),
    )


def _places(stage: Stage, frame: FrameSpec) -> tuple[int, ...]:
    """The partials that the frame's aggregates need, each once."""
    needed = (
        place
        for named, finish in zip(stage.aggregates, stage.finishes, strict=True)
        if named.name in frame.aggregates
        for place in finish.partials
    )
    return tuple(dict.fromkeys(needed))


def _framed(stage: Stage, output: OutputSpec) -> OutputSpec:
    """Aggregates look for their partials among those of their own frame, which stand behind those of others."""
    if not stage.frames:
        return output
    places: dict[str, dict[int, int]] = {}
    count = 0
    for frame in stage.frames:
        own = {place: count + n for n, place in enumerate(_places(stage, frame))}
        places |= dict.fromkeys(frame.aggregates, own)
        count += len(own)
    aggregates = tuple(
        (name, replace(spec, partials=tuple(places[name][place] for place in spec.partials)))
        for name, spec in output.aggregates
    )
    return replace(output, aggregates=aggregates, keys=())


# Windows that count, and windows with conditions


def _completing(
    window: Counting | Conditional, what: Contained, partition: tuple[Field, ...]
) -> Callable[[], RowStore]:
    if isinstance(window, Counting):
        return lambda: CountingStore(window, what, partition)
    opens, closes = _column(window.open), _column(window.close)
    return lambda: ConditionalStore(opens, closes, what, partition)


def _column(condition: object) -> Field:
    assert isinstance(condition, Field), condition
    return condition
