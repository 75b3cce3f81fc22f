"""`tidegate why` and `tidegate advise`: files, checkpoints, windows, groups."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Tidegate

SQL = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'file', path = 'in', format = 'csv', settle = '0s');
CREATE STREAM sums AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');
"""


@pytest.fixture(autouse=True)
def rows(tidegate: Tidegate) -> None:
    """Two windows, the first closed, with a row that comes too late for it."""
    Path("in").mkdir()
    Path("in/1.csv").write_text("k,v,ts\na,1,1000\na,2,9999\nb,5,12000\na,7,2000\nb,6,13000\n")
    Path("q.sql").write_text(SQL)


def why(tidegate: Tidegate, *arguments: str) -> list[str]:
    ran = tidegate("why", *arguments)
    assert (ran.code, ran.err) == (0, "")
    return [line.strip() for line in ran.out.splitlines()]


def test_a_file_is_read_and_nothing_is_written(tidegate: Tidegate) -> None:
    told = why(tidegate, "q.sql", "sums")
    assert told[0] == "sums: kind=tumbling size=10s, EMIT ON WINDOW CLOSE"
    assert told[1] == "watermark 1970-01-01T00:00:12Z:"
    assert "a row of ev with the event time 1970-01-01T00:00:21Z or later" in told
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("window", "group", "said"),
    [
        ("1970-01-01T00:00:05Z", "k=a", "closed: the watermark has passed it"),
        ("1970-01-01T00:00:15Z", "k=b", "open: 2 rows of k=b; fires when the watermark reaches 1970"),
        ("1970-01-01T00:00:15Z", "k=a", "open, and no row of k=a has come for it"),
        ("1970-01-01T01:00:00Z", "k=a", "open, and no row has come for it: a window without rows does not fire"),
    ],
)  # fmt: skip
def test_a_window_and_a_group(tidegate: Tidegate, window: str, group: str, said: str) -> None:
    told = why(tidegate, "q.sql", "sums", "--window", window, "--group", group)
    assert any(line.startswith(said) for line in told), told


def test_rows_that_were_late_for_the_window(tidegate: Tidegate) -> None:
    arguments = ("q.sql", "sums", "--batch-rows", "1", "--window")
    told = why(tidegate, *arguments, "1970-01-01T00:00:05Z")
    assert told[-2:] == [
        "late for this window: 1 row, such as",
        "1970-01-01T00:00:02Z of k=a; the watermark was 1970-01-01T00:00:11Z",
    ]
    assert not any("late for" in line for line in why(tidegate, *arguments, "1970-01-01T00:00:15Z"))


def test_a_checkpoint_with_its_sql_and_without(tidegate: Tidegate) -> None:
    assert (
        tidegate("run", "q.sql", "--bounded", "--checkpoint", "state", "--engine", "local").code
        == 0
    )
    ended = why(tidegate, "q.sql", "sums", "--checkpoint", "state")
    assert ended[1] == "watermark the end of the input:"
    alone = why(tidegate, "state", "sums")
    assert re.fullmatch(r"sums: after epoch \d, clock .*Z", alone[0])
    assert "watermark of sums: the end of the input" in alone
    assert "plan: stage 1: window: kind=tumbling size=10s" in alone
    Path("q.sql").write_text(SQL.replace("SUM(v)", "MAX(v)"))
    assert tidegate("why", "q.sql", "sums", "--checkpoint", "state").err.startswith("TG-5")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("q.sql", "smus"), 2, "did you mean sums?"),
        (("q.sql", "sums", "--window", "noon"), 2, "--window noon is no instant"),
        (("q.sql", "sums", "--group", "x=1"), 2, "sums has no key x; keys are k"),
        (("nowhere.sql", "sums"), 2, "nowhere.sql cannot be read"),
        (("in", "sums"), 1, "TG-5"),
    ],
)  # fmt: skip
def test_what_is_refused(
    tidegate: Tidegate, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = tidegate("why", *arguments)
    assert ran.code == code
    assert said in ran.err


def test_advice(tidegate: Tidegate) -> None:
    ran = tidegate("advise", "q.sql")
    assert (ran.code, ran.err) == (0, "")
    told = ran.out.splitlines()
    assert told[0] == "sums reads ev: 5 rows; 1 out of order, by up to 10s"
    assert re.fullmatch(r" +0s +1 +20.000%  █+", told[2])
    assert re.fullmatch(r" +1s +1 +20.000%  █+  <- declared", told[3])
    assert re.fullmatch(r"  +3s +0 +0.000%  <- enough", told[-2])
    assert told[-1] == (
        "waiting 3s would lose 0.000% instead of 20.000%: a lag of 3s, or 2s of allowed lateness beside the lag of 1s"
    )
    Path("q.sql").write_text(SQL.replace("INTERVAL '1' SECOND", "INTERVAL '9' SECOND"))
    assert tidegate("advise", "q.sql").out.endswith(
        "waiting 3s would be enough, and windows would come 6s sooner\n"
    )


def test_nothing_to_advise(tidegate: Tidegate) -> None:
    ran = tidegate(
        "advise", "-e", "CREATE SOURCE s (k VARCHAR); CREATE STREAM t AS SELECT k FROM s;"
    )
    assert ran.out.startswith("no stream waits for a watermark")
