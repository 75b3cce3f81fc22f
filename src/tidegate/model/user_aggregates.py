"""Aggregates that users write in Python: the triple of semantics §7, and what a query knows of it.

Decided here: the contract. `accumulate` and `merge` give the new state, or None, which means that they have changed
their first argument in place. `init` gives a fresh state each time. A state is plain data (`model/plain_data.py`).
`merge` is associative and commutative: which rows go through `accumulate` together, and which states are merged, is up
to batches and shards. Within a batch `accumulate` sees a group's rows by event time, then by value. Rows in which an
argument is NULL are left out; of no rows at all, the value is `finish(init())`.

Values come as Python's own: int, float, str, bool, bytes, `decimal.Decimal`, `datetime.date`, `datetime.datetime` in
UTC, list, dict for STRUCT, pairs for MAP; and `finish` gives its value as one of them (`model/python_values.py`).
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

from tidegate.model.types import DataType


class Aggregation(Protocol):
    """What a user's class has, besides `arguments` and `returns`, which name SQL types."""

    def init(self) -> Any: ...

    def accumulate(self, state: Any, /, *values: Any) -> Any: ...

    def merge(self, one: Any, other: Any, /) -> Any: ...

    def finish(self, state: Any, /) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAggregate:
    """A name (lower case), types, and the object that does it; two are the same if names and types are."""

    name: str
    arguments: tuple[DataType, ...]
    returns: DataType
    implementation: Aggregation = field(compare=False, repr=False)
