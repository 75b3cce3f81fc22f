"""Row SQL on DataFusion against the oracle: every query on nasty batches, each row in exactly one place."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plan.row_sql.batches import case_of, cases
from tests.plan.row_sql.checking import check, check_types
from tests.plan.row_sql.queries import OVER_STAGES, QUERIES
from tests.plan.row_sql.running import Case, on_datafusion, plan
from tidegate.model.policies import DISPOSITION, Reason
from tidegate.plan.aggregates import AGGREGATES
from tidegate.sql.functions.signature import Engine

pytestmark = pytest.mark.thorough

_ALL = {**QUERIES, **OVER_STAGES}
planned = functools.cache(plan)


def problems(case: Case) -> list[str]:
    main, diverted = case.run(on_datafusion, Engine.DATAFUSION)
    stage, branch = case.planned.ruled, case.branch
    wrong = check_types(stage, branch, main.schema)
    return [*wrong, *check(stage, branch, case.expected(), main.rows, diverted.rows)]


@pytest.mark.parametrize("name", _ALL)
def test_each_row_goes_where_the_oracle_says(name: str) -> None:
    for case in cases(planned(_ALL[name])):
        assert problems(case) == []


@settings(max_examples=40)
@given(st.sampled_from(list(_ALL)), st.integers(3, 2**32), st.integers(1, 12))
def test_small_batches(name: str, seed: int, count: int) -> None:
    for place in range(len(planned(_ALL[name]).ruled.branches)):
        assert problems(case_of(planned(_ALL[name]), place, seed=seed, count=count)) == []


def test_every_aggregate_is_tried() -> None:
    tried = {
        named.call.function for sql in QUERIES.values() for named in planned(sql).plain.aggregates
    }
    assert tried == set(AGGREGATES)


def test_every_outcome_is_met() -> None:
    """The queries and batches reach all codes that row SQL can give."""
    met = {
        row.code
        for sql in QUERIES.values()
        for case in cases(planned(sql))
        for row in case.expected().rows
    }
    others = {
        Reason.MAX_GROUPS,
        Reason.MAX_OPEN_WINDOWS,
        Reason.MAX_STATE_BYTES,
        Reason.MALFORMED_RECORD,
        Reason.UDF_FAILED,
        Reason.DUPLICATE_KEY,
    }
    assert met == {0, 1, *(DISPOSITION[reason] for reason in set(Reason) - others)}
