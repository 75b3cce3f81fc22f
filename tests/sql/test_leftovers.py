"""What sqlglot reads and nobody here understands is refused, not passed over."""

import pytest

from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

BY_MINUTE = "SELECT k, COUNT(*) AS n FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)"


@pytest.mark.parametrize(
    ("query", "column", "what"),
    [
        ("SELECT CAST(v AS VARCHAR FORMAT 'x') AS x FROM t", 8, "FORMAT in CAST"),
        ("SELECT k FROM t UNION ALL BY NAME SELECT k FROM t", 1, "BY NAME in UNION"),
        ("(SELECT k FROM t) ORDER BY k LIMIT 1", 1, "ORDER in SUBQUERY"),
        (f"{BY_MINUTE} ORDER BY n LIMIT 3 BY k", 87, "EXPRESSIONS in LIMIT"),
        (f"{BY_MINUTE} ORDER BY n LIMIT 3 PERCENT", 87, "LIMIT OPTIONS in LIMIT"),
    ],
)
def test_parts_without_a_meaning(query: str, column: int, what: str) -> None:
    (error,) = parse_script(SourceText(query)).errors
    assert (error.code, error.line, error.column) == ("TG-3022", 1, column)
    assert error.message == f"{what} is not supported yet"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k AS x, TRY_CAST(v AS INT) AS y FROM t AS a (k, v) WHERE v BETWEEN 1 AND 2",
        "WITH a AS (SELECT k FROM t) SELECT COUNT(DISTINCT k) FILTER (WHERE k > 'a') AS n FROM a",
        f"{BY_MINUTE} ORDER BY n DESC NULLS FIRST LIMIT 3",
        "SELECT CASE WHEN v > 1 THEN 1 ELSE 2 END AS x, EXTRACT(HOUR FROM ts) AS h FROM t UNION ALL SELECT 1, 2 FROM t",
    ],
)
def test_parts_with_one(query: str) -> None:
    assert parse_script(SourceText(query)).errors == ()
