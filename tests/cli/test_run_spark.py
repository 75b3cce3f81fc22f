"""`tidegate run --engine spark`: the same rows as in process, from the same files."""

from pathlib import Path

import pytest

from tests.cli.conftest import Tidegate
from tests.cli.test_run import SOURCE, SUMS, lines, written

pytestmark = pytest.mark.spark

SINKS = """\
CREATE SINK late_rows WITH (connector = 'file', path = 'late');
CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');
SELECT k, s FROM sums WHERE s > 3;
"""


@pytest.mark.usefixtures("spark")
def test_a_pipeline_on_spark(tidegate: Tidegate) -> None:
    Path("in").mkdir()
    Path("in/1.csv").write_text("k,v,ts\na,1,1000\na,2,9999\nb,5,12000\n")
    Path("in/2.csv").write_text("k,v,ts\na,7,2000\nb,x,13000\n")
    Path("q.sql").write_text(SOURCE + SUMS + SINKS)
    arguments = ("q.sql", "--bounded", "--batch-rows", "1", "--engine", "spark")
    ran = tidegate("run", *arguments, "--checkpoint", "state")
    assert ran.code == 0, ran.err
    assert [(row["k"], row["s"]) for row in written("out")] == [("a", 3), ("b", 5)]
    assert lines(ran.out) == [{"k": "b", "s": 5}]
    (late,) = written("late")
    assert late["original_event"] == {"k": "a", "v": 7, "ts": "1970-01-01T00:00:02Z"}
    assert "source ev: 4 rows read, 1 malformed record diverted" in ran.err
    again = tidegate("run", *arguments[:-2], "--checkpoint", "state")
    assert "everything was read and emitted by an earlier run" in again.err
