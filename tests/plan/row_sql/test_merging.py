"""What the kernel will rely on: partials of any split of a batch merge to the partials of the whole, and the finished
partials of a window's panes are the aggregates of its rows.

`Merge` and the finishes are here in their naive form; where a decomposition keeps too little, nothing could make up for
it, and these tests fail.
"""

import functools
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from tests.plan.row_sql import naive
from tests.plan.row_sql.batches import case_of
from tests.plan.row_sql.checking import agree, close, code_of, expected_groups, key_of
from tests.plan.row_sql.evaluation import Row, evaluate
from tests.plan.row_sql.oracle import Judged, canonical, group_of, windows_of
from tests.plan.row_sql.queries import QUERIES
from tests.plan.row_sql.running import Case, Planned, on_datafusion, plan
from tidegate.model.partials import FinishSpec
from tidegate.model.policies import AGGREGATED
from tidegate.model.types import Scalar
from tidegate.model.windows import Cumulating, Hopping, Tumbling
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.physical import Stage
from tidegate.sql.functions.signature import Engine

pytestmark = pytest.mark.thorough

planned = functools.cache(plan)
_FULL = ("all aggregates", "all aggregates filtered", "distinct", "distinct filtered")
_ALIGNED = (
    "hop in panes",
    "hop of uneven size",
    "hop copied",
    "hop copied thrice",
    "tumble with offset",
    "tumble with negative offset",
    "tumble of ages",
    "cumulate",
)
Columns = list[Any]
Partials = dict[tuple[Any, ...], Columns]


def merged(stage: Stage, left: Columns, right: Columns) -> Columns:
    """All columns of a group, each aggregate's by its own order; columns that aggregates share come out the same."""
    columns = [*left]
    for finish in stage.finishes:
        specs, one, other = of(finish, stage.partials), of(finish, left), of(finish, right)
        for place, value in zip(finish.partials, naive.merge(specs, one, other), strict=True):
            columns[place] = value
    return columns


def of(finish: FinishSpec, columns: Sequence[Any]) -> list[Any]:
    return [columns[place] for place in finish.partials]


def partials(case: Case, rows: list[dict[str, Any]]) -> Partials:
    """As DataFusion computes them."""
    part = Case(case.planned, case.place, rows, case.parameters)
    stage = case.planned.ruled
    main, _ = part.run(on_datafusion, Engine.DATAFUSION)
    return {
        key_of(stage, row): [row[f"$p{place}"] for place in range(len(stage.partials))]
        for row in main.rows
        if code_of(row) == AGGREGATED
    }


def merge_all(stage: Stage, parts: Sequence[Partials]) -> Partials:
    total: Partials = {}
    for part in parts:
        for key, columns in part.items():
            total[key] = merged(stage, total[key], columns) if key in total else columns
    return total


@pytest.mark.parametrize("name", [*_FULL, "no window", "by many keys"])
def test_any_split_gives_the_partials_of_the_whole(name: str) -> None:
    case = case_of(planned(QUERIES[name]), 0, seed=0, count=60)
    stage = case.planned.ruled
    parts: list[list[dict[str, Any]]] = [[], [], []]
    draw = random.Random(5)
    for row in case.rows:
        draw.choice(parts).append(row)
    draw.shuffle(parts)
    total = merge_all(stage, [partials(case, rows) for rows in parts])
    groups = expected_groups(stage, case.expected())
    assert set(total) == set(groups)
    for key, rows in groups.items():
        values = [row.values for row in rows]
        for spec, given in zip(stage.partials, total[key], strict=True):
            assert agree(spec, values, naive.partial(spec, values), given), (key, spec)


@pytest.mark.parametrize("name", _FULL)
def test_finished_partials_are_the_aggregates(name: str) -> None:
    case = case_of(planned(QUERIES[name]), 0, seed=0, count=80)
    stage = case.planned.ruled
    groups = expected_groups(stage, case.expected())
    for key, columns in partials(case, case.rows).items():
        assert differences(stage, columns, groups[key]) == []


@pytest.mark.parametrize("name", _ALIGNED)
def test_windows_put_together_from_panes_are_the_windows_by_definition(name: str) -> None:
    case = case_of(planned(QUERIES[name]), 0, seed=0, count=60)
    stage = case.planned.ruled
    windows = by_definition(stage, case.expected().of(code=AGGREGATED))
    panes = partials(case, case.rows)
    for (start, end, *group), rows in windows.items():
        inside = [
            {(): columns}
            for (at, *keys), columns in panes.items()
            if keys == group and _belongs(stage, at, start, end)
        ]
        assert differences(stage, merge_all(stage, inside)[()], rows) == []


def _belongs(stage: Stage, at: int, start: int, end: int) -> bool:
    assert stage.panes is not None
    return at == start if stage.panes.copies > 1 else start <= at < end


def by_definition(stage: Stage, rows: Sequence[Judged]) -> dict[tuple[Any, ...], list[Judged]]:
    assert isinstance(stage.window, (Tumbling, Hopping, Cumulating))
    windows: dict[tuple[Any, ...], list[Judged]] = {}
    for row in rows:
        assert row.ts is not None
        for start, end in windows_of(stage.window, row.ts):
            windows.setdefault((start, end, *group_of(stage, row)), []).append(row)
    return windows


def differences(stage: Stage, columns: Columns, rows: Sequence[Judged]) -> list[str]:
    """Aggregates whose finished value is not what their rows say."""
    wrong = []
    values = [row.values for row in rows]
    for named, finish in zip(stage.aggregates, stage.finishes, strict=True):
        given = naive.finish(finish, of(finish, stage.partials), of(finish, columns))
        exact = naive.aggregate(named.call, values)
        if not _same(named.call, values, exact, given):
            wrong.append(f"{named.call}: expected {exact!r}, found {given!r}")
    return wrong


def _same(call: AggregateCall, rows: Sequence[Row], exact: Any, given: Any) -> bool:
    if call.function == "array_agg" and exact is not None and given is not None:
        return bool(canonical(exact) == canonical(given))
    if isinstance(exact, float) and isinstance(given, float):
        return close(exact, given, _size(call, rows))
    if (exact is None) != (given is None) and call.function == "corr":
        return _size(call, rows) > 0  # both spreads are rounding errors, or one of them is
    return bool(canonical(exact) == canonical(given))


def _size(call: AggregateCall, rows: Sequence[Row]) -> float:
    """How large the numbers are that the value is rounded relative to."""
    squared = call.function.startswith(("var", "stddev", "cov", "corr"))
    largest = max((_largest(arg, rows) for arg in call.args), default=0.0)
    if squared and (largest > 1e100 or call.function in ("corr", "stddev_pop", "stddev_samp")):
        return float("inf") if largest > 1e100 else 1e3 * max(1.0, largest)
    return (largest * largest if squared else largest) * max(1, len(rows))


def _largest(arg: Any, rows: Sequence[Row]) -> float:
    if arg.type is not Scalar.DOUBLE:
        return 0.0
    sizes = [abs(value) for row in rows if (value := evaluate(arg, row)) is not None]
    return max((size for size in sizes if size == size), default=0.0)


def test_sums_know_when_they_leave_their_type() -> None:
    """Intermediate sums may be out of range: only the total counts, whatever the order."""
    made: Planned = planned(
        "SELECT SUM(qty), SUM(vast), SUM(coin) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' DAY)"
    )
    blank = dict.fromkeys(Case(made, 0, [], {}).schema.names)
    most, vast, coin = 2**63 - 1, "9" * 38, f"{'9' * 20}.{'9' * 18}"
    large = {**blank, "ts": 0, "qty": most, "vast": Decimal(vast), "coin": Decimal(coin)}
    opposite = {**large, "qty": -most, "vast": Decimal(f"-{vast}"), "coin": Decimal(f"-{coin}")}
    rows = [large, large, opposite, large]
    stage = made.ruled
    parameters = case_of(made, 0, seed=0, count=0).parameters
    too_large = partials(Case(made, 0, rows, parameters), rows)[(0,)]
    fits = partials(Case(made, 0, rows[:3], parameters), rows[:3])[(0,)]
    assert [_finished(stage, too_large, place) for place in range(3)] == [naive.OVERFLOW] * 3
    assert [_finished(stage, fits, place) for place in range(3)] == [
        most,
        large["vast"],
        large["coin"],
    ]


def _finished(stage: Stage, columns: Columns, place: int) -> Any:
    finish = stage.finishes[place]
    return naive.finish(finish, of(finish, stage.partials), of(finish, columns))
