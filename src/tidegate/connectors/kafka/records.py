"""Messages turned into rows.

In: messages of one range. Out: a `Delivery`: columns of the values, metadata columns, and messages that are no rows.

Decided here: what a value means is decided by the same readers as a line of a file. Each message is one record: a
value without content, or a tombstone, is no row (`raw` alone takes it), and a key or header that is to be text has to
be. `$source_time` is the message's own timestamp, `$partition` the input that it came by.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tidegate.connectors.files.csv_lines import CsvLines
from tidegate.connectors.files.json_lines import JsonLines
from tidegate.connectors.files.lines import Lines
from tidegate.connectors.protocols import Delivery, Malformed
from tidegate.connectors.records import malformed
from tidegate.kernel.arrow import Integers, arrow_type
from tidegate.model.schema import Schema
from tidegate.model.types import Map, Scalar

Message: TypeAlias = Any
Values: TypeAlias = Sequence[bytes]
Wrong: TypeAlias = dict[int, Malformed]

SOURCE_TIME, PARTITION = "$source_time", "$partition"
_TIME_TYPES = {0: None, 1: "CreateTime", 2: "LogAppendTime"}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a source's columns are made of; plain data. `metadata` is by column."""

    schema: Schema
    metadata: Mapping[str, str]
    format: str
    delimiter: str = ","

    def build(self) -> "Records":
        return Records(self)

    @property
    def own(self) -> Schema:
        """The columns of the value."""
        return Schema(tuple(it for it in self.schema if it.name not in self.metadata))

    @property
    def arrow(self) -> pa.Schema:
        """All that is delivered."""
        columns = [(column.name, arrow_type(column.type)) for column in self.schema]
        beside = [(SOURCE_TIME, arrow_type(Scalar.TIMESTAMP)), (PARTITION, pa.int64())]
        return pa.schema([*columns, *beside])


class Records:
    """Makes rows of one source's messages."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._own = layout, layout.own
        self._parse = _PARSERS[layout.format](layout)
        self._empty_is_row = layout.format == "raw" or not len(self._own)

    def delivery(self, messages: Sequence[Message]) -> Delivery:
        """The rows, in the messages' order, and what is none, in theirs."""
        wrong: Wrong = {}
        made: dict[str, list[Any]] = {}
        for column in self._layout.schema:
            key = self._layout.metadata.get(column.name)
            if key is not None:
                made[column.name] = _metadata(key, column.type, messages, wrong)
        values = [message.value() for message in messages]
        if not self._empty_is_row:
            _refuse_empty(values, messages, wrong)
        sound = [place for place in range(len(messages)) if place not in wrong]
        table = self._rows([values[place] for place in sound], sound, wrong)
        kept = sound if len(sound) == table.num_rows else [it for it in sound if it not in wrong]
        rows = self._together(table, made, [messages[place] for place in kept], kept)
        return Delivery(rows=rows, malformed=tuple(wrong[place] for place in sorted(wrong)))

    def _rows(self, values: list[bytes], places: Sequence[int], wrong: Wrong) -> pa.Table:
        if not len(self._own):
            return pa.table({"$": pa.nulls(len(values))})
        table, refused = self._parse(values)
        wrong.update((places[place], record) for place, record in refused.items())
        return table

    def _together(
        self,
        table: pa.Table,
        made: Mapping[str, list[Any]],
        messages: Sequence[Message],
        kept: Sequence[int],
    ) -> pa.Table:
        columns: list[Any] = []
        for field in self._layout.arrow:
            if field.name == SOURCE_TIME:
                columns.append(_times(messages).cast(field.type))
            elif field.name == PARTITION:
                columns.append(pa.array([message.partition() for message in messages], pa.int64()))
            elif field.name in made:
                values = made[field.name]
                columns.append(_array([values[place] for place in kept], field.type))
            else:
                columns.append(table.column(field.name))
        return pa.Table.from_arrays(columns, schema=self._layout.arrow)


def _refuse_empty(
    values: Sequence[bytes | None], messages: Sequence[Message], wrong: Wrong
) -> None:
    for place, value in enumerate(values):
        if not value or value.isspace():
            key = messages[place].key() or b""
            what = "it has no value (a tombstone)" if value is None else "its value is empty"
            wrong.setdefault(place, malformed(key, f"{what}; the text is its key"))


# Values


def _json(layout: Layout) -> Callable[[Values], tuple[pa.Table, Wrong]]:
    reader = JsonLines(layout.own)

    def parse(values: Values) -> tuple[pa.Table, Wrong]:
        table, wrong = reader.parse_lines(_as_lines(values))
        return table, dict(wrong)

    return parse


def _csv(layout: Layout) -> Callable[[Values], tuple[pa.Table, Wrong]]:
    """A record has no head: its fields are the columns, in their order."""
    reader = CsvLines(layout.own, delimiter=layout.delimiter)
    names = layout.own.names

    def parse(values: Values) -> tuple[pa.Table, Wrong]:
        tables: list[pa.Table] = [reader.parse(b"", names)[0]]
        wrong: Wrong = {}
        pending = [(0, len(values))]
        while pending:
            start, stop = pending.pop()
            table, refused = reader.parse(b"\n".join(values[start:stop]), names)
            if table.num_rows == stop - start:
                tables.append(table)
            elif stop - start == 1:
                detail = refused[0].detail if len(refused) == 1 else "it is not one line"
                wrong[start] = malformed(values[start], detail)
            else:
                middle = (start + stop) // 2
                pending += [(middle, stop), (start, middle)]
        return pa.concat_tables(tables), wrong

    return parse


def _raw(layout: Layout) -> Callable[[Values], tuple[pa.Table, Wrong]]:
    (column,) = layout.own

    def parse(values: Values) -> tuple[pa.Table, Wrong]:
        wrong: Wrong = {}
        if column.type is Scalar.BINARY:
            return pa.table({column.name: pa.array(values, pa.binary())}), wrong
        texts = [_text(value, place, wrong, "the value") for place, value in enumerate(values)]
        kept = [text for place, text in enumerate(texts) if place not in wrong]
        return pa.table({column.name: pa.array(kept, pa.string())}), wrong

    return parse


_PARSERS = {"json": _json, "csv": _csv, "raw": _raw}


def _as_lines(values: Values) -> Lines:
    """Each value as one line, whatever is in it."""
    lengths: Integers = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(lengths + 1) - 1
    return Lines(b"\n".join(values) + b"\n", ends - lengths, ends)


def _text(value: bytes | None, place: int, wrong: Wrong, what: str) -> str | None:
    if value is None:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as problem:
        detail = f"byte {problem.start} of {what} is not UTF-8"
        wrong.setdefault(place, malformed(value, detail))
        return None


# Beside values


def _times(messages: Sequence[Message]) -> pa.Array:
    """Milliseconds; NULL where the broker knows of no time."""
    stamps = [message.timestamp() for message in messages]
    known = [instant_ms if kind else None for kind, instant_ms in stamps]
    return pa.array(known, pa.timestamp("ms", tz="UTC"))


def _metadata(key: str, kind: Any, messages: Sequence[Message], wrong: Wrong) -> list[Any]:
    match key:
        case "topic":
            return [message.topic() for message in messages]
        case "partition":
            return [message.partition() for message in messages]
        case "offset":
            return [message.offset() for message in messages]
        case "timestamp":
            return [
                *_times(messages).cast(arrow_type(Scalar.TIMESTAMP)).cast(pa.int64()).to_pylist()
            ]
        case "timestamp-type":
            return [_TIME_TYPES.get(message.timestamp()[0]) for message in messages]
        case "key":
            return _keys(kind, messages, wrong)
        case _:
            assert key == "headers", key
            return _headers(kind, messages, wrong)


def _keys(kind: Any, messages: Sequence[Message], wrong: Wrong) -> list[Any]:
    keys = [message.key() for message in messages]
    if kind is Scalar.BINARY:
        return keys
    return [_text(key, place, wrong, "the key") for place, key in enumerate(keys)]


def _headers(kind: Any, messages: Sequence[Message], wrong: Wrong) -> list[Any]:
    assert isinstance(kind, Map)
    as_text = kind.value is Scalar.VARCHAR
    made = []
    for place, message in enumerate(messages):
        pairs = dict(
            message.headers() or ()
        )  # of headers with one name the last counts, as in Flink
        if as_text:
            what = "header {}"
            pairs = {n: _text(v, place, wrong, what.format(n)) for n, v in pairs.items()}
        made.append(list(pairs.items()))
    return made


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    return (
        pa.array(values, pa.int64()).cast(kind)
        if pa.types.is_timestamp(kind)
        else pa.array(values, kind)
    )
