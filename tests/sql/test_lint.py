"""What sqlglot would let through, and phrases of other systems."""

import pytest

from tests.planning import bound, cases, check_refusal, planned, written


@cases(
    ("SELECT symbol, «FROM» trades", "TG-1001", "expected an expression after a comma, got FROM"),
    ("SELECT «FROM» trades", "TG-1001", "expected an expression after SELECT, got FROM"),
    ("SELECT symbol FROM«»", "TG-1001", "expected a source or stream after FROM, got the end"),
    ("SELECT symbol FROM «WHERE» ok", "TG-1001", "expected a source or stream after FROM, got WHERE"),
    ("SELECT symbol FROM trades WHERE«»", "TG-1001", "after WHERE, got the end"),
    ("SELECT symbol FROM trades WHERE «GROUP BY» symbol", "TG-1001", "after WHERE, got GROUP BY"),
    ("SELECT symbol FROM trades GROUP BY«»", "TG-1001", "after GROUP BY"),
    ("SELECT symbol FROM trades GROUP BY symbol HAVING«»", "TG-1001", "after HAVING"),
    ("SELECT symbol FROM trades ORDER BY «LIMIT» 1", "TG-1001", "after ORDER BY, got LIMIT"),
    ("SELECT symbol FROM trades LIMIT«»", "TG-1001", "after LIMIT"),
    ("SELECT symbol FROM trades WHERE ok AND«»", "TG-1001", "after AND"),
    ("SELECT symbol FROM trades WHERE ok OR «AND» ok", "TG-1001", "after OR, got AND"),
    ("SELECT symbol FROM trades WHERE (ok AND«)»", "TG-1001", "after AND, got )"),
    ("SELECT symbol FROM trades WHERE NOT«»", "TG-1001", "after NOT"),
    ("SELECT symbol FROM trades WHERE qty =«»", "TG-1001", "after ="),
    ("SELECT symbol FROM trades WHERE qty + «= » 1", "TG-1001", "after +, got ="),
    ("SELECT symbol FROM trades WHERE qty BETWEEN «AND» 1", "TG-1001", "after BETWEEN, got AND"),
    ("SELECT symbol FROM trades WHERE symbol LIKE«»", "TG-1001", "after LIKE"),
    ("SELECT symbol FROM trades WHERE symbol IN«»", "TG-1001", "after IN"),
    ("SELECT symbol FROM trades JOIN «ON» ok", "TG-1001", "a source or stream after JOIN, got ON"),
    ("SELECT t.symbol FROM trades t JOIN symbols s ON«»", "TG-1001", "after ON"),
    ("SELECT CASE WHEN «THEN» 1 END FROM trades", "TG-1001", "after WHEN"),
    ("SELECT CASE WHEN ok THEN «END» FROM trades", "TG-1001", "after THEN, got END"),
    ("SELECT CASE WHEN ok THEN 1 ELSE «END» FROM trades", "TG-1001", "after ELSE, got END"),
    ("SELECT SUM(qty) OVER (PARTITION BY«)» FROM trades", "TG-1001", "after PARTITION BY, got )"),
    ("SELECT symbol FROM trades UNION«»", "TG-1001", "after UNION"),
    ("SELECT symbol FROM trades WHERE qty <«»", "TG-1001", "after <"),
    ("SELECT symbol FROM trades WHERE qty <=«»", "TG-1001", "after <="),
    ("SELECT symbol FROM trades WHERE qty >=«»", "TG-1001", "after >="),
    ("SELECT symbol FROM trades WHERE qty <>«»", "TG-1001", "after <>"),
    ("SELECT qty / «FROM» trades", "TG-1001", "after /"),
    # parentheses
    ("SELECT «(»symbol FROM trades", "TG-1005", "this ( is never closed"),
    ("SELECT «[»symbol FROM trades", "TG-1005", "this [ is never closed"),
    ("SELECT symbol«)» FROM trades", "TG-1005", "this ) closes nothing"),
    ("SELECT (symbol«]» FROM trades", "TG-1005", "this ] closes nothing"),
    ("SELECT ABS«(»(qty) FROM trades", "TG-1005", "this ( is never closed"),
    # other systems
    ("SELECT COUNT(*) FROM trades GROUP BY slidingwindow('ss', 5) «OVER» (WHEN ok)",
     "TG-1009", "OVER (WHEN …)", "FILTER"),
    ("SELECT symbol FROM trades «MATCH_RECOGNIZE» (PATTERN (a))", "TG-1009", "MATCH_RECOGNIZE"),
    ("SELECT SUM(qty) OVER (ORDER BY ts «SESSION» WITH GAP '5s') FROM trades",
     "TG-1009", "SESSION WITH GAP", "GROUP BY SESSION"),
    ("SELECT symbol FROM trades ASOF JOIN quotes «MATCH_CONDITION»(a >= b)",
     "TG-1009", "ASOF", "join a stream with a table"),
    ("SELECT COUNT(*) FROM trades GROUP BY «STEP»(ts BY INTERVAL '5' SECOND)", "TG-1009", "STEP", "TUMBLE"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, «5s»)",
     "TG-1010", "5s is not an interval: it has no quotes", "INTERVAL '5' SECOND"),
)  # fmt: skip
def test_gaps_and_foreign_words(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked.replace("«= »", "«=» "), code, message, hint)


@pytest.mark.parametrize(
    ("expression", "plan"),
    [
        ("COALESCE(qty, -1)", "coalesce(qty, -1)"),
        ("FLOOR(price)", "floor(price)"),
        ("FLOOR(ts TO HOUR)", "date_trunc('hour', ts)"),
        ("counts['MATCH_RECOGNIZE']", "element_at(counts, 'MATCH_RECOGNIZE')"),
        ("'GRACE' || 'PERIOD'", "('GRACE' || 'PERIOD')"),
        ("((qty))", "qty"),
    ],
)
def test_what_is_left_alone(expression: str, plan: str) -> None:
    assert written(bound(expression)) == plan


def test_numbers_and_names_may_stand_close() -> None:
    planned("SELECT 5 s, 5 AS m FROM trades")
