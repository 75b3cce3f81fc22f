"""Duplicates: a `dedup_key` seen within `dedup_within`, in event time, counted from the row that was kept."""

from dataclasses import dataclass, field

from tests.oracle.arrivals import Arrival
from tests.oracle.values import Value, identity


@dataclass
class Seen:
    """`within_us` None: forever."""

    columns: tuple[str, ...] = ()
    within_us: int | None = None
    kept: dict[Value, list[int | None]] = field(default_factory=dict)

    def is_duplicate(self, arrival: Arrival) -> bool:
        """Also remembers the row, if it is none. NULL is a value like any other."""
        if not self.columns:
            return False
        known = {name.lower(): value for name, value in arrival.original.items()}
        key = identity([known[column] for column in self.columns])
        times = self.kept.setdefault(key, [])
        if any(self._near(arrival.ts_us, time) for time in times):
            return True
        times.append(arrival.ts_us)
        return False

    def _near(self, one: int | None, other: int | None) -> bool:
        if self.within_us is None or one is None or other is None:
            return True
        return abs(one - other) <= self.within_us
