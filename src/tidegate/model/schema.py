"""Columns of a relation, and how a name finds one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tidegate.model.expressions import Named
from tidegate.model.types import DataType


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.type}{'' if self.nullable else ' NOT NULL'}"


@dataclass(frozen=True, slots=True)
class Schema:
    columns: tuple[Column, ...]
    _places: dict[str, list[int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def find(self, name: str) -> Column | None:
        """By exact name first; otherwise regardless of case, where that is not ambiguous."""
        if not self._places:  # once, because a wide relation is asked for every column
            for place, column in enumerate(self.columns):
                self._places.setdefault(column.name.lower(), []).append(place)
        loose = [self.columns[place] for place in self._places.get(name.lower(), ())]
        exact = [column for column in loose if column.name == name]
        if exact:
            return exact[0]
        return loose[0] if len(loose) == 1 else None


def schema_of(columns: Iterable[Named]) -> Schema:
    """The schema that these expressions make."""
    return Schema(tuple(Column(named.name, named.expr.type) for named in columns))
