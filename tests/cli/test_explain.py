"""`tidegate explain`: which queries, which tree, which form. What trees look like is tests/plan/explain."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Tidegate

SQL = """\
CREATE SOURCE s (k VARCHAR, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM minutes AS SELECT k, SUM(x) AS total FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
SELECT k FROM s;
"""


def test_all_queries_as_they_run(tidegate: Tidegate) -> None:
    ran = tidegate("explain", "-e", SQL)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[1] for line in ran.out.splitlines() if line.startswith("Plan ")] == [
        "minutes",
        "select_1",
    ]
    assert "\n\nPlan select_1" in ran.out
    assert ran.out.endswith("\n")
    assert not ran.out.endswith("\n\n")


@pytest.mark.parametrize("name", ["minutes", "MINUTES"])
def test_one_stream(tidegate: Tidegate, name: str) -> None:
    ran = tidegate("explain", "-e", SQL, "--stream", name)
    assert ran.out.startswith("Plan minutes plan_id=")
    assert "select_1" not in ran.out


def test_what_it_means(tidegate: Tidegate) -> None:
    assert tidegate("explain", "-e", SQL, "--logical").out.startswith("Emit mode=on_window_close")
    assert tidegate("explain", "-e", SQL, "--physical").out == tidegate("explain", "-e", SQL).out


def test_json_is_a_list_or_the_one_that_was_asked_for(tidegate: Tidegate) -> None:
    ran = tidegate("explain", "-e", SQL, "--format", "json")
    assert [plan["operator"] for plan in json.loads(ran.out)] == ["Plan minutes", "Plan select_1"]
    one = tidegate("explain", "-e", SQL, "--format", "json", "--stream", "minutes")
    assert json.loads(one.out) == json.loads(ran.out)[0]


def test_json_and_text_have_the_same_facts(tidegate: Tidegate) -> None:
    def facts(node: dict[str, object]) -> list[str]:
        own = [str(value) for name, value in node.items() if name not in ("inputs",)]
        inputs = node.get("inputs", [])
        assert isinstance(inputs, list)
        return own + [fact for child in inputs for fact in facts(child)]

    text = tidegate("explain", "-e", SQL, "--stream", "minutes").out
    made = json.loads(tidegate("explain", "-e", SQL, "--stream", "minutes", "--format", "json").out)
    for fact in facts(made):
        for part in fact.strip("[]").split("', '"):
            assert part.strip("'") in text


def test_the_sql_of_both_engines(tidegate: Tidegate) -> None:
    without = tidegate("explain", "-e", SQL, "--stream", "minutes").out
    with_sql = tidegate("explain", "-e", SQL, "--stream", "minutes", "--sql")
    assert with_sql.code == 0
    added = [line for line in with_sql.out.splitlines() if line not in without.splitlines()]
    assert [line.strip("│ ") for line in added if line.endswith(":")] == ["datafusion:", "spark:"]
    assert any('"$pane"' in line for line in added)
    assert any("`$pane`" in line for line in added)


def test_an_unknown_stream_is_refused_with_the_nearest(tidegate: Tidegate) -> None:
    ran = tidegate("explain", "-e", SQL, "--stream", "minuts")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err
        == "TG-4009: <command line> has no stream named minuts\nhint: did you mean minutes?\n"
    )
    assert "it has minutes, select_1" in tidegate("explain", "-e", SQL, "--stream", "zzz").err
    assert "it defines no stream" in tidegate("explain", "-e", "", "--stream", "zzz").err


def test_a_file_that_is_wrong_is_not_explained(tidegate: Tidegate) -> None:
    ran = tidegate("explain", "-e", SQL + "SELECT nope FROM s; SELECT nada FROM s;")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.count("TG-2002") == 2


def test_without_queries_there_is_nothing_to_show(tidegate: Tidegate) -> None:
    assert (tidegate("explain", "-e", "").out, tidegate("explain", "-e", "").code) == ("", 0)
    assert json.loads(tidegate("explain", "-e", "", "--format", "json").out) == []


def test_one_file_at_a_time(tidegate: Tidegate) -> None:
    for name in ("a.sql", "b.sql"):
        Path(name).write_text(SQL)
    assert tidegate("explain", "a.sql").code == 0
    ran = tidegate("explain", "a.sql", "b.sql")
    assert (ran.code, "explain takes one file" in ran.err) == (2, True)
    assert tidegate("explain", "none.sql").err.startswith("TG-4006: none.sql cannot be read")


def test_stdin(tidegate: Tidegate) -> None:
    assert tidegate("explain", "-", stdin=SQL.encode()).out == tidegate("explain", "-e", SQL).out


def test_settings_decide_too(tidegate: Tidegate) -> None:
    Path("tidegate.toml").write_text('[spark]\nstate = "executors"\n')
    assert "on_spark=executors" in tidegate("explain", "-e", SQL).out


def test_the_readme_shows_what_is_printed(tidegate: Tidegate) -> None:
    example = str(ROOT / "examples/vwap.sql")
    shown = tidegate("explain", example, "--stream", "vwap", "--logical").out
    assert f"```text\n{shown}```" in (ROOT / "README.md").read_text(encoding="utf-8")
