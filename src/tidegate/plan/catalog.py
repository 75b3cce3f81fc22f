"""What exists: sources, tables, streams and sinks, by name.

Names are compared regardless of case; definitions are immutable. A name that a refused statement would have defined is
`broken`: whatever depends on it is left alone, so that one mistake gives one message.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidegate import errors
from tidegate.model.expressions import Expr, Named
from tidegate.model.options import OptionValue
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.logical import Logical


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """`WATERMARK FOR column [AS column - lag]`; `lag_us` None leaves the watermark to the source."""

    expr: Expr
    column: str
    lag_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDef:
    """`physical` is what the connector delivers; `columns` adds the computed ones, in the order they were written.

    `metadata` says of physical columns that are not part of a record by what key they come beside it.
    """

    name: str
    physical: Schema
    columns: tuple[Named, ...]
    not_null: frozenset[str]
    watermark: Declared | None
    connector: str
    options: dict[str, OptionValue] = field(hash=False)
    metadata: dict[str, str] = field(default_factory=dict, hash=False)
    text: str = ""

    kind = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDef:
    name: str
    physical: Schema
    columns: tuple[Named, ...]
    connector: str
    options: dict[str, OptionValue] = field(hash=False)
    text: str = ""

    kind = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDef:
    """A planned stream. `stateless` ones are read through: a query on them is a query on what they read."""

    name: str
    logical: Logical
    output: Schema
    stream_kind: StreamKind
    emission: str
    stateless: bool
    reads: frozenset[str]
    options: dict[str, OptionValue] = field(hash=False)
    text: str = ""

    kind = "stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkDef:
    """`stream` None: it takes side outputs, from whatever names it in a route."""

    name: str
    stream: str | None
    connector: str
    options: dict[str, OptionValue] = field(hash=False)
    text: str = ""

    kind = "sink"


Definition = SourceDef | TableDef | StreamDef | SinkDef


class BrokenName(Exception):
    """A statement depends on one that was refused; the refusal has been reported already."""


class Catalog:
    """The definitions of a session, in the order they were made."""

    def __init__(self, broken: Iterable[str] = ()) -> None:
        self._definitions: dict[str, Definition] = {}
        self.broken = set(broken)

    def copy(self) -> "Catalog":
        """The same definitions; what is added to the one is not in the other."""
        made = Catalog(self.broken)
        made._definitions = dict(self._definitions)
        return made

    def find(self, name: str) -> Definition | None:
        if name.lower() not in self._definitions and name.lower() in self.broken:
            raise BrokenName(name)
        return self._definitions.get(name.lower())

    def add(self, definition: Definition) -> None:
        self._definitions[definition.name.lower()] = definition
        self.broken.discard(definition.name.lower())

    def remove(self, name: str) -> None:
        del self._definitions[name.lower()]

    def all_of(self, kind: str) -> list[Definition]:
        return [definition for definition in self._definitions.values() if definition.kind == kind]

    def readers(self, name: str) -> list[str]:
        """Streams and sinks that read the named definition."""
        lowered = name.lower()
        return [
            definition.name
            for definition in self._definitions.values()
            if (isinstance(definition, StreamDef) and lowered in definition.reads)
            or (isinstance(definition, SinkDef) and (definition.stream or "").lower() == lowered)
        ]

    def path(self, reads: Iterable[str], name: str) -> tuple[str, ...]:
        """By what names one who reads these would read the stream too, which CREATE OR REPLACE may define anew."""
        seen: set[str] = set()
        paths: list[tuple[str, ...]] = [(read,) for read in sorted(reads)]
        while paths:
            *before, last = path = paths.pop()
            if last == name.lower():
                return (*before, name)
            definition = self._definitions.get(last)
            if isinstance(definition, StreamDef) and last not in seen:
                seen.add(last)
                paths += [(*path, read) for read in sorted(definition.reads)]
        return ()

    def suggestion(self, name: str) -> str:
        known = [
            definition.name
            for definition in self._definitions.values()
            if definition.kind != "sink"
        ]
        otherwise = (
            f"there are {', '.join(known[:8])}" if known else "create it first: CREATE SOURCE …"
        )
        return errors.nearest(name, known, otherwise=otherwise)
