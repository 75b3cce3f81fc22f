"""What became of every row: the conservation law of semantics §8, as figures.

In: an engine. Out: per source what was read, per stage what became of it, per side output where it went. Decided here:
nothing is computed by subtraction, so that the law is a check and not a definition.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.engines.dataflow import Running, RunningStage
from tidegate.engines.engine import Engine
from tidegate.engines.sides import REASON
from tidegate.model.policies import AGGREGATED, FILTERED, SIDE_KIND, MissingEventTime
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.plan.logical import Rung
from tidegate.plan.physical import Branch


@dataclass(frozen=True, slots=True, kw_only=True)
class StageAccount:
    """Rows of one stage. `reasons` are counts of what was diverted, by `kind/reason`; of groups without a value too.

    `falls_back`: rows without a time of their own take that of their file or record, and move the watermark.
    """

    name: str
    stream: str
    anonymous: bool
    stateless: bool
    falls_back: bool
    aggregated: int
    filtered: int
    reasons: Mapping[str, int]
    broken: Mapping[str, int]
    emitted: int
    stamped: int
    watermark_us: int
    open_windows: int
    state_bytes: int
    seconds: float

    @property
    def diverted(self) -> int:
        return sum(self.reasons.values())

    @property
    def rows(self) -> int:
        return self.aggregated + self.filtered + self.diverted


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """All of a run."""

    epoch: int
    read: Mapping[str, int]
    malformed: Mapping[str, int]
    stages: tuple[StageAccount, ...]
    delivered: Mapping[str, int]
    dropped: Mapping[str, int]

    def stages_of(self, stream: str) -> list[StageAccount]:
        return [stage for stage in self.stages if stage.stream.lower() == stream.lower()]

    @property
    def diverted(self) -> Counter[str]:
        """By kind."""
        counts: Counter[str] = Counter()
        for stage in self.stages:
            for reasons in (stage.reasons, stage.broken):
                for name, count in reasons.items():
                    counts[name.partition("/")[0]] += count
        if wrong := sum(self.malformed.values()):
            counts["error"] += wrong
        return counts

    @property
    def emitted(self) -> dict[str, int]:
        """By stream."""
        return {stage.stream: stage.emitted for stage in self.stages if stage.name == stage.stream}

    @property
    def results(self) -> int:
        """Rows of streams; of queries without a name only where there is nothing else, as they often show a stream."""
        named = [one for one in self.stages if one.name == one.stream and not one.anonymous]
        return sum(one.emitted for one in named) if named else sum(self.emitted.values())

    @property
    def open_windows(self) -> int:
        return sum(stage.open_windows for stage in self.stages)

    def watermark_us(self) -> int | None:
        """Of the stage that is furthest behind; None where there is none."""
        known = [one.watermark_us for one in self.stages if one.watermark_us > NEVER_US]
        return min(known) if known and min(known) < FOREVER_US else None

    def as_object(self) -> dict[str, Any]:
        """Plain data, for programs."""
        return {
            "epoch": self.epoch,
            "sources": {
                name: {"read": self.read[name], "malformed": self.malformed.get(name, 0)}
                for name in self.read
            },
            "stages": {
                stage.name: {
                    "rows": stage.rows,
                    "aggregated": stage.aggregated,
                    "filtered": stage.filtered,
                    "diverted": dict(stage.reasons),
                    "groups_without_value": dict(stage.broken),
                    "emitted": stage.emitted,
                    "stamped_by_the_clock": stage.stamped,
                    "watermark_us": stage.watermark_us,
                    "open_windows": stage.open_windows,
                    "state_bytes": stage.state_bytes,
                    "seconds": stage.seconds,
                }
                for stage in self.stages
            },
            "emitted": self.emitted,
            "diverted": dict(self.diverted),
            "delivered": dict(self.delivered),
            "dropped": dict(self.dropped),
        }


def account_of(engine: Engine) -> Account:
    totals = engine.totals
    stages = [
        _stage(engine, stage, query) for query in engine.dataflow.queries for stage in query.stages
    ]
    return Account(
        epoch=engine.epoch,
        read={**dict.fromkeys(totals.malformed, 0), **totals.read},
        malformed=dict(totals.malformed),
        stages=tuple(stages),
        delivered=dict(totals.delivered),
        dropped=dict(totals.dropped),
    )


def _stage(engine: Engine, running: RunningStage, query: Running) -> StageAccount:
    name, totals, operator = running.stage.name, engine.totals, running.operator
    codes = totals.rows_by_code.get(name, Counter())
    return StageAccount(
        name=name,
        stream=query.name,
        anonymous=query.anonymous,
        stateless=operator is None,
        falls_back=any(map(_falls_back, running.stage.branches)),
        aggregated=codes[AGGREGATED],
        filtered=codes[FILTERED],
        reasons=_by_reason(codes),
        broken=_by_reason(totals.broken.get(name, Counter())),
        emitted=totals.emitted[name],
        stamped=totals.stamped[name],
        watermark_us=engine.watermarks.get(name, NEVER_US),
        open_windows=0
        if operator is None or running.stage.window is None
        else operator.open_windows,
        state_bytes=0 if operator is None else operator.bytes,
        seconds=engine.seconds.get(name, 0.0),
    )


def _falls_back(branch: Branch) -> bool:
    time = branch.time
    if time is None or time.on_missing is not MissingEventTime.FALLBACK:
        return False
    return any(rung is Rung.METADATA for rung, _ in time.ladder[1:])


def _by_reason(codes: Counter[int]) -> dict[str, int]:
    return {
        f"{SIDE_KIND[REASON[code]]}/{REASON[code]}": count
        for code, count in sorted(codes.items())
        if code > FILTERED and count
    }
