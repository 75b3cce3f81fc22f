"""Trees as JSON: the same facts under the same names."""

from tidegate.plan.explain.tree import Node


def as_object(node: Node) -> dict[str, object]:
    """The tree as plain objects, facts in the order in which the text shows them."""
    made: dict[str, object] = {"operator": node.title}
    made.update(
        (name, list(value) if isinstance(value, tuple) else value) for name, value in node.facts
    )
    if node.children:
        made["inputs"] = [as_object(child) for child in node.children]
    return made
