"""Types as they are written, and columns of them."""

import pytest

from tests.planning import cases, check_refusal, planned
from tidegate.plan.catalog import SourceDef


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("BOOLEAN", "BOOLEAN"),
        ("bool", "BOOLEAN"),
        ("TINYINT", "TINYINT"),
        ("SMALLINT", "SMALLINT"),
        ("INT", "INTEGER"),
        ("INTEGER", "INTEGER"),
        ("BIGINT", "BIGINT"),
        ("REAL", "REAL"),
        ("FLOAT", "REAL"),
        ("DOUBLE", "DOUBLE"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("DECIMAL", "DECIMAL(18, 3)"),
        ("DECIMAL(5)", "DECIMAL(5, 0)"),
        ("NUMERIC(38, 38)", "DECIMAL(38, 38)"),
        ("DECIMAL(1, 0)", "DECIMAL(1, 0)"),
        ("VARCHAR", "VARCHAR"),
        ("VARCHAR(10)", "VARCHAR"),
        ("CHAR(3)", "VARCHAR"),
        ("STRING", "VARCHAR"),
        ("TEXT", "VARCHAR"),
        ("BINARY", "BINARY"),
        ("BYTES", "BINARY"),
        ("VARBINARY(8)", "BINARY"),
        ("DATE", "DATE"),
        ("TIMESTAMP", "TIMESTAMP"),
        ("TIMESTAMP(9)", "TIMESTAMP"),
        ("TIMESTAMP(3) WITH TIME ZONE", "TIMESTAMP"),
        ("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP"),
        ("DATETIME", "TIMESTAMP"),
        ("ARRAY<BIGINT>", "ARRAY<BIGINT>"),
        ("BIGINT[]", "ARRAY<BIGINT>"),
        ("MAP<VARCHAR, ARRAY<DOUBLE>>", "MAP<VARCHAR, ARRAY<DOUBLE>>"),
        ("STRUCT<a INT, b STRUCT<c DATE>>", "STRUCT<a INTEGER, b STRUCT<c DATE>>"),
        ("STRUCT<a: INT>", "STRUCT<a INTEGER>"),
    ],
)
def test_spellings(written: str, kind: str) -> None:
    source = planned(f"CREATE SOURCE s (a {written}, b INT)").catalog.find("s")
    assert isinstance(source, SourceDef)
    assert str(source.physical.columns[0].type) == kind


@cases(
    ("CREATE SOURCE s (a «DECIMAL(39)»)", "TG-2012", "DECIMAL: precision is 1 to 38"),
    ("CREATE SOURCE s (a «DECIMAL(0)»)", "TG-2012", "DECIMAL: precision"),
    ("CREATE SOURCE s (a «DECIMAL(5, 6)»)", "TG-2012", "scale 0 to the precision"),
    ("CREATE SOURCE s (a «DECIMAL(5, 2, 1)»)", "TG-2012", "DECIMAL"),
    ("CREATE SOURCE s (a «VARCHAR('x')»)", "TG-2012", "lengths are whole numbers"),
    ("CREATE SOURCE s (a «TIMESTAMP(10)»)", "TG-2012", "precision is 0 to 9"),
    ("CREATE SOURCE s (a «STRUCT<INT>»)", "TG-2012", "write STRUCT<name type, …>"),
    ("CREATE SOURCE s (a STRUCT<x INT, «X» INT>)", "TG-2015", "field X is defined twice"),
    ("CREATE SOURCE s (a «VARCHR»)", "TG-2011", "VARCHR", "did you mean VARCHAR?"),
    ("CREATE SOURCE s (a ARRAY<«NOPE»>)", "TG-2011", "NOPE"),
    ("CREATE SOURCE s (a «ARRAY»)", "TG-2011", "ARRAY"),
    ("CREATE SOURCE s (a «MAP<VARCHAR>»)", "TG-2011", "MAP"),
    ("CREATE SOURCE s (a «INTERVAL»)", "TG-2011", "INTERVAL"),
    ("CREATE SOURCE s (a «TIME»)", "TG-2011", "TIME"),
    ("CREATE SOURCE s (a «INT(5)»)", "TG-2011", "INT"),
)
def test_wrong_types(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
