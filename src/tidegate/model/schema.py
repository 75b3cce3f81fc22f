"""Columns of a relation, and how a name finds one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def find(self, name: str) -> Column | None:
        """By exact name first; otherwise regardless of case, where that is not ambiguous."""
        exact = [column for column in self.columns if column.name == name]
        loose = [column for column in self.columns if column.name.lower() == name.lower()]
        if exact:
            return exact[0]
        return loose[0] if len(loose) == 1 else None


def schema_of(columns: Iterable[Named]) -> Schema:
    """The schema that these expressions make."""
    return Schema(tuple(Column(named.name, named.expr.type) for named in columns))
