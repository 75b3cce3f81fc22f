"""WITH (…) and SET as they are written."""

import pytest

from tests.planning import cases, check_refusal
from tidegate.sql.parser import parse_statement
from tidegate.sql.source import SourceText
from tidegate.sql.statements import CreateSource, OptionValue, SetOption


@pytest.mark.parametrize(
    ("written", "key", "value"),
    [
        ("path = 'a.csv'", "path", "a.csv"),
        ("'bootstrap.servers' = 'a:1,b:2'", "bootstrap.servers", "a:1,b:2"),
        ("bootstrap.servers = 'a:1'", "bootstrap.servers", "a:1"),
        ("\"Odd key\" = 'x'", "Odd key", "x"),
        ("n = 5", "n", 5),
        ("n = -5", "n", -5),
        ("n = 1.5", "n", 1.5),
        ("n = -1e3", "n", -1000.0),
        ("n = TRUE", "n", True),
        ("n = false", "n", False),
        ("n = INTERVAL '5' SECOND", "n", "5 SECOND"),
        ("n = INTERVAL '5s'", "n", "5s"),
        ("format = ''", "format", ""),
    ],
)
def test_options_as_written(written: str, key: str, value: OptionValue) -> None:
    made = parse_statement(SourceText(f"CREATE SOURCE s (a INT) WITH ({written}, z = 1)"))
    assert isinstance(made, CreateSource)
    assert (str(made.options[0].key), made.options[0].value) == (key, value)
    assert type(made.options[0].value) is type(value)
    assert str(made.options[1].key) == "z"
    setting = parse_statement(SourceText(f"SET {written}"))
    assert isinstance(setting, SetOption)
    assert (str(setting.option.key), setting.option.value) == (key, value)


@cases(
    ("SET watermark_lag =«»", "TG-1001", "expected a value: a string, a number, TRUE or FALSE, got the end"),
    ("SET watermark_lag = «maybe»", "TG-1001", "expected a value"),
    ("SET max_groups = -«TRUE»", "TG-1001", "expected a value"),
    ("SET max_groups = -«INTERVAL» '5' SECOND", "TG-1001", "expected a value"),
    ("SET max_groups = INTERVAL «5» SECOND", "TG-1001", "an interval such as"),
    ("SET max_groups «5»", "TG-1001", "expected =, got 5"),
    ("SET «=» 5", "TG-1001", "the name of an option"),
    ("SET a.«5» = 5", "TG-1001", "the rest of the name"),
    ("CREATE SOURCE s (a INT) WITH («)»", "TG-1001", "the name of an option"),
    ("CREATE SOURCE s (a INT) WITH (a = 1«»", "TG-1001", "expected ), got the end"),
    ("CREATE SOURCE s (a INT) WITH (pre_epoch = 'allow', «PRE_EPOCH» = 'allow')",
     "TG-2015", "option PRE_EPOCH is defined twice"),
)  # fmt: skip
def test_wrong_options(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
