"""Ctrl-C and SIGTERM: the first one stops at the end of the epoch, the second one at once.

What is committed is durable in either case; a run that is ended at once repeats its last epoch when it is resumed.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130


@contextmanager
def stopping(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Whether somebody wants the run to stop; `say` tells them that it will."""
    asked = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os.write(sys.stderr.fileno(), b"\naborted\n")
            os._exit(INTERRUPTED)
        asked = True
        say("stopping at the end of this epoch; once more to abort")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
