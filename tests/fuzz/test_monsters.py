"""Texts made by hand to hang, to nest, to overflow: each is planned, or refused with a place in it.

`MONSTERS` says how a text grows and what becomes of it: nothing where it plans, else the code of its first error. The
time limit is a watchdog, not a measurement.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.verdict import judge
from tidegate.sql.dialect import Tidegate

pytestmark = pytest.mark.thorough

SOURCE = (
    "CREATE SOURCE t (a BIGINT, b VARCHAR, c ARRAY<BIGINT>, ok BOOLEAN, ts TIMESTAMP,\n"
    "  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);\n"
)
WINDOW = "TUMBLE(ts, INTERVAL '1' MINUTE)"
Text = Callable[[int], str]


def nested(opening: str, closing: str) -> Text:
    return lambda n: f"SELECT {opening * n}a{closing * n} AS x FROM t"


def suffixed(start: str, suffix: str) -> Text:
    return lambda n: f"{start}{suffix * n}"


def listed(before: str, item: str, after: str = "") -> Text:
    return lambda n: before + ", ".join(item.format(i) for i in range(n)) + after


def chained(first: str, following: str, last: str) -> Text:
    return lambda n: first + "".join(following.format(i, i + 1) for i in range(n)) + last.format(n)


NESTING: dict[str, Text] = {
    "parentheses": nested("(", ")"),
    "brackets": nested("[", "]"),
    "braces": nested("{'a': ", "}"),
    "case": nested("CASE WHEN ok THEN ", " END"),
    "case else": nested("CASE WHEN ok THEN 1 ELSE ", " END"),
    "not": nested("NOT ", ""),
    "minus": nested("- ", ""),
    "casts": nested("CAST(", " AS BIGINT)"),
    "calls": nested("abs(", ")"),
    "scalar subqueries": nested("(SELECT ", ")"),
    "aggregates": nested("sum(", ")"),
    "subqueries": lambda n: "SELECT a FROM " + "(SELECT a FROM " * n + "t" + ")" * n,
    "with in with": lambda n: "WITH w AS (" * n + "SELECT a FROM t" + ") SELECT a FROM w" * n,
    "window tables": lambda n: "SELECT a FROM " + "TUMBLE((SELECT a, ts FROM " * n + "t" + "), ts, '1m')" * n,
    "unions in parentheses": lambda n: "(" * n + "SELECT a FROM t" + ") UNION ALL SELECT a FROM t" * n,
    "types": lambda n: "CREATE SOURCE s (x " + "STRUCT<a " * n + "INT" + ">" * n + ")",
    "array types": nested("CAST(NULL AS ARRAY<", ">)"),
    "long casts": suffixed("SELECT a", "::int::bigint"),
    "dots": suffixed("SELECT a", ".b"),
    "indexes": suffixed("SELECT c", "[1]"),
    "sums": suffixed("SELECT a", " + a"),
    "joined strings": suffixed("SELECT b", " || b"),
    "is null": suffixed("SELECT a", " IS NULL"),
    "lambdas": nested("x -> ", ""),
    "months": suffixed("SELECT ts", " + INTERVAL '1' MONTH"),
    "names of WITH": chained(
        "WITH w0 AS (SELECT a FROM t)", ", w{1} AS (SELECT a FROM w{0})", " SELECT a FROM w{0}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [300, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NESTING)
def test_deep_nesting_is_refused_where_it_is_too_deep(name: str, size: int) -> None:
    errors = judge(SOURCE + NESTING[name](size)).errors
    assert len(errors) == 1
    assert errors[0].code == ("TG-3022" if name == "names of WITH" and size > 1_000 else "TG-1004")
    assert errors[0].line == 3


DEEP_BUT_REASONABLE: dict[str, tuple[Text, int]] = {
    "parentheses": (NESTING["parentheses"], 60),
    "case": (NESTING["case"], 60),
    "casts": (NESTING["casts"], 60),
    "calls": (NESTING["calls"], 60),
    "not": (lambda n: "SELECT a FROM t WHERE " + "NOT " * n + "ok", 60),
    "subqueries": (NESTING["subqueries"], 60),
    "unions in parentheses": (NESTING["unions in parentheses"], 60),
    "names of WITH": (NESTING["names of WITH"], 60),
    "and": (suffixed("SELECT a FROM t WHERE ok", " AND a > 1"), 500),
    "or": (suffixed("SELECT a FROM t WHERE ok", " OR a = 1"), 500),
    "and, or": (suffixed("SELECT a FROM t WHERE ok", " AND a > 1 OR ok"), 500),
    "sums": (lambda n: "SELECT a" + " + a" * n + " AS x FROM t", 150),
    "in": (listed("SELECT a FROM t WHERE a IN (", "{}", ")"), 10_000),
    "when": (lambda n: f"SELECT CASE {'WHEN a = 1 THEN 2 ' * n} END AS x FROM t", 1_000),
    "union": (suffixed("SELECT a FROM t", " UNION ALL SELECT a FROM t"), 1_000),
    "columns": (listed("SELECT ", "a AS c{}", " FROM t"), 2_000),
    "aggregates": (listed("SELECT ", "sum(a + {0}) AS c{0}", f" FROM t GROUP BY {WINDOW}"), 1_000),
    "keys": (listed("SELECT count(*) AS n FROM t GROUP BY " + WINDOW + ", ", "a + {}"), 1_000),
    "rows": (listed("INSERT INTO t (a, b) VALUES ", "({}, 'x')"), 2_000),
    "wide source": (listed("CREATE SOURCE w (", "c{} BIGINT", "); SELECT * FROM w"), 2_000),
    "statements": (lambda n: "SELECT a FROM t;\n" * n, 1_000),
    "streams": (chained("CREATE STREAM s0 AS SELECT a FROM t;", "CREATE STREAM s{1} AS SELECT a FROM s{0};", ""), 50),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP_BUT_REASONABLE)
def test_what_a_program_may_write_plans(name: str) -> None:
    text, size = DEEP_BUT_REASONABLE[name]
    assert judge(SOURCE + text(size)).errors == []


DOUBLING: dict[str, Text] = {
    "unions of streams": chained(
        "CREATE STREAM s0 AS SELECT a FROM t;\n",
        "CREATE STREAM s{1} AS SELECT a FROM s{0} UNION ALL SELECT a FROM s{0};\n",
        "",
    ),
    "unions of WITH": chained(
        "WITH w0 AS (SELECT a FROM t)\n",
        ", w{1} AS (SELECT a FROM w{0} UNION ALL SELECT a FROM w{0})\n",
        "SELECT a FROM w{0}",
    ),
    "expressions of streams": chained(
        "CREATE STREAM s0 AS SELECT a FROM t;\n",
        "CREATE STREAM s{1} AS SELECT a + a AS a FROM s{0};\n",
        "",
    ),
    "expressions over a window": lambda n: (
        f"SELECT a FROM {'(SELECT a + a AS a FROM ' * n}(SELECT count(*) AS a FROM t GROUP BY {WINDOW}){')' * n}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBLING)
def test_what_doubles_with_every_line_is_refused(name: str) -> None:
    errors = judge(SOURCE + DOUBLING[name](60)).errors
    assert [error.code for error in errors] == ["TG-3022"]


LARGE: dict[str, tuple[str, str]] = {
    "parentheses": ("SELECT " + "(" * 10_000, "TG-1004"),
    "closing": ("SELECT " + ")" * 10_000, "TG-1005"),
    "one string": ("SELECT '" + "x" * 1_000_000 + "' AS x FROM t", ""),
    "one name": ("SELECT " + "x" * 1_000_000 + " FROM t", "TG-2002"),
    "one number": ("SELECT " + "1" * 1_000_000 + " AS x FROM t", "TG-2023"),
    "one fraction": ("SELECT 0." + "1" * 100_000 + " AS x FROM t", ""),
    "exponent": ("SELECT 1e" + "9" * 100_000 + " AS x FROM t", "TG-1012"),
    "minus one number": ("SELECT -" + "1" * 100_000 + " AS x FROM t", "TG-2023"),
    "interval": (f"SELECT ts + INTERVAL '{'1' * 10_000}' SECOND AS x FROM t", "TG-3010"),
    "months": (f"SELECT ts + INTERVAL '{'1' * 10_000}' MONTH AS x FROM t", "TG-3010"),
    "emit every": (f"SELECT a FROM t EMIT EVERY '{'1' * 10_000}s'", "TG-3010"),
    "limit": (f"SELECT a FROM t ORDER BY a LIMIT {'1' * 10_000}", "TG-2017"),
    "position": (f"SELECT count(*) AS n FROM t GROUP BY {'1' * 10_000}", "TG-2020"),
    "decimal": (f"CREATE SOURCE s (x DECIMAL({'1' * 10_000}))", "TG-2012"),
    "option": (f"SET max_groups = {'1' * 10_000}", "TG-1012"),
    "option text": (f"SET max_groups = '{'1' * 10_000}'", "TG-4002"),
    "duration": (f"SET watermark_lag = '{'1' * 10_000}s'", "TG-4002"),
    "line breaks": ("\n" * 1_000_000 + "FOO", "TG-1003"),
    "spaces": ("SELECT a," + " " * 1_000_000 + " FROM t", "TG-1001"),
    "comments": ("/* x */ " * 10_000 + "SELECT a FROM t", ""),
    "open comment": ("/* " * 10_000, "TG-1002"),
    "open string": ("SELECT '" + "''" * 100_000, "TG-1002"),
    "semicolons": (";" * 50_000, ""),
    "words": ("SELECT " * 5_000, "TG-1001"),
    "joins": ("SELECT 1 FROM t" + " JOIN t ON ok" * 1_000, "TG-3019"),
    "wrong columns": ("SELECT " + "zz, " * 1_000 + "a FROM t", "TG-2002"),
    "and": ("SELECT a FROM t WHERE ok" + " AND a > 1" * 3_000, ""),
    "sums": ("SELECT a" + " + a" * 5_000 + " FROM t", "TG-1004"),
    "too long": (" " * 4_000_001, "TG-1013"),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_large_texts(name: str) -> None:
    text, code = LARGE[name]
    errors = judge(SOURCE + text).errors
    assert (errors[0].code if errors else "") == code


HUGE: dict[str, str] = {
    "parentheses": "SELECT " + "(" * 1_000_000,
    "semicolons": ";" * 1_000_000,
    "comments": "/* x */ " * 125_000 + "SELECT a FROM t",
    "words": "SELECT " * 150_000,
    "joins": "SELECT 1 FROM t" + " JOIN t ON ok" * 70_000,
    "wrong columns": "SELECT " + "zz, " * 100_000 + "a FROM t",
    "names of WITH": NESTING["names of WITH"](20_000),
    "and": "SELECT a FROM t WHERE ok" + " AND a > 1" * 100_000,
    "or": "SELECT a FROM t WHERE ok" + " OR a = 1" * 100_000,
    "sums": "SELECT a" + " + a" * 100_000 + " FROM t",
    "joined strings": "SELECT b" + " || b" * 100_000 + " FROM t",
    "union": "SELECT a FROM t" + " UNION ALL SELECT a FROM t" * 5_000,
    "columns": listed("SELECT ", "a AS c{}", " FROM t")(100_000),
    "in": listed("SELECT a FROM t WHERE a IN (", "{}", ")")(100_000),
    "statements": "SELECT a FROM t;\n" * 10_000,
    "refused statements": "SELECT zz FROM t; " * 10_000,
    "sources": "".join(f"CREATE SOURCE s{i} (a INT);" for i in range(10_000)),
    "wide source": listed("CREATE SOURCE w (", "c{} INT", ")")(50_000),
    "rows": listed("INSERT INTO t (a) VALUES ", "({})")(50_000),
    "over": listed(
        "SELECT ", "sum(a + {0}) OVER (ORDER BY ts RANGE '1s' PRECEDING) AS c{0}", " FROM t"
    )(5_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_huge_texts(name: str) -> None:
    judge(SOURCE + HUGE[name], seconds=120)


PLACES = [
    ("SELECT «\0» FROM t", "TG-1002"),
    ("SELECT '«\ud800»' FROM t", "TG-1002"),
    ("SELECT a «\ufeff»FROM t", "TG-1002"),
    ("SELECT «'»abc FROM t", "TG-1002"),
    ("SELECT a, «\"»abc FROM t", "TG-1002"),
    ("SELECT a «/*» FROM t", "TG-1002"),
    ("SELECT a\r\nFROM t\r\nWHERE «zz» > 1", "TG-2002"),
    ("SELECT a\rFROM «zz»", "TG-2001"),
    ("SELECT\ta,\t«zz»\tFROM t", "TG-2002"),
    ("SELECT 'é😀', '\u2028', «zz» FROM t", "TG-2002"),
    ("SELECT «z\u0301z» FROM t", "TG-2002"),
    ("SELECT a, «😀» FROM t", "TG-2002"),
    ("SELECT a, «1e999» AS x FROM t", "TG-2023"),
    ("SELECT a, «1e» AS x FROM t", "TG-1012"),
    ("SELECT a, «.5.» AS x FROM t", "TG-1012"),
    ("SELECT a FROM t WHERE «.5 + 1»", "TG-2008"),
    ("WITH r AS (SELECT a FROM «r») SELECT a FROM r", "TG-2001"),
    ("CREATE STREAM s AS SELECT a FROM «s»", "TG-2001"),
    ("CREATE STREAM x AS SELECT a FROM t; CREATE OR REPLACE STREAM «x» AS SELECT a FROM x", "TG-3025"),
    ("CREATE OR REPLACE SINK «t» FROM t", "TG-2016"),
    ("CREATE SOURCE s (a «````»)", "TG-2011"),
    ("SELECT a, b::«\"int (((\"» AS x FROM t", "TG-1005"),
    ("SELECT a, CAST(b AS «foo») AS x FROM t", "TG-2011"),
    ("SELECT a, b::«foo» AS x FROM t", "TG-2011"),
    ("SELECT «ARRAY_AGG»( ORDER BY ts) FROM t GROUP BY TUMBLE(ts, '1m')", "TG-2005"),
    (
        "CREATE STREAM x AS SELECT a FROM t; CREATE STREAM y AS SELECT a FROM x; "
        "CREATE OR REPLACE STREAM «x» AS SELECT a FROM y",
        "TG-3025",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "code"), PLACES, ids=range(len(PLACES)))
def test_odd_characters_do_not_move_the_place(marked: str, code: str) -> None:
    before, _, rest = (SOURCE + marked).partition("«")
    inside = rest.partition("»")[0]
    (error,) = judge(before + rest.replace("»", "")).errors
    assert (error.code, error.line) == (code, before.count("\n") + 1)
    assert error.location is not None
    assert error.column == len(before) - before.rfind("\n")
    assert error.location.width == len(inside)


def test_a_byte_order_mark_at_the_start_is_not_counted() -> None:
    (error,) = judge("\ufeffSELECT a FROM zz").errors
    assert (error.line, error.column) == (1, 15)


WORDS = sorted({word for word in Tidegate.Tokenizer.KEYWORDS if word.isalpha()} | {"EMIT", "LATE"})


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "form",
    [
        "SELECT {0} FROM t",
        "SELECT t.{0} FROM t",
        "SELECT a AS {0} FROM t",
        "SELECT a {0} FROM t",
        "SELECT {0}(a) FROM t",
        "SELECT a FROM {0}",
        "SELECT a FROM t {0}",
        "SELECT a FROM t AS {0}",
        "SELECT a FROM t WHERE {0} > 1",
        "SELECT count(*) AS n FROM t GROUP BY {0}",
        "CREATE SOURCE {0} (a INT)",
        "CREATE SOURCE s ({0} INT); SELECT {0} FROM s",
        "CREATE SOURCE s (a {0})",
        "WITH {0} AS (SELECT a FROM t) SELECT a FROM {0}",
        "CREATE STREAM {0} AS SELECT a FROM t",
        "SET {0} = {0}",
        "DROP {0} {0}",
        "{0} a b",
    ],
)
def test_keywords_in_every_place(form: str, every: int) -> None:
    for word in WORDS[::every]:
        judge(SOURCE + form.format(word))


def test_a_bounded_run_of_atheris() -> None:
    """Guided by coverage, in a process of its own: libFuzzer ends the process it runs in."""
    pytest.importorskip("atheris", reason="atheris has no wheel for this Python or platform")
    script = Path(__file__).with_name("atheris_sql.py")
    command = [sys.executable, str(script), "--few", "-max_total_time=2", "-seed=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, json.dumps(done.stderr[-3_000:])
