"""Batches whose rows are all of one pane: their groups go by the keys alone, and are the same."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.embedded.rows import EmbeddedRows
from tidegate.kernel.operator import Bounds
from tidegate.model.relations import Group
from tidegate.model.time import MAX_EVENT_TIME_US
from tidegate.plan.planner import plan_query
from tidegate.plan.row_sql import row_queries
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

SOURCE = "CREATE SOURCE ev (k VARCHAR, v DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts); "
TUMBLE = "TUMBLE(ts, INTERVAL '10' SECOND)"
SUM = f"SELECT k, SUM(v), MIN(v) FROM ev GROUP BY k, {TUMBLE}"
SECOND = 1_000_000
BOUNDS = Bounds(watermark_us=0, open_from_us=0, latest_us=MAX_EVENT_TIME_US)
FIRST = [("a", 1.0, 1), ("b", 2.0, 9), ("a", float("nan"), 3), (None, None, 0)]


def stage_of(sql: str) -> Any:
    program = plan_script(parse_script(SourceText(SOURCE + sql)), Settings())
    assert not program.errors
    return plan_query(program.queries[-1], program).stages[-1]


def partials(rows: Sequence[tuple[Any, ...]], *, in_one: bool) -> list[str]:
    stage = stage_of(SUM)
    made = EmbeddedRows(stage, stage.branches[0], Workers(1), tables={})
    if not in_one:
        made._in_one_pane = None
    columns = zip(*((k, v, None if ts is None else ts * SECOND) for k, v, ts in rows), strict=True)
    types = (pa.string(), pa.float64(), pa.timestamp("us"))
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, names=["k", "v", "ts"])
    crossed = pa.Table.from_batches(made.crossing([batch], BOUNDS, 0))
    return sorted(map(repr, crossed.select(sorted(crossed.column_names)).to_pylist()))


@pytest.mark.parametrize(
    "more",
    [[], [("a", 5.0, 10)], [("a", 5.0, None)], [("a", 5.0, -1)], [(None, None, None)]],
    ids=["one pane", "two panes", "no time", "late", "nothing"],
)
def test_both_ways_make_the_same_partials(more: Sequence[tuple[Any, ...]]) -> None:
    assert partials([*FIRST, *more], in_one=True) == partials([*FIRST, *more], in_one=False)


@pytest.mark.parametrize(
    ("sql", "can"),
    [
        (SUM, True),
        ("SELECT k, COUNT(*) FROM ev GROUP BY k, SESSION(ts, INTERVAL '10' SECOND)", True),
        (f"SELECT COUNT(*) FROM ev GROUP BY {TUMBLE}", False),
        (f"SELECT k, COUNT(*) FROM ev WHERE v > 1 GROUP BY k, {TUMBLE}", False),
        (f"SELECT k, SUM(1 / CAST(k AS BIGINT)) FROM ev GROUP BY k, {TUMBLE}", False),
        ("SELECT k, COUNT(*) FROM ev GROUP BY k", False),
        ("SELECT k, v FROM ev", False),
    ],
)
def test_where_time_alone_decides(sql: str, can: bool) -> None:
    """Elsewhere rows of one pane may be filtered or broken, which `$pane` says."""
    stage = stage_of(sql)
    relation = row_queries(stage, stage.branches[0]).in_one_pane
    assert (relation is not None) == can
    if can:
        assert isinstance(relation, Group)
        assert "$pane" not in [key.name for key in relation.keys]
