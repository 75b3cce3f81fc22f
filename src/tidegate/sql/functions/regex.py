"""Regular expressions. The pattern is a literal in the notation that `patterns` knows how to give to both engines.

Decided here: `regexp_replace` replaces every match, `regexp_extract` gives the whole match unless a group is named,
and NULL where nothing matches (both as in Flink); a group that took no part in the match is the empty text.
"""

from collections.abc import Callable, Sequence

from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions import patterns
from tidegate.sql.functions.signature import (
    BIGINT,
    VARCHAR,
    Engine,
    Function,
    Template,
    constant,
    overload,
)
from tidegate.sql.functions.spelling import bigint_literal, null, string, string_value

_PATTERN = constant("a regular expression (VARCHAR)", VARCHAR, patterns.regex_problem)
_REPLACED = constant("a regular expression (VARCHAR)", VARCHAR, patterns.replaced_regex_problem)
_REPLACEMENT = constant("a replacement (VARCHAR)", VARCHAR, patterns.replacement_problem)
_GROUP = constant("a group number", BIGINT)

Writer = Callable[[Sequence[str], patterns.Pattern, Engine], str]


def _templates(writer: Writer) -> dict[str, Template]:
    """Templates whose second argument is a pattern; a NULL among the literals makes the result NULL."""

    def template(engine: Engine) -> Template:
        def text(args: Sequence[str], _types: Sequence[DataType], result: DataType) -> str:
            pattern = string_value(args[1], engine)
            if pattern is None or args[-1].startswith("CAST(NULL"):
                return null(result, engine)
            return writer(args, patterns.parse(pattern), engine)

        return text

    return {engine.value: template(engine) for engine in Engine}


def _plain(pattern: patterns.Pattern, engine: Engine) -> str:
    return string(pattern.text(java=engine is Engine.SPARK), engine)


def _matches(args: Sequence[str], pattern: patterns.Pattern, engine: Engine) -> str:
    return f"regexp_like({args[0]}, {_plain(pattern, engine)})"


def _replace(args: Sequence[str], pattern: patterns.Pattern, engine: Engine) -> str:
    java = engine is Engine.SPARK
    text = patterns.replacement(string_value(args[2], engine) or "", len(pattern.groups), java=java)
    flags = "" if java else ", 'g'"
    return f"regexp_replace({args[0]}, {_plain(pattern, engine)}, {string(text, engine)}{flags})"


def _extract(args: Sequence[str], pattern: patterns.Pattern, engine: Engine) -> str:
    group = bigint_literal(args[2]) if len(args) > 2 else 0
    if group is None or not 0 <= group <= len(pattern.groups):
        return null(Scalar.VARCHAR, engine)
    if engine is Engine.SPARK:
        found = f"regexp_extract({args[0]}, {_plain(pattern, engine)}, {group})"
    else:
        single = string(pattern.text(java=False, only_group=group), engine)
        found = f"COALESCE((regexp_match({args[0]}, {single}))[1], '')"
    return f"CASE WHEN {_matches(args, pattern, engine)} THEN {found} END"


def _count(args: Sequence[str], pattern: patterns.Pattern, engine: Engine) -> str:
    return f"CAST(regexp_count({args[0]}, {_plain(pattern, engine)}) AS BIGINT)"


REGEX = (
    Function(
        name="rlike",
        doc="Whether some part of the text matches a regular expression.",
        example="rlike(url, '^https?://')",
        overloads=(overload([VARCHAR, _PATTERN], Scalar.BOOLEAN, **_templates(_matches)),),
        aliases=("regexp_like", "regexp", "regexp_matches"),
        family="regex",
    ),
    Function(
        name="regexp_replace",
        doc="Every match replaced; $1 or \\1 in the replacement is what group 1 matched.",
        example="regexp_replace(phone, '[^0-9]', '')",
        overloads=(
            overload([VARCHAR, _REPLACED, _REPLACEMENT], Scalar.VARCHAR, **_templates(_replace)),
        ),
        family="regex",
    ),
    Function(
        name="regexp_extract",
        doc="The first match, or what one of its groups matched; NULL where nothing matches.",
        example="regexp_extract(url, '(&|^)id=([^&]*)', 2)",
        overloads=(
            overload([VARCHAR, _PATTERN], Scalar.VARCHAR, **_templates(_extract)),
            overload([VARCHAR, _PATTERN, _GROUP], Scalar.VARCHAR, **_templates(_extract)),
        ),
        aliases=("regexp_substr",),
        family="regex",
    ),
    Function(
        name="regexp_count",
        doc="How many matches there are.",
        example="regexp_count(line, 'ERROR')",
        overloads=(overload([VARCHAR, _REPLACED], Scalar.BIGINT, **_templates(_count)),),
        family="regex",
    ),
)
