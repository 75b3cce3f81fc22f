"""What EXPLAIN shows: nodes with named facts, in order."""

from dataclasses import dataclass, field

Value = str | int | tuple[str, ...]
Facts = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """An operator. A tuple is shown as a list, a text with line breaks as a block under the node."""

    title: str
    facts: Facts = ()
    children: "tuple[Node, ...]" = field(default=())


def facts(**given: Value | None) -> Facts:
    """Facts in the order they are written, without those that are absent or empty."""
    return tuple(
        (name, value)
        for name, value in given.items()
        if value is not None and value not in ("", ())
    )
