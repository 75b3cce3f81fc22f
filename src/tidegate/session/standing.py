"""Where a stream stands: its watermark, what holds it back, which windows are open, what was diverted from them.

In: an engine between two epochs. Out: `Standing`, plain data for `why`, EXPLAIN WHY and the live page. Decided here:
everything is read from the state as a restart would find it, so that a run, a checkpoint and a look at files give the
same answer. A stage whose windows are not on the time axis (counting, state) tells how many rows it keeps.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidegate.engines.dataflow import Running
from tidegate.engines.engine import Engine
from tidegate.engines.operators import operator_spec
from tidegate.engines.sides import key_names
from tidegate.engines.stage import WindowStage
from tidegate.kernel.operator import OperatorSpec
from tidegate.model.grid import windows_at
from tidegate.model.policies import EmitMode, WatermarkOrigin
from tidegate.model.time import NEVER_US
from tidegate.model.windows import (
    Calendar,
    Cumulating,
    Hopping,
    Inherited,
    Session,
    Tumbling,
    Window,
)
from tidegate.plan.physical import Branch, InputKind
from tidegate.session.accounts import Account, account_of

Group = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputStanding:
    """One input of a stage. `silent_us`: how long it has had no rows; `is_idle`: so long that nobody waits for it."""

    name: str
    is_source: bool
    origin: WatermarkOrigin
    lag_us: int
    watermark_us: int
    latest_us: int
    silent_us: int
    idle_timeout_us: int | None
    processing: bool = False

    @property
    def is_idle(self) -> bool:
        return self.idle_timeout_us is not None and self.silent_us >= self.idle_timeout_us


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWindow:
    """A window with rows. `groups` has how many rows each group has in it."""

    start_us: int
    end_us: int
    groups: tuple[tuple[Group, int], ...]

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One stage of a stream. `unlisted` windows are open and not looked into: their state is large, or elsewhere.

    `upstream` are the streams that it reads, by lower-case name.
    """

    name: str
    window: Window | None
    mode: EmitMode
    lateness_us: int
    watermark_us: int
    now_us: int
    keys: tuple[str, ...]
    inputs: tuple[InputStanding, ...]
    windows: tuple[OpenWindow, ...]
    unlisted: int
    kept: int
    reasons: Mapping[str, int]
    upstream: Mapping[str, "Standing"] = field(default_factory=dict)

    @property
    def closes_after_us(self) -> int:
        """How far behind the end of a window the watermark must be for its rows to come out."""
        return 0 if self.mode is EmitMode.AFTER_WATERMARK else self.lateness_us

    @property
    def holding(self) -> tuple[InputStanding, ...]:
        """The inputs that are furthest behind, of those that are waited for."""
        active = [one for one in self.inputs if not one.is_idle]
        least = min((one.watermark_us for one in active), default=NEVER_US)
        return tuple(one for one in active if one.watermark_us == least)


def standing_of(engine: Engine, stream: str) -> Standing:
    """Of the last stage of a stream that the engine runs."""
    return standings(engine, account_of(engine), windows_of={stream.lower()})[stream.lower()]


def standings(
    engine: Engine, account: Account, *, windows_of: Collection[str], most_bytes: int | None = None
) -> dict[str, Standing]:
    """Of every stage, by lower-case name; open windows of those that are named, unless their state is too large."""
    found: dict[str, Standing] = {}
    reasons = {one.name: one.reasons for one in account.stages}
    for query in engine.dataflow.queries:
        for stage in query.stages:
            name = stage.stage.name
            if not isinstance(stage, WindowStage):
                found[name.lower()] = _passing(engine, query, reasons[name], found)
                continue
            small = most_bytes is None or stage.operator.bytes <= most_bytes
            listed = small and query.name.lower() in windows_of
            found[name.lower()] = _standing(engine, stage, reasons[name], found, listed=listed)
    return found


def _passing(
    engine: Engine, query: Running, reasons: Mapping[str, int], found: Mapping[str, Standing]
) -> Standing:
    """A stage that keeps nothing waits for nothing."""
    stage = query.stages[-1].stage
    reads = [branch.input.name for branch in stage.branches]
    return Standing(
        name=query.name,
        window=None,
        mode=stage.emit.mode,
        lateness_us=0,
        watermark_us=NEVER_US,
        now_us=engine.now_us,
        keys=(),
        inputs=(),
        windows=(),
        unlisted=0,
        kept=0,
        reasons=reasons,
        upstream={name.lower(): found[name.lower()] for name in reads if name.lower() in found},
    )


def _standing(
    engine: Engine,
    stage: WindowStage,
    reasons: Mapping[str, int],
    found: Mapping[str, Standing],
    *,
    listed: bool,
) -> Standing:
    plan = stage.stage
    parts = stage.snapshot().parts if listed else {}
    names = [branch.input.name.lower() for branch in plan.branches]
    watermark = stage.operator.course.watermark.facts()
    now_us = max(engine.now_us, stage.operator.clock_us)
    groups = parts.get("groups")
    windows = () if groups is None else tuple(_windows(stage, groups, watermark["at"]))
    seen = "rows" in parts or (groups is not None and not isinstance(plan.window, Inherited))
    return Standing(
        name=plan.name,
        window=plan.window,
        mode=plan.emit.mode,
        lateness_us=plan.lateness_us,
        watermark_us=watermark["at"],
        now_us=now_us,
        keys=tuple(key_names(plan).values()),
        inputs=tuple(
            _input(branch, clock, now_us)
            for branch, clock in zip(plan.branches, watermark["inputs"], strict=True)
        ),
        windows=windows,
        unlisted=0 if seen else stage.operator.open_windows,
        kept=sum(part.num_rows for name, part in parts.items() if name in ("rows", "groups")),
        reasons=reasons,
        upstream={name: found[name] for name in names if name in found},
    )


def _input(branch: Branch, clock: list[int], now_us: int) -> InputStanding:
    watermark_us, latest_us, heard_us = clock
    time = branch.time
    return InputStanding(
        name=branch.input.name,
        is_source=branch.input.kind is InputKind.SOURCE,
        origin=time.watermark if time else WatermarkOrigin.NONE,
        lag_us=time.lag_us if time else 0,
        watermark_us=watermark_us,
        latest_us=latest_us,
        silent_us=now_us - heard_us,
        idle_timeout_us=time.idle_timeout_us if time else None,
        processing=time is not None and time.watermark is WatermarkOrigin.CLOCK,
    )


# Windows that have rows


def _windows(stage: WindowStage, groups: pa.RecordBatch, watermark_us: int) -> Iterator[OpenWindow]:
    """Those that are not closed, by their ends."""
    names = key_names(stage.stage)
    held: dict[tuple[int, int], dict[tuple[str, ...], int]] = defaultdict(lambda: defaultdict(int))
    lateness_us = stage.stage.lateness_us
    for row in groups.select(_columns(groups)).to_pylist():
        key = tuple(_text(row[name]) for name in names)
        for start_us, end_us in _extents(stage, row):
            if end_us + lateness_us > watermark_us:
                held[start_us, end_us][key] += row["$rows"]
    for (start_us, end_us), rows in sorted(held.items(), key=lambda item: (item[0][1], item[0][0])):
        shown = tuple(
            (dict(zip(names.values(), key, strict=True)), count) for key, count in rows.items()
        )
        yield OpenWindow(start_us=start_us, end_us=end_us, groups=shown)


def _columns(groups: pa.RecordBatch) -> list[str]:
    wanted = ("$pane", "$first_ts", "$last_ts", "$rows")
    return [name for name in groups.schema.names if name in wanted or name.startswith("$k")]


def _extents(stage: WindowStage, row: Mapping[str, Any]) -> list[tuple[int, int]]:
    spec = operator_spec(stage.stage, stage.plan_id)
    match stage.stage.window:
        case Session(gap_us=gap):
            return [(row["$first_ts"], row["$last_ts"] + gap)]
        case (Tumbling() | Hopping() | Cumulating() | Calendar()) as window if isinstance(
            spec, OperatorSpec
        ):
            start_us = spec.marks.start_us(row["$pane"])
            if spec.direct and isinstance(window, Hopping):
                return [(start_us, start_us + window.size_us)]
            return windows_at(window, start_us)
        case _:
            return []


def _text(value: object) -> str:
    return "NULL" if value is None else str(value)
