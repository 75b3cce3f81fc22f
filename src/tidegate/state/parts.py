"""The tables of an entry as one file: Arrow IPC streams, one behind the other, each named in its schema's metadata.

Parts have different schemas, and a stream has one; so each part is a stream of its own. Streams follow each other
without anything in between, and plain pyarrow reads them:

>>> import io, pyarrow as pa
>>> content = io.BytesIO()
>>> sums, late = pa.table({"k": ["a", "b"], "sum": [3, 4]}), pa.table({"n": [1]})
>>> [part.name for part in write_parts(content, {"sums": sums, "late": late})[0]]
['sums', 'late']
>>> file = pa.BufferReader(content.getvalue())  # or pa.memory_map("…/shard=00/epoch=000000000007.arrow")
>>> while file.tell() < file.size():
...     table = pa.ipc.open_stream(file).read_all()
...     print(table.schema.metadata[b"tidegate.part"].decode(), table.to_pydict())
sums {'k': ['a', 'b'], 'sum': [3, 4]}
late {'n': [1]}

The checksum is taken while writing, so a snapshot needs no second copy of itself in memory.
"""

from io import BytesIO
from typing import Protocol
from zlib import crc32

import pyarrow as pa

from tidegate import errors
from tidegate.state.records import Entry, Part, Parts

_NAME = b"tidegate.part"


class Sink(Protocol):
    """A file that is being written."""

    def write(self, data: bytes, /) -> object: ...


class _Summing:
    """Passes on what is written, and sums it up."""

    closed = False

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.checksum = 0
        self.bytes = 0

    def write(self, data: bytes) -> None:
        self.checksum = crc32(data, self.checksum)
        self.bytes += len(data)
        self._sink.write(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...


def write_parts(sink: Sink, parts: Parts) -> tuple[tuple[Part, ...], int, str]:
    """The parts that were written, the size of the file and its checksum."""
    summing = _Summing(sink)
    written = []
    for name, table in parts.items():
        start = summing.bytes
        schema = table.schema.with_metadata({**(table.schema.metadata or {}), _NAME: name.encode()})
        with (
            pa.PythonFile(summing, "w") as file,
            pa.ipc.new_stream(file, schema) as stream,
        ):
            stream.write_table(table.replace_schema_metadata(schema.metadata))
        written.append(Part(name=name, rows=table.num_rows, bytes=summing.bytes - start))
    return tuple(written), summing.bytes, f"{summing.checksum:08x}"


def read_parts(content: pa.Buffer, entry: Entry, file: str) -> dict[str, pa.Table]:
    """The tables of an entry, without a copy; refuses a file that is not the one that was written."""
    if content.size < entry.bytes:
        problem = f"it has {content.size} of {entry.bytes} bytes"
        raise errors.torn_state(file=file, problem=problem)
    if content.size > entry.bytes or f"{crc32(content):08x}" != entry.checksum:
        raise errors.damaged_state(file=file, problem="its checksum is another")
    return unpack(content)


def pack(parts: Parts) -> bytes:
    """The parts as they would stand in a file."""
    content = BytesIO()
    write_parts(content, parts)
    return content.getvalue()


def unpack(content: pa.Buffer) -> dict[str, pa.Table]:
    """What was packed."""
    reader = pa.BufferReader(content)
    parts = {}
    while reader.tell() < content.size:
        with pa.ipc.open_stream(reader) as stream:
            name, table = _named(stream.read_all())
            parts[name] = table
    return parts


def _named(table: pa.Table) -> tuple[str, pa.Table]:
    metadata = dict(table.schema.metadata)
    name = metadata.pop(_NAME).decode()
    return name, table.replace_schema_metadata(metadata or None)
