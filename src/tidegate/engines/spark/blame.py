"""Whose fault it is: the line of the user's that an exception of Spark is about.

Decided here: what we refuse, and what a user's function in this process raises, is passed on unchanged. What comes from
a task is pages of Java and of Spark's own Python; of these the last line of the user's code is told, with what was
wrong there, and the whole is its cause.
"""

import re

from tidegate import errors
from tidegate.errors import TidegateError

_LINE = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>\S+))?\s*$')
_RAISED = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?[A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt|Warning|Refused)\b.*"
)
_NOT_THEIRS = re.compile(
    r"[/\\]pyspark[/\\]|[/\\]pyspark\.zip[/\\]|[/\\]py4j[/\\]|[/\\]tidegate[/\\]|<frozen "
)


def blamed(failure: BaseException, *, frame: str) -> BaseException:
    """What to raise in place of `failure`."""
    if isinstance(failure, TidegateError) or not _is_sparks(failure):
        return failure
    text = str(failure)
    made = errors.frame_failed(
        frame=frame, problem=_problem(text), where=_where(text) or "the cause has all of it"
    )
    made.__cause__ = failure
    return made


def _is_sparks(failure: BaseException) -> bool:
    return type(failure).__module__.partition(".")[0] in ("pyspark", "py4j")


def _problem(text: str) -> str:
    """What Python raised in a task; else the first line."""
    after = text.rpartition("Traceback (most recent call last)")[2]
    if after != text:
        for line in after.splitlines()[1:]:
            if _RAISED.match(line):
                return line.strip()
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason is given")


def _where(text: str) -> str:
    """The innermost line of the user's own."""
    lines = text.rpartition("Traceback (most recent call last)")[2].splitlines()
    found = ""
    for number, line in enumerate(lines):
        at = _LINE.match(line)
        if at is None or _NOT_THEIRS.search(at["file"]):
            continue
        code = lines[number + 1].strip() if number + 1 < len(lines) else ""
        found = f"{at['file']}, line {at['line']}, in {at['name'] or '?'}: {code}"
    return found
