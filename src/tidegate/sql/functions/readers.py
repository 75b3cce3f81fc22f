"""Values from text: one strict pattern per type, the same on both engines.

White space around is ignored, anything else that does not match is NULL. Times are ISO 8601: a date, or a date and
a time with `T` or a space between, seconds and fraction optional (digits after the sixth are cut off), then nothing
(UTC), `Z` or an offset such as `+05:30`. The engine's own parser sees only text that the pattern has let through,
and says the rest: 30 February and numbers that are too large are NULL.
"""

from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import DataType, Decimal, is_integer
from tidegate.sql.functions.signature import Engine
from tidegate.sql.functions.spelling import micros, string, timestamp_micros, type_name, within

_SPACE = r"[ \t\n\x0b\f\r]*"
_INTEGER = r"[+-]?[0-9]+"
_FIXED = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_FLOATING = rf"{_FIXED}(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN]"
# Years 0001 to 9999: neither engine's regular expressions may look ahead.
_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_DATE = rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_ZONE = "Z|[+-](?:0[0-9]|1[0-8]):[0-5][0-9]"
_TIMESTAMP = (
    rf"({_DATE})(?:([ T])({_CLOCK})(?:(:[0-5][0-9])(?:(\.[0-9]{{1,6}})[0-9]*)?)?({_ZONE})?)?"
)
_WITHOUT_SECONDS = r"^(.{16})([Z+-].*)?$"
_TRUE = ("true", "t", "yes", "y", "on", "1")
_FALSE = ("false", "f", "no", "n", "off", "0")


def number(sql: str, _source: DataType, target: DataType, engine: Engine) -> str:
    """Integers without, DECIMALs with a point; DOUBLEs also with an exponent, `inf` and `nan`."""
    fixed = _FIXED if isinstance(target, Decimal) else _FLOATING
    form = _INTEGER if is_integer(target) else fixed
    return f"TRY_CAST({_inner(sql, form, engine)} AS {type_name(target, engine)})"


def boolean(sql: str, _source: DataType, _target: DataType, engine: Engine) -> str:
    """true, t, yes, y, on, 1 and their opposites, in any case."""
    branches = "".join(
        f" WHEN '{word}' THEN {value}"
        for value, words in (("TRUE", _TRUE), ("FALSE", _FALSE))
        for word in words
    )
    return f"CASE lower({_inner(sql, '[a-zA-Z01]+', engine)}){branches} END"


def date(sql: str, _source: DataType, _target: DataType, engine: Engine) -> str:
    return f"TRY_CAST({_inner(sql, _DATE, engine)} AS DATE)"


def timestamp(sql: str, _source: DataType, target: DataType, engine: Engine) -> str:
    """An offset can carry the instant out of the years 1 to 9999, hence the last check."""
    parsed = f"TRY_CAST({_plain_timestamp(sql, engine)} AS {type_name(target, engine)})"
    inside = within(micros(parsed, engine), MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)
    return timestamp_micros(inside, engine)


def _inner(sql: str, form: str, engine: Engine) -> str:
    """The text without white space around where it has the form; else NULL, or text that no parser takes."""
    pattern = string(rf"^{_SPACE}({form}){_SPACE}\z", engine)
    if engine is Engine.SPARK:
        return f"regexp_extract({sql}, {pattern}, 1)"
    return f"(regexp_match({sql}, {pattern}))[1]"


def _plain_timestamp(sql: str, engine: Engine) -> str:
    """The parts that the pattern has found, joined again, with at most six digits and with seconds."""
    pattern = string(rf"^{_SPACE}{_TIMESTAMP}{_SPACE}\z", engine)
    without_seconds = string(_WITHOUT_SECONDS, engine)
    if engine is Engine.SPARK:
        whole = f"regexp_extract({sql}, {pattern}, 0)"
        joined = f"regexp_replace({whole}, {pattern}, {string('$1$2$3$4$5$6', engine)})"
        return f"regexp_replace({joined}, {without_seconds}, {string('$1:00$2', engine)})"
    joined = f"array_to_string(regexp_match({sql}, {pattern}), '')"
    return f"regexp_replace({joined}, {without_seconds}, '\\1:00\\2')"
