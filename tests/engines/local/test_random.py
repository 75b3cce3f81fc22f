"""Random programs on random streams: the in-process engine against the oracle, epoch by epoch.

What is compared behind every step: emitted rows, side outputs, the watermark. In the end: the table, and that each row
is in exactly one place. Each case runs as it is, and once more in a way that must not change it: on several lanes, cut
into several batches per epoch, restarted from the log and from snapshots.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.local.random_programs import Text
from tests.engines.local.random_streams import Case, Step, cases, steps_of
from tests.engines.local.ways import Travelling, Way
from tests.oracle.engine import Oracle
from tests.planning import program
from tidegate.model.policies import SideKind
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program
from tidegate.scenarios.compare import difference, same_json

pytestmark = pytest.mark.thorough

Rows = Sequence[Mapping[str, Any]]


@lru_cache(maxsize=512)
def plan(sql: str) -> Program | None:
    made = program(sql, prelude="")
    return None if made.errors else made


# Comparing


def _equal(expected: Any, actual: Any) -> bool:
    """Doubles that come out of sums of squares may be off by what they are made of."""
    match expected, actual:
        case (float(), float() | int()) if math.isfinite(expected):
            return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-9)
        case float(), float():
            return expected == actual or (math.isnan(expected) and math.isnan(actual))
        case ((list() | tuple()), (list() | tuple())):
            return len(expected) == len(actual) and all(map(_equal, expected, actual))
        case _:
            return bool(expected == actual) and isinstance(expected, bool) == isinstance(
                actual, bool
            )


def _same_row(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> bool:
    return expected.keys() == actual.keys() and all(
        _equal(value, actual[name]) for name, value in expected.items()
    )


def _settled(rows: Rows) -> list[Mapping[str, Any]]:
    """Without corrections by the last digits of doubles, which the order of additions decides."""
    kept: list[Mapping[str, Any]] = []
    for row in rows:
        before = kept[-1] if kept else {}
        pair = (before.get("_op"), row.get("_op")) == ("-U", "+U")
        if pair and _same_row({**before, "_op": "+U"}, row):
            kept.pop()
        else:
            kept.append(row)
    return kept


def check(what: str, expected: Rows, actual: Rows, equal: Callable[..., bool] = _same_row) -> None:
    lines = difference(expected, actual, equal=equal, show=lambda row: str(dict(row)))
    assert not lines, "\n".join([what, *lines])


# Playing


@dataclass(frozen=True)
class Manner:
    """`lanes` of the first engine, the second, …; behind each step: `restart`, or `checkpoint` first."""

    lanes: tuple[int, ...] = (1,)
    behind: tuple[str, ...] = ("",)
    batches: int = 1


class Cut(Travelling):
    """Gets an epoch's rows as several batches."""

    batches = 1

    def _insert(self, definition: SourceDef | TableDef, batch: pa.RecordBatch) -> None:
        if self.batches == 1 or isinstance(definition, TableDef) or batch.num_rows < 2:
            super()._insert(definition, batch)
            return
        middle = batch.num_rows // 2
        self.engine.insert(definition.name, [batch.slice(0, middle), batch.slice(middle)])


def act(subject: Any, step: Step) -> None:
    match step.kind:
        case "insert":
            subject.insert(step.what, [dict(row) for row in step.rows])
        case "watermark":
            subject.watermark(step.what, step.at_us)
        case "clock":
            subject.clock(step.at_us)
        case _:
            subject.end()


def compare(case: Case, made: Program, manner: Manner, place: Any) -> None:
    oracle, subject = Oracle(made), Cut(made, Way(lanes=manner.lanes), place)
    subject.batches = manner.batches
    try:
        for number, step in enumerate(case.steps):
            act(oracle, step)
            act(subject, step)
            match manner.behind[number % len(manner.behind)]:
                case "restart":
                    subject.restart()
                case "checkpoint":
                    subject.checkpoint()
                    subject.restart()
                case _:
                    pass
            where = f"behind step {number}: {step.kind} {step.what}, {manner}"
            compare_epoch(oracle, subject, case, where)
        for name in case.text.streams:
            check(f"table {name}, {manner}", oracle.table(name), subject.table(name))
        subject.check_conservation()
    finally:
        subject.engine.close()


def compare_epoch(oracle: Oracle, subject: Cut, case: Case, where: str) -> None:
    for name in case.text.streams:
        check(f"{name}, {where}", _settled(oracle.take(name)), _settled(subject.take(name)))
    for kind in SideKind:
        expected, actual = oracle.take_side(kind), subject.take_side(kind)
        check(f"{kind}, {where}", expected, actual, same_json)
    for query in oracle.queries:
        if not query.stage.clocks:
            continue  # a query that passes rows on has no time of its own
        expected_us = min(max(query.stage.watermark, NEVER_US), FOREVER_US)
        actual_us = subject.engine.watermarks.get(query.name, NEVER_US)
        if "pre_epoch" in case.text.sql and max(expected_us, actual_us) <= 0:
            continue  # what WHERE removed may have moved it or not: no window ends before 1970
        assert expected_us == actual_us, (
            f"watermark of {query.name}, {where}: {actual_us}, {expected_us} expected"
        )


manners = st.builds(
    Manner,
    lanes=st.sampled_from([(1,), (3,), (3, 1, 2)]),
    behind=st.lists(st.sampled_from(["", "restart", "checkpoint"]), min_size=1, max_size=3).map(
        tuple
    ),
    batches=st.integers(1, 2),
)


@settings(suppress_health_check=list(HealthCheck))
@given(case=cases(plan), manner=manners)
def test_the_engine_agrees_with_the_oracle(
    case: Case, manner: Manner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = plan(case.text.sql)
    assert made is not None
    place = tmp_path_factory.getbasetemp()
    for one in (Manner(), manner):
        compare(case, made, one, place)


# Quotas: who is turned away is the engine's choice, so what is compared is what must hold for any choice


def emitted(sql: str, case: Case, manner: Manner, place: Any) -> tuple[Rows, Rows]:
    """Final rows, and payloads of evicted rows."""
    made = plan(sql)
    assert made is not None
    subject = Cut(made, Way(lanes=manner.lanes), place)
    subject.batches = manner.batches
    try:
        for number, step in enumerate(case.steps):
            act(subject, step)
            match manner.behind[number % len(manner.behind)]:
                case "restart":
                    subject.restart()
                case "checkpoint":
                    subject.checkpoint()
                    subject.restart()
                case _:
                    pass
        subject.check_conservation()
        return subject.take("out"), subject.take_side(SideKind.EVICTED)
    finally:
        subject.engine.close()


LIMITED = (
    "CREATE SOURCE ev (k VARCHAR, g BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND);"
    "CREATE STREAM out AS SELECT k, g, COUNT(*) AS n, SUM(v) AS s, ARRAY_AGG(v) AS vs, window_start, window_end "
    "FROM ev GROUP BY k, g, {window} ALLOWED LATENESS INTERVAL '3' SECOND{limit};"
)
WINDOWS = (
    "TUMBLE(ts, INTERVAL '5' SECOND)",
    "HOP(ts, INTERVAL '3' SECOND, INTERVAL '7' SECOND)",
    "CUMULATE(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND)",
    "SESSION(ts, INTERVAL '3' SECOND)",
)
LIMITS = ("max_groups = 1", "max_groups = 3", "max_open_windows = 1", "max_open_windows = 4")


@st.composite
def limited(draw: st.DrawFn) -> tuple[Case, str, str]:
    """A case, and its script with and without a limit."""
    window = draw(st.sampled_from(WINDOWS))
    free = LIMITED.format(window=window, limit="")
    bound = LIMITED.format(window=window, limit=f" WITH ({draw(st.sampled_from(LIMITS))})")
    made = plan(free)
    assert made is not None
    text = Text(free, ("ev",), ("out",))
    steps = draw(steps_of(made, text))
    return Case(text, (*steps, Step("end"))), free, bound


@settings(
    max_examples=max(10, settings().max_examples // 3),
    suppress_health_check=list(HealthCheck),
)
@given(drawn=limited(), manner=manners)
def test_what_quotas_let_through_is_exact(
    drawn: tuple[Case, str, str], manner: Manner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case, free, bound = drawn
    place = tmp_path_factory.getbasetemp()
    every, nobody = emitted(free, case, Manner(), place)
    some, evicted = emitted(bound, case, Manner(), place)
    again, evicted_again = emitted(bound, case, manner, place)
    assert nobody == []
    check("the same rows in every manner", some, again)
    check("the same rows are turned away", evicted, evicted_again)
    missing = list(every)
    for row in some:
        found = next((one for one in missing if _same_row(row, one)), None)
        assert found is not None or "SESSION" in free, row
        if found is not None:
            missing.remove(found)
    # A row of several windows that finds room in one of them is not turned away.
    overlapping = "HOP" in free or "CUMULATE" in free
    assert evicted or overlapping or not missing
