"""`tidegate test`: exit codes, diffs, reports, and that nothing stops at the first bad scenario."""

import importlib.util
import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from tests.cli.conftest import ROOT, Tidegate
from tidegate.engines.epochs import Epochs

SCENARIO = """\
name: {name}
sql: |
  CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND);
  CREATE STREAM out AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
steps:
  - insert: ev
    columns: [k, v, ts]
    rows: [[a, 1, 1000], [a, 2, 9999], [b, 5, 12000]]
  - expect: out
    rows: [{{k: a, s: {sum}}}]
"""
REFUSED = """\
name: refused
sql: SELECT nope FROM nowhere
error: {code: TG-2001, line: 1, column: 18}
"""


def write(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    return name


def good(name: str, *, title: str = "sums") -> str:
    return write(name, SCENARIO.format(name=title, sum=3))


def bad(name: str, *, title: str = "wrong sums") -> str:
    return write(name, SCENARIO.format(name=title, sum=4))


def objects(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_holds_is_summed_up(tidegate: Tidegate) -> None:
    ran = tidegate("test", good("one.yaml"))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("1 passed in ")
    assert "passed  local sums\n" in tidegate("test", "one.yaml", "-v").out


def test_what_differs_is_shown_and_exits_with_5(tidegate: Tidegate) -> None:
    ran = tidegate("test", bad("one.yaml"))
    assert ran.code == 5
    assert ran.out.startswith(
        "failed  local wrong sums\n"
        "  one.yaml:9: expect out: 1 rows, 1 expected\n"
        "    - {k: a, s: 4}\n"
        "    + {k: a, s: 3}\n"
        "\n"
        "1 failed in "
    )


def test_a_bad_scenario_does_not_keep_the_others_from_running(tidegate: Tidegate) -> None:
    write("s/a.yaml", "name: [\n")
    bad("s/b.yml")
    good("s/deep/c.yaml")
    write("s/notes.txt", "none")
    ran = tidegate("test", "s", "--json")
    assert ran.code == 2
    assert [(one["file"], one["outcome"]) for one in objects(ran.out)] == [
        ("s/a.yaml", "error"),
        ("s/b.yml", "failed"),
        ("s/deep/c.yaml", "passed"),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: [\n", "s.yaml:2:1: TG-4102"),
        ("name: x\nsql: ''\nstep: []\n", "s.yaml:3:1: TG-4101"),
        (SCENARIO.format(name="x", sum="three"), "s.yaml:10:5: TG-4102"),
        (SCENARIO.format(name="x", sum=3).replace("expect: out", "expect: ouch"), "s.yaml:9:3"),
        (SCENARIO.format(name="x", sum=3) + "config: {watermark_lug: 1s}\n", "s.yaml:11:1"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(tidegate: Tidegate, text: str, place: str) -> None:
    ran = tidegate("test", write("s.yaml", text), "--json")
    (one,) = objects(ran.out)
    assert (ran.code, one["outcome"]) == (2, "error")
    assert place in str(one["message"])
    assert place in tidegate("test", "s.yaml").out


def test_a_file_that_is_not_there(tidegate: Tidegate) -> None:
    ran = tidegate("test", "nowhere.yaml", good("one.yaml"))
    assert ran.code == 2
    assert "TG-4006" in ran.out
    assert "1 error, 1 passed in " in ran.out


def test_json_has_a_line_per_scenario_and_engine(tidegate: Tidegate) -> None:
    (one,) = objects(tidegate("test", good("one.yaml"), "--json").out)
    assert list(one) == ["file", "name", "engine", "outcome", "seconds", "message"]
    assert (one["name"], one["engine"], one["outcome"]) == ("sums", "local", "passed")
    assert one["message"] == ""


def test_a_scenario_for_another_engine_is_skipped(tidegate: Tidegate) -> None:
    good("one.yaml")
    write("one.yaml", "engines: [spark]\n" + Path("one.yaml").read_text())
    ran = tidegate("test", "one.yaml", "--json")
    assert (ran.code, objects(ran.out)[0]["outcome"]) == (0, "skipped")


# Refusals


def test_the_refusal_that_is_expected(tidegate: Tidegate) -> None:
    assert tidegate("test", write("r.yaml", REFUSED)).code == 0


def test_another_refusal_than_expected_differs(tidegate: Tidegate) -> None:
    ran = tidegate("test", write("r.yaml", REFUSED.replace("2001", "2002")))
    assert ran.code == 5
    assert "refused in another way: TG-2001" in ran.out


def test_a_refusal_that_does_not_come_differs(tidegate: Tidegate) -> None:
    good("one.yaml")
    head = Path("one.yaml").read_text().partition("steps:")[0]
    ran = tidegate("test", write("r.yaml", head + "error: {code: TG-2001}\n"))
    assert ran.code == 5
    assert "the query is accepted, and should be refused" in ran.out


def test_a_refusal_that_nobody_expects_differs(tidegate: Tidegate) -> None:
    good("one.yaml")
    text = Path("one.yaml").read_text().replace("SUM(v)", "SUM(w)")
    ran = tidegate("test", write("one.yaml", text), "--json")
    (one,) = objects(ran.out)
    assert (ran.code, one["outcome"]) == (5, "failed")
    assert "TG-2002: there is no column named w" in str(one["message"])


def test_an_exception_of_ours_is_an_error(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(Epochs, "run", break_down)
    ran = tidegate("test", good("one.yaml"), "--json")
    (one,) = objects(ran.out)
    assert (ran.code, one["outcome"]) == (5, "error")
    assert "ZeroDivisionError: ours" in str(one["message"])


# Which scenarios


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("late", ["a late row", "late and early"]),
        ("LATE row", ["a late row"]),
        ("late and not row", ["late and early"]),
        ("(row or early) and not other", ["a late row", "late and early"]),
        ("third.yaml or other", ["another"]),
        ("not late", ["another"]),
    ],
)
def test_words_choose_by_name_and_path(
    tidegate: Tidegate, expression: str, names: list[str]
) -> None:
    good("first.yaml", title="a late row")
    good("second.yaml", title="late and early")
    good("third.yaml", title="another")
    ran = tidegate("test", ".", "-k", expression, "--json")
    assert [one["name"] for one in objects(ran.out)] == names


@pytest.mark.parametrize("expression", ["", "and", "(late", "late)", "not", "a or", "a and or b"])
def test_an_expression_that_is_none(tidegate: Tidegate, expression: str) -> None:
    ran = tidegate("test", good("one.yaml"), "-k", expression)
    assert ran.code == 2
    assert "is no expression" in ran.err


def test_nothing_to_run_is_a_mistake(tidegate: Tidegate) -> None:
    Path("empty").mkdir()
    assert tidegate("test", "empty").code == 2
    ran = tidegate("test", good("one.yaml"), "-k", "nothing like it")
    assert ran.code == 2
    assert "there is no scenario to run in one.yaml" in ran.err


# Reports


def test_junit_has_a_suite_per_engine(tidegate: Tidegate) -> None:
    write("s/a.yaml", "name: [\n")
    bad("s/b.yaml", title='<wrong> & "odd" \N{SNOWMAN}')
    good("s/c.yaml")
    ran = tidegate("test", "s", "--junit", "report.xml")
    assert ran.code == 2
    root = Xml.parse("report.xml").getroot()
    (suite,) = root
    counts = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert counts == {
        "name": "local", "tests": "3", "failures": "1", "errors": "1", "skipped": "0",
    }  # fmt: skip
    broken, wrong, right = suite
    assert [child.tag for child in (*broken, *wrong, *right)] == ["error", "failure"]
    assert wrong.get("name") == '<wrong> & "odd" \N{SNOWMAN}'
    assert "- {k: a, s: 4}" in (wrong[0].text or "")


def test_a_report_that_cannot_be_written(tidegate: Tidegate) -> None:
    ran = tidegate("test", good("one.yaml"), "--junit", "nowhere/report.xml")
    assert ran.code == 2
    assert "TG-4013: nowhere/report.xml cannot be written: No such file or directory" in ran.err


@pytest.mark.parametrize("library", ["yaml", "datafusion"])
def test_a_missing_library_is_named_with_the_extra_that_brings_it(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "tidegate.session.choice.find_spec",
        lambda name: None if name == library else found(name),
    )
    ran = tidegate("test", good("one.yaml"))
    assert (ran.code, ran.out) == (2, "")
    assert f"TG-4011: {library} is not installed\nhint: pip install 'tidegate[local]'" in ran.err


def test_the_scenarios_of_the_project(tidegate: Tidegate) -> None:
    """All those that the in-process engine takes."""
    ran = tidegate("test", str(ROOT / "tests/scenarios/lateness"), "--json")
    assert {one["outcome"] for one in objects(ran.out)} == {"passed"}
    assert ran.code == 0
