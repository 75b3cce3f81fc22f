"""Queries around windowed queries that only pass rows on become one query with them."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, the, written
from tidegate.plan.logical import Aggregate, Emission, Filter, Having, Project, TopN, Windowed

INNER = (
    "SELECT symbol AS s, SUM(qty) AS q, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, '1m')"
)


def test_the_outer_filter_is_a_having_and_its_columns_the_output() -> None:
    plan = logical(f"SELECT q * 2 AS twice, s FROM ({INNER}) WHERE n > 5 AND s <> 'x'")
    assert len(nodes(Emission, plan)) == 1
    assert len(nodes(Windowed, plan)) == 1
    assert nodes(Filter, plan) == []
    assert written(the(Having, plan).predicate) == "(($a1 > 5) and ($k0 <> 'x'))"
    assert isinstance(plan.input, Project)
    assert [(named.name, written(named.expr)) for named in plan.input.columns] == [
        ("twice", "($a0 * 2)"),
        ("s", "$k0"),
    ]


def test_order_and_limit_go_inside() -> None:
    plan = logical(f"SELECT s FROM ({INNER}) ORDER BY q DESC LIMIT 3")
    top = the(TopN, plan)
    assert [(written(key.expr), key.descending) for key in top.order] == [("$a0", True)]
    assert (top.limit, isinstance(top.input, Aggregate)) == (3, True)


@pytest.mark.parametrize(
    ("query", "mode", "lateness_us"),
    [
        (f"SELECT * FROM ({INNER}) EMIT CHANGES", "changes", 0),
        (f"SELECT * FROM ({INNER} EMIT FINAL)", "final", 0),
        (f"SELECT * FROM ({INNER} EMIT FINAL) EMIT CHANGES", "final", 0),
        (f"SELECT * FROM ({INNER}) ALLOWED LATENESS '1s'", "on_window_close", 1_000_000),
        (f"SELECT * FROM (SELECT * FROM ({INNER})) WHERE q > 1 EMIT ON UPDATE", "on_update", 0),
        (f"WITH x AS ({INNER}) SELECT s FROM x EMIT CHANGES", "changes", 0),
    ],
)
def test_clauses_of_the_outer_query_reach_the_inner_one(
    query: str, mode: str, lateness_us: int
) -> None:
    plan = logical(query)
    assert (plan.emit.mode, plan.lateness_us) == (mode, lateness_us)
    assert len(nodes(Emission, plan)) == 1


@pytest.mark.parametrize(
    ("query", "emissions"),
    [
        (f"SELECT MAX(q) AS m FROM ({INNER}) GROUP BY s", 2),
        (f"SELECT COUNT(*) AS m FROM ({INNER})", 2),
        (f"SELECT DISTINCT s FROM ({INNER})", 2),
        (f"SELECT COUNT(*) FILTER (WHERE q > 1) AS m FROM ({INNER})", 2),
        (f"SELECT UPPER(s) AS u, ABS(q) AS a FROM ({INNER})", 1),
    ],
)
def test_what_passes_on(query: str, emissions: int) -> None:
    assert len(nodes(Emission, logical(query))) == emissions


@cases(
    (
        f"«SELECT» * FROM ({INNER} ORDER BY q LIMIT 3) ORDER BY n LIMIT 1",
        "TG-3022",
        "over a subquery with LIMIT",
    ),
    (f"SELECT * FROM ({INNER}) «EMIT» ON WINDOW", "TG-1008"),
    (f"SELECT * FROM ({INNER}) ORDER BY «nope» LIMIT 1", "TG-2002", "nope"),
)
def test_what_cannot_be_passed_on(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked.replace("«EMIT» ON WINDOW", "EMIT ON WINDOW«»"), code, message, hint)


def test_columns_of_a_top_n_may_be_picked() -> None:
    plan = logical(f"SELECT s FROM ({INNER} ORDER BY q LIMIT 3)")
    assert plan.schema.names == ("s",)
    assert the(TopN, plan).limit == 3


def test_a_condition_over_a_top_n_chooses_among_its_rows() -> None:
    plan = logical(f"SELECT s FROM ({INNER} ORDER BY q LIMIT 3) WHERE q > 1")
    chosen = the(Filter, plan)
    assert (written(chosen.predicate), the(TopN, chosen).limit) == ("(q > 1)", 3)
