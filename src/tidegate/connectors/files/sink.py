"""A directory as a sink: one file for each epoch that has rows.

Decided here: a file is written under a hidden name, made durable, and then renamed to `part-<epoch>.<ext>`. So readers
see whole epochs only, and an epoch that comes again after a crash replaces its own file, or removes it when it has no
rows now. Elsewhere than on a local disk, moving replaces renaming. What a crash has left half written is removed when
the sink is opened; whatever else is in the directory is left alone.
"""

import os
from collections.abc import Callable
from typing import BinaryIO, TypeAlias

import pyarrow as pa
from pyarrow import fs, parquet

from tidegate import errors
from tidegate.connectors.files.places import locate, reason
from tidegate.connectors.files.texts import write_csv, write_json
from tidegate.connectors.memory import stream_schema
from tidegate.connectors.settings import Settings
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef

_DIGITS = 12
_TEMPORARY = ".part-"
_FAILURES = (OSError, pa.ArrowException)

Write: TypeAlias = Callable[[pa.Table, BinaryIO], None]


def _write_parquet(rows: pa.Table, file: BinaryIO) -> None:
    parquet.write_table(rows, file)


def _write_lines(rows: pa.Table, file: BinaryIO) -> None:
    """Rows that are lines of JSON already."""
    file.write("".join(f"{line}\n" for line in rows.column(0).to_pylist()).encode())


_WRITERS: dict[str, Write] = {
    "json": write_json,
    "csv": write_csv,
    "parquet": _write_parquet,
    "lines": _write_lines,
}
_SUFFIXES = {"lines": "json"}


class FileSink:
    """Writes epochs into a directory that it makes if need be."""

    def __init__(self, path: str, schema: pa.Schema, *, format: str) -> None:
        self._path = path
        self._names = schema.names
        self._format = format
        self._filesystem, self._base = locate(path)
        self._local = isinstance(self._filesystem, fs.LocalFileSystem)
        try:
            self._filesystem.create_dir(self._base, recursive=True)
            self._clean()
            self._try()
        except _FAILURES as problem:
            raise errors.unwritable_path(path=path, problem=reason(problem)) from None

    def write(self, epoch: int, rows: pa.Table) -> None:
        suffix = _SUFFIXES.get(self._format, self._format)
        name = f"part-{epoch:0{_DIGITS}}.{suffix}"
        try:
            if rows.num_rows:
                self._replace(name, rows.select(self._names))
            else:
                self._remove(name)
        except _FAILURES as problem:
            raise errors.unwritable_path(path=self._path, problem=reason(problem)) from None

    def _replace(self, name: str, rows: pa.Table) -> None:
        temporary = self._full(f".{name}.tmp")
        write = _WRITERS[self._format]
        if not self._local:
            with self._filesystem.open_output_stream(temporary) as stream:
                write(rows, stream)
            self._filesystem.move(temporary, self._full(name))
            return
        with open(temporary, "wb") as file:
            write(rows, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._full(name))
        self._sync_directory()

    def _remove(self, name: str) -> None:
        """Takes back what the epoch wrote before a crash."""
        if self._filesystem.get_file_info(self._full(name)).type is not fs.FileType.NotFound:
            self._filesystem.delete_file(self._full(name))
            if self._local:
                self._sync_directory()

    def _sync_directory(self) -> None:
        directory = os.open(self._base, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _clean(self) -> None:
        for info in self._filesystem.get_file_info(fs.FileSelector(self._base)):
            if info.base_name.startswith(_TEMPORARY) and info.base_name.endswith(".tmp"):
                self._filesystem.delete_file(info.path)

    def _try(self) -> None:
        """Whether a file can be made at all; better known now than after the first window."""
        trial = self._full(f"{_TEMPORARY}trial.tmp")
        with self._filesystem.open_output_stream(trial):
            pass
        self._filesystem.delete_file(trial)

    def _full(self, name: str) -> str:
        return f"{self._base.rstrip('/')}/{name}"

    def close(self) -> None:
        """Every epoch is durable already."""


def open_file_sink(definition: SinkDef, schema: Schema, kind: StreamKind) -> FileSink:
    """The sink; refused if its path cannot be written."""
    settings = Settings("file", definition.options)
    format = settings.text("format") or "parquet"
    return FileSink(str(settings.get("path")), stream_schema(schema, kind), format=format)
