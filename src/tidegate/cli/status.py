"""What is said of a run while it goes on: one line that changes on a terminal, a line now and then elsewhere.

Decided here: the line is taken away before anything else is printed, so that rows of a query stay whole lines.
"""

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from tidegate.model.time import DAY, SECOND, format_duration, format_instant
from tidegate.session.accounts import Account

_ON_A_TERMINAL_S, _ELSEWHERE_S = 0.25, 5.0
_CLEAR = "\r\x1b[K"


class Status:
    """Call `show` as often as you like."""

    def __init__(self, stream: TextIO, *, quiet: bool, now_us: Callable[[], int]) -> None:
        self._stream, self._quiet, self.now_us = stream, quiet, now_us
        self._live = stream.isatty()
        self._every_s = _ON_A_TERMINAL_S if self._live else _ELSEWHERE_S
        self._began = self._last = time.monotonic()
        self._drawn = False
        self._rates = Rates(self._began)

    def show(self, account: Callable[[], Account]) -> None:
        """The line, if it is time for it."""
        now = time.monotonic()
        if self._quiet or now - self._last < self._every_s:
            return
        self._last = now
        told = account()
        text = line(told, rate=self._rates.of(told, now), now_us=self.now_us())
        if self._live:
            self._stream.write(f"{_CLEAR}{text[: _columns(self._stream)]}")
            self._drawn = True
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Make room for something else."""
        if self._drawn:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began


class Rates:
    """Rows per second since the last question."""

    def __init__(self, began: float) -> None:
        self._rows, self._at = 0, began

    def of(self, account: Account, now: float) -> float:
        rows = sum(account.read.values())
        rate = (rows - self._rows) / max(now - self._at, 1e-3)
        self._rows, self._at = rows, now
        return rate


def line(account: Account, *, rate: float, now_us: int) -> str:
    """All there is to say, in one line."""
    parts = [
        f"epoch {account.epoch}",
        f"{sum(account.read.values()):,} rows",
        f"{rate:,.0f} rows/s",
        *_watermark(account, now_us),
        f"open windows {account.open_windows:,}",
        f"emitted {account.results:,}",
        *(f"{kind} {count:,}" for kind, count in sorted(account.diverted.items())),
    ]
    return " · ".join(parts)


def _watermark(account: Account, now_us: int) -> list[str]:
    at_us = account.watermark_us()
    if at_us is None:
        return []
    return [f"watermark {_instant(at_us)} ({_lag(now_us - at_us)})"]


def _lag(behind_us: int) -> str:
    """Of a replay of last year, nobody wants to know the seconds."""
    if behind_us < 0:
        return "ahead of the clock"
    if behind_us >= 2 * DAY:
        return f"{behind_us // DAY:,} days behind"
    return f"{format_duration(behind_us // SECOND * SECOND)} behind"


def _instant(at_us: int) -> str:
    try:
        return format_instant(at_us // SECOND * SECOND)
    except OverflowError:
        return f"{at_us} µs"


_ECHO = len("^C") + 1


def _columns(stream: TextIO) -> int:
    """How much of the line fits beside a ^C, which would else go on in the next line and leave this one behind.

    A terminal that does not know its size has 80 columns.
    """
    try:
        return max(1, (os.get_terminal_size(stream.fileno()).columns or 80) - _ECHO)
    except OSError:
        return 80 - _ECHO


class Clearing:
    """stdout on a terminal that shows a status, too."""

    def __init__(self, stream: TextIO, status: Status) -> None:
        self._stream, self._status = stream, status

    def write(self, text: str) -> int:
        if text:
            self._status.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def clearing(status: Status) -> TextIO:
    """What takes the place of `sys.stdout` while the status is shown."""
    made: Any = Clearing(sys.stdout, status)
    stream: TextIO = made
    return stream
