"""Rows printed as an aligned table, for eyes.

Decided here: columns keep the widest width so far, and the head is printed again when one has to grow, so that a
stream of small epochs reads as one table. Values are made to stay on their line.
"""

import decimal
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

import pyarrow as pa

from tidegate.connectors.registry import Connector
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef

_WIDEST = 60
_NUMBERS = (int, float, decimal.Decimal)


class ConsoleSink:
    """Prints what it is given, each epoch as it comes; after a crash the last one may be printed again.

    >>> sink = ConsoleSink(sys.stdout)
    >>> sink.write(0, pa.table({"k": ["a", None], "n": [1, 200]}))
    k    |   n
    -----+----
    a    |   1
    NULL | 200
    >>> sink.write(1, pa.table({"k": ["b"], "n": [3]}))
    b    |   3
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._widths: list[int] = []

    def write(self, epoch: int, rows: pa.Table) -> None:
        if not rows.num_rows:
            return
        columns = [column.to_pylist() for column in rows.columns]
        right = [any(_is_number(value) for value in column) for column in columns]
        texts = [[show(value) for value in column] for column in columns]
        lines = [] if not self._grows(rows.column_names, texts) else self._head(rows, right)
        lines += [self._line(row, right) for row in zip(*texts, strict=True)]
        self._stream.write("".join(f"{line.rstrip()}\n" for line in lines))
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()

    def _grows(self, names: Sequence[str], texts: Sequence[Sequence[str]]) -> bool:
        needed = [
            max(map(_width, [name, *column])) for name, column in zip(names, texts, strict=True)
        ]
        before = self._widths or [0] * len(needed)
        self._widths = [max(pair) for pair in zip(before, needed, strict=True)]
        return self._widths != before

    def _head(self, rows: pa.Table, right: Sequence[bool]) -> list[str]:
        rule = "-+-".join("-" * width for width in self._widths)
        return [self._line(rows.column_names, right), rule]

    def _line(self, texts: Sequence[str], right: Sequence[bool]) -> str:
        cells = []
        for text, width, to_the_right in zip(texts, self._widths, right, strict=True):
            space = " " * (width - _width(text))
            cells.append(space + text if to_the_right else text + space)
        return " | ".join(cells)


def show_empty(names: Sequence[str]) -> str:
    """What stands where there is nothing to see; a sink that waits for rows prints nothing.

    >>> print(show_empty(["name", "connector"]), end="")
    name | connector
    (no rows)
    """
    return f"{' | '.join(names)}\n(no rows)\n"


def _is_number(value: object) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def show(value: Any) -> str:
    """A value on one line.

    >>> show(None), show(True), show("two\\nlines"), show([1, None])
    ('NULL', 'true', 'two\\\\nlines', '[1, NULL]')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case datetime():
            return value.isoformat(sep=" ").removesuffix("+00:00")
        case list():
            return f"[{', '.join(map(show, value))}]"
        case tuple():
            return ": ".join(map(show, value))
        case dict():
            return f"{{{', '.join(f'{name}: {show(part)}' for name, part in value.items())}}}"
        case bytes():
            return value.hex()
        case _:
            text = "".join(_shown(character) for character in str(value))
            return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def _open(definition: SinkDef, schema: Schema, kind: StreamKind) -> ConsoleSink:
    return ConsoleSink(sys.stdout)


CONNECTOR = Connector(sink=_open)
