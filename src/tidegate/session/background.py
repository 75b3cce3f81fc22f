"""A run in the background: a thread that drives an engine until its sources end, or somebody stops it.

Decided here: when sources have ended, the input has; unless rows may still come by hand, then time alone goes on. What
goes wrong ends the run, and is raised where somebody waits for it, and by whoever reads what it emits.
"""

import time
from collections.abc import Callable
from threading import Event, Thread

from tidegate.engines.engine import Engine

_LOOK_S = 0.02


class Background:
    """One run. `over` is called at its end, with what went wrong."""

    def __init__(
        self,
        engine: Engine,
        *,
        by_hand: bool,
        over: Callable[[BaseException | None], None],
        progress: Callable[[], None] | None,
    ) -> None:
        self._engine, self._by_hand, self._over = engine, by_hand, over
        self._progress = progress or _nothing
        self._stop = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, name="tidegate-run", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._drive()
        except BaseException as failure:  # it is raised again where somebody waits
            self._failure = failure
            self._over(failure)

    def _drive(self) -> None:
        engine = self._engine
        engine.drive(self._stop.is_set, self._progress)
        while self._by_hand and not self._stop.is_set() and not engine.ended:
            engine.wake()
            self._progress()
            time.sleep(_LOOK_S)
        if not self._stop.is_set():
            engine.end()
            self._progress()
            self._over(None)

    def wait(self, timeout: float | None) -> bool:
        self._thread.join(timeout)
        self._raise()
        return self.is_over

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._raise()

    def _raise(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def _nothing() -> None:
    """Nobody wants to know."""
