"""Parquet files: ranges of rows.

Decided here: columns are found by name as everywhere, and values of another type than declared are converted if all
that matters survives (an integer is a TIMESTAMP in milliseconds, as in text). A value that does not fit spoils its
row; a column whose type can never become the declared one spoils the file. The last row group is kept, since a range
may end inside it.
"""

import json
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tidegate.connectors.files.blocks import BadFile, Block
from tidegate.connectors.files.conform import Conformed, Convert, arrow_converter
from tidegate.connectors.files.csv_lines import place_of
from tidegate.connectors.files.places import Place, reason
from tidegate.connectors.protocols import Malformed
from tidegate.connectors.records import malformed
from tidegate.model.schema import Column, Schema

_FAILURES = (OSError, pa.ArrowException)


class ParquetRows:
    """Reads ranges of rows of one source's files."""

    def __init__(self, schema: Schema, place: Place) -> None:
        self._schema = schema
        self._place = place
        self._open: tuple[str, Any] = ("", None)
        self._group: tuple[str, int, Any] = ("", -1, None)

    def plan(self, name: str, start: int, *, max_rows: int) -> Block:
        rows = self._file(name).metadata.num_rows
        stop = min(rows, start + max_rows)
        return Block(stop, stop - start, at_end=stop >= rows)

    def read(self, name: str, start: int, stop: int) -> tuple[pa.Table, list[Malformed]]:
        file = self._file(name)
        if file.metadata.num_rows < stop:
            raise BadFile(f"it has {file.metadata.num_rows} rows, and had {stop}", changed=True)
        pieces: list[pa.Table] = []
        first = 0
        for number in range(file.num_row_groups):
            count = file.metadata.row_group(number).num_rows
            begin, end = max(start - first, 0), min(stop - first, count)
            if begin < end:
                pieces.append(self._rows(name, number).slice(begin, end - begin))
            first += count
        conformed = Conformed()
        rows = pa.concat_tables(pieces)
        for column in self._schema:
            array, convert = _column(rows, column)
            conformed.add(column, array, convert)
        wrong = [
            malformed(_shown(rows.slice(place, 1)), why) for place, why in conformed.wrong.items()
        ]
        return conformed.table(), wrong

    def footer(self, name: str) -> Any:
        """The file's own words about its columns."""
        return self._file(name).metadata

    def _file(self, name: str) -> Any:
        opened, file = self._open
        if opened != name or file is None:
            self.close()
            try:
                source = self._place.filesystem.open_input_file(self._place.full(name))
                file = parquet.ParquetFile(source)
            except _FAILURES as problem:
                raise BadFile(reason(problem)) from None
            self._open = (name, file)
        return file

    def _rows(self, name: str, number: int) -> pa.Table:
        kept_name, kept_number, group = self._group
        if (kept_name, kept_number) != (name, number):
            file = self._file(name)
            present = file.schema_arrow.names
            places = (place_of(column.name, present) for column in self._schema)
            wanted = [present[place] for place in places if place is not None]
            try:
                group = file.read_row_group(number, columns=wanted)
            except _FAILURES as problem:
                raise BadFile(reason(problem)) from None
            self._group = (name, number, group)
        return group

    def close(self) -> None:
        _, file = self._open
        if file is not None:
            file.close()
        self._open = ("", None)
        self._group = ("", -1, None)


def _column(rows: pa.Table, column: Column) -> tuple[pa.Array, Convert]:
    place = place_of(column.name, rows.column_names)
    if place is None:
        array = pa.nulls(rows.num_rows)
    else:
        array = rows.column(place).combine_chunks()
    try:
        return array, arrow_converter(array.type, column.type)
    except pa.ArrowException:
        raise BadFile(f"column {column.name} is {array.type}, and declared {column.type}") from None


def _shown(row: pa.Table) -> str:
    values = {name: _json_value(row.column(name)[0]) for name in row.column_names}
    return json.dumps(values, default=str, ensure_ascii=False)


def _json_value(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError):  # an instant that Python has no name for
        return str(value)
