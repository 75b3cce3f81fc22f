"""What both engines take for a regular expression, a replacement and a date pattern."""

import pytest

from tidegate.sql.functions import patterns


@pytest.mark.parametrize(
    "pattern",
    [
        "a(?=b)",
        "a(?<!b)",
        r"(a)\1",
        "(?P<name>a)",
        "a++",
        "a*+",
        "a{2}+",
        r"\p{L}",
        r"\Qa\E",
        "[a&&b]",
        "[[:alpha:]]",
        "[a",
        "(",
        r"\G",
        r"\Z",
        "(?>a)",
        r"\07",
        "a(?i)b",
    ],
)
def test_refused_regular_expressions(pattern: str) -> None:
    assert patterns.regex_problem(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "a|b",
        "(?:a)+?",
        r"[^\]]",
        r"\.\(\$",
        "(?is)x",
        "a{2,}",
        r"[\d.-]+",
        r"\bword\b",
        "[$(]",
        r"é\x41\u00e9",
    ],
)
def test_accepted_regular_expressions(pattern: str) -> None:
    assert patterns.regex_problem(pattern) == ""


def test_dollar_is_the_end_of_the_text_unless_in_brackets_or_by_lines() -> None:
    assert patterns.parse("[$]a$").text(java=False) == r"[$]a\z"
    assert patterns.parse("(?m)a$").text(java=False) == "(?m)a$"
    assert patterns.parse("(?i)a").text(java=True) == "(?dU)(?iu)a"


def test_only_one_group_is_numbered() -> None:
    parsed = patterns.parse(r"(a)(?:b)(\(c)([(])")
    assert len(parsed.groups) == 3
    assert parsed.text(java=False, only_group=2) == r"(?:a)(?:b)(\(c)(?:[(])"
    assert parsed.text(java=False, only_group=0) == r"((?:a)(?:b)(?:\(c)(?:[(]))"


@pytest.mark.parametrize("pattern", ["b*", "a?", "", "^", "a|"])
def test_what_can_match_nothing_cannot_be_replaced(pattern: str) -> None:
    assert patterns.replaced_regex_problem(pattern)


@pytest.mark.parametrize("text", ["\\", "a\\b", "$", "$x", "${12}"])
def test_refused_replacements(text: str) -> None:
    assert patterns.replacement_problem(text)


def test_replacements() -> None:
    assert patterns.replacement(r"$1\2${1}", 1, java=True) == "$1$1"
    assert patterns.replacement("$10", 1, java=True) == r"$1\0"
    assert patterns.replacement(r"\$1", 1, java=False) == "$$1"
    assert patterns.replacement("$10", 1, java=False) == "${1}0"


@pytest.mark.parametrize("pattern", ["YYYY", "y", "dd MMMMM", "'open", "[yyyy]", "n"])
def test_refused_date_patterns(pattern: str) -> None:
    assert patterns.date_pattern_problem(pattern)


@pytest.mark.parametrize(
    "pattern", ["", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", "''yyyy''", "dd.MM.yyyy 100%"]
)
def test_accepted_date_patterns(pattern: str) -> None:
    assert patterns.date_pattern_problem(pattern) == ""
