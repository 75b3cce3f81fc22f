"""What may happen to a stage because time goes by, while no rows come.

Decided here: an engine that waits for rows asks this, instead of having empty epochs all the time. A tick of EVERY and
an input (or a partition of one) that falls silent are known to the moment. Windows in processing time may close at any
moment while there are some; they are looked at every 100 ms.
"""

from tidegate.engines.dataflow import RunningStage
from tidegate.model.policies import TimeMode
from tidegate.model.time import MILLISECOND

_LOOK_US = 100 * MILLISECOND


def is_due(stage: RunningStage, last_us: int, now_us: int) -> bool:
    """Whether an epoch at `now_us` may differ from none, the last one having been at `last_us`."""
    operator = stage.operator
    if operator is None:
        return False
    every = stage.stage.emit.interval_us
    if every is not None and now_us // every > last_us // every:
        return True
    if any(one.silent(now_us) > one.silent(last_us) for one in operator.course.watermark.clocks):
        return True
    timed = (branch.time for branch in stage.stage.branches)
    processing = any(one is not None and one.mode is TimeMode.PROCESSING for one in timed)
    return processing and operator.open_windows > 0 and now_us - last_us >= _LOOK_US
