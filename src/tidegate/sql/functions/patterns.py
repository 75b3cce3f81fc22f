"""Regular expressions, LIKE patterns and date patterns that mean the same to both engines.

Java's and Rust's regular expressions share most of their notation; the rest is either rewritten here (`$`, `.`,
`\\w` and their kin, numbered groups) or refused while the query is bound, which is why a pattern must be a literal.
Decided here: `.` stops at line feeds only, `$` is the end of the text, `\\d \\w \\s \\b` are Unicode-aware.
"""

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache

from tidegate.model.expressions import LiteralValue

_TOKEN = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|\(\?[a-zA-Z]*:|\(\?.?|\[\^?\]?|&&|[{][0-9,]+[}]|.",
    re.DOTALL,
)
_ESCAPES = frozenset("dDwWsSbBntrfzA")
_MODIFIERS = re.compile(r"\(\?[ism]*\)")


class PatternError(ValueError):
    """The pattern means different things to the engines, or nothing to one of them."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern as tokens that both engines read alike; `groups` are the places of its numbered groups."""

    modifiers: str
    tokens: tuple[str, ...]
    groups: tuple[int, ...]

    def text(self, *, java: bool, only_group: int | None = None) -> str:
        """The notation of one engine; with `only_group`, no other group is numbered (0 is the whole match)."""
        tokens = list(self.tokens)
        if only_group is not None:
            for number, place in enumerate(self.groups, start=1):
                if number != only_group:
                    tokens[place] = "(?:"
        body = "".join(tokens)
        if only_group == 0:
            body = f"({body})"
        return f"{'(?dU)' if java else ''}{self.modifiers}{body}"


@lru_cache(maxsize=512)
def parse(pattern: str) -> Pattern:
    """The tokens of a pattern, or PatternError.

    >>> parse("(a|b)+$").text(java=False), parse("(a)(b)").text(java=False, only_group=2)
    ('(a|b)+\\\\z', '(?:a)(b)')
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern)
    except (re.error, OverflowError) as problem:
        raise PatternError(str(problem)) from None
    leading = _MODIFIERS.match(pattern)
    modifiers = leading[0] if leading else ""
    tokens: list[str] = []
    groups: list[int] = []
    inside = False
    for found in _TOKEN.finditer(pattern, len(modifiers)):
        token = found[0]
        inside = _check(token, tokens, inside=inside)
        if token == "(" and not inside:
            groups.append(len(tokens))
        end_of_text = token == "$" and not inside and "m" not in modifiers
        tokens.append("\\z" if end_of_text else token)
    return Pattern(
        modifiers.replace("i", "iu") if "i" in modifiers else modifiers,
        tuple(tokens),
        tuple(groups),
    )


def _check(token: str, before: list[str], *, inside: bool) -> bool:
    """Refuses what engines read differently; gives whether the next token is inside a bracket expression."""
    if token.startswith("\\"):
        letter = token[1]
        if letter.isalnum() and letter not in _ESCAPES and len(token) == 2:
            raise PatternError(f"{token} is not supported")
        return inside
    if inside:
        if token.startswith("[") or token == "&&" or (token in ("~", "-") and before[-1] == token):
            raise PatternError(f"{token} inside [ ] is not supported")
        return token != "]"
    if token.startswith("(?") and token != "(?:":
        raise PatternError(f"{token} is not supported (only groups, (?: ) and leading modifiers)")
    if token == "+" and before and (before[-1] in ("*", "+", "?") or before[-1].endswith("}")):
        raise PatternError("possessive quantifiers are not supported")
    return token.startswith("[")


def regex_problem(value: LiteralValue) -> str:
    """What is wrong with a regular expression, or ""."""
    try:
        parse(str(value))
    except PatternError as problem:
        return str(problem)
    return ""


def replaced_regex_problem(value: LiteralValue) -> str:
    """Where an empty match may be replaced, engines count such matches differently."""
    problem = regex_problem(value)
    if not problem and re.search(str(value), ""):
        return "it can match nothing, so what to replace is not defined"
    return problem


_REFERENCE = re.compile(r"\\([0-9])|\$([0-9])|\$\{([0-9])\}|\\([\\$])|([\\$])|([^\\$]+)", re.DOTALL)


def replacement_problem(value: LiteralValue) -> str:
    """A replacement refers to groups as $1 or \\1; a dollar sign itself is written \\$."""
    for found in _REFERENCE.finditer(str(value)):
        if found[5] or found[4] == "\\":
            return "a backslash or $ must be part of $1, \\1 or \\$"
    return ""


def replacement(value: str, groups: int, *, java: bool) -> str:
    """The replacement in the notation of one engine; a group that does not exist is empty.

    >>> replacement("$1-\\\\2", 1, java=True), replacement("<$1>", 1, java=False)
    ('$1-', '<${1}>')
    """
    parts: list[str] = []
    for found in _REFERENCE.finditer(value):
        number = found[1] or found[2] or found[3]
        if number is not None:
            known = int(number) <= groups
            parts.append((f"${number}" if java else f"${{{number}}}") if known else "")
        elif found[4] is not None:
            parts.append("\\$" if java else "$$")
        else:
            digit = java and bool(parts) and parts[-1].startswith("$") and found[0][0].isdigit()
            parts.append(("\\" if digit else "") + found[0])
    return "".join(parts)


def like(value: str) -> str:
    """A LIKE pattern in which a backslash stands only before %, _ or a backslash.

    >>> print(like("50\\\\%_"), like("a\\\\b"), like("end\\\\"))
    50\\%_ ab end\\\\
    """
    pairs = re.findall(r"\\?.|\\", value, re.DOTALL)
    return "".join(_like_token(pair) for pair in pairs)


def _like_token(pair: str) -> str:
    if pair == "\\":
        return "\\\\"
    return pair[1] if len(pair) == 2 and pair[1] not in "%_\\" else pair


_DATE_FIELDS = {
    "yyyy": "%Y",
    "MM": "%m",
    "MMM": "%b",
    "MMMM": "%B",
    "dd": "%d",
    "DDD": "%j",
    "EEE": "%a",
    "EEEE": "%A",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%3f",
    "SSSSSS": "%6f",
    "a": "%p",
}
_DATE_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'\[\]{}#]+)|(.)", re.DOTALL)


def date_pattern_problem(value: LiteralValue) -> str:
    for found in _DATE_TOKEN.finditer(str(value)):
        if found[4] is not None or (found[2] is not None and found[0] not in _DATE_FIELDS):
            known = ", ".join(_DATE_FIELDS)
            return f"{found[0]} is no field; fields are {known}, other letters stand in quotes"
    return ""


def strftime(pattern: str) -> str:
    """The pattern of `date_format` in strftime's notation.

    >>> strftime("yyyy-MM-dd'T'HH:mm")
    '%Y-%m-%dT%H:%M'
    """
    parts = []
    for found in _DATE_TOKEN.finditer(pattern):
        if found[2] is not None:
            parts.append(_DATE_FIELDS[found[0]])
        else:
            plain = found[3] if found[1] is None else found[1].replace("''", "'") or "'"
            parts.append(plain.replace("%", "%%"))
    return "".join(parts)
