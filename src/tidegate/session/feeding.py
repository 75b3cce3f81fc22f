"""All rows of all sources, fed again in whatever batches are wanted.

In: a program whose sources end. Out: its rows, and readers that cut them. Decided here: a cut is drawn only where no
later row is late by it. What is late depends on how rows are batched (semantics §1.6), and a batch query knows nothing
of it; between such cuts both must agree to the last row, with the watermark at work as declared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa

from tidegate.connectors.protocols import Delivery, Offset
from tidegate.connectors.registry import open_source
from tidegate.engines.embedded.constants import constant_rows
from tidegate.engines.inputs import BY_HAND_CONNECTORS, sources_of
from tidegate.kernel.arrow import Integers, arrow_type
from tidegate.model.policies import MissingEventTime, WatermarkOrigin
from tidegate.model.time import NEVER_US
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.physical import Branch, InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.session.duck import Judge
from tidegate.session.opening import rows_of_table

_ROWS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Rows of sources and tables by lower-case name. `malformed` records are in neither."""

    sources: dict[str, pa.Table]
    tables: dict[str, pa.Table]
    malformed: int


def everything(program: Program) -> Given:
    """All that the program's sources and tables have now, and what its INSERTs say."""
    tables = {
        each.name.lower(): rows_of_table(each, None)
        for each in program.catalog.all_of("table")
        if isinstance(each, TableDef)
    }
    sources: dict[str, pa.Table] = {}
    malformed = 0
    for source in sources_of(program):
        sources[source.name.lower()], wrong = _read(source)
        malformed += wrong
    for inserted in program.inserts:
        target = program.catalog.find(inserted.source)
        assert isinstance(target, (SourceDef, TableDef))
        held = sources if isinstance(target, SourceDef) else tables
        rows = pa.Table.from_batches([constant_rows(inserted, target.physical)])
        if target.name.lower() in held:
            held[target.name.lower()] = pa.concat_tables([held[target.name.lower()], rows])
    return Given(sources=sources, tables=tables, malformed=malformed)


def _read(source: SourceDef) -> tuple[pa.Table, int]:
    columns = [(column.name, arrow_type(column.type)) for column in source.physical]
    if source.connector in BY_HAND_CONNECTORS:
        return pa.schema(columns).empty_table(), 0
    reader = open_source(source, bounded=True)
    found: list[pa.Table] = []
    malformed = 0
    at: Offset | None = None
    try:
        while (until := reader.latest(at, max_rows=_ROWS, now_us=0)) is not None:
            delivery = reader.read(at, until)
            found.append(delivery.rows)
            malformed += len(delivery.malformed)
            at = until
    finally:
        reader.close()
    rows = pa.concat_tables(found) if found else pa.schema(columns).empty_table()
    return rows.combine_chunks(), malformed


# Cuts


def safe_cuts(program: Program, given: Given, judge: Judge, *, now_us: int) -> dict[str, Integers]:
    """By source: the places between rows where a batch may end without making a later row late."""
    found = {name: np.arange(1, max(table.num_rows, 1)) for name, table in given.sources.items()}
    for query in program.queries:
        for stage in plan_query(query, program).stages:
            for branch in stage.branches:
                name = branch.input.name.lower()
                if branch.input.kind is InputKind.SOURCE and branch.time is not None:
                    safe = _safe(branch, judge, lateness_us=stage.lateness_us, now_us=now_us)
                    found[name] = found[name] if safe is None else np.intersect1d(found[name], safe)
    return found


def _safe(branch: Branch, judge: Judge, *, lateness_us: int, now_us: int) -> Integers | None:
    """None where nothing in the rows moves the watermark."""
    time = branch.time
    assert time is not None
    if time.watermark is not WatermarkOrigin.ROWS:
        return None
    rungs = tuple(expr for _, expr in time.ladder)
    falls_back = time.on_missing is MissingEventTime.FALLBACK
    times = judge.times(branch, rungs if falls_back else rungs[:1])
    if time.max_future_skew_us is not None:
        times = np.where(times > now_us + time.max_future_skew_us, NEVER_US, times)
    timed = times > NEVER_US
    seen = np.maximum.accumulate(np.where(timed, times, NEVER_US))
    coming = np.minimum.accumulate(np.where(timed, times, np.iinfo(np.int64).max)[::-1])[::-1]
    after, before = coming[1:].astype(float), seen[:-1].astype(float)
    places: Integers = np.flatnonzero(after + lateness_us >= before - time.lag_us) + 1
    return places


def drawn(safe: Integers, rows: int, draw: Random, *, most: int) -> list[int]:
    """Some of the places, and the end."""
    count = draw.randint(0, min(most, len(safe)))
    return sorted({*draw.sample(safe.tolist(), count), rows} - {0})


@dataclass(frozen=True, slots=True)
class Cut:
    """A source that gives its rows up to the next cut each time."""

    rows: pa.Table
    ends: Sequence[int]

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        at = _row(after)
        end = next((end for end in self.ends if end > at), None)
        return None if end is None else {"row": end}

    def read(self, after: Offset | None, until: Offset) -> Delivery:
        at = _row(after)
        return Delivery(rows=self.rows.slice(at, _row(until) - at))

    def ended(self, at: Offset | None) -> bool:
        return _row(at) >= int(self.rows.num_rows)

    def close(self) -> None:
        """Nothing is open."""


def _row(offset: Offset | None) -> int:
    return 0 if offset is None else int(offset["row"])
