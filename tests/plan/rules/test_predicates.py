"""Conditions at the scan of a table: only where no row's fate changes."""

import pytest

from tests.plan.rules.stages import decisions, lowered
from tests.planning import written
from tidegate.model.expressions import TRUE
from tidegate.plan.physical import Branch, Stage
from tidegate.plan.rules.predicates import RULE, push_predicates

BY_DAY = "GROUP BY TUMBLE(ts, INTERVAL '1' DAY)"
JOIN = f"SELECT COUNT(*) FROM trades t JOIN symbols s ON t.symbol = s.symbol WHERE {{}} {BY_DAY}"


def pushed(sql: str) -> tuple[Stage, Branch]:
    stage = push_predicates(lowered(sql), {})
    return stage, stage.branches[0]


@pytest.mark.parametrize(
    ("where", "at_table", "joined", "above"),
    [
        ("s.lot > 2", "(lot > 2)", "", "TRUE"),
        ("s.lot > 2 AND s.sector = 'x'", "((lot > 2) and (sector = 'x'))", "", "TRUE"),
        (
            "s.symbol <> s.sector OR s.lot > 2",
            "((symbol <> sector) or (lot > 2))",
            "",
            "TRUE",
        ),
        ("s.lot > 2 AND t.qty > 1", "(lot > 2)", "", "(t.qty > 1)"),
        ("t.qty > s.lot", "TRUE", "(t.qty > s.lot)", "TRUE"),
        ("s.lot > 2 OR t.ok", "TRUE", "((s.lot > 2) or t.ok)", "TRUE"),
        ("TRUE", "TRUE", "", "TRUE"),
    ],
)
def test_conditions_are_tested_where_their_columns_come_from(
    where: str, at_table: str, joined: str, above: str
) -> None:
    _, branch = pushed(JOIN.format(where))
    (lookup,) = branch.lookups
    own = "(t.symbol = s.symbol)"
    assert written(lookup.table.predicate).replace("s.", "") == at_table
    assert written(lookup.on) == (f"({own} and {joined})" if joined else own)
    assert written(branch.predicate) == above


def test_a_comma_is_the_join_that_its_condition_says() -> None:
    _, branch = pushed(
        f"SELECT COUNT(*) FROM trades t, symbols s WHERE t.symbol = s.symbol {BY_DAY}"
    )
    assert written(branch.lookups[0].on) == "(t.symbol = s.symbol)"
    assert branch.predicate == TRUE


def test_a_condition_that_may_fail_stays_with_the_row() -> None:
    _, branch = pushed(JOIN.format("100 DIV s.lot > 2"))
    assert branch.lookups[0].table.predicate == TRUE


def test_nothing_passes_a_condition_that_may_fail() -> None:
    """`1 DIV qty` is looked at first, so a row where it fails is an error whatever its sector."""
    _, branch = pushed(JOIN.format("s.lot > 2 AND 1 DIV t.qty = 1 AND s.sector = 'x'"))
    assert written(branch.lookups[0].table.predicate).replace("s.", "") == "(lot > 2)"
    assert written(branch.predicate).endswith("and (s.sector = 'x'))")


def test_an_outer_join_keeps_its_rows() -> None:
    _, branch = pushed(JOIN.replace("JOIN", "LEFT JOIN").format("s.lot > 2"))
    assert branch.lookups[0].table.predicate == TRUE
    assert written(branch.predicate) == "(s.lot > 2)"


def test_the_reasons_are_told() -> None:
    stage, _ = pushed(JOIN.format("s.lot > 2 AND t.ok"))
    told = [made.choice for made in decisions(stage, RULE)]
    assert told == ["tested when symbols is read", "tested above trades"]
    assert decisions(pushed("SELECT symbol FROM trades")[0], RULE) == []
