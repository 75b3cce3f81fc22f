"""`tidegate run`: what is printed where, how it ends, and that nothing is lost or doubled on the way."""

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.conftest import ROOT, Ran, Tidegate

SOURCE = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND)
WITH (connector = 'file', path = 'in', format = 'csv', settle = '0s');
"""
SUMS = """\
CREATE STREAM sums AS SELECT k, SUM(v) AS s, window_start FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)
LATE DATA TO late_rows;
"""
TIDEGATE = [sys.executable, "-m", "tidegate"]


@pytest.fixture(autouse=True)
def rows(tidegate: Tidegate) -> None:
    """Two files: two windows, a late row by the second, a record that is none."""
    Path("in").mkdir()
    Path("in/1.csv").write_text("k,v,ts\na,1,1000\na,2,9999\nb,5,12000\n")
    Path("in/2.csv").write_text("k,v,ts\na,7,2000\nb,x,13000\nb,-1,14000\n")


def run(tidegate: Tidegate, sql: str, *arguments: str) -> Ran:
    Path("q.sql").write_text(sql)
    return tidegate("run", "q.sql", "--bounded", *arguments)


def one_by_one(tidegate: Tidegate, sql: str, *arguments: str) -> Ran:
    """One row per epoch, so that the watermark moves between them."""
    return run(tidegate, sql, "--batch-rows", "1", *arguments)


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def written(place: str) -> list[dict[str, object]]:
    return [row for path in sorted(Path(place).glob("*.json")) for row in lines(path.read_text())]


# Rows out


def test_a_select_is_printed_as_lines_of_json(tidegate: Tidegate) -> None:
    ran = run(tidegate, SOURCE + "SELECT k, v FROM ev WHERE v > 1;")
    assert ran.code == 0
    assert lines(ran.out) == [{"k": "a", "v": 2}, {"k": "b", "v": 5}, {"k": "a", "v": 7}]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", '"k","s"\n"a",3\n"b",5\n'),
        ("json", '[\n  {"k":"a","s":3},\n  {"k":"b","s":5}\n]\n'),
        ("jsonl", '{"k":"a","s":3}\n{"k":"b","s":5}\n'),
        ("markdown", "| k | s |\n| --- | ---: |\n| a | 3 |\n| b | 5 |\n"),
        ("table", "k | s\n--+--\na | 3\nb | 5\n"),
    ],
)
def test_forms(tidegate: Tidegate, form: str, text: str) -> None:
    Path("in/2.csv").unlink()
    query = "SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);"
    assert one_by_one(tidegate, SOURCE + query, "-o", form).out == text


@pytest.mark.parametrize(
    ("form", "text"),
    [("csv", '"k"\n'), ("json", "[]\n"), ("jsonl", ""), ("markdown", "| k |\n| --- |\n"), ("table", "")],
)  # fmt: skip
def test_forms_without_rows(tidegate: Tidegate, form: str, text: str) -> None:
    assert run(tidegate, SOURCE + "SELECT k FROM ev WHERE v > 99", "-o", form).out == text


def test_bars_in_markdown_and_heads_in_csv(tidegate: Tidegate) -> None:
    Path("in/2.csv").write_text('k,v,ts\n"x|""y",1,13000\n')
    query = SOURCE + "SELECT k FROM ev;"
    told = list(csv.reader(io.StringIO(one_by_one(tidegate, query, "-o", "csv").out)))
    assert told == [["k"], ["a"], ["a"], ["b"], ['x|"y']]
    assert '| x\\|"y |\n' in run(tidegate, query, "-o", "markdown").out


@pytest.mark.thorough
def test_arrow_is_for_other_programs() -> None:
    Path("q.sql").write_text(SOURCE + "SELECT k, v FROM ev WHERE v > 1;")
    ran = subprocess.run(
        [*TIDEGATE, "run", "q.sql", "--bounded", "-o", "arrow"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    table = pa.ipc.open_stream(ran.stdout).read_all()
    assert table.to_pylist() == [{"k": "a", "v": 2}, {"k": "b", "v": 5}, {"k": "a", "v": 7}]


def test_changing_rows_say_what_they_are(tidegate: Tidegate) -> None:
    Path("in/2.csv").unlink()
    ran = one_by_one(tidegate, SOURCE + "SELECT k, SUM(v) AS s FROM ev GROUP BY k EMIT CHANGES;")
    assert [(row["_op"], row["s"]) for row in lines(ran.out)] == [
        ("+I", 1), ("-U", 1), ("+U", 3), ("+I", 5),
    ]  # fmt: skip


def test_several_selects_do_not_share_a_form_for_one(tidegate: Tidegate) -> None:
    queries = SOURCE + "SELECT k FROM ev; SELECT v FROM ev;"
    assert len(run(tidegate, queries).out.splitlines()) == 10
    ran = run(tidegate, queries, "-o", "json")
    assert (ran.code, ran.out) == (2, "")
    assert "-o json holds one query, and there are 2" in ran.err


def test_statements_that_look_are_answered(tidegate: Tidegate) -> None:
    looks = "SHOW SOURCES; DESCRIBE ev; EXPLAIN SELECT k FROM ev;"
    ran = tidegate("run", "-e", SOURCE + looks, "-o", "table")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("name | connector\n-----+----------\nev   | file\n")
    assert "ts          | TIMESTAMP   | YES  | watermark\n" in ran.out
    assert "Plan explained plan_id=" in ran.out


def test_showing_nothing_says_so(tidegate: Tidegate) -> None:
    assert tidegate("run", "-e", "SHOW SINKS", "-o", "table").out == (
        "name | stream | connector\n(no rows)\n"
    )
    assert tidegate("run", "-e", "SHOW SINKS", "-o", "json").out == "[]\n"


def test_what_is_asked_beside_a_select_does_not_spoil_its_form(tidegate: Tidegate) -> None:
    ran = run(tidegate, SOURCE + "SHOW SOURCES; SELECT k FROM ev WHERE v > 5", "-o", "csv")
    assert ran.out == '"k"\n"a"\n'
    assert "ev   | file\n" in ran.err


# What becomes of every row


def test_everything_open_is_emitted_and_every_row_accounted_for(tidegate: Tidegate) -> None:
    sinks = "CREATE SINK late_rows WITH (connector = 'file', path = 'late');" + (
        "CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');"
    )
    sql = SOURCE + SUMS.replace("FROM ev", "FROM ev WHERE v > 0") + sinks
    ran = one_by_one(tidegate, sql)
    assert (ran.code, ran.out) == (0, "")
    assert [(row["k"], row["s"]) for row in written("out")] == [("a", 3), ("b", 5)]
    (late,) = written("late")
    assert (late["kind"], late["reason"]) == ("late", "allowed_lateness_exceeded")
    assert late["original_event"] == {"k": "a", "v": 7, "ts": "1970-01-01T00:00:02Z"}
    assert ran.err.splitlines()[1:] == [
        "  source ev: 5 rows read, 1 malformed record diverted",
        "  stream sums: 5 rows = 3 aggregated + 1 filtered + 1 diverted "
        "(late/allowed_lateness_exceeded 1); 2 emitted",
        "  side outputs: 2 = 1 delivered + 1 counted only + 0 dropped",
    ]
    assert ran.err.startswith("done after ")


def test_files_of_an_earlier_run_are_pointed_out(tidegate: Tidegate) -> None:
    sink = "CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');"
    warning = "warning: out holds files of an earlier run; this one begins anew"
    assert warning not in run(tidegate, SOURCE + SUMS + sink).err
    assert warning in run(tidegate, SOURCE + SUMS + sink, "--checkpoint", "state").err
    assert warning not in run(tidegate, SOURCE + SUMS + sink, "--checkpoint", "state").err


def test_quiet_says_nothing(tidegate: Tidegate) -> None:
    assert run(tidegate, SOURCE + SUMS, "-q").err == ""


def test_late_rows_for_a_sink_that_nobody_made_are_counted_with_a_warning(
    tidegate: Tidegate,
) -> None:
    ran = one_by_one(tidegate, SOURCE + SUMS)
    assert "warning: late rows of sums are only counted: there is no sink late_rows;" in ran.err
    assert "1 counted only" in ran.err or "2 counted only" in ran.err


def test_records_that_are_no_rows_have_a_route_of_the_session(tidegate: Tidegate) -> None:
    sql = "SET 'error.sink' = 'sink:wrong';" + SOURCE + SUMS
    sink = "CREATE SINK wrong WITH (connector = 'file', path = 'wrong', format = 'csv');"
    ran = run(tidegate, sql + sink)
    assert "1 delivered" in ran.err
    (path,) = Path("wrong").glob("*.csv")
    (told,) = csv.DictReader(path.read_text().splitlines())
    assert (told["reason"], told["stream"]) == ("malformed_record", "ev")
    assert json.loads(told["original_event"]) == {"raw": "b,x,13000"}


def test_a_route_of_the_configuration(tidegate: Tidegate) -> None:
    Path("tidegate.toml").write_text(
        "[transforms.sums.side_output]\nlate.sink = 'sink:dlq'\nlate.include_original = false\n"
        "[sinks.dlq]\nconnector = 'file'\npath = 'dlq'\n"
    )
    ran = one_by_one(tidegate, SOURCE + SUMS.replace("LATE DATA TO late_rows", ""))
    (late,) = written("dlq")
    assert (late["stream"], late["original_event"]) == ("sums", None)
    assert "1 delivered" in ran.err


def test_what_exceeds_the_rate_is_dropped_and_counted(tidegate: Tidegate) -> None:
    Path("in/2.csv").write_text("k,v,ts\n" + "a,1,2000\n" * 50)
    sql = SOURCE + SUMS.replace(";", " WITH ('late.rate_limit' = '10/h');")
    sink = "CREATE SINK late_rows WITH (connector = 'file', path = 'late');"
    ran = run(tidegate, sql + sink, "--batch-rows", "3")
    assert "49 = 1 delivered + 0 counted only + 48 dropped" in ran.err
    assert len(written("late")) == 1


@pytest.mark.parametrize(
    ("sink", "code"),
    [
        ("CREATE SINK late_rows FROM sums WITH (connector = 'memory');", "TG-4015"),
        ("SET 'late.sink' = 'reinject:ev';", "TG-7001"),
    ],
)
def test_routes_that_lead_nowhere(tidegate: Tidegate, sink: str, code: str) -> None:
    sums = SUMS if "CREATE" in sink else SUMS.replace("LATE DATA TO late_rows", "")
    ran = run(tidegate, SOURCE + (sums + sink if "CREATE" in sink else sink + sums))
    assert code in ran.err
    assert ran.code in (1, 2)


def test_rows_without_a_time_get_the_clocks_and_one_warning(tidegate: Tidegate) -> None:
    source = "CREATE SOURCE m (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    inserts = "INSERT INTO m VALUES ('a', NULL); INSERT INTO m VALUES ('b', NULL);"
    window = "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    query = f"CREATE STREAM o AS SELECT COUNT(*) AS n FROM m {window}"
    options = " WITH (on_missing_event_time = 'fallback')"
    ran = tidegate("run", "-e", source + inserts + query + options)
    assert ran.err.count("warning: rows of o have no event time, and get the clock's") == 1
    assert "stamped by the clock: 2" in ran.err


def test_streams_that_nobody_sees_are_pointed_out(tidegate: Tidegate) -> None:
    warning = "warning: nobody sees what sums emits: add SELECT * FROM sums, or CREATE SINK"
    assert warning in run(tidegate, SOURCE + SUMS).err
    seen = run(tidegate, SOURCE + SUMS + "SELECT * FROM sums;")
    written_out = run(
        tidegate, SOURCE + SUMS + "CREATE SINK o FROM sums WITH (connector = 'console');"
    )
    assert "nobody sees" not in seen.err + written_out.err


def test_a_file_without_a_query_has_nothing_to_run(tidegate: Tidegate) -> None:
    nothing = "nothing to run: there is no SELECT, and no stream\n"
    assert tidegate("run", "-e", "CREATE SOURCE t (k VARCHAR);") == Ran(0, "", nothing)
    assert nothing not in tidegate("run", "-e", "CREATE SOURCE t (k VARCHAR); SHOW SOURCES").err


@pytest.mark.parametrize("missing", ["fallback", "divert"])
def test_most_rows_late_has_a_reason(tidegate: Tidegate, missing: str) -> None:
    """A file without one time is of today: it closes every window of old rows, unless such rows are set aside."""
    rows = [
        {"ts": "1970-01-01T00:00:01Z"},
        {"ts": None},
        *({"ts": f"1970-01-01T00:00:0{s}Z"} for s in range(2, 9)),
    ]
    Path("old.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    source = (
        "CREATE SOURCE old (ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector = 'file', path = 'old.json', "
        f"on_missing_event_time = '{missing}');"
    )
    query = (
        "CREATE STREAM o AS SELECT COUNT(*) AS n FROM old GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    )
    ran = tidegate("run", "-e", source + query, "--engine", "local", "--batch-rows", "1")
    hint = "hint: most rows of o were late: a row without event time takes that of its file"
    assert (hint in ran.err) == (missing == "fallback")


# The command line


def test_constants_are_rows_like_any_other(tidegate: Tidegate) -> None:
    sql = (
        "CREATE SOURCE m (k VARCHAR, v BIGINT); CREATE TABLE names (k VARCHAR, name VARCHAR);"
        "INSERT INTO m VALUES ('a', 1), ('b', 2); INSERT INTO m VALUES ('a', 3);"
        "SELECT k, SUM(v) AS s FROM m GROUP BY k"
    )
    ran = tidegate("run", "-e", sql)
    assert lines(ran.out)[-1] == {"_op": "+U", "k": "a", "s": 4}


def test_a_source_that_nothing_fills_is_pointed_out(tidegate: Tidegate) -> None:
    ran = tidegate("run", "-e", "CREATE SOURCE m (k VARCHAR); SELECT k FROM m")
    assert ran.code == 0
    assert "warning: nothing comes from m: it has no connector, and no INSERT" in ran.err


def test_all_mistakes_are_shown_and_exit_with_3(tidegate: Tidegate) -> None:
    ran = run(tidegate, SOURCE + "SELECT x FROM ev;\nSELEC 1;")
    assert (ran.code, ran.out) == (3, "")
    assert "q.sql:3:8: TG-2002" in ran.err
    assert "q.sql:4:1: TG-1003" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--reset-state"], 2, "--reset-state needs --checkpoint"),
        (["--master", "local[2]"], 2, "--master and --conf are for --engine spark"),
        (["-D", "watermark_lug=5s"], 2, "did you mean watermark_lag?"),
        (["-D", "watermark_lag=five"], 2, "expected a duration"),
        (["-D", "watermark_lag"], 2, "write it as key=value"),
        (["-D", "transforms.sums.max_grops=5"], 2, "did you mean max_groups?"),
        (["--config", "nowhere.toml"], 2, "TG-4006"),
        (["--engine", "flink"], 2, "'flink' is not one of 'local', 'spark'"),
        (["other.sql"], 2, "run takes one file"),
    ],
)
def test_a_command_line_that_means_nothing(
    tidegate: Tidegate, arguments: Sequence[str], code: int, words: str
) -> None:
    ran = run(tidegate, SOURCE + SUMS, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err


def test_a_source_that_is_not_there_exits_with_4(tidegate: Tidegate) -> None:
    shutil.rmtree("in")
    ran = run(tidegate, SOURCE + SUMS)
    assert ran.code == 4
    assert "TG-6002" in ran.err


def test_an_endless_source_is_not_read_to_its_end(tidegate: Tidegate) -> None:
    sql = "CREATE SOURCE g (k VARCHAR) WITH (connector = 'generator'); SELECT k FROM g"
    ran = tidegate("run", "--bounded", "-e", sql)
    assert ran.code == 4
    assert "TG-6006" in ran.err


def test_settings_for_one_run(tidegate: Tidegate) -> None:
    """Lateness keeps the late row, and a limit turns a group away."""
    ran = one_by_one(tidegate, SOURCE + SUMS, "-D", "allowed_lateness=1h")
    assert "0 diverted; " in ran.err
    ran = one_by_one(tidegate, SOURCE + SUMS, "-D", "transforms.sums.max_groups=1")
    assert "evicted/max_groups" in ran.err


# State


def test_a_checkpoint_is_gone_on_with(tidegate: Tidegate) -> None:
    sql = (
        SOURCE + SUMS + "CREATE SINK o FROM sums WITH (connector = 'memory'); SELECT k, s FROM sums"
    )
    first = run(tidegate, sql, "--checkpoint", "state")
    assert len(lines(first.out)) == 2
    again = run(tidegate, sql, "--checkpoint", "state")
    assert (again.code, again.out) == (0, "")
    assert "everything was read and emitted by an earlier run" in again.err
    anew = run(tidegate, sql, "--checkpoint", "state", "--reset-state")
    assert anew.out == first.out


def test_a_checkpoint_of_another_plan_is_refused(tidegate: Tidegate) -> None:
    run(tidegate, SOURCE + SUMS, "--checkpoint", "state")
    ran = run(tidegate, SOURCE + SUMS.replace("SUM(v)", "MAX(v)"), "--checkpoint", "state")
    assert ran.code == 1
    first, *difference = ran.err.splitlines()
    assert "TG-5003: state holds the state of another plan:" in first
    assert any(line.startswith("  - stage 1: aggregate: $a0 SUM(") for line in difference)
    assert any(line.startswith("  + stage 1: aggregate: $a0 MAX(") for line in difference)


@pytest.mark.thorough
def test_constants_are_not_inserted_again(tidegate: Tidegate) -> None:
    """A run that died behind its first INSERT goes on with the second."""
    definitions = "CREATE SOURCE m (v BIGINT);CREATE STREAM o AS SELECT SUM(v) AS s FROM m;"
    insert = "INSERT INTO m VALUES (1);"
    code = f"""
import sys
from tidegate.engines.engine import Engine
from tidegate.cli.main import main
Engine.drive = lambda *_: sys.exit(9)  # before the input ends
sys.argv = ["tidegate", "run", "-e", {definitions + insert!r}, "--checkpoint", "state"]
main()
"""
    died = subprocess.run(
        [sys.executable, "-c", code], timeout=60, check=False, capture_output=True
    )
    assert died.returncode == 9
    ran = tidegate("run", "-e", definitions + insert * 2, "--checkpoint", "state")
    assert "source m: 2 rows read" in ran.err


# Processes


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TIDEGATE, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition: object, process: subprocess.Popen[str]) -> None:
    assert callable(condition)
    until = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_between_epochs_and_says_how_to_go_on(number: signal.Signals) -> None:
    sink = "CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');"
    Path("q.sql").write_text(SOURCE + SUMS + sink)
    process = start("q.sql", "--follow", "--checkpoint", "state")
    wait_for(lambda: list(Path("out").glob("part-*")), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "stopping at the end of this epoch; once more to abort\nstopped after " in err
    assert "resume with: tidegate run q.sql --follow --checkpoint state\n" in err
    assert "of earlier runs" not in err
    assert [(row["k"], row["s"]) for row in written("out")] == [("a", 10)]
    resumed = subprocess.run(
        [*TIDEGATE, "run", "q.sql", "--bounded", "--checkpoint", "state"],
        timeout=60,
        check=True,
        capture_output=True,
        text=True,
    )
    _, first, second, *rows = resumed.stderr.splitlines()
    assert re.fullmatch(r"done after [\d.]+ s, \d epochs?", first)
    assert re.fullmatch(r"  with \d epochs? of earlier runs, \d in all, there were:", second)
    assert rows[0] == "  source ev: 5 rows read, 1 malformed record diverted"
    assert sorted((str(row["k"]), row["s"]) for row in written("out")) == [("a", 10), ("b", 4)]


@pytest.mark.thorough
def test_a_run_without_a_checkpoint_says_what_is_lost() -> None:
    Path("q.sql").write_text(SOURCE + SUMS + "SELECT k FROM sums")
    process = start("q.sql", "--follow")
    assert process.stdout is not None
    assert process.stdout.readline() == '{"k":"a"}\n'
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "nothing was kept, and 1 open windows were not emitted; with --checkpoint DIR" in err


@pytest.mark.thorough
def test_a_second_signal_aborts() -> None:
    code = """
import os, signal, sys, time
from tidegate.engines.engine import Engine
from tidegate.cli.main import main
def drive(self, stop, progress):
    os.kill(os.getpid(), signal.SIGINT)
    while not stop(): time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)
Engine.drive = drive
sys.argv = ["tidegate", "run", "q.sql"]
main()
"""
    Path("q.sql").write_text(SOURCE + SUMS)
    ran = subprocess.run(
        [sys.executable, "-c", code], timeout=25, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 130
    assert ran.stderr.endswith("once more to abort\n\naborted\n")


@pytest.mark.thorough
def test_a_reader_that_goes_away_ends_the_run() -> None:
    Path("q.sql").write_text(
        "CREATE SOURCE g (k VARCHAR) WITH (connector = 'generator', rate = '1000/s'); SELECT k FROM g"
    )
    ran = subprocess.run(
        f"({' '.join(TIDEGATE)} run q.sql; echo $? >&2) | head -1 >/dev/null",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stderr.splitlines()[-1] == "1"
    assert "Traceback" not in ran.stderr


PIPELINE = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'file', path = 'many', format = 'csv');
CREATE STREAM sums AS SELECT k, SUM(v) AS s, COUNT(*) AS n, window_start FROM ev
GROUP BY k, HOP(ts, INTERVAL '500' MILLISECOND, INTERVAL '1' SECOND) LATE DATA TO late_rows EMIT ON WINDOW CLOSE;
CREATE STREAM visits AS SELECT k, COUNT(*) AS n, window_start, window_end FROM ev
GROUP BY k, SESSION(ts, INTERVAL '50' MILLISECOND);
CREATE SINK late_rows WITH (connector = 'file', path = 'late');
CREATE SINK o FROM sums WITH (connector = 'file', path = 'out', format = 'json');
CREATE SINK w FROM visits WITH (connector = 'file', path = 'visits', format = 'json');
"""
PLACES = ("out", "visits", "late")


def made_up(files: int, rows: int) -> None:
    draw = random.Random(7)
    Path("many").mkdir()
    at = 0
    for number in range(files):
        text = ["k,v,ts"]
        for _ in range(rows):
            at += draw.randint(0, 20)
            text.append(f"{draw.choice('abc')},{draw.randint(0, 100)},{at - draw.randint(0, 3000)}")
        Path(f"many/{number:03}.csv").write_text("\n".join(text) + "\n")


def results() -> dict[str, list[dict[str, object]]]:
    """All rows of all sinks; the clock is another one in every run."""
    found = {place: written(place) for place in PLACES}
    for late in found["late"]:
        del late["processing_time"]
    return found


def undisturbed_and_killed(kills: int) -> None:
    made_up(20, 200)
    Path("q.sql").write_text(PIPELINE)
    run_once = ["q.sql", "--bounded", "--batch-rows", "50", "-q", "--checkpoint"]
    subprocess.run([*TIDEGATE, "run", *run_once, "one"], timeout=120, check=True)
    expected = results()
    assert all(expected.values())
    for place in PLACES:
        shutil.rmtree(place)
    draw = random.Random(os.getpid())
    for _ in range(kills):
        if kill_at_work(start(*run_once, "two"), after_s=draw.uniform(0, 0.2)) == 0:
            break
    subprocess.run([*TIDEGATE, "run", *run_once, "two"], timeout=120, check=True)
    assert results() == expected


def kill_at_work(process: subprocess.Popen[str], *, after_s: float) -> int:
    """Not before it has changed something; its exit code."""

    def files() -> set[Path]:
        return set(Path("two").glob("**/*"))

    before = files()
    wait_for(lambda: process.poll() is not None or files() != before, process)
    time.sleep(after_s)
    process.kill()
    process.communicate()
    return process.returncode


@pytest.mark.thorough
def test_kill_and_resume_gives_what_an_undisturbed_run_gives() -> None:
    undisturbed_and_killed(3)


@pytest.mark.slow
def test_kill_at_fifty_moments() -> None:
    undisturbed_and_killed(50)


# Examples


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("*.sql")), ids=lambda path: path.stem
)
def test_examples_run(tidegate: Tidegate, path: Path) -> None:
    shutil.copytree(ROOT / "examples/data", "examples/data")
    ran = tidegate("run", str(path))
    if "TG-7001" in ran.err:
        pytest.skip("it needs what is not there yet")
    assert ran.code == 0, ran.err
    assert ran.out
    assert "done after" in ran.err


# On a page


def test_a_run_with_a_page_says_where_it_is_and_ends(tidegate: Tidegate) -> None:
    ran = run(tidegate, SOURCE + SUMS + "SELECT k, s FROM sums", "--ui", "0", "--engine", "local")
    assert ran.code == 0
    assert re.match(r"live page: http://127\.0\.0\.1:\d+/\n", ran.err)
    assert len(ran.out.splitlines()) == 2


def test_an_address_that_is_none_is_refused(tidegate: Tidegate) -> None:
    ran = run(tidegate, SOURCE + SUMS + "SELECT k FROM sums", "--ui", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("TG-4301")
