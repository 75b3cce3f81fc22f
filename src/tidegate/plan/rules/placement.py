"""Where state lives on Spark: on the driver while it is small, on the executors when it is not."""

from collections.abc import Mapping
from dataclasses import replace

from tidegate.model.options import OptionValue
from tidegate.plan.physical import Decision, Stage, StageKind

RULE = "placement"
_REASONS = {
    "driver": "spark.state = driver: lowest latency, state is bounded by the driver's memory",
    "executors": "spark.state = executors: partials are hashed by group to shards",
    "auto": "it starts on the driver and moves to the executors when it outgrows it",
}


def choose_placement(stage: Stage, options: Mapping[str, OptionValue]) -> Stage:
    """As configured; a stage without state has no place for it."""
    if stage.kind is StageKind.STATELESS:
        return replace(stage, placement="none")
    placement = str(options.get("state", "auto"))
    decision = Decision(RULE, placement, _REASONS[placement])
    return replace(stage, placement=placement, decisions=(*stage.decisions, decision))
