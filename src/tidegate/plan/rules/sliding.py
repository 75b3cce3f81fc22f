"""How sliding windows are computed: incrementally (fused) where that equals recomputing each frame, else buffered."""

from collections.abc import Mapping
from dataclasses import replace

from tidegate.model.options import OptionValue
from tidegate.model.policies import EmitMode
from tidegate.model.windows import Sliding
from tidegate.plan.aggregates import is_bounded
from tidegate.plan.physical import Decision, Stage, StageKind

RULE = "sliding"


def choose_sliding(stage: Stage, _options: Mapping[str, OptionValue]) -> Stage:
    """Fused or buffered, with the reason."""
    if not isinstance(stage.window, Sliding):
        return stage
    obstacle = _obstacle(stage)
    choice = "fused" if not obstacle else "buffered"
    reason = (
        obstacle
        or "every aggregate combines from pieces of its frame, which neighbouring frames share"
    )
    return replace(
        stage, fused=not obstacle, decisions=(*stage.decisions, Decision(RULE, choice, reason))
    )


def _obstacle(stage: Stage) -> str:
    if stage.option("fuse_sliding") is False:
        return "fuse_sliding is off"
    if stage.kind is StageKind.ROWS:
        return "the query has no aggregates"
    if stage.kind is StageKind.AGGREGATE and stage.keys:
        return "each trigger emits a row per group in its window"
    frames = [stage.window, *(frame.window for frame in stage.frames)]
    ahead = any(isinstance(window, Sliding) and window.lookahead_us for window in frames)
    if ahead and stage.emit.mode is EmitMode.ON_UPDATE:
        return "a trigger that fires at once sees only what has come of the rows behind it"
    unbounded = [named.call for named in stage.aggregates if not is_bounded(named.call)]
    if unbounded:
        name = unbounded[0].function.upper()
        return (
            f"{name}{'(DISTINCT)' if unbounded[0].distinct else ''} needs all values of its frame"
        )
    return ""
