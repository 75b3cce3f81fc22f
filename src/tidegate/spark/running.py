"""A run of an attached program: queries of Spark that hand batches over, and a thread that looks after the rest.

Decided here: the queries are one run. If one fails, all stop; what it failed of is what `awaitTermination` raises. When
the inputs of a bounded run have ended, everything that is open closes, unless the run is to be gone on with. Between
batches time goes on: ticks of EVERY, windows in processing time and silent inputs do not wait for rows.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Thread, get_ident
from typing import TYPE_CHECKING, Any

from tidegate import errors
from tidegate.engines.spark.batches import FrameQuery
from tidegate.engines.spark.handed import Batch, FrameEngine, RunOver
from tidegate.session.accounts import account_of
from tidegate.session.watching import Watching
from tidegate.spark.progress import Progress, Progresses
from tidegate.spark.triggers import Triggering

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOOK_S = 0.05


class Run:
    """What `start()` gives; called like the handle of a query of Structured Streaming."""

    def __init__(
        self,
        engine: FrameEngine,
        frames: Mapping[str, "DataFrame"],
        *,
        watching: Watching,
        triggering: Triggering,
        close_windows: bool,
    ) -> None:
        self._engine, self._watching = engine, watching
        self._triggering, self._close_windows = triggering, close_windows
        self._queries = [FrameQuery(name, data, self._take) for name, data in frames.items()]
        self._progresses = Progresses(account_of(engine))
        self._stop, self._closed = Event(), False
        self._failure: BaseException | None = None
        self._busy: int | None = None  # the thread that is in an epoch
        self._thread = Thread(target=self._look_after, name="tidegate-run", daemon=True)

    def begin(self, locations: Mapping[str, str]) -> None:
        """Start all queries, or none."""
        try:
            for query in self._queries:
                query.start(location=locations.get(query.name), trigger=self._triggering.arguments)
                self._engine.check(query.name, query.id)
        except BaseException:
            self._end()
            raise
        for query in self._queries:
            query.go()
        self._thread.start()

    # Batches and time

    def _take(self, name: str, batch: Batch, data: "DataFrame") -> None:
        with self._engine.held():
            if self._stop.is_set():
                raise RunOver
            self._noted(lambda: self._engine.take(name, batch, data), batch={name: batch.number})

    def _noted(self, step: Callable[[], object], *, batch: dict[str, int]) -> None:
        """One step of the engine, which the caller holds."""
        before, began = self._engine.epoch, time.monotonic()
        self._busy = get_ident()
        try:
            done = step()
        finally:
            self._busy = None
        if done is not False and self._engine.epoch > before:
            self._progresses.add(
                account_of(self._engine),
                at_us=self._engine.now_us,
                seconds=time.monotonic() - began,
                batch=batch,
            )

    def _look_after(self) -> None:
        try:
            while not self._stop.wait(_LOOK_S) and not self._is_done():
                with self._engine.held():
                    self._noted(self._alone, batch={})
        except BaseException as failure:  # it is raised again where somebody waits
            self._failure = self._failure or failure
        finally:
            self._end()

    def _alone(self) -> None:
        """What needs no batch: sources of our own, and the clock."""
        if self._engine.poll() is None:
            self._engine.wake()

    def _is_done(self) -> bool:
        """Whether the run is over; raises what a query failed of."""
        ended = [query for query in self._queries if not query.is_active]
        for query in ended:
            failure = query.failure()
            if failure is not None:
                raise failure
        if self._stop.is_set():
            return True
        if ended and not self._triggering.bounded:
            raise errors.frame_stopped(frame=ended[0].name)
        if len(ended) < len(self._queries) or not self._engine.exhausted:
            return False
        if self._close_windows:
            with self._engine.held():
                self._noted(self._engine.end, batch={})
        return True

    def _end(self) -> None:
        self._engine.stop()
        for query in self._queries:
            query.stop()
        self._engine.close()
        self._watching.finish(self._failure)
        self._closed = True

    # What the handle of a query has

    @property
    def isActive(self) -> bool:  # noqa: N802 (Spark's name, as are those below)
        return not self._closed

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802
        """Until the run is over, or so many seconds; whether it is. Raises what it failed of."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def stop(self) -> None:
        """Between two epochs. What is open stays open in the checkpoint. A function that is called returns first."""
        self._stop.set()
        if self._busy != get_ident():
            self._thread.join()

    def exception(self) -> BaseException | None:
        """What the run failed of."""
        return self._failure

    def processAllAvailable(self) -> None:  # noqa: N802
        """Until all rows that were there when this was called are in. For tests."""
        for query in self._queries:
            try:
                query.running.processAllAvailable()
            except Exception:  # the run ends of it in our words
                self._thread.join()
        if self._failure is not None:
            raise self._failure

    @property
    def status(self) -> dict[str, Any]:
        """In Spark's words, of all frames together."""
        told = [query.running.status for query in self._queries]
        over = "Stopped" if self._failure is None else f"Failed: {self._failure}"
        messages = {
            query.name: one["message"] for query, one in zip(self._queries, told, strict=True)
        }
        joined = "; ".join(f"{name}: {message}" for name, message in messages.items())
        return {
            "message": joined if self.isActive else over,
            "isDataAvailable": any(one["isDataAvailable"] for one in told),
            "isTriggerActive": any(one["isTriggerActive"] for one in told),
        }

    @property
    def lastProgress(self) -> Progress | None:  # noqa: N802
        """What the last epoch did."""
        return self._progresses.kept[-1] if self._progresses.kept else None

    @property
    def recentProgress(self) -> Sequence[Progress]:  # noqa: N802
        return [*self._progresses.kept]

    # What Tidegate has besides

    def metrics(self) -> dict[str, Any]:
        """What became of every row, over all runs on the checkpoint."""
        return account_of(self._engine).as_object()

    def side(self, kind: str) -> list[dict[str, Any]]:
        """Diverted rows of a kind (late, error, …) since the last call."""
        return self._watching.take_side(kind)
