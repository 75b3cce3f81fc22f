"""YAML with places: every value knows where it stands, so that a message can point at it.

Decided here: scalars are those of YAML 1.2's core schema, so `no`, `on` and `2026-01-01` are strings and `1:30` is no
number; keys are strings, written once. Anchors work; tags and several documents do not.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import yaml

from tidegate import errors
from tidegate.errors import TidegateError
from tidegate.scenarios.steps import Raw
from tidegate.sql.source import SourceText, Span

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Raw] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", "+.inf", ".Inf", ".INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_MOST_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document. `what` names it in messages."""

    source: SourceText
    yaml: yaml.Node
    what: str

    @property
    def line(self) -> int:
        return int(self.yaml.start_mark.line) + 1

    def bad(self, problem: str, *, hint: str = "") -> TidegateError:
        return errors.bad_scenario(_place(self.source, self.yaml), problem=problem, hint=hint)

    def value(self) -> Raw:
        """The value as plain data."""
        match self.yaml:
            case yaml.ScalarNode():
                return _scalar(self.yaml)
            case yaml.SequenceNode():
                return tuple(item.value() for item in self.items())
            case _:
                return {name: item.value() for name, item in self.entries().items()}

    def text(self) -> str:
        found = self.value()
        if not isinstance(found, str):
            raise self.bad(f"{self.what} must be a string")
        return found

    def whole(self) -> int:
        found = self.value()
        if isinstance(found, bool) or not isinstance(found, int):
            raise self.bad(f"{self.what} must be a whole number")
        return found

    def flag(self) -> bool:
        found = self.value()
        if not isinstance(found, bool):
            raise self.bad(f"{self.what} must be true or false")
        return found

    def items(self) -> "list[Node]":
        if not isinstance(self.yaml, yaml.SequenceNode):
            raise self.bad(f"{self.what} must be a list")
        return [Node(self.source, item, self.what) for item in self.yaml.value]

    def entries(self) -> "dict[str, Node]":
        if not isinstance(self.yaml, yaml.MappingNode):
            raise self.bad(f"{self.what} must be a mapping, key: value")
        found: dict[str, Node] = {}
        for key, item in self.yaml.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Node(self.source, key, self.what).bad("keys are plain strings")
            if key.value in found:
                raise Node(self.source, key, self.what).bad(f"key {key.value} is given twice")
            found[key.value] = Node(self.source, item, key.value)
        return found

    def known(self, keys: Iterable[str], *, required: Iterable[str] = ()) -> "dict[str, Node]":
        """The entries of a mapping that has no other keys."""
        found, allowed = self.entries(), list(keys)
        for name in found:
            if name not in allowed:
                key = next(key for key, _ in self.yaml.value if key.value == name)
                hint = errors.nearest(name, allowed, otherwise=f"keys are {', '.join(allowed)}")
                place = _place(self.source, key)
                raise errors.unknown_scenario_key(place, where=self.what, name=name, hint=hint)
        for name in required:
            if name not in found:
                raise self.bad(f"{self.what} needs {name}")
        return found

    def each(self, read: "Callable[[Node], str]") -> tuple[str, ...]:
        return tuple(read(item) for item in self.items())


def read_document(text: str, *, file: str) -> Node:
    """The one document of a file."""
    source = SourceText(text, file)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _refuse_tags(root, source, set())
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        index = mark.index if mark else 0
        what = f"this is no YAML: {problem.problem or problem.context}"
        place = source.location(Span(index, index + 1))
        raise errors.bad_scenario(place, problem=what) from None
    except (yaml.YAMLError, RecursionError) as problem:
        what = f"this is no YAML: {str(problem).splitlines()[0]}"
        raise errors.bad_scenario(source.location(Span(0, 1)), problem=what) from None
    if root is None:
        raise errors.bad_scenario(source.location(Span(0, 1)), problem="the file is empty")
    return Node(source, root, "a scenario")


def _refuse_tags(node: yaml.Node, source: SourceText, above: set[int]) -> None:
    """Explicit tags mean nothing here, and an anchor inside itself would never end."""
    if id(node) in above:
        raise Node(source, node, "").bad("an anchor that contains itself")
    if not str(node.tag).startswith("tag:yaml.org,2002:"):
        raise Node(source, node, "").bad(f"the tag {node.tag} has no meaning here")
    parts = node.value if isinstance(node.value, list) else []
    for part in parts:
        for inner in part if isinstance(part, tuple) else (part,):
            _refuse_tags(inner, source, above | {id(node)})


def _scalar(node: yaml.ScalarNode) -> Raw:
    text: str = node.value
    if node.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) < _MOST_DIGITS and _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _place(source: SourceText, node: yaml.Node) -> errors.Location:
    start, end = node.start_mark.index, node.end_mark.index
    return source.location(Span(start, max(end, start + 1)))
