"""The column list of CREATE SOURCE and CREATE TABLE."""

import pytest

from tests.planning import cases, check_refusal
from tidegate.sql.parser import parse_statement
from tidegate.sql.source import SourceText
from tidegate.sql.statements import ColumnDef, CreateSource, CreateTable


def column(definition: str) -> ColumnDef:
    made = parse_statement(SourceText(f"CREATE SOURCE s ({definition}, z INT)"))
    assert isinstance(made, CreateSource)
    assert str(made.columns[1].name) == "z"
    return made.columns[0]


@pytest.mark.parametrize(
    ("definition", "name", "type_", "nullable", "computed"),
    [
        ("a BIGINT", "a", "BIGINT", True, False),
        ("a BIGINT NOT NULL", "a", "BIGINT", False, False),
        ("a BIGINT NULL", "a", "BIGINT", True, False),
        ("a DECIMAL(10, 2) NOT NULL", "a", "DECIMAL(10, 2)", False, False),
        ("a MAP<VARCHAR, ARRAY<STRUCT<x INT, y DOUBLE>>>", "a",
         "MAP<VARCHAR, ARRAY<STRUCT<x INT, y DOUBLE>>>", True, False),
        ("a AS b + 1", "a", None, True, True),
        ("a BIGINT AS b + 1", "a", "BIGINT", True, True),
        ("a BIGINT NOT NULL AS COALESCE(b, (1), 2)", "a", "BIGINT", False, True),
        ('"a b" INT', "a b", "INT", True, False),
        ("`from` INT", "from", "INT", True, False),
        ("check BOOLEAN", "check", "BOOLEAN", True, False),
        ("primary INT", "primary", "INT", True, False),
        ("watermark INT", "watermark", "INT", True, False),
        ("timestamp TIMESTAMP", "timestamp", "TIMESTAMP", True, False),
        ("window VARCHAR", "window", "VARCHAR", True, False),
        ("p AS PROCTIME()", "p", None, True, True),
    ],
)  # fmt: skip
def test_columns(
    definition: str, name: str, type_: str | None, nullable: bool, computed: bool
) -> None:
    made = column(definition)
    assert str(made.name) == name
    assert (made.type.sql() if made.type else None) == type_
    assert (made.nullable, made.expr is not None) == (nullable, computed)


def test_watermarks() -> None:
    for definition, derived in (
        ("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", True),
        ("WATERMARK FOR ts", False),
    ):
        made = parse_statement(SourceText(f"CREATE SOURCE s (ts TIMESTAMP, {definition})"))
        assert isinstance(made, CreateSource)
        assert made.watermark is not None
        assert str(made.watermark.column) == "ts"
        assert (made.watermark.expr is not None) is derived


def test_tables_have_columns_too() -> None:
    made = parse_statement(SourceText("CREATE TABLE t (a INT, b AS a + 1)"))
    assert isinstance(made, CreateTable)
    assert [str(each.name) for each in made.columns] == ["a", "b"]


@cases(
    ("CREATE SOURCE s «WITH» (format = 'json')", "TG-1001", "expected ( and the columns, got WITH"),
    ("CREATE SOURCE s («)»", "TG-1001", "expected a column"),
    ("CREATE SOURCE s (a INT,«)»", "TG-1001", "expected a column"),
    ("CREATE SOURCE s (a«,» b INT)", "TG-1001", "expected a type for column a, got ,"),
    ("CREATE SOURCE s (a INT AS«)»", "TG-1001", "expected an expression"),
    ("CREATE SOURCE s (a AS 1 «2»)", "TG-1005"),
    ("CREATE SOURCE s (a INT «PRIMARY KEY» NOT ENFORCED)", "TG-1009", "PRIMARY KEY", "name type [NOT NULL]"),
    ("CREATE SOURCE s (a INT, «PRIMARY KEY» (a))", "TG-1009", "PRIMARY KEY"),
    ("CREATE SOURCE s (a INT NOT NULL «UNIQUE», b INT)", "TG-1009", "UNIQUE"),
    ("CREATE SOURCE s (a INT, «CHECK» (a > 0))", "TG-1009", "CHECK"),
    ("CREATE SOURCE s (a INT METADATA FROM «offset»)", "TG-1001", "expected a key such as"),
    ("CREATE SOURCE s (a INT «DEFAULT» 5)", "TG-1009", "DEFAULT"),
    ("CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts, «WATERMARK» FOR ts)",
     "TG-1007", "WATERMARK FOR is given twice"),
    ("CREATE TABLE t (ts TIMESTAMP, «WATERMARK» FOR ts)", "TG-1006", "WATERMARK cannot stand here", "CREATE SOURCE"),
    ("CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR «'ts'»)", "TG-1001", "expected a column"),
    ("CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS«)»", "TG-1001", "expected an expression"),
    ("CREATE SOURCE s (a «TIMESTEMP»)", "TG-2011", "there is no type named TIMESTEMP", "did you mean TIMESTAMP?"),
    ("CREATE SOURCE s (a «JSON»)", "TG-2011", "JSON", "BOOLEAN, TINYINT"),
    ("CREATE SOURCE s (a INT«»", "TG-1001", "expected ), got the end"),
    ("CREATE SOURCE s (a INT) «b»", "TG-1001", "expected the end of the statement, got b"),
)  # fmt: skip
def test_wrong_columns(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
