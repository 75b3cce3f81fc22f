"""Row relations: what is computed per row, as a small relational tree that both engines' SQL is rendered from.

`plan/row_sql.py` builds them, `sql/relations.py` renders them. A relation is evaluated over one micro-batch of one
input, which goes by the name in `Scan`.
"""

from dataclasses import dataclass

from tidegate.model.expressions import Expr, Field, Named
from tidegate.model.partials import PartialSpec


@dataclass(frozen=True, slots=True)
class Scan:
    """A batch, or a static table. `columns` pairs the name in the relation with the name in the batch."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Derive:
    """SELECT exactly these columns."""

    input: "Relation"
    columns: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Rows for which the predicate is true."""

    input: "Relation"
    predicate: Expr


@dataclass(frozen=True, slots=True)
class Lookup:
    """Every row of the left side, with the matching rows of a table, or NULLs."""

    input: "Relation"
    table: "Relation"
    on: Expr


@dataclass(frozen=True, slots=True)
class Expand:
    """Each row `count` times, numbered from 0 in the column `number`."""

    input: "Relation"
    number: str
    count: int


@dataclass(frozen=True, slots=True)
class NamedPartial:
    name: str
    spec: PartialSpec


@dataclass(frozen=True, slots=True)
class Group:
    """One row per different combination of the keys, with partial aggregates."""

    input: "Relation"
    keys: tuple[Field, ...]
    partials: tuple[NamedPartial, ...]


Relation = Scan | Derive | Keep | Lookup | Expand | Group
