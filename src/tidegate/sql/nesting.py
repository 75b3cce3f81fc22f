"""How deep an expression may nest: whatever walks one later, here and in engines, can then do so by recursion.

The tokens are checked before sqlglot recurses on their parentheses (`dialect.py`). What nests without any, such as
`a + b + c + …` and `x::INT::INT::…`, shows in the tree only. Chains of AND, OR and UNION ALL may be of any length:
they are taken apart without recursion.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import cast

from sqlglot import exp

from tidegate import errors
from tidegate.sql.places import own_span, span_of
from tidegate.sql.source import SourceText, Span

MAX_HEIGHT = 200
_FRAMES = 3_000  # sqlglot takes about 24 for each level; Python's own limit would stop it at 40 levels, or sooner
_lock = Lock()
_limits: list[int] = []
_FLAT = (exp.And, exp.Or)


@contextmanager
def deep_stack() -> Iterator[None]:
    """Room for recursion on what is bounded here. The limit is one for all threads: the last to leave resets it."""
    with _lock:
        _limits.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_limits[0], _FRAMES))
    try:
        yield
    finally:
        with _lock:
            before = _limits.pop()
            if not _limits:
                sys.setrecursionlimit(before)


def refuse_high(tree: exp.Expression, source: SourceText, *, whole: Span) -> None:
    """Refuse a tree with an expression that is too high, at the first operand or suffix that is too much."""
    heights: dict[int, int] = {}
    nodes = cast("list[exp.Expression]", list(tree.walk(bfs=False)))
    for node in reversed(nodes):
        height = heights.pop(id(node), 0)
        if height > MAX_HEIGHT:
            at = source.location(_outermost(node, source, whole))
            raise errors.nested_too_deep(at, limit=MAX_HEIGHT)
        if node.parent is not None and not isinstance(node, exp.Query):
            flat = isinstance(node, _FLAT) and type(node) is type(node.parent)
            heights[id(node.parent)] = max(heights.get(id(node.parent), 0), height + (not flat))


def _outermost(node: exp.Expression, source: SourceText, whole: Span) -> Span:
    """What the node adds to the expression inside it."""
    parts = cast("list[exp.Expression]", list(node.iter_expressions(reverse=True)))
    added = next((part for part in parts if part is not node.this), node)
    return own_span(added) or span_of(
        added, source, otherwise=span_of(node, source, otherwise=whole)
    )
