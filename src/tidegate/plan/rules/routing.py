"""What crosses the seam: partials where an aggregate can be computed piece by piece, rows where it cannot."""

from collections.abc import Mapping
from dataclasses import replace

from tidegate.model.options import OptionValue
from tidegate.model.windows import Conditional, Counting, Sliding
from tidegate.plan.physical import Decision, Routing, Stage, StageKind

RULE = "routing"


def choose_routing(stage: Stage, _options: Mapping[str, OptionValue]) -> Stage:
    """One partial per touched group, unless the window is about single rows."""
    routing, reason = _choose(stage)
    decision = Decision(RULE, routing.value, reason)
    return replace(stage, routing=routing, decisions=(*stage.decisions, decision))


_ROWS_OF = {
    StageKind.STATELESS: "rows are passed on as they come, without state",
    StageKind.ROWS: "the query has no aggregates: a window's rows are what it emits",
    StageKind.JOIN: "rows of both sides meet when their window is complete",
    StageKind.MEETING: "every row may match others of its own",
    StageKind.SLIDING: "every row is a trigger of its own",
}


def _choose(stage: Stage) -> tuple[Routing, str]:
    if stage.dedup is not None:
        return Routing.ROWS, "duplicates are told apart row by row"
    if stage.kind in _ROWS_OF:
        return Routing.ROWS, _ROWS_OF[stage.kind]
    match stage.window:
        case Sliding():
            return Routing.ROWS, "every row is a trigger of its own"
        case Counting():
            return Routing.ROWS, "windows are cut by counting single rows"
        case Conditional():
            return Routing.ROWS, "windows are cut by conditions on single rows"
        case _:
            return Routing.PARTIALS, "aggregates are combined from partials, one per touched group"
