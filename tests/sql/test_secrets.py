"""Secrets are not shown: in the lines of errors, by SHOW CREATE and DESCRIBE."""

import pytest

import tidegate
from tests.planning import refusal
from tidegate.sql.secrets import masked


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("'properties.sasl.password' = 'hidden'", "'properties.sasl.password' = '******'"),
        ("password='it''s'", "password='*****'"),
        ("'header.Authorization' = 'Bearer x'", "'header.Authorization' = '********'"),
        (
            "'header.Authorization' = 'Bearer ${env:T}'",
            "'header.Authorization' = 'Bearer ${env:T}'",
        ),
        ("url = 'http://a:b@c'", "url = 'http://a:*@c'"),
        ("url = 'http://a:${env:B}@c'", "url = 'http://a:${env:B}@c'"),
        (
            "SELECT 'a', b FROM tokens WHERE secret > 'x'",
            "SELECT 'a', b FROM tokens WHERE secret > 'x'",
        ),
        ("topic = 't', url = 'http://c/d'", "topic = 't', url = 'http://c/d'"),
    ],
)
def test_what_is_hidden(shown: str, expected: str) -> None:
    assert masked(shown) == expected


def test_a_long_line_takes_no_time() -> None:
    line = "'" + "a" * 300_000
    assert masked(line) == line


def test_the_line_of_an_error() -> None:
    error = refusal(
        "CREATE SOURCE s (a INT) WITH (connector = 'kafka', topic = 't', "
        "'properties.sasl.password' = 'hidden', format = 'jsom')"
    )
    assert error.location is not None
    assert "hidden" not in error.location.line_text
    assert "'******'" in error.location.line_text


def test_show_and_describe() -> None:
    with tidegate.connect() as session:
        text = (
            "CREATE SOURCE k (n BIGINT) WITH (connector = 'kafka', topic = 't', "
            "'properties.sasl.password' = 'hidden');"
        )
        session.sql(text)
        shown = str(session.sql("SHOW CREATE SOURCE k"))
        assert "hidden" not in shown
        assert "'******'" in shown
