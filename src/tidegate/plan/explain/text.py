"""Trees as text.

A node is one line with its short facts; long ones (lists, SQL) stand below it, one per line, so that two plans can be
compared line by line.
"""

from collections.abc import Iterator

from tidegate.plan.explain.tree import Node, Value


def as_text(node: Node) -> str:
    """The tree, with a final line break."""
    return "\n".join(_lines(node, "", "")) + "\n"


def _lines(node: Node, first: str, rest: str) -> Iterator[str]:
    short = [f"{name}={value}" for name, value in node.facts if not _is_long(value)]
    yield first + " ".join([node.title, *short])
    bar = rest + ("│  " if node.children else "   ")
    for name, value in node.facts:
        if isinstance(value, tuple):
            yield f"{bar}{name}:"
            yield from (f"{bar}  {item}" for item in value)
        elif _is_long(value):
            yield f"{bar}{name}:"
            yield from (f"{bar}  {line}".rstrip() for line in str(value).split("\n"))
    for place, child in enumerate(node.children):
        last = place == len(node.children) - 1
        yield from _lines(
            child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")
        )


def _is_long(value: Value) -> bool:
    return isinstance(value, tuple) or "\n" in str(value)
