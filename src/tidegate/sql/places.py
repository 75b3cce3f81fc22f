"""Where a part of a syntax tree stands in the text.

sqlglot marks names, literals and function names with offsets; everything larger is found from these, and from the
word before them where a node begins with a keyword.
"""

import re

from sqlglot import exp

from tidegate.sql.source import SourceText, Span

_LEADING: dict[type[exp.Expression], re.Pattern[str]] = {
    exp.Interval: re.compile(r"INTERVAL\s*'?$", re.IGNORECASE),
    exp.Neg: re.compile(r"-\s*$"),
    exp.Not: re.compile(r"NOT\s*$", re.IGNORECASE),
    exp.Case: re.compile(r"CASE\s*(?:WHEN\s*)?$", re.IGNORECASE),
    exp.Cast: re.compile(r"(?:(?:TRY_)?CAST\s*\(|DATE|TIMESTAMP)\s*$", re.IGNORECASE),
    exp.Extract: re.compile(r"EXTRACT\s*\(\s*\w+\s+FROM\s*$", re.IGNORECASE),
}


def own_span(node: exp.Expression) -> Span | None:
    """The place that sqlglot recorded on the node itself."""
    start, end = node.meta.get("start"), node.meta.get("end")
    return Span(start, end + 1) if isinstance(start, int) and isinstance(end, int) else None


def span_of(node: exp.Expression, source: SourceText, *, otherwise: Span | None = None) -> Span:
    """From the first to the last marked part of the node, with the keyword that it begins with."""
    marked = [span for part in node.walk() if (span := own_span(part))]
    if not marked:
        return otherwise or Span(0, 0)
    start = min(span.start for span in marked)
    leading = _LEADING.get(type(node))
    if leading and (match := leading.search(source.text, max(0, start - 200), start)):
        start = match.start()
    return Span(start, max(span.end for span in marked))


def head_of(node: exp.Expression, source: SourceText, *, otherwise: Span | None = None) -> Span:
    """The token to point at: a function's name, a column's first part, a literal; else the whole."""
    return own_span(node) or span_of(node, source, otherwise=otherwise)
