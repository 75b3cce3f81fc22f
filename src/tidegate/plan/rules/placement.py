"""Where state lives on Spark: on the driver while it is small, on the executors when it is not.

Decided here: which stages may leave the driver at all. A shard holds some of the groups, so whatever looks at several
groups at once (Top-N, quotas, a query without keys), or reads what another stage has made on the driver, stays there.
"""

from collections.abc import Mapping
from dataclasses import replace

from tidegate.model.options import OptionValue
from tidegate.model.windows import Conditional, Counting, Sliding
from tidegate.plan.physical import Decision, InputKind, Routing, Stage, StageKind
from tidegate.plan.quotas import QUOTAS

RULE = "placement"
DRIVER, EXECUTORS, AUTO, NONE = "driver", "executors", "auto", "none"
_REASONS = {
    DRIVER: "spark.state = driver: lowest latency, state is bounded by the driver's memory",
    EXECUTORS: "spark.state = executors: partials are hashed by group to shards",
    AUTO: "it starts on the driver and moves to the executors when it outgrows it",
}


def choose_placement(stage: Stage, options: Mapping[str, OptionValue]) -> Stage:
    """As configured, where the stage can be cut into shards; a stage without state has no place for it."""
    if stage.kind is StageKind.STATELESS:
        return replace(stage, placement=NONE)
    placement = str(options.get("state", AUTO))
    reason = _REASONS[placement]
    if placement != DRIVER and (bound := bound_to_driver(stage)):
        placement, reason = DRIVER, bound
    decision = Decision(RULE, placement, reason)
    return replace(stage, placement=placement, decisions=(*stage.decisions, decision))


def bound_to_driver(stage: Stage) -> str:
    """Why the stage cannot be cut into shards; empty if it can."""
    in_order = isinstance(stage.window, (Sliding, Counting, Conditional))
    if in_order or stage.kind is not StageKind.AGGREGATE or stage.routing is not Routing.PARTIALS:
        return "its rows are kept one by one, in one order"
    if any(branch.input.kind is not InputKind.SOURCE for branch in stage.branches):
        return "it reads what another stage has made there"
    if not (stage.keys or stage.partition_by):
        return "without keys there is one group"
    if stage.order:
        return "Top-N compares all groups of a window"
    if any(stage.option(name) is not None for name in QUOTAS):
        return "quotas count the groups of all shards"
    if stage.option("dedup_key") is not None:
        return "dedup_key compares all rows"
    return ""
