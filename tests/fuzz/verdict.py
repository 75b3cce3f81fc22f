"""What must hold for any text at all: it gives statements, or TG errors that stand in it, in finite time.

The time is a watchdog against hangs, generous enough for two busy cores; it is no measurement.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tidegate.errors import TidegateError
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.carets import describe
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

_CODE = re.compile(r"TG-[1-4]\d{3}")
# Beyond these nothing is learnt from describing one more error.
_DESCRIBED = 50


class Hang(BaseException):
    """Not an Exception, so that nothing under test swallows it."""


@contextmanager
def watchdog(seconds: float = 20) -> Iterator[None]:
    """Ends what takes longer, wherever it is."""

    def bite(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"still busy after {seconds} s")

    before = signal.signal(signal.SIGALRM, bite)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def judge(text: str, *, seconds: float = 20) -> Program:
    """The program of the text, whose errors are as they must be."""
    with watchdog(seconds):
        program = plan_script(parse_script(SourceText(text)), Settings())
        lines = text.removeprefix("\ufeff").split("\n")
        for error in program.errors:
            check_error(error, lines)
        for error in program.errors[:_DESCRIBED]:
            assert str(error.line) in describe(error)
    return program


def check_error(error: TidegateError, lines: list[str]) -> None:
    """Code, message, and a place inside the text: a span of one line, or the end of one."""
    assert _CODE.fullmatch(error.code)
    assert error.message
    place = error.location
    assert place is not None, str(error)
    assert 1 <= place.line <= len(lines), place
    line = lines[place.line - 1].removesuffix("\r")
    assert place.line_text == line
    assert 1 <= place.column <= len(line) + 1, place
    assert place.width == 1 or place.column - 1 + place.width <= len(line), place
    assert place.width >= 1, place
