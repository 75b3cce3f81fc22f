"""Calls that are another way of writing one that there is: rewritten before they are bound.

What is only another name is an alias in the catalogues; here are those whose arguments differ, too. The rewritten node
keeps its place in the text, so that messages stand where the user wrote it.
"""

from collections.abc import Callable, Sequence

from sqlglot import exp

Arguments = Sequence[exp.Expression]


def respelled(node: exp.Anonymous) -> exp.Anonymous:
    """The call that is meant; the node itself if it is none of these."""
    rewrite = _RESPELLED.get(node.name.lower())
    meant = None if rewrite is None else rewrite(node.expressions)
    if meant is None:
        return node
    meant.meta.update(node.meta)
    return meant


def _call(name: str, *arguments: exp.Expression) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _collect_set(given: Arguments) -> exp.Anonymous | None:
    """Spark's, ksqlDB's: `ARRAY_AGG(DISTINCT x)`."""
    return _call("array_agg", exp.Distinct(expressions=list(given))) if len(given) == 1 else None


def _count_if(given: Arguments) -> exp.Anonymous | None:
    """Spark's, DuckDB's: `COUNT(CASE WHEN c THEN 1 END)`."""
    if len(given) != 1:
        return None
    return _call("count", exp.Case(ifs=[exp.If(this=given[0], true=exp.Literal.number(1))]))


def _instant_of_precision(given: Arguments) -> exp.Anonymous | None:
    """Flink's `TO_TIMESTAMP_LTZ(n, 3)` counts milliseconds, with 0 seconds."""
    if len(given) == 1:
        return _call("to_timestamp_ms", given[0])
    precision = given[1].name if len(given) == 2 and isinstance(given[1], exp.Literal) else ""
    name = {"0": "to_timestamp_s", "3": "to_timestamp_ms"}.get(precision)
    return _call(name, given[0]) if name else None


_RESPELLED: dict[str, Callable[[Arguments], exp.Anonymous | None]] = {
    "collect_set": _collect_set,
    "count_if": _count_if,
    "countif": _count_if,
    "to_timestamp_ltz": _instant_of_precision,
}
