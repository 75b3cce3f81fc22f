"""What an epoch did, as a plain object like those of `StreamingQuery.recentProgress`."""

from collections import deque
from typing import Any

from tidegate.model.time import FOREVER_US, NEVER_US, format_instant
from tidegate.session.accounts import Account

Progress = dict[str, Any]
_KEPT = 100


class Progresses:
    """The newest ones. Each is the difference of two accounts of the engine."""

    def __init__(self, begun: Account) -> None:
        self._before = begun
        self.kept: deque[Progress] = deque(maxlen=_KEPT)

    def add(self, now: Account, *, at_us: int, seconds: float, batch: dict[str, int]) -> None:
        """After an epoch; `batch` names what Spark handed over."""
        before, self._before = self._before, now
        self.kept.append(
            {
                "epoch": now.epoch,
                "timestamp": format_instant(at_us),
                "batches": batch,
                "numInputRows": sum(now.read.values()) - sum(before.read.values()),
                "numOutputRows": _more(now.emitted, before.emitted),
                "diverted": _more(dict(now.diverted), dict(before.diverted)),
                "watermarks": {
                    one.name: format_instant(one.watermark_us)
                    for one in now.stages
                    if NEVER_US < one.watermark_us < FOREVER_US
                },
                "openWindows": now.open_windows,
                "stateBytes": sum(one.state_bytes for one in now.stages),
                "durationMs": round(seconds * 1_000),
            }
        )


def _more(now: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    return {name: count - before.get(name, 0) for name, count in now.items()}
