"""Rows and plans as a notebook shows them.

Decided here: plain tables that take the notebook's own style, everything escaped, and no more rows than one looks at.
"""

from collections.abc import Iterator
from html import escape

import pyarrow as pa

MOST_ROWS = 50


def table(rows: pa.Table, *, note: str = "") -> str:
    """The first rows; how many there are stands below if these are not all.

    >>> print(table(pa.table({"k": ["<a>"], "n": [1]})))
    <table><thead><tr><th style="text-align:left">k</th><th style="text-align:right">n</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">&lt;a&gt;</td><td style="text-align:right">1</td></tr>
    </tbody></table>
    """
    kinds = ["right" if _is_number(field.type) else "left" for field in rows.schema]
    heads = "".join(
        _cell("th", name, side) for name, side in zip(rows.column_names, kinds, strict=True)
    )
    body = "\n".join(_rows(rows.slice(0, MOST_ROWS), kinds))
    more = note or _more(rows.num_rows)
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>" + (
        f"\n<p>{escape(more)}</p>" if more else ""
    )


def _rows(rows: pa.Table, kinds: list[str]) -> Iterator[str]:
    from tidegate.connectors.console import show

    columns = [column.to_pylist() for column in rows.columns]
    for row in zip(*columns, strict=True):
        cells = (_cell("td", show(value), side) for value, side in zip(row, kinds, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"


def _more(count: int) -> str:
    if count == 0:
        return "no rows"
    return f"the first {MOST_ROWS} of {count:,} rows" if count > MOST_ROWS else ""


def _cell(tag: str, text: str, side: str) -> str:
    return f'<{tag} style="text-align:{side}">{escape(text)}</{tag}>'


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def text(told: str) -> str:
    """A plan, or an answer in sentences.

    >>> text("a < b")
    '<pre style="line-height:1.3">a &lt; b</pre>'
    """
    return f'<pre style="line-height:1.3">{escape(told)}</pre>'
