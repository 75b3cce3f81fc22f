"""One running stage: row SQL, the window operator behind it, and what is told of rows that are not aggregated.

Decided here: what an epoch of a stage is in the log. It is what crossed the seam, and the few numbers beside it that
the data does not say; so a log is replayed without sources and without SQL.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.engines.copies import apart
from tidegate.engines.executor import BranchRows, Executor, Rows
from tidegate.engines.operators import keys_of, operator_spec
from tidegate.engines.sides import Circumstances, Describer, Extent, Payload, kind_of
from tidegate.kernel.arrow import Integers, array_of, conform, numbers
from tidegate.kernel.changes import Emitted
from tidegate.kernel.hashing import hash_rows
from tidegate.kernel.index import KeyIndex
from tidegate.kernel.panes import PANE
from tidegate.kernel.pieces import panes_of
from tidegate.kernel.refusals import Refused
from tidegate.kernel.steps import Bounds, Brought, Outcome, State, Step
from tidegate.kernel.watermark import Partitions
from tidegate.model.expressions import Field
from tidegate.model.grid import latest_window_us
from tidegate.model.policies import DISPOSITION, FILTERED, EmitMode, Reason, SideKind
from tidegate.model.time import NEVER_US
from tidegate.model.types import Scalar
from tidegate.model.windows import Conditional, Counting, Interval
from tidegate.plan.physical import Branch, Stage

_LATE = DISPOSITION[Reason.ALLOWED_LATENESS_EXCEEDED]
_DUPLICATE = DISPOSITION[Reason.DUPLICATE_KEY]
Facts = Mapping[str, Any]
Parts = dict[str, pa.Table]


@dataclass(slots=True)
class Fed:
    """What an input delivers in an epoch: rows, and rows that it takes back. `partitions` are all that it has."""

    rows: Rows = ()
    taken_back: Rows = ()
    explicit_us: int = NEVER_US
    upstream_us: int = NEVER_US
    partitions: Sequence[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    number: int
    now_us: int
    ended: bool = False
    wanted: frozenset[SideKind] = frozenset()


@dataclass(slots=True)
class Made:
    """What an epoch of a stage gave. `parts` and `facts` are for the log."""

    emitted: Emitted
    rows_by_code: Counter[int]
    watermark_us: int
    behind_us: int
    rows_in: int | None = None
    stamped: int = 0
    broken: Counter[int] = field(default_factory=Counter)
    payloads: list[Payload] = field(default_factory=list)
    parts: Parts = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)


class WindowStage:
    """A stage with an operator."""

    def __init__(
        self,
        stage: Stage,
        plan_id: str,
        executor: Executor,
        *,
        stream: str,
        tables: Mapping[str, pa.Table],
        since_us: int,
    ) -> None:
        self.stage, self.stream, self.plan_id = stage, stream, plan_id
        self._spec = operator_spec(stage, plan_id)
        self._now_us = since_us
        project = executor.projection(stage, lambda: self._now_us)
        self.operator = executor.operator(stage, self._spec, project, since_us=since_us)
        self._branches = tuple(executor.rows(stage, branch, tables) for branch in stage.branches)
        self._describer = Describer.of(stage)

    def use_tables(self, tables: Mapping[str, pa.Table]) -> None:
        for rows in self._branches:
            rows.use_tables(tables)

    def step(self, fed: Sequence[Fed], epoch: Epoch) -> Made:
        self._now_us = max(epoch.now_us, self.operator.clock_us)
        bounds = self.operator.begin(self._now_us)
        brought = [
            Brought(
                batches=rows.crossing(one.rows, bound, self._now_us) if one.rows else (),
                taken_back=rows.crossing(one.taken_back, bound, self._now_us)
                if one.taken_back
                else (),
                explicit_us=one.explicit_us,
                upstream_us=one.upstream_us,
                partitions=self._partitions(rows, one, bound),
            )
            for rows, one, bound in zip(self._branches, fed, bounds, strict=True)
        ]
        limit = self._spec.limits.state_bytes
        step = Step(
            inputs=brought,
            now_us=self._now_us,
            ended=epoch.ended,
            crowded=limit is not None and self.operator.bytes >= limit,
        )
        outcome = self.operator.step(step)
        around = Circumstances(
            stream=self.stream,
            plan_id=self.plan_id,
            epoch=epoch.number,
            now_us=self._now_us,
            watermark_us=bounds[0].watermark_us,
        )
        made = _made(outcome, logged_parts(step), logged_facts(step))
        made.rows_in = rows_in(self._branches, fed)
        made.payloads = list(self._payloads(fed, bounds, outcome, around, epoch.wanted))
        return made

    def _partitions(self, rows: BranchRows, fed: Fed, bounds: Bounds) -> Partitions | None:
        if fed.partitions is None:
            return None
        latest = rows.partitions(fed.rows, bounds, self._now_us) if fed.rows else {}
        return Partitions(known=fed.partitions, latest_us=latest)

    def replay(self, parts: Mapping[str, pa.Table], facts: Facts, now_us: int) -> Made:
        """An epoch from the log; what it emits is not asked for."""
        self._now_us = max(now_us, self.operator.clock_us)
        step = step_of(parts, facts, inputs=len(self._branches), now_us=now_us)
        return _made(self.operator.step(step, replayed=True), {}, {})

    def snapshot(self) -> State:
        return self.operator.snapshot()

    def restore(self, state: State) -> None:
        self.operator.restore(state)

    # Side outputs

    def _payloads(
        self,
        fed: Sequence[Fed],
        bounds: Sequence[Bounds],
        outcome: Outcome,
        around: Circumstances,
        wanted: frozenset[SideKind],
    ) -> Iterator[Payload]:
        if self.stage.emit.mode is EmitMode.FINAL:
            wanted = wanted - {SideKind.LATE}
        codes = {code for code, count in outcome.account.rows_by_code.items() if count}
        told = {code for code in codes if code > FILTERED and kind_of(code) in wanted}
        by_kernel = [set(refused.codes.tolist()) for refused in outcome.refused]
        by_rows = told.difference({_DUPLICATE}, *by_kernel)
        for place, (rows, branch) in enumerate(
            zip(self._branches, self.stage.branches, strict=True)
        ):
            every = [*fed[place].rows, *fed[place].taken_back]
            if by_rows and every:
                found = rows.diverted(every, bounds[place], self._now_us)
                yield from self._told(found, branch, told, around)
            again = outcome.duplicates[place] if outcome.duplicates else None
            hidden = again is not None and again.num_rows > 0
            if by_kernel[place] & told or (hidden and _DUPLICATE in told):
                found = rows.taken(every, bounds[place], self._now_us)
                if again is not None:
                    found, copies = apart(found, again, self._dedup_columns(branch))
                    if _DUPLICATE in told:
                        yield from self._copies(copies, branch, around)
                if by_kernel[place] & told:
                    yield from self._refused(found, branch, outcome.refused[place], around)
        broken = outcome.emitted.broken
        if len(broken.codes) and SideKind.ERROR in wanted:
            codes_of = broken.codes.tolist()
            yield from self._describer.groups(broken.units, codes_of, broken.details, around)

    def _told(
        self,
        batches: Sequence[pa.RecordBatch],
        branch: Branch,
        told: set[int],
        around: Circumstances,
    ) -> Iterator[Payload]:
        for batch in batches:
            codes = numbers(conform(batch.column("$code"), Scalar.BIGINT)).values
            rows = batch.filter(pa.array(np.isin(codes, list(told))))
            late = [code == _LATE for code in rows.column("$code").to_pylist()]
            times = rows.column("$ts").to_pylist()
            extents = [
                self._missed(ts_us) if is_late else None
                for ts_us, is_late in zip(times, late, strict=True)
            ]
            yield from self._describer.rows(rows, branch, around, extents=extents, with_keys=late)

    def _dedup_columns(self, branch: Branch) -> Mapping[str, str]:
        """By what name the input has the columns that duplicates are told apart by."""
        assert self.stage.dedup is not None
        physical = dict(branch.input.originals)
        made = {named.name: named.expr for named in branch.columns}
        found = {}
        for key in self.stage.dedup.keys:
            column = made[key.name]
            assert isinstance(column, Field)
            found[key.name] = physical[column.name]
        return found

    def _copies(
        self, batches: Sequence[pa.RecordBatch], branch: Branch, around: Circumstances
    ) -> Iterator[Payload]:
        for batch in batches:
            codes = array_of(np.full(batch.num_rows, _DUPLICATE), None, pa.int64())
            rows = batch.set_column(batch.schema.get_field_index("$code"), "$code", codes)
            nothing = [None] * batch.num_rows
            yield from self._describer.rows(
                rows, branch, around, extents=nothing, with_keys=[False] * batch.num_rows
            )

    def _missed(self, ts_us: int) -> Extent | None:
        if isinstance(self._spec.window, Interval):
            return None
        assert self._spec.window is not None
        assert not isinstance(self._spec.window, (Counting, Conditional))
        return Extent(*latest_window_us(self._spec.window, ts_us))

    def _refused(
        self,
        batches: Sequence[pa.RecordBatch],
        branch: Branch,
        refused: Refused,
        around: Circumstances,
    ) -> Iterator[Payload]:
        """The rows of partials that the kernel did not take."""
        index = KeyIndex()
        own = numbers(conform(refused.partials.column(PANE), Scalar.BIGINT)).values
        place_of, _ = index.slots(self._lanes(refused.partials, own))
        first = np.zeros(place_of.max() + 1, np.int64)
        first[place_of[::-1]] = np.arange(len(place_of))[::-1]
        for batch in batches:
            slots = index.find(self._lanes(batch, self._panes_of(batch)))
            found = np.flatnonzero(slots >= 0)
            places = first[slots[found]]
            extents = [self._extent(refused, place) for place in places.tolist()]
            rows = batch.take(pa.array(found))
            codes = pa.array(refused.codes[places])
            rows = rows.set_column(rows.schema.get_field_index("$code"), "$code", codes)
            yield from self._describer.rows(
                rows, branch, around, extents=extents, with_keys=[True] * len(found)
            )

    def _extent(self, refused: Refused, place: int) -> Extent | None:
        if self._spec.window is None:
            return None
        return Extent(int(refused.starts_us[place]), int(refused.ends_us[place]))

    def _panes_of(self, rows: pa.RecordBatch) -> Integers:
        if self._spec.window is None:
            return np.zeros(rows.num_rows, np.int64)
        times = numbers(conform(rows.column("$ts"), Scalar.BIGINT)).values
        panes: Integers = panes_of(times, self._spec.marks)
        return panes

    def _lanes(self, rows: pa.RecordBatch, panes: Integers) -> tuple[np.ndarray, np.ndarray]:
        keys = [conform(rows.column(key.name), key.type) for key in keys_of(self.stage)]
        return hash_rows([pa.array(panes), *keys], rows.num_rows)


def rows_in(branches: Sequence[BranchRows], fed: Sequence[Fed]) -> int | None:
    """How many rows the inputs have brought, as far as that is known without asking what became of them."""
    counts = [
        rows.count([*one.rows, *one.taken_back]) for rows, one in zip(branches, fed, strict=True)
    ]
    return None if None in counts else sum(count or 0 for count in counts)


def _made(outcome: Outcome, parts: Parts, facts: Facts) -> Made:
    broken = Counter(outcome.emitted.broken.codes.tolist())
    account = outcome.account
    return Made(
        emitted=outcome.emitted,
        rows_by_code=account.rows_by_code,
        watermark_us=outcome.watermark_us,
        behind_us=outcome.behind_us,
        stamped=account.stamped,
        broken=broken,
        parts=parts,
        facts=facts,
    )


# The log


def logged_parts(step: Step) -> Parts:
    """What crossed the seam, by input."""
    parts = {}
    for place, brought in enumerate(step.inputs):
        for name, batches in (("rows", brought.batches), ("back", brought.taken_back)):
            if sum(batch.num_rows for batch in batches):
                parts[f"{place}.{name}"] = pa.Table.from_batches(batches)
    return parts


def logged_facts(step: Step) -> Facts:
    return {
        "explicit_us": [brought.explicit_us for brought in step.inputs],
        "upstream_us": [brought.upstream_us for brought in step.inputs],
        "ended": step.ended,
        "crowded": step.crowded,
        **_logged_partitions(step),
    }


def _logged_partitions(step: Step) -> Facts:
    told = [one.partitions for one in step.inputs]
    if not any(told):
        return {}
    return {
        "partitions": [
            None
            if one is None
            else {"known": [*one.known], "latest_us": [[*pair] for pair in one.latest_us.items()]}
            for one in told
        ]
    }


def _partitions_of(facts: Facts, place: int) -> Partitions | None:
    told = facts["partitions"][place] if "partitions" in facts else None
    if told is None:
        return None
    return Partitions(known=told["known"], latest_us=dict(told["latest_us"]))


def step_of(parts: Mapping[str, pa.Table], facts: Facts, *, inputs: int, now_us: int) -> Step:
    """The step that was logged."""

    def batches(place: int, name: str) -> Sequence[pa.RecordBatch]:
        table = parts.get(f"{place}.{name}")
        return () if table is None else table.to_batches()

    return Step(
        inputs=[
            Brought(
                batches=batches(place, "rows"),
                taken_back=batches(place, "back"),
                explicit_us=facts["explicit_us"][place],
                upstream_us=facts["upstream_us"][place],
                partitions=_partitions_of(facts, place),
            )
            for place in range(inputs)
        ],
        now_us=now_us,
        ended=facts["ended"],
        crowded=facts["crowded"],
    )
