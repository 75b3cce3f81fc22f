"""Bytes of files of lines: where a range of about so many lines ends, and its bytes.

Decided here: a record is a line, and a range ends behind a line break. The last line of a file needs none once the
file is complete. A line that is longer than `LONGEST_RECORD` is cut into pieces of that length, none of which is
likely to be a record, so that a file without line breaks fills no memory. Positions in compressed files are those of
what they hold; the stream is kept open, since it can only be read from the start.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.connectors.files.places import Place, reason

LONGEST_RECORD = 16 << 20
_MOST_BYTES = 64 << 20
_WINDOW = 1 << 20
_HEAD = 4_096
_ROW_BYTES = 100
_NEWLINE = 10


class BadFile(Exception):
    """The whole file cannot be read; the text says why. `changed`: what was read before is not there any more."""

    def __init__(self, text: str, *, changed: bool = False) -> None:
        super().__init__(text)
        self.changed = changed


def _guessed(count: int) -> int:
    """How many rows so many bytes are, about."""
    return max(count // _ROW_BYTES, 1)


def _shrunk(position: int, expected: int) -> BadFile:
    return BadFile(f"it ends at byte {position}, and had {expected} before", changed=True)


@dataclass(frozen=True, slots=True)
class Block:
    """What was planned: the position behind it, and about how many rows it has."""

    stop: int
    rows: int
    at_end: bool = False


class Bytes:
    """The contents of a place's files. What was read for planning is kept for reading."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._kept: tuple[str, int, bytes] = ("", 0, b"")
        self._stream: Any = None
        self._streamed: tuple[str, int] = ("", 0)

    def plan(
        self, name: str, start: int, *, max_rows: int, size: int | None, complete: bool
    ) -> Block:
        """Where about `max_rows` lines from `start` on end. `size` is that of a file which is not compressed."""
        pieces: list[bytes] = []
        length, rows = 0, 0
        while True:
            want = _WINDOW if size is None else min(_WINDOW, size - start - length)
            piece = (
                self._fetch(name, start + length, want, compressed=size is None)
                if want > 0
                else b""
            )
            pieces.append(piece)
            breaks = np.flatnonzero(np.frombuffer(piece, np.uint8) == _NEWLINE)
            if rows + len(breaks) >= max_rows:
                stop = length + int(breaks[max_rows - rows - 1]) + 1
                return self._planned(name, start, pieces, Block(start + stop, max_rows))
            length, rows = length + len(piece), rows + len(breaks)
            if not piece:
                return self._last(name, start, pieces, rows, complete=complete)
            if length >= (_MOST_BYTES if rows else LONGEST_RECORD):
                stop = b"".join(pieces).rfind(b"\n") + 1 if rows else LONGEST_RECORD
                return self._planned(name, start, pieces, Block(start + stop, max(rows, 1)))

    def plan_by_size(self, name: str, start: int, *, size: int) -> Block:
        """The same of a complete file that is read elsewhere: only the end of a long range is looked at here."""
        if size - start <= _MOST_BYTES:
            return Block(size, _guessed(size - start), at_end=True)
        stop = start + _MOST_BYTES
        while stop < size:
            piece = self._fetch(name, stop, _WINDOW, compressed=False)
            found = piece.find(b"\n")
            if found >= 0 or not piece:
                stop += found + 1
                break
            stop += len(piece)
        return Block(stop, _guessed(stop - start), at_end=stop >= size)

    def _last(
        self, name: str, start: int, pieces: list[bytes], rows: int, *, complete: bool
    ) -> Block:
        """The file ends here."""
        whole = b"".join(pieces)
        ends = whole.rfind(b"\n") + 1
        open_line = ends < len(whole)
        stop = len(whole) if complete else ends
        block = Block(
            start + stop, rows + (open_line and complete), at_end=complete or not open_line
        )
        return self._planned(name, start, [whole], block)

    def _planned(self, name: str, start: int, pieces: list[bytes], block: Block) -> Block:
        self._kept = (name, start, b"".join(pieces))
        return block

    def read(self, name: str, start: int, stop: int, *, compressed: bool) -> bytes:
        """All bytes of a range that was planned, now or long ago."""
        pieces, position = [], start
        while position < stop:
            piece = self._fetch(name, position, stop - position, compressed=compressed)
            if not piece:
                raise _shrunk(position, stop)
            pieces.append(piece)
            position += len(piece)
        return b"".join(pieces)

    def first_line(self, name: str, *, compressed: bool) -> bytes:
        """The head of a file. Where planning has just begun with the file, it is at hand."""
        line, position = b"", 0
        while b"\n" not in line and position < LONGEST_RECORD:
            piece = self._fetch(name, position, _HEAD, compressed=compressed)
            if not piece:
                break
            line += piece
            position += len(piece)
        return line.partition(b"\n")[0]

    def _fetch(self, name: str, start: int, count: int, *, compressed: bool) -> bytes:
        kept_name, kept_start, kept = self._kept
        if name == kept_name and kept_start <= start < kept_start + len(kept):
            return kept[start - kept_start :][:count]
        try:
            if compressed:
                return self._inflate(name, start, count)
            with self._place.filesystem.open_input_file(self._place.full(name)) as file:
                data: bytes = file.read_at(count, start)
                return data
        except (OSError, pa.ArrowException) as problem:
            self.close()
            raise BadFile(reason(problem)) from None

    def _inflate(self, name: str, start: int, count: int) -> bytes:
        at_name, position = self._streamed
        if self._stream is None or at_name != name or position > start:
            self.close()
            self._stream = self._place.filesystem.open_input_stream(
                self._place.full(name), compression="detect"
            )
            position = 0
        while position < start:
            skipped = len(self._stream.read(min(_WINDOW, start - position)))
            if not skipped:
                raise _shrunk(position, start)
            position += skipped
        data: bytes = self._stream.read(count)
        self._streamed = (name, position + len(data))
        return data

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = None
