"""What kind of file it is, and the one way to plan and read a part of any kind.

Decided here: the option `format` decides; otherwise the name does, and a name that says nothing makes a bad file.
Files of uncompressed lines may grow and are read on; all others are read to their end once, and are done.
"""

import sys
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tidegate.connectors.files.blocks import BadFile, Block, Bytes
from tidegate.connectors.files.csv_lines import CsvLines
from tidegate.connectors.files.json_lines import JsonLines
from tidegate.connectors.files.parquet import ParquetRows
from tidegate.connectors.files.places import FoundFile, Place
from tidegate.connectors.files.progress import Part
from tidegate.connectors.protocols import Malformed
from tidegate.model.schema import Schema

_SUFFIXES = {
    "json": "json", "jsonl": "json", "ndjson": "json", "csv": "csv", "tsv": "csv",
    "parquet": "parquet", "pq": "parquet",
}  # fmt: skip
UNKNOWN_FORMAT = "its name does not say what it is; set format = 'json', 'csv' or 'parquet'"
_COMPRESSED = ("gz", "bz2", "zst", "lz4", "br")


@dataclass(frozen=True, slots=True)
class Format:
    """`name` is None where nothing says what the file is."""

    name: str | None
    compressed: bool = False

    @property
    def grows(self) -> bool:
        return self.name in ("json", "csv") and not self.compressed


def format_of(name: str, given: str | None) -> Format:
    """What a file is, by the option `format` if given, otherwise by its name.

    >>> format_of("a/b.JSONL.gz", None), format_of("b.txt", "csv"), format_of("b.txt", None).name
    (Format(name='json', compressed=True), Format(name='csv', compressed=False), None)
    """
    parts = name.rpartition("/")[2].lower().split(".")
    compressed = len(parts) > 1 and parts[-1] in _COMPRESSED
    suffix = parts[-2] if compressed else parts[-1]
    known = _SUFFIXES.get(suffix) if len(parts) > 1 else None
    return Format(given or known, compressed)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """How the files of a source are to be read; `format` None goes by their names.

    `elsewhere`: parts are read by other processes, many at once; so they are planned without being looked at, and
    Parquet files are not cut.
    """

    format: str | None = None
    header: bool = True
    delimiter: str | None = None
    elsewhere: bool = False


class FileReader:
    """Plans and reads parts of a place's files; raises `BadFile` for one that cannot be read."""

    def __init__(self, schema: Schema, place: Place, options: FileOptions) -> None:
        self._schema = schema
        self._options = options
        self._bytes = Bytes(place)
        self._json = JsonLines(schema)
        self._parquet = ParquetRows(schema, place)
        self._csv: dict[str, CsvLines] = {}
        self._head: tuple[str, tuple[str, ...]] = ("", ())

    def format(self, name: str) -> Format:
        return format_of(name, self._options.format)

    def grows(self, name: str) -> bool:
        return self.format(name).grows

    def plan(self, file: FoundFile, start: int, *, max_rows: int, complete: bool) -> Block:
        """Where about `max_rows` rows from `start` on end. In a complete file, the last line needs no line break."""
        format = self.format(file.name)
        if format.name is None:
            raise BadFile(UNKNOWN_FORMAT)
        if format.name == "parquet":
            most = sys.maxsize if self._options.elsewhere else max_rows
            return self._parquet.plan(file.name, start, max_rows=most)
        size = None if format.compressed else file.size
        if size is not None and size < start:
            text = (
                f"it has {size} bytes, and {start} have been read; new lines belong into new files"
            )
            raise BadFile(text, changed=True)
        if self._options.elsewhere and complete and size is not None and size > start:
            return self._bytes.plan_by_size(file.name, start, size=size)
        block = self._bytes.plan(file.name, start, max_rows=max_rows, size=size, complete=complete)
        if start == 0 and format.name == "csv" and block.stop:
            self._names(file.name)
        return block

    def read(self, part: Part) -> tuple[pa.Table, list[Malformed]]:
        format = self.format(part.name)
        if format.name == "parquet":
            return self._parquet.read(part.name, part.start, part.stop)
        block = self._bytes.read(part.name, part.start, part.stop, compressed=format.compressed)
        if format.name == "json":
            return self._json.parse(block)
        names = self._names(part.name)
        if part.start == 0 and self._options.header:
            block = block.partition(b"\n")[2]
        return self._csv_lines(part.name).parse(block, names)

    def _csv_lines(self, name: str) -> CsvLines:
        tabs = name.lower().split(".")[-2:].count("tsv") > 0
        delimiter = self._options.delimiter or ("\t" if tabs else ",")
        if delimiter not in self._csv:
            self._csv[delimiter] = CsvLines(self._schema, delimiter=delimiter)
        return self._csv[delimiter]

    def _names(self, name: str) -> tuple[str, ...]:
        """What the fields of a CSV file are called."""
        if not self._options.header:
            return self._schema.names
        if self._head[0] != name:
            line = self._bytes.first_line(name, compressed=self.format(name).compressed)
            self._head = (name, self._csv_lines(name).head(line))
        return self._head[1]

    def footer(self, name: str) -> Any:
        """What Parquet says of a file."""
        return self._parquet.footer(name)

    def close(self) -> None:
        self._bytes.close()
        self._parquet.close()
