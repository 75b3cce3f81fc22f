"""A run that is shown on a page.

Decided here: the page outlives the end of the input only where a person sits in front of it, until Ctrl-C; a script
that asks for a page is not held up by it.
"""

import sys
import time
from collections.abc import Callable

from tidegate.cli.signals import stopping
from tidegate.dashboard.board import Board
from tidegate.dashboard.server import Page, address
from tidegate.engines.engine import Engine
from tidegate.sql.secrets import masked
from tidegate.sql.source import SourceText


class Watched:
    """A board, and the server that shows it."""

    def __init__(self, place: str, source: SourceText, *, engine: str) -> None:
        self.board = Board(name=source.name, engine=engine, sql=masked(source.text))
        self._page = Page(self.board, *address(place))

    @property
    def url(self) -> str:
        return self._page.url

    def show_end(self, engine: Engine, *, stopped: bool, say: Callable[[str], None]) -> None:
        self.board.look(engine, state="stopped" if stopped else "ended")
        if stopped or not sys.stderr.isatty():
            return
        say(f"the page stays at {self.url}; Ctrl-C ends it")
        with stopping(lambda _text: None) as asked_to_stop:
            while not asked_to_stop():
                time.sleep(0.1)

    def close(self) -> None:
        self._page.close()
