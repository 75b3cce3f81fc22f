"""CSV, turned into columns.

Decided here: a record is a line, so a quoted field has no line break in it; a quote that is not closed spoils its own
line and no other. Fields are read as bytes and converted column by column. A line with another number of fields than
the head (or, without one, than the source has columns) is no row. Where a block does not give one row per line it is
halved until the line stands alone that is to blame.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import csv as arrow_csv

from tidegate.connectors.files.blocks import BadFile
from tidegate.connectors.files.conform import Conformed, text_converter
from tidegate.connectors.files.lines import BOM, Lines, lines_of
from tidegate.connectors.protocols import Malformed
from tidegate.connectors.records import malformed
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Schema


class CsvLines:
    """Reads blocks of one source. `names` of the fields are given with each block, because files may differ."""

    def __init__(self, schema: Schema, *, delimiter: str) -> None:
        self._schema = schema
        self._delimiter = delimiter
        self._converters = {column.name: text_converter(column.type) for column in schema}

    def head(self, line: bytes) -> tuple[str, ...]:
        """The names that a head line gives; refused where the source has none of them."""
        try:
            text = line.removeprefix(BOM).decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as problem:
            raise BadFile(f"byte {problem.start} of its head is not UTF-8") from None
        names = tuple(
            name.strip() for name in next(csv.reader([text], delimiter=self._delimiter), [])
        )
        known = {column.name.lower() for column in self._schema}
        if not known.intersection(name.lower() for name in names):
            raise BadFile(
                "its head names none of the columns; if it has no head, say header = false"
            )
        return names

    def parse(self, block: bytes, names: Sequence[str]) -> tuple[pa.Table, list[Malformed]]:
        tables: list[pa.Table] = []
        wrong: list[Malformed] = []
        pending = [lines_of(block.removeprefix(BOM))]
        while pending:
            lines = pending.pop()
            fields = self._fields(lines, len(names)) if len(lines) else None
            if fields is not None:
                table, spoiled = self._typed(fields, names)
                tables.append(table)
                wrong += spoiled
            elif len(lines) > 1:
                pending += reversed(lines.halves())
            elif len(lines):
                wrong.append(
                    malformed(
                        lines.bytes(), "a quote is not closed, or a carriage return stands alone"
                    )
                )
        empty = pa.schema([(column.name, arrow_type(column.type)) for column in self._schema])
        return pa.concat_tables([empty.empty_table(), *tables]), wrong

    def _fields(self, lines: Lines, count: int) -> "_Fields | None":
        """The fields as bytes; None if the lines do not stay apart."""
        refused: list[tuple[str, str]] = []

        def refuse(row: arrow_csv.InvalidRow) -> str:
            refused.append(
                (row.text, f"{row.actual_columns} fields instead of {row.expected_columns}")
            )
            return "skip"

        options = arrow_csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=refuse)
        data = lines.bytes()
        if data.count(b"\r") != data.count(b"\r\n"):
            return None  # to Arrow a carriage return alone is a line break
        # A line of our own at the end is swallowed, too, if a quote is left open.
        data += b"\nx" + self._delimiter.encode() * (count - 1)
        try:
            table = _read(data, count, options)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            return None
        if table.num_rows + len(refused) != len(lines) + 1 or not table.num_rows:
            return None
        return _Fields(lines, table.slice(0, table.num_rows - 1), refused)

    def _typed(self, fields: "_Fields", names: Sequence[str]) -> tuple[pa.Table, list[Malformed]]:
        conformed = Conformed()
        for column in self._schema:
            place = place_of(column.name, names)
            texts = (
                pa.nulls(fields.table.num_rows, pa.binary())
                if place is None
                else fields.table.column(place).combine_chunks()
            )
            conformed.add(column, texts, self._converters[column.name])
        wrong = [malformed(text, detail) for text, detail in fields.refused]
        if conformed.wrong:
            kept = fields.kept()
            wrong += [malformed(kept[place], why) for place, why in conformed.wrong.items()]
        return conformed.table(), wrong


@dataclass(frozen=True, slots=True)
class _Fields:
    """What Arrow read of the lines, and those that it refused, with the reason."""

    lines: Lines
    table: pa.Table
    refused: list[tuple[str, str]]

    def kept(self) -> list[bytes]:
        """The lines of the table's rows. Refused ones have another number of fields, so no kept one looks the same."""
        refused = {text.encode("utf-8") for text, _ in self.refused}
        return [line for line in self.lines if line not in refused]


def place_of(name: str, names: Sequence[str]) -> int | None:
    """Where the column is among fields of these names: by exact name first, otherwise regardless of case."""
    if name in names:
        return names.index(name)
    loose = [place for place, other in enumerate(names) if other.lower() == name.lower()]
    return loose[0] if len(loose) == 1 else None


def _read(data: bytes, count: int, options: arrow_csv.ParseOptions) -> pa.Table:
    names = [str(place) for place in range(count)]
    return arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            use_threads=False, column_names=names, block_size=len(data) + 1
        ),
        parse_options=options,
        convert_options=arrow_csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, pa.binary()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
