"""Rows whose event time nobody knew but the clock: one warning per stream (semantics §1.1)."""

from collections.abc import Callable

from tidegate.engines.stage import Made


class Stamped:
    """Says it once for each stream; the figures count every such row.

    >>> from types import SimpleNamespace
    >>> stamped = Stamped(print)
    >>> for rows in (0, 3, 2):
    ...     stamped.made("visits", SimpleNamespace(stamped=rows))
    warning: rows of visits have no event time, and get the clock's; they do not move the watermark
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def made(self, stage: str, done: Made) -> None:
        if done.stamped and stage not in self._said:
            self._said.add(stage)
            self._say(
                f"warning: rows of {stage} have no event time, and get the clock's; "
                "they do not move the watermark"
            )
