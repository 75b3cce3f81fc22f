"""What every operator's description says in the same way: keys, output, inputs, limits."""

from tidegate.kernel.duplicates import DedupSpec
from tidegate.kernel.finishing import OutputSpec
from tidegate.kernel.gathering import Input
from tidegate.kernel.quotas import Limits
from tidegate.kernel.ranking import Direction
from tidegate.kernel.steps import InputSpec
from tidegate.kernel.watermark import InputTime
from tidegate.model.expressions import Field, Named
from tidegate.model.policies import TimeMode, WatermarkOrigin
from tidegate.model.schema import schema_of
from tidegate.plan.group_sql import group_query
from tidegate.plan.logical import RANK
from tidegate.plan.physical import Branch, Stage
from tidegate.plan.quotas import QUOTAS


def keys_of(stage: Stage) -> tuple[Field, ...]:
    """What tells groups apart, in the order in which row SQL has it."""
    inherited = (field for field, _ in stage.inherited)
    return tuple(dict.fromkeys((*stage.keys, *stage.partition_by, *inherited)))


def row_columns_of(stage: Stage) -> tuple[Field, ...]:
    """The columns of a row that are more than what duplicates, or the groups of a join, are told apart by."""
    keys = stage.dedup.keys if stage.dedup is not None else ()
    if stage.join is not None:
        keys = (*keys, *keys_of(stage))
    columns = (field_of(named) for named in stage.branches[0].columns)
    return tuple(column for column in columns if column not in keys)


def inputs_of(stage: Stage) -> tuple[Input, ...]:
    """What rows that cross whole bring for aggregates."""
    return tuple(Input(place, spec) for place, spec in enumerate(stage.partials))


def dedup_of(stage: Stage) -> DedupSpec | None:
    if stage.dedup is None:
        return None
    timed = stage.branches[0].time is not None
    return DedupSpec(keys=stage.dedup.keys, within_us=stage.dedup.within_us, timed=timed)


def field_of(named: Named) -> Field:
    return Field(named.name, named.expr.type)


def output_of(stage: Stage, plan_id: str) -> OutputSpec:
    """What is emitted of finished groups, whatever window they are of."""
    query = group_query(stage)
    calls = zip(stage.aggregates, stage.finishes, strict=True)
    return OutputSpec(
        plan_id=plan_id,
        keys=keys_of(stage),
        aggregates=tuple((named.name, finish) for named, finish in calls),
        reads=frozenset(field.name for field in query.columns),
        schema=schema_of(stage.output),
        plain=query.plain,
        sort=query.sort,
        directions=tuple(Direction(key.descending, key.nulls_first) for key in stage.order),
        within=len(stage.within),
        limit=stage.limit,
        ranked=tuple(named.name for named in stage.output if named.expr == RANK),
    )


def input_of(branch: Branch) -> InputSpec:
    time = branch.time
    if time is None:
        return InputSpec(time=InputTime(origin=WatermarkOrigin.NONE))
    return InputSpec(
        time=InputTime(
            origin=time.watermark,
            lag_us=time.lag_us,
            idle_timeout_us=time.idle_timeout_us,
            processing=time.mode is TimeMode.PROCESSING,
        ),
        max_future_skew_us=time.max_future_skew_us,
    )


def limits_of(stage: Stage) -> Limits:
    groups, windows, state_bytes = (
        value if isinstance(value, int) else None for value in map(stage.option, QUOTAS)
    )
    return Limits(groups=groups, windows=windows, state_bytes=state_bytes)
