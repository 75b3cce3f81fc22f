"""`tidegate check`: exit codes, what goes where, and that nothing wrong is kept back."""

from pathlib import Path

import pytest

from tests.cli.conftest import Tidegate

SOURCE = "CREATE SOURCE s (k VARCHAR, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);\n"
GOOD = SOURCE + "SELECT k, COUNT(*) AS n FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);\n"


def write(name: str, text: str | bytes) -> str:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def test_a_sound_file(tidegate: Tidegate) -> None:
    ran = tidegate("check", write("good.sql", GOOD))
    assert (ran.code, ran.out, ran.err) == (0, "good.sql: 1 source, 1 query\n", "")


@pytest.mark.parametrize(
    ("sql", "summary"),
    [
        ("", "nothing to do"),
        ("-- only a comment", "nothing to do"),
        (SOURCE, "1 source"),
        (GOOD + "SELECT k FROM s; SELECT x FROM s;", "1 source, 3 queries"),
        (SOURCE + "CREATE STREAM a AS SELECT k FROM s; CREATE STREAM b AS SELECT k FROM a;"
         "CREATE SINK o FROM b WITH (connector = 'console')", "1 source, 2 streams, 1 sink"),
        (SOURCE + "CREATE TABLE t (k VARCHAR); DROP TABLE t;", "1 source"),
    ],
)  # fmt: skip
def test_the_summary_counts_what_is_defined(tidegate: Tidegate, sql: str, summary: str) -> None:
    assert tidegate("check", "-e", sql).out == f"<command line>: {summary}\n"


def test_a_mistake_is_shown_on_stderr_and_exits_with_3(tidegate: Tidegate) -> None:
    ran = tidegate("check", write("q.sql", SOURCE + "SELECT y FROM s"))
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "q.sql:2:8: TG-2002: there is no column named y\n"
        "  SELECT y FROM s\n"
        "         ^\n"
        "hint: columns are k, x, ts\n"
        "\n"
        "1 error\n"
    )


def test_all_mistakes_of_a_file_are_shown_in_the_order_of_the_text(tidegate: Tidegate) -> None:
    sql = (
        SOURCE
        + "SELECT a, b FROM s;\nSELEC 1;\nSELECT x FROM nowhere;\nSELECT k, SUM(k), UPPER(x, x) FROM s GROUP BY k;\n"
    )
    ran = tidegate("check", write("q.sql", sql))
    heads = [line.split(" ")[:2] for line in ran.err.splitlines() if line.startswith("q.sql:")]
    assert heads == [
        ["q.sql:2:8:", "TG-2002:"],
        ["q.sql:2:11:", "TG-2002:"],
        ["q.sql:3:1:", "TG-1003:"],
        ["q.sql:4:15:", "TG-2001:"],
        ["q.sql:5:15:", "TG-2006:"],
        ["q.sql:5:19:", "TG-2005:"],
    ]
    assert ran.err.endswith("\n\n6 errors\n")


def test_every_file_is_checked_whatever_the_others_are(tidegate: Tidegate) -> None:
    files = [write("a.sql", GOOD), "none.sql", write("b.sql", "SELEC"), write("c.sql", SOURCE)]
    ran = tidegate("check", *files)
    assert ran.code == 2
    assert ran.out == "a.sql: 1 source, 1 query\nc.sql: 1 source\n"
    assert ran.err.startswith(
        "TG-4006: none.sql cannot be read: No such file or directory\n\nb.sql:1:1: "
    )
    assert ran.err.endswith("\n\n2 errors\n")


def test_a_file_sees_nothing_of_another(tidegate: Tidegate) -> None:
    ran = tidegate("check", write("a.sql", SOURCE), write("b.sql", "SELECT k FROM s"))
    assert ran.code == 3
    assert "b.sql:1:15: TG-2001" in ran.err


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"SELECT '\xff'", "byte 8 is not UTF-8"),
        ("SELECT 1".encode("utf-16"), "byte 0 is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_refused(tidegate: Tidegate, content: bytes, problem: str) -> None:
    ran = tidegate("check", write("q.sql", content))
    assert (ran.code, ran.out) == (2, "")
    assert f"TG-4006: q.sql cannot be read: {problem}\n" in ran.err
    assert (
        f"TG-4006: <stdin> cannot be read: {problem}\n" in tidegate("check", "-", stdin=content).err
    )


def test_a_directory_is_no_file(tidegate: Tidegate) -> None:
    Path("queries").mkdir()
    ran = tidegate("check", "queries")
    assert ran.code == 2
    assert ran.err.startswith("TG-4006: queries cannot be read: Is a directory\n")


def test_stdin(tidegate: Tidegate) -> None:
    assert tidegate("check", "-", stdin=GOOD.encode()).out == "<stdin>: 1 source, 1 query\n"
    assert tidegate("check", "-", stdin=b"SELEC").err.startswith("<stdin>:1:1: TG-1003")


@pytest.mark.parametrize(
    "content", [GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, GOOD.rstrip(), GOOD.rstrip("\n;")]
)
def test_line_ends_byte_order_marks_and_missing_last_lines(
    tidegate: Tidegate, content: str
) -> None:
    assert tidegate("check", write("q.sql", content)).code == 0


def test_files_or_text_but_not_both_and_not_neither(tidegate: Tidegate) -> None:
    both = tidegate("check", "-e", "SELECT 1", "q.sql")
    assert (both.code, "give files or -e, not both" in both.err) == (2, True)
    neither = tidegate("check")
    assert (neither.code, "name a file, - for stdin, or give SQL with -e" in neither.err) == (
        2,
        True,
    )


@pytest.mark.parametrize("option", ["-e", "-c", "--sql-text"])
def test_sql_on_the_command_line(tidegate: Tidegate, option: str) -> None:
    assert tidegate("check", option, SOURCE).code == 0


def test_settings_of_the_project_are_read(tidegate: Tidegate) -> None:
    sql = (
        SOURCE.replace("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", "more INT")
        + GOOD.partition("\n")[2]
    )
    assert "TG-3013" in tidegate("check", "-e", sql).err
    Path("other.toml").write_text('[defaults]\nwatermark_lag = "5s"\n')
    assert tidegate("check", "-e", sql, "--config", "other.toml").code == 0
    Path("other.toml").rename("tidegate.toml")
    assert tidegate("check", "-e", sql).code == 0


def test_everything_wrong_with_the_settings_is_said_at_once(tidegate: Tidegate) -> None:
    Path("tidegate.toml").write_text('[defaults]\nwatermark_lg = "5s"\nidle_timeout = "soon"\n')
    ran = tidegate("check", "-e", SOURCE)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "TG-4008: tidegate.toml: defaults.watermark_lg is not a setting\n"
        "hint: did you mean watermark_lag?\n"
        "\n"
        "TG-4002: tidegate.toml: defaults.idle_timeout = 'soon': "
        "expected a duration such as '5s' or '1 hour 30 minutes'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "none.toml"], "TG-4006: none.toml cannot be read: No such file or directory"),
        (["--config", "."], "is a directory"),
        (["--verbose"], "No such option"),
    ],
)
def test_a_wrong_command_line_exits_with_2(
    tidegate: Tidegate, arguments: list[str], said: str
) -> None:
    ran = tidegate("check", "-e", SOURCE, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize(
    ("route", "settings"),
    [
        (" LATE DATA TO nowhere", ""),
        (" WITH (late.sink = 'nowhere')", ""),
        ("", "[defaults]\nlate.sink = 'sink:nowhere'"),
        ("", "[transforms.out.side_output]\nlate.sink = 'nowhere'"),
    ],
)
def test_a_route_to_nowhere_is_pointed_out(tidegate: Tidegate, route: str, settings: str) -> None:
    write("tidegate.toml", settings)
    stream = (
        "CREATE STREAM out AS SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    )
    ran = tidegate("check", "-e", f"{SOURCE}{stream}{route};")
    assert (ran.code, ran.out) == (0, "<command line>: 1 source, 1 stream\n")
    assert ran.err.startswith("warning: late r")
    assert "there is no sink nowhere" in ran.err
    sink = "CREATE SINK nowhere WITH (connector = 'file', path = 'never', format = 'json');"
    assert tidegate("check", "-e", f"{SOURCE}{sink}{stream}{route};").err == ""
    assert not Path("never").exists()
