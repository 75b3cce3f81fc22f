"""JSON lines, turned into columns.

Decided here: what a line means is what `json.loads` and `values.value_of` make of it. Arrow's reader is a shortcut
for whole blocks, taken only where it must give the same: every line begins with `{` and ends with `}`, there are as
many rows as lines (so no object runs over several), and no other spelling of a column's name occurs in the block.
Where the shortcut fails the block is halved, down to a few lines, which are then read one by one: a line that is no
row costs little, and costs no other line.
"""

import decimal
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from tidegate.connectors.files.conform import NO_FIT, json_converter
from tidegate.connectors.files.lines import BOM, Lines, lines_of
from tidegate.connectors.files.values import Misfit, found, value_of
from tidegate.connectors.protocols import Malformed
from tidegate.connectors.records import malformed
from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Column, Schema
from tidegate.model.types import MAX_PRECISION, Array, DataType, Decimal, Map, Scalar, Struct

_FEW = 64
_OPEN, _CLOSE = ord("{"), ord("}")
_AS_TEXT = (Scalar.TIMESTAMP, Scalar.DATE, Scalar.BINARY)


class JsonLines:
    """Reads blocks of one source."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._arrow = pa.schema([(column.name, arrow_type(column.type)) for column in schema])
        self._quick = all(_is_quick(column.type) for column in schema)

    def parse(self, block: bytes) -> tuple[pa.Table, list[Malformed]]:
        table, wrong = self.parse_lines(lines_of(block.removeprefix(BOM)))
        return table, [record for _, record in wrong]

    def parse_lines(self, lines: Lines) -> tuple[pa.Table, list[tuple[int, Malformed]]]:
        """What is no row goes with the number of its line."""
        tables: list[pa.Table] = [self._arrow.empty_table()]
        wrong: list[tuple[int, Malformed]] = []
        pending = [lines]
        while pending:
            lines = pending.pop()
            table = self._by_arrow(lines) if self._quick else None
            if table is not None:
                tables.append(table)
            elif len(lines) > _FEW and self._quick:
                pending += reversed(lines.halves())
            else:
                tables.append(self._one_by_one(lines, wrong))
        return pa.concat_tables(tables), wrong

    def _by_arrow(self, lines: Lines) -> pa.Table | None:
        """The whole block by Arrow's reader; None where that fails, or might mean something else."""
        if not len(lines) or not _all_objects(lines):
            return None
        data = lines.bytes()
        try:
            text = data.decode("utf-8")
            sample = json.loads(data[: int(lines.ends[0] - lines.starts[0])])
            names = [_spelling(sample, column.name) for column in self._schema]
            table = _read(data, names, self._schema, sample)
            if table.num_rows != len(lines) or _spelled_otherwise(text, names, table):
                return None
            columns = [
                _converted(table.column(name), column)
                for name, column in zip(names, self._schema, strict=True)
            ]
        except (*NO_FIT, pa.ArrowNotImplementedError, RecursionError):
            return None
        return pa.Table.from_arrays(columns, schema=self._arrow)

    def _one_by_one(self, lines: Lines, wrong: list[tuple[int, Malformed]]) -> pa.Table:
        rows: list[list[Any]] = []
        for number, line in lines.numbered():
            try:
                rows.append(self._row(line))
            except (Misfit, ValueError, RecursionError) as problem:
                wrong.append((number, malformed(line, _complaint(problem))))
        columns: Sequence[Any] = list(zip(*rows, strict=True)) or [()] * len(self._schema)
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, self._arrow, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self._arrow)

    def _row(self, line: bytes) -> list[Any]:
        record = json.loads(line.decode("utf-8"), parse_float=decimal.Decimal)
        if not isinstance(record, dict):
            raise Misfit("a record is an object: {…}")
        return [_value(record, column) for column in self._schema]


def _value(record: dict[str, Any], column: Column) -> Any:
    try:
        return value_of(found(record, column.name), column.type)
    except Misfit as misfit:
        raise Misfit(f"{column.name}: {misfit}") from None


def _complaint(problem: Exception) -> str:
    match problem:
        case UnicodeDecodeError():
            return f"byte {problem.start} is not UTF-8"
        case RecursionError():
            return "it is nested too deep"
        case json.JSONDecodeError():
            return f"no JSON: {problem}"
        case _:
            return str(problem)


def _is_quick(kind: DataType) -> bool:
    """Whether Arrow's reader knows the type; nested texts would have to be converted in depth."""
    match kind:
        case Map():
            return False
        case Array(element):
            return json_converter(element) is None and _is_quick(element)
        case Struct():
            return False  # fields are found regardless of case
        case _:
            return True


def _all_objects(lines: Lines) -> bool:
    data = np.frombuffer(lines.block, np.uint8)
    begins, ends = data[lines.starts] == _OPEN, data[lines.ends - 1] == _CLOSE
    return bool(begins.all() and ends.all())


def _spelling(sample: dict[str, Any], name: str) -> str:
    """How the first record writes the column's name."""
    if name in sample:
        return name
    loose = [key for key in sample if key.lower() == name.lower()]
    return loose[0] if len(loose) == 1 else name


def _spelled_otherwise(text: str, names: Sequence[str], table: pa.Table) -> bool:
    """Whether a column that has NULLs may have a value under another spelling of its name, or two share one."""
    if len(set(names)) < len(names):
        return True
    doubtful = [name for name in names if table.column(name).null_count]
    if not doubtful:
        return False
    lowered = text.lower()
    return any(lowered.count(f'"{name.lower()}"') != text.count(f'"{name}"') for name in doubtful)


def _read(data: bytes, names: Sequence[str], schema: Schema, sample: dict[str, Any]) -> pa.Table:
    fields = [
        (name, _read_as(column.type, sample.get(name)))
        for name, column in zip(names, schema, strict=True)
    ]
    return arrow_json.read_json(
        pa.BufferReader(data),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore"
        ),
    )


def _read_as(kind: DataType, sample: Any) -> pa.DataType:
    """Times may be numbers or texts: as in the first record. Arrow checks no precision here, only when it casts."""
    if isinstance(kind, Decimal):
        return pa.decimal128(MAX_PRECISION, kind.scale)
    if kind is Scalar.TIMESTAMP and isinstance(sample, int):
        return pa.int64()
    return pa.string() if kind in _AS_TEXT else arrow_type(kind)


def _converted(array: pa.ChunkedArray, column: Column) -> pa.Array:
    convert = json_converter(column.type)
    whole = array.combine_chunks()
    return whole if convert is None else convert(whole)
