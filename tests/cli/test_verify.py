"""`tidegate verify`: what it says, and its exit codes."""

import re
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Tidegate
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.session.feeding import Cut

SOURCE = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'file', path = 'in.csv', format = 'csv');
"""
QUERY = "CREATE STREAM sums AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);"
SINK = "CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');"


@pytest.fixture(autouse=True)
def rows(tidegate: Tidegate) -> None:
    """Two windows, and a record that is none."""
    Path("in.csv").write_text("k,v,ts\na,1,1000\na,2,9999\nb,5,12000\nb,x,13000\n")


def verify(tidegate: Tidegate, sql: str, *arguments: str) -> tuple[int, list[str], str]:
    Path("q.sql").write_text(sql)
    ran = tidegate("verify", "q.sql", *arguments)
    return ran.code, ran.out.splitlines(), ran.err


def test_what_is_the_same(tidegate: Tidegate) -> None:
    code, told, err = verify(tidegate, SOURCE + QUERY + SINK, "--runs", "3")
    assert (code, err) == (0, "")
    assert re.fullmatch(
        r"3 rows, 1 malformed record left out; 3 runs: 1 batch; .* batch.*", told[0]
    )
    assert told[1] == "same    sums: 2 rows"
    assert told[2] == f"1 of 1 queries say in every run what DuckDB {duckdb.__version__} says"
    assert not Path("out").exists()


def test_what_differs_is_shown(tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(self: Cut, _after: Offset | None, _until: Offset) -> Delivery:
        return Delivery(rows=self.rows.slice(1))

    monkeypatch.setattr(Cut, "read", losing)
    code, told, _ = verify(tidegate, SOURCE + QUERY, "--runs", "1")
    assert code == 5
    assert told[1:] == [
        "differs sums: DuckDB has 2 rows",
        "  1 batch:",
        "    only the stream has k=a, s=2",
        "    only DuckDB has k=a, s=3",
        f"0 of 1 queries say in every run what DuckDB {duckdb.__version__} says",
    ]


def test_what_is_not_known_is_no_success(tidegate: Tidegate) -> None:
    code, told, _ = verify(tidegate, SOURCE + QUERY + "SELECT MD5(k) AS m FROM sums;")
    assert (code, told[2]) == (1, "unknown select_1: the function MD5 cannot be verified")


def test_the_sql_runs_in_duckdb(tidegate: Tidegate) -> None:
    code, told, _ = verify(tidegate, SOURCE + QUERY, "--sql")
    assert (code, told[0]) == (0, "-- sums")
    assert not Path("out").exists()
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE ev AS FROM (VALUES ('a', 1, make_timestamp(1)), ('a', 2, make_timestamp(9))) AS t(k, v, ts)"
        )
        assert connection.execute("\n".join(told)).fetchall() == [("a", 3)]


def test_the_sql_of_what_is_not_known(tidegate: Tidegate) -> None:
    code, told, _ = verify(tidegate, SOURCE + "SELECT MD5(k) AS m FROM ev;", "--sql")
    assert (code, told[:2]) == (1, ["-- select_1", "-- the function MD5 cannot be verified"])


@pytest.mark.parametrize(
    ("sql", "code", "said"),
    [
        (SOURCE, 2, "there is no query to verify"),
        (SOURCE + "SELECT nope FROM ev;", 3, "TG-2002"),
        ("CREATE SOURCE g (k VARCHAR) WITH (connector = 'generator'); SELECT k FROM g;", 4, "never ends"),
    ],
)  # fmt: skip
def test_what_is_refused(tidegate: Tidegate, sql: str, code: int, said: str) -> None:
    found, _, err = verify(tidegate, sql)
    assert found == code
    assert said in err


def test_without_duckdb_it_says_what_to_install(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.session.choice.find_spec", lambda name: name != "duckdb" or None)
    code, _, err = verify(tidegate, SOURCE + QUERY)
    assert code == 2
    assert "pip install 'tidegate[verify]'" in err
