"""What a benchmark is: something of ours, something to compare it with, and how far apart they should be."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out. Values are in the case's unit; `to_reach` is the value of ours at which the aim is met."""

    case: str
    baseline: str
    ours: float
    baseline_value: float
    to_reach: float
    aim: str
    unit: str
    more_is_better: bool = False

    @property
    def ratio(self) -> float:
        """Ours in terms of the baseline."""
        return self.ours / self.baseline_value

    @property
    def holds(self) -> bool:
        return self.ours >= self.to_reach if self.more_is_better else self.ours <= self.to_reach

    def as_object(self) -> dict[str, object]:
        return {
            "case": self.case,
            "baseline": self.baseline,
            "ours": self.ours,
            "baseline_value": self.baseline_value,
            "ratio": self.ratio,
            "to_reach": self.to_reach,
            "aim": self.aim,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class Case:
    """A name for `--only`, and the measurement; `quick` asks for few repetitions."""

    name: str
    measure: Callable[[bool], Result]


def typical_ms(work: Callable[[], object], repetitions: int) -> float:
    """The median time of one call, after one that does not count."""
    work()
    times = []
    for _ in range(repetitions):
        begun = perf_counter()
        work()
        times.append(perf_counter() - begun)
    return median(times) * 1_000
