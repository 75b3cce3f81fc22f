"""Lines that come by themselves and cannot be asked for again: kept on disk until their epoch is real.

In: lines, with the instant at which they came. Out: ranges that can be read again, as those of any source.

Decided here: a line is on disk before whoever sent it hears so. Files are segments, each line with its instant in
front; an offset is a segment and a position in it. What lies before the last real epoch is removed, segment by segment.
What a crash has left half written at the end is cut off: it was never acknowledged.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.json_lines import JsonLines
from tidegate.connectors.files.lines import Lines
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.connectors.records import malformed
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Schema
from tidegate.model.types import Scalar

SOURCE_TIME = "$source_time"
_SEGMENT_BYTES = 16 << 20
_SUFFIX = ".lines"
Place = tuple[int, int]


class Spool:
    """Lines of one source. `add` and everything else may be called by different threads."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = Lock()
        place.mkdir(parents=True, exist_ok=True)
        found = self._segments()
        self._segment = found[-1] if found else 0
        self._file = open(self._path(self._segment), "ab")  # noqa: SIM115  # closed by `close`
        self._cut()
        self._sizes = {number: self._path(number).stat().st_size for number in found}
        self._sizes.setdefault(self._segment, 0)

    def _path(self, segment: int) -> Path:
        return self._place / f"{segment:08}{_SUFFIX}"

    def _segments(self) -> list[int]:
        return sorted(int(path.stem) for path in self._place.glob(f"*{_SUFFIX}"))

    def _cut(self) -> None:
        path = self._path(self._segment)
        whole = path.read_bytes().rfind(b"\n") + 1
        os.truncate(path, whole)
        self._file.seek(0, os.SEEK_END)

    # Lines come

    def add(self, lines: Sequence[bytes]) -> None:
        """Durable when it returns."""
        stamp = f"{time.time_ns() // 1_000}\t".encode()
        block = b"".join(stamp + line + b"\n" for line in lines)
        with self._lock:
            if self._sizes[self._segment] >= _SEGMENT_BYTES:
                self._file.close()
                self._segment += 1
                self._file = open(self._path(self._segment), "ab")  # noqa: SIM115
                self._sizes[self._segment] = 0
            self._file.write(block)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._sizes[self._segment] += len(block)

    @property
    def end(self) -> Place:
        with self._lock:
            return self._segment, self._sizes[self._segment]

    @property
    def held_bytes(self) -> int:
        """What waits, and what the last epochs have read."""
        with self._lock:
            return sum(self._sizes.values())

    # Lines go

    def after(self, place: Place, *, most_lines: int) -> Place:
        """Where about so many lines from there on end; the same place if there are none."""
        segment, position = place
        end = self.end
        if segment < end[0] and position >= self._sizes.get(segment, 0):
            segment, position = self._next(segment), 0
        stop = end[1] if segment == end[0] else self._sizes.get(segment, 0)
        data = self._read(segment, position, stop)
        found = -1
        for _ in range(most_lines):
            at = data.find(b"\n", found + 1)
            if at < 0:
                break
            found = at
        return (segment, position + found + 1) if found >= 0 else place

    def _next(self, segment: int) -> int:
        with self._lock:
            return min((it for it in self._sizes if it > segment), default=segment)

    def _read(self, segment: int, start: int, stop: int) -> bytes:
        try:
            with open(self._path(segment), "rb") as file:
                file.seek(start)
                return file.read(stop - start)
        except FileNotFoundError:
            file_name = str(self._path(segment))
            raise errors.unreadable_path(path=file_name, problem="it is gone") from None

    def lines(self, first: Place, last: Place) -> list[tuple[int, bytes]]:
        """The lines between, each with its instant in µs."""
        start = first[1] if first[0] == last[0] else 0
        made = []
        for line in self._read(last[0], start, last[1]).split(b"\n")[:-1]:
            stamp, _, text = line.partition(b"\t")
            made.append((int(stamp), text))
        return made

    def forget(self, before: Place) -> None:
        """Whole segments of which nothing is needed any more."""
        with self._lock:
            for segment in [it for it in self._sizes if it < before[0]]:
                self._path(segment).unlink(missing_ok=True)
                del self._sizes[segment]

    def close(self) -> None:
        self._file.close()


class SpooledLines:
    """The reading half of a source whose lines go through a spool; JSON, or one column of text."""

    def __init__(self, spool: Spool, schema: Schema, *, raw: bool) -> None:
        self._spool, self._schema = spool, schema
        self._json = None if raw else JsonLines(schema)

    def latest(self, after: Offset | None, *, max_rows: int) -> Offset | None:
        place = _place(after, "to")
        self._spool.forget(place)
        found = self._spool.after(place, most_lines=max_rows)
        return None if found == place else {"from": list(place), "to": list(found)}

    def read(self, until: Offset) -> Delivery:
        found = self._spool.lines(_place(until, "from"), _place(until, "to"))
        texts = [text for _, text in found]
        table, wrong = self._parsed(texts)
        times = [at_us for place, (at_us, _) in enumerate(found) if place not in wrong]
        instants = pa.array(times, pa.int64()).cast(arrow_type(Scalar.TIMESTAMP))
        rows = table.append_column(SOURCE_TIME, instants)
        return Delivery(rows=rows, malformed=tuple(wrong[place] for place in sorted(wrong)))

    def _parsed(self, texts: list[bytes]) -> tuple[pa.Table, dict[int, Any]]:
        if self._json is not None:
            table, wrong = self._json.parse_lines(_as_lines(texts))
            return table, dict(wrong)
        values, refused = [], {}
        for place, text in enumerate(texts):
            try:
                values.append(text.decode("utf-8"))
            except UnicodeDecodeError as problem:
                refused[place] = malformed(text, f"byte {problem.start} is not UTF-8")
        (column,) = self._schema
        return pa.table({column.name: pa.array(values, pa.string())}), refused


def _as_lines(texts: Sequence[bytes]) -> Lines:
    import numpy as np

    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(lengths + 1) - 1
    return Lines(b"\n".join(texts) + b"\n", ends - lengths, ends)


def _place(offset: Offset | None, name: str) -> Place:
    if offset is None:
        return 0, 0
    try:
        segment, position = offset[name]
        return int(segment), int(position)
    except (KeyError, TypeError, ValueError) as problem:
        raise errors.foreign_offset(name="http or socket", problem=repr(problem)) from None


def is_raw(schema: Schema) -> bool:
    """Whether the lines themselves are the rows: one column of text."""
    return [column.type for column in schema] == [Scalar.VARCHAR]
