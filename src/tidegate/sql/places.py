"""Where a part of a syntax tree stands in the text.

sqlglot marks names, literals and function names with offsets; everything larger is found from these, and from the
word before them where a node begins with a keyword.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from tidegate.sql.source import SourceText, Span


def _word(*words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\s*$", re.IGNORECASE)


_LEADING: dict[type[exp.Expr], re.Pattern[str]] = {
    exp.Neg: re.compile(r"-\s*$"),
    exp.Paren: re.compile(r"\(\s*$"),
    exp.Kwarg: re.compile(r"\w+\s*=>\s*$"),
    exp.PropertyEQ: re.compile(r"\w+\s*=>\s*$"),
    exp.Not: _word("NOT"),
    exp.Case: _word(r"CASE\s+WHEN", "CASE"),
    exp.Cast: _word(r"CAST\s*\(", r"TRY_CAST\s*\(", "DATE", "TIMESTAMP"),
    exp.TryCast: _word(r"TRY_CAST\s*\("),
    exp.Extract: _word(r"EXTRACT\s*\(\s*\w+\s+FROM"),
    exp.Select: _word(r"SELECT\s+DISTINCT", "SELECT"),
    exp.Subquery: re.compile(r"\(\s*$"),
    exp.GroupingSets: re.compile(r"\bGROUPING\s+SETS[\s(]*$", re.IGNORECASE),
    exp.Cube: re.compile(r"\bCUBE[\s(]*$", re.IGNORECASE),
    exp.Rollup: re.compile(r"\bROLLUP[\s(]*$", re.IGNORECASE),
    exp.Version: _word(r"FOR\s+SYSTEM_TIME\s+AS\s+OF"),
    exp.Having: _word("HAVING"),
    exp.Order: _word(r"ORDER\s+BY"),
    exp.Limit: re.compile(r"\bLIMIT\s*-?\s*$", re.IGNORECASE),
    exp.Offset: _word("OFFSET"),
    exp.Group: _word(r"GROUP\s+BY"),
    exp.Qualify: _word("QUALIFY"),
}
_REACH = 200


def own_span(node: exp.Expr) -> Span | None:
    """The place that sqlglot recorded on the node itself."""
    start, end = node.meta.get("start"), node.meta.get("end")
    return Span(start, end + 1) if isinstance(start, int) and isinstance(end, int) else None


def span_of(node: exp.Expression, source: SourceText, *, otherwise: Span | None = None) -> Span:
    """From the first to the last marked part of the node, with the keywords that it begins with."""
    marked = [(span, part) for part in node.walk() if (span := own_span(part))]
    if not marked:
        return otherwise or Span(0, 0)
    first, leftmost = min(marked, key=lambda pair: pair[0].start)
    start = first.start
    for part in _upwards(leftmost, node):
        leading = _LEADING.get(type(part))
        window = source.text[max(0, start - _REACH) : start]
        if leading and (match := leading.search(window)):
            start -= len(window) - match.start()
    return Span(start, max(span.end for span, _ in marked))


def _upwards(part: exp.Expr, top: exp.Expr) -> Iterator[exp.Expr]:
    yield part
    while part is not top and part.parent is not None:
        part = part.parent
        yield part


def head_of(node: exp.Expression, source: SourceText, *, otherwise: Span | None = None) -> Span:
    """The token to point at: a function's name, a column's first part, a literal; else the whole."""
    return own_span(node) or span_of(node, source, otherwise=otherwise)
