"""One query of Structured Streaming, which reads one frame of the user's and hands its batches over.

Decided here: what Spark says of a failure is not what the user is told. An exception that comes out of our function
crosses the JVM and becomes a text there; so it is remembered, and given back as it was. The function holds a batch back
until Spark has said which query this is, for `start()` may return after the first batch has begun.
"""

from collections.abc import Callable, Mapping
from secrets import token_hex
from threading import Event
from typing import TYPE_CHECKING, Any

from tidegate.engines.spark.blame import blamed
from tidegate.engines.spark.handed import Batch, RunOver

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

Take = Callable[[str, Batch, "DataFrame"], object]


class FrameQuery:
    """Not running until `start`."""

    def __init__(self, name: str, data: "DataFrame", take: Take) -> None:
        self.name = name
        self._data, self._take = data, take
        self._known = Event()
        self._id = ""
        self._query: StreamingQuery | None = None
        self._failure: BaseException | None = None

    def start(self, *, location: str | None, trigger: Mapping[str, Any]) -> None:
        writer = self._data.writeStream.foreachBatch(self._batch)
        writer = writer.queryName(f"tidegate.{self.name}.{token_hex(3)}")
        if location is not None:
            writer = writer.option("checkpointLocation", location)
        if trigger:
            writer = writer.trigger(**trigger)
        self._query = writer.start()
        self._id = str(self._query.id)

    def go(self) -> None:
        """Batches may be handed over from now on."""
        self._known.set()

    def _batch(self, data: "DataFrame", number: int) -> None:
        self._known.wait()
        try:
            self._take(self.name, Batch(number=number, query=self._id), data)
        except BaseException as failure:
            if not isinstance(failure, RunOver):
                self._failure = self._failure or failure
            raise

    @property
    def id(self) -> str:
        return self._id

    @property
    def running(self) -> "StreamingQuery":
        assert self._query is not None
        return self._query

    @property
    def is_active(self) -> bool:
        return self._query is not None and bool(self._query.isActive)

    def failure(self) -> BaseException | None:
        """What went wrong, in the words of where it did."""
        if self._failure is not None:
            return blamed(self._failure, frame=self.name)
        told = self._query.exception() if self._query is not None else None
        return None if told is None else blamed(told, frame=self.name)

    def stop(self) -> None:
        """Whoever stops has seen to it that no batch is being taken."""
        self._known.set()
        if self._query is not None:
            self._query.stop()
