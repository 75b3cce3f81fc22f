"""Statements: what each is read as, and that a broken one does not hide the others."""

import pytest

from tests.planning import cases, check_refusal, program
from tidegate.errors import SyntaxRefused
from tidegate.sql.dialect import MAX_DEPTH, MAX_LENGTH
from tidegate.sql.parser import parse_script, parse_statement
from tidegate.sql.source import SourceText
from tidegate.sql.statements import (
    Create,
    CreateSink,
    CreateSource,
    CreateStream,
    CreateTable,
    Describe,
    Drop,
    Explain,
    Insert,
    Query,
    Select,
    SetOption,
    Show,
    ShowCreate,
    Statement,
)


def statement(text: str) -> Statement:
    return parse_statement(SourceText(text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CREATE SOURCE s (a INT)", CreateSource),
        ("CREATE TABLE t (a INT)", CreateTable),
        ("CREATE STREAM v AS SELECT 1 FROM t", CreateStream),
        ("CREATE STREAM v WITH (max_groups = 5) AS SELECT 1 FROM t", CreateStream),
        ("CREATE STREAM v AS WITH x AS (SELECT 1 FROM t) SELECT * FROM x", CreateStream),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1 FROM t", CreateStream),
        ("CREATE VIEW v AS (SELECT 1 FROM t)", CreateStream),
        ("CREATE SINK o FROM v", CreateSink),
        ("CREATE SINK o FROM v WITH (connector = 'console')", CreateSink),
        ("INSERT INTO s VALUES (1)", Insert),
        ("SELECT 1 FROM t", Select),
        ("select 1 from t", Select),
        ("(SELECT 1 FROM t)", Select),
        ("WITH x AS (SELECT 1 FROM t) SELECT * FROM x", Select),
        ("DROP SOURCE s", Drop),
        ("SHOW SOURCES", Show),
        ("SHOW CREATE SOURCE s", ShowCreate),
        ("SHOW CREATE s", ShowCreate),
        ("SHOW CREATE source", ShowCreate),
        ("DESCRIBE s", Describe),
        ("DESC s", Describe),
        ("EXPLAIN v", Explain),
        ("SET a = 1", SetOption),
    ],
)
def test_kinds(text: str, kind: type[Statement]) -> None:
    read = statement(f"  {text} ;  -- and a comment")
    assert type(read) is kind
    assert read.source.text[read.span.start : read.span.end] == text


@pytest.mark.parametrize(
    "kind", ["SOURCE s (a INT)", "TABLE s (a INT)", "STREAM s AS SELECT 1 FROM t", "SINK s FROM v"]
)
def test_the_head_of_create(kind: str) -> None:
    plain, replacing = statement(f"CREATE {kind}"), statement(f"CREATE OR REPLACE {kind}")
    word, rest = kind.split(" ", 1)
    careful = statement(f"create {word} if not exists {rest}")
    assert isinstance(plain, Create)
    assert isinstance(replacing, Create)
    assert isinstance(careful, Create)
    assert (str(plain.name), plain.or_replace, plain.if_not_exists) == ("s", False, False)
    assert (str(replacing.name), replacing.or_replace, replacing.if_not_exists) == (
        "s",
        True,
        False,
    )
    assert (str(careful.name), careful.or_replace, careful.if_not_exists) == ("s", False, True)


def test_sinks_name_their_stream() -> None:
    sink = statement("CREATE SINK o FROM v WITH (connector = 'file', path = 'x')")
    assert isinstance(sink, CreateSink)
    assert (str(sink.stream), [str(option.key) for option in sink.options]) == (
        "v",
        ["connector", "path"],
    )


def test_sinks_for_side_outputs_name_no_stream() -> None:
    sink = statement("CREATE SINK late WITH (connector = 'file', path = 'x')")
    assert isinstance(sink, CreateSink)
    assert (str(sink.name), sink.stream) == ("late", None)


def test_inserted_rows() -> None:
    insert = statement("INSERT INTO s (a, b) VALUES (1, COALESCE(NULL, (2))), (3, 'x')")
    assert isinstance(insert, Insert)
    assert str(insert.target) == "s"
    assert [str(name) for name in insert.columns] == ["a", "b"]
    assert [[value.sql() for value in row] for row in insert.rows] == [
        ["1", "COALESCE(NULL, (2))"],
        ["3", "'x'"],
    ]


@pytest.mark.parametrize("word", ["SOURCE", "STREAM", "SINK", "TABLE"])
def test_drop_and_show(word: str) -> None:
    plain, careful, show = (
        statement(f"DROP {word} x"),
        statement(f"DROP {word} IF EXISTS x"),
        statement(f"SHOW {word}S"),
    )
    assert isinstance(plain, Drop)
    assert isinstance(careful, Drop)
    assert isinstance(show, Show)
    assert (plain.kind, str(plain.name), plain.if_exists) == (word.lower(), "x", False)
    assert careful.if_exists
    assert show.kind == f"{word.lower()}s"


@pytest.mark.parametrize("words", ["MATERIALIZED VIEW", "VIEW"])
def test_views_are_streams(words: str) -> None:
    dropped = statement(f"DROP {words} x")
    assert isinstance(dropped, Drop)
    assert dropped.kind == "stream"


@pytest.mark.parametrize(
    ("text", "level", "form", "named"),
    [
        ("EXPLAIN v", "physical", "text", True),
        ("EXPLAIN PHYSICAL v", "physical", "text", True),
        ("EXPLAIN LOGICAL SELECT 1 FROM t", "logical", "text", False),
        (
            "EXPLAIN ANALYZE FORMAT JSON WITH x AS (SELECT 1 FROM t) SELECT * FROM x",
            "analyze",
            "json",
            False,
        ),
        ("EXPLAIN FORMAT TEXT (SELECT 1 FROM t)", "physical", "text", False),
        ("EXPLAIN FORMAT JSON v", "physical", "json", True),
        ("EXPLAIN format", "physical", "text", True),
    ],
)
def test_explain(text: str, level: str, form: str, named: bool) -> None:
    explain = statement(text)
    assert isinstance(explain, Explain)
    assert (explain.level, explain.format, not isinstance(explain.target, Query)) == (
        level,
        form,
        named,
    )


def test_comments_and_blank_statements() -> None:
    script = parse_script(SourceText("\ufeff-- one\n;; SET a = 1 /* two ; */ ;\r\n\r\nSET b = 2"))
    assert [type(each) for each in script.statements] == [SetOption, SetOption]
    assert script.errors == ()
    assert script.statements[1].source.location(script.statements[1].span).line == 4
    assert parse_script(SourceText("")).statements == ()


def test_one_statement_is_expected() -> None:
    for text, got in (("", "0 statements"), ("SET a = 1; SET b = 2", "2 statements")):
        with pytest.raises(SyntaxRefused, match=f"expected one statement, got {got}"):
            statement(text)
    with pytest.raises(SyntaxRefused, match="FOO does not start"):
        statement("FOO")


def test_a_broken_statement_does_not_hide_the_others() -> None:
    script = parse_script(
        SourceText(
            "FOO; SET a = 1; CREATE SOURCE Broken (; SELECT FROM t; CREATE OR REPLACE VIEW IF NOT "
            "EXISTS v AS; SET c = 3"
        )
    )
    assert [type(each) for each in script.statements] == [SetOption, SetOption]
    assert [error.code for error in script.errors] == ["TG-1003", "TG-1001", "TG-1001", "TG-1001"]
    assert script.broken == {"broken", "v"}


def test_what_depends_on_a_broken_statement_stays_silent() -> None:
    made = program(
        "CREATE SOURCE a (x NOPE); CREATE STREAM b AS SELECT x FROM a; CREATE SINK c FROM b; "
        "INSERT INTO a VALUES (1); DESCRIBE b; EXPLAIN b; DROP STREAM IF EXISTS b; SELECT nope FROM trades"
    )
    assert [error.code for error in made.errors] == ["TG-2011", "TG-2002"]


@cases(
    ("«FOO» BAR", "TG-1003", "FOO does not start a statement", "CREATE SOURCE | TABLE"),
    ("«SELEKT» 1", "TG-1003", "SELEKT", "did you mean SELECT?"),
    ("«DELETE» FROM t", "TG-1003", "DELETE", "rows of a stream are not changed"),
    ("«ALTER» TABLE t", "TG-1003", "ALTER", "CREATE OR REPLACE"),
    ("SHOW «STREEMS»", "TG-1001", "SINKS or TABLES, got STREEMS", "did you mean STREAMS?"),
    ("«)»", "TG-1003", ") does not start"),
    ("CREATE «STREEM» x", "TG-1001", "expected SOURCE, TABLE, STREAM or SINK, got STREEM", "did you mean STREAM?"),
    ("CREATE«»", "TG-1001", "got the end"),
    ("CREATE SOURCE «(»a INT)", "TG-1001", "expected the name of the source, got ("),
    ("CREATE SOURCE «5» (a INT)", "TG-1001", "expected the name of the source"),
    ("CREATE SOURCE «'s'» (a INT)", "TG-1001", "expected the name of the source, got s"),
    ("«CREATE TABLE »t AS SELECT 1 FROM trades", "TG-1009", "CREATE TABLE … AS", "write CREATE STREAM"),
    ("CREATE STREAM s «SELECT» 1", "TG-1001", "expected AS, got SELECT"),
    ("CREATE STREAM s AS «INSERT»", "TG-1001", "expected SELECT, got INSERT"),
    ("CREATE SINK o «AS» s", "TG-1001", "expected FROM, got AS"),
    ("CREATE SINK o FROM«»", "TG-1001", "the name of a stream"),
    ("INSERT «trades» VALUES (1)", "TG-1001", "expected INTO"),
    ("INSERT INTO trades «SELECT» 1", "TG-1009", "INSERT INTO … SELECT", "CREATE STREAM"),
    ("INSERT INTO trades «WITH» x AS (SELECT 1)", "TG-1009", "INSERT INTO … SELECT"),
    ("INSERT INTO trades VALUES («)»", "TG-1001", "expected a value"),
    ("INSERT INTO trades VALUES (1,«)»", "TG-1001", "expected a value"),
    ("INSERT INTO trades VALUES (1)«2»", "TG-1001", "the end of the statement"),
    ("DROP «FUNCTION» x", "TG-1001", "expected SOURCE, TABLE, STREAM or SINK, got FUNCTION"),
    ("SHOW «NOTHING»", "TG-1001", "expected SOURCES, STREAMS, SINKS or TABLES"),
    ("SHOW CREATE«»", "TG-1001", "a name"),
    ("DESCRIBE«»", "TG-1001", "a name"),
    ("EXPLAIN«»", "TG-1001", "SELECT, or the name of a stream"),
    ("SET a = 1 «2»", "TG-1001", "the end of the statement"),
    ("SELECT 1 FROM t «'»x", "TG-1002", "this string is never closed"),
    ('SELECT 1 FROM "t"«"», trades', "TG-1002", "this quoted name is never closed"),
    ("SELECT 1 FROM «`»t", "TG-1002", "this quoted name is never closed"),
    ("SELECT 1 «/*» FROM t", "TG-1002", "this comment is never closed"),
    ("SELECT «\x00»1", "TG-1002", "a NUL byte"),
    ("SELECT «\ufeff»1", "TG-1002", "a byte order mark inside the text"),
    ("SELECT symbol FROM trades trades2 «trades3»", "TG-1005"),
    ("SELECT symbol symbol2 «symbol3» FROM trades", "TG-1005"),
)  # fmt: skip
def test_wrong_statements(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("ABS(", ")"), ("NOT ", ""), ("- ", ""), ("CASE WHEN ok THEN ", " END")],
)
def test_nesting_is_bounded(opening: str, closing: str) -> None:
    def nested(depth: int) -> list[str]:
        text = f"SELECT {opening * depth}qty{closing * depth} AS x FROM trades"
        return [error.code for error in parse_script(SourceText(text)).errors]

    assert nested(MAX_DEPTH) == []
    assert nested(MAX_DEPTH + 1) == ["TG-1004"]
    assert nested(10_000) == ["TG-1004"]


def test_nesting_of_one_statement_does_not_count_for_the_next() -> None:
    assert [error.code for error in parse_script(SourceText("SELECT (((1;" * 40)).errors] == [
        "TG-1005"
    ] * 40


def test_a_field_called_end_closes_nothing() -> None:
    text = "SELECT " + "(" * MAX_DEPTH + "window.end" + ")" * MAX_DEPTH + " AS x FROM t"
    assert parse_script(SourceText(text)).errors == ()


def test_the_length_of_a_text_is_bounded() -> None:
    assert parse_script(SourceText(" " * MAX_LENGTH)).errors == ()
    (error,) = parse_script(SourceText(" " * (MAX_LENGTH + 1))).errors
    assert error.code == "TG-1013"
    assert str(MAX_LENGTH) in error.message
