"""What a session gives back: rows that are there, and rows that are still to come.

Decided here: both are rows in the same shapes (`arrow()`, `df()`, `pl()`, `fetchall()`), and both are iterated batch by
batch. Iterating over a live stream waits; it ends with the input, the session, or where nobody is left who could add
anything, for then it would wait for ever.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas
    import polars

_LOOK_S = 0.1


class Rows(ABC):
    """Rows in whatever shape is wanted."""

    @abstractmethod
    def arrow(self) -> pa.Table:
        """All rows that are there; of a live stream those that were not taken yet."""

    @abstractmethod
    def __iter__(self) -> Iterator[pa.RecordBatch]: ...

    @abstractmethod
    def close(self) -> None:
        """Nothing more is wanted."""

    def df(self) -> "pandas.DataFrame":
        """As a frame of pandas."""
        frame: pandas.DataFrame = self.arrow().to_pandas()
        return frame

    def pl(self) -> "polars.DataFrame":
        """As a frame of Polars."""
        import polars

        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def fetchall(self) -> list[tuple[Any, ...]]:
        """As tuples."""
        table = self.arrow()
        columns = [column.to_pylist() for column in table.columns]
        return list(zip(*columns, strict=True))


class Result(Rows):
    """Rows that are there. `text` is how a person reads them, where that is not a table.

    `is_status`: a statement was done, and has nothing else to say.
    """

    def __init__(
        self, table: pa.Table, *, text: str | None = None, is_status: bool = False
    ) -> None:
        self._table, self.text, self.is_status = table, text, is_status

    def arrow(self) -> pa.Table:
        return self._table

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._table.to_batches())

    def close(self) -> None:
        """Nothing is held."""

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def _repr_html_(self) -> str:
        from tidegate.session import html

        return html.table(self._table) if self.text is None else html.text(self.text)

    def __str__(self) -> str:
        if self.text is not None:
            return self.text
        from io import StringIO

        from tidegate.connectors.console import ConsoleSink

        written = StringIO()
        ConsoleSink(written).write(0, self._table)
        return written.getvalue()


class Subscription(Rows):
    """What a stream emits from now on. `alone`: whether nobody else could make it emit anything."""

    def __init__(
        self, schema: pa.Schema, *, alone: Callable[[], bool], close: Callable[[], None]
    ) -> None:
        self.schema = schema
        self._alone, self._close = alone, close
        self._batches: deque[pa.RecordBatch] = deque()
        self._changed = threading.Condition()
        self._finished = False
        self._failure: BaseException | None = None
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    # For the session

    def put(self, batch: pa.RecordBatch) -> None:
        with self._changed:
            if batch.num_rows and not self._finished:
                self._batches.append(batch)
                self._notify()

    def finish(self, failure: BaseException | None = None) -> None:
        """Nothing comes any more."""
        with self._changed:
            self._finished, self._failure = True, failure or self._failure
            self._notify()

    def _notify(self) -> None:
        self._changed.notify_all()
        for loop, event in self._waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
        self._waiting.clear()

    def _repr_html_(self) -> str:
        """What waits to be read; it is not taken."""
        from tidegate.session import html

        with self._changed:
            waiting = pa.Table.from_batches([*self._batches], self.schema)
        state = "ended" if self._finished else "live"
        return html.table(waiting, note=f"{state}; {waiting.num_rows:,} rows wait to be read")

    # For whoever reads

    def arrow(self) -> pa.Table:
        with self._changed:
            taken = [*self._batches]
            self._batches.clear()
        return pa.Table.from_batches(taken, self.schema)

    def poll(self, timeout: float | None = 0.0) -> pa.RecordBatch | None:
        """The next batch, if there is one within so many seconds; with None it waits as iterating does."""
        with self._changed:
            if timeout is not None and not self._batches and not self._finished:
                self._changed.wait(timeout)
            while timeout is None and not (self._batches or self._finished or self._alone()):
                self._changed.wait(_LOOK_S)
            if self._batches:
                return self._batches.popleft()
            if self._failure is not None:
                raise self._failure
            return None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        batch = self.poll(None)
        if batch is None:
            raise StopIteration
        return batch

    def __aiter__(self) -> AsyncIterator[pa.RecordBatch]:
        return self

    async def __anext__(self) -> pa.RecordBatch:
        while True:
            with self._changed:
                if self._batches:
                    return self._batches.popleft()
                if self._failure is not None:
                    raise self._failure
                if self._finished:
                    raise StopAsyncIteration
                event = asyncio.Event()
                self._waiting.append((asyncio.get_running_loop(), event))
            await event.wait()

    def close(self) -> None:
        self.finish()
        self._close()
