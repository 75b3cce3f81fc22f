"""Finding, replacing and cutting text at other text. The empty text is found at the beginning of any, and occurs
nowhere in it."""

from collections.abc import Sequence
from functools import partial

from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions.signature import BIGINT, VARCHAR, Engine, entry, overload
from tidegate.sql.functions.spelling import written
from tidegate.sql.functions.text import clamped, of_text

_function = partial(entry, "text")


def _split_part(args: Sequence[str], _types: Sequence[DataType], engine: Engine) -> str:
    return f"split_part({args[0]}, {args[1]}, NULLIF({clamped(args[2], engine)}, 0))"


# Pieces of a text: one more than there are delimiters. An empty delimiter gives NULL.
_DELIMITERS = "(character_length({0}) - character_length(replace({0}, {1}, ''))) / NULLIF(character_length({1}), 0)"
_PIECE = "CASE WHEN {2} >= 0 AND {2} <= " + _DELIMITERS + " THEN split_part({0}, {1}, {2} + 1) END"
_PIECE_SPARK = (
    "CASE WHEN {2} >= 0 AND {2} <= "
    + _DELIMITERS
    + " THEN split_part({0}, {1}, CAST(least({2}, 2147483646L) + 1 AS INT)) END"
)

SEARCHING = (
    _function(
        "replace",
        "Every occurrence of a text replaced by another; an empty one occurs nowhere.",
        "replace(name, '-', '')",
        overload(
            [VARCHAR, VARCHAR],
            Scalar.VARCHAR,
            "CASE WHEN {1} = '' THEN {0} ELSE replace({0}, {1}, '') END",
        ),
        overload(
            [VARCHAR, VARCHAR, VARCHAR],
            Scalar.VARCHAR,
            "CASE WHEN {1} = '' AND {2} IS NOT NULL THEN {0} ELSE replace({0}, {1}, {2}) END",
        ),
    ),
    of_text(
        "strpos",
        "Where the second text begins in the first; 0 if nowhere.",
        Scalar.BIGINT,
        "CAST(strpos({0}, {1}) AS BIGINT)",
        "CAST(instr({0}, {1}) AS BIGINT)",
        aliases=("instr",),
        params=(VARCHAR, VARCHAR),
    ),
    _function(
        "locate",
        "Where the first text begins in the second; 0 if nowhere.",
        "locate('b', name)",
        overload(
            [VARCHAR, VARCHAR],
            Scalar.BIGINT,
            "CAST(strpos({1}, {0}) AS BIGINT)",
            spark="CAST(instr({1}, {0}) AS BIGINT)",
        ),
        aliases=("position", "charindex"),
    ),
    of_text(
        "starts_with",
        "Whether the first text begins with the second.",
        Scalar.BOOLEAN,
        "starts_with({0}, {1})",
        "startswith({0}, {1})",
        aliases=("startswith", "prefix"),
        params=(VARCHAR, VARCHAR),
    ),
    of_text(
        "ends_with",
        "Whether the first text ends with the second.",
        Scalar.BOOLEAN,
        "ends_with({0}, {1})",
        "endswith({0}, {1})",
        aliases=("endswith", "suffix"),
        params=(VARCHAR, VARCHAR),
    ),
    of_text(
        "contains",
        "Whether the second text is in the first.",
        Scalar.BOOLEAN,
        "contains({0}, {1})",
        params=(VARCHAR, VARCHAR),
    ),
    _function(
        "split_index",
        "The piece with this number, from 0, of a text cut at a delimiter; NULL if there is none (as in Flink).",
        "split_index(url, '/', 3)",
        overload([VARCHAR, VARCHAR, BIGINT], Scalar.VARCHAR, _PIECE, spark=_PIECE_SPARK),
    ),
    _function(
        "split_part",
        "The piece with this number, from 1, or from the end if negative; empty if there is none, NULL for 0.",
        "split_part(path, '/', 2)",
        overload([VARCHAR, VARCHAR, BIGINT], Scalar.VARCHAR, **written(_split_part)),
    ),
    _function(
        "translate",
        "Each character of the second text replaced by the one in its place in the third, or left out.",
        "translate(code, '-_', '  ')",
        overload([VARCHAR, VARCHAR, VARCHAR], Scalar.VARCHAR, "translate({0}, {1}, {2})"),
    ),
)
