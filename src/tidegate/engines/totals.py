"""What became of all rows of a run, in numbers (semantics §8)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate.engines.stage import Made


@dataclass(slots=True)
class Totals:
    """Counts of a run, kept with the state, so that they are those of all its epochs."""

    read: Counter[str] = field(default_factory=Counter)
    malformed: Counter[str] = field(default_factory=Counter)
    emitted: Counter[str] = field(default_factory=Counter)
    rows_by_code: dict[str, Counter[int]] = field(default_factory=dict)
    broken: dict[str, Counter[int]] = field(default_factory=dict)
    stamped: Counter[str] = field(default_factory=Counter)
    delivered: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, stage: str, made: Made) -> None:
        """Every row must have become something (semantics §8)."""
        accounted = made.rows_by_code.total()
        assert made.rows_in in (None, accounted), (stage, made.rows_in, made.rows_by_code)
        self.rows_by_code.setdefault(stage, Counter()).update(made.rows_by_code)
        self.broken.setdefault(stage, Counter()).update(made.broken)
        self.stamped[stage] += made.stamped
        self.emitted[stage] += made.emitted.visible.rows.num_rows

    def facts(self) -> dict[str, Any]:
        return {
            "read": dict(self.read),
            "malformed": dict(self.malformed),
            "emitted": dict(self.emitted),
            "rows_by_code": {name: dict(counts) for name, counts in self.rows_by_code.items()},
            "broken": {name: dict(counts) for name, counts in self.broken.items()},
            "stamped": dict(self.stamped),
            "delivered": dict(self.delivered),
            "dropped": dict(self.dropped),
        }

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Totals":
        def by_code(counts: Mapping[str, Mapping[str, int]]) -> dict[str, Counter[int]]:
            return {
                name: Counter({int(code): rows for code, rows in given.items()})
                for name, given in counts.items()
            }

        return cls(
            Counter(facts["read"]),
            Counter(facts["malformed"]),
            Counter(facts["emitted"]),
            by_code(facts["rows_by_code"]),
            by_code(facts["broken"]),
            Counter(facts["stamped"]),
            Counter(facts["delivered"]),
            Counter(facts["dropped"]),
        )
