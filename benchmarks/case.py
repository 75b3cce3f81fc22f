"""What a benchmark is: something of ours, something to compare it with, and how far apart they should be."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from time import perf_counter


class Bound(StrEnum):
    """How a target limits a figure of ours."""

    AT_LEAST_TIMES = "at least so many times the baseline"
    AT_MOST_TIMES = "at most so many times the baseline"
    AT_MOST_ABOVE = "at most so much above the baseline"
    AT_MOST = "at most that, whatever the baseline"


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be reached, and what is aimed at."""

    bound: Bound
    to_reach: float
    aim: float

    @property
    def more_is_better(self) -> bool:
        return self.bound is Bound.AT_LEAST_TIMES

    def limit(self, figure: float, baseline: float) -> float:
        """The value of ours at which the figure is met."""
        match self.bound:
            case Bound.AT_LEAST_TIMES | Bound.AT_MOST_TIMES:
                return figure * baseline
            case Bound.AT_MOST_ABOVE:
                return figure + baseline
            case Bound.AT_MOST:
                return figure


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: a part of the rows, and how often."""

    share: float
    repeats: int

    def of(self, count: int, *, least: int = 1) -> int:
        return max(least, int(count * self.share))


FULL = Scale(share=1.0, repeats=7)
QUICK = Scale(share=0.3, repeats=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Both values in the case's unit; `baseline` says what was compared with."""

    ours: float
    baseline: str
    baseline_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out. `to_reach` and `aim` are values of ours."""

    case: str
    unit: str
    baseline: str
    ours: float
    baseline_value: float
    to_reach: float
    aim: float
    more_is_better: bool = False

    @property
    def ratio(self) -> float:
        """Ours in terms of the baseline."""
        return self.ours / self.baseline_value

    @property
    def holds(self) -> bool:
        return self._meets(self.to_reach)

    @property
    def meets_aim(self) -> bool:
        return self._meets(self.aim)

    def _meets(self, limit: float) -> bool:
        return self.ours >= limit if self.more_is_better else self.ours <= limit

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`name` is what `--only` takes."""

    name: str
    about: str
    unit: str
    target: Target
    measure: Callable[[Scale], Measured]

    def run(self, scale: Scale) -> Result:
        found = self.measure(scale)
        return Result(
            case=self.name,
            unit=self.unit,
            baseline=found.baseline,
            ours=found.ours,
            baseline_value=found.baseline_value,
            to_reach=self.target.limit(self.target.to_reach, found.baseline_value),
            aim=self.target.limit(self.target.aim, found.baseline_value),
            more_is_better=self.target.more_is_better,
        )


def in_turn(contestants: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """The median of what each gives, after a first round that does not count. They take turns, so that a noisy
    minute of the machine hits all of them."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(repeats + 1):
        for name, run in contestants.items():
            value = run()
            if number:
                found[name].append(value)
    return {name: median(values) for name, values in found.items()}


def seconds(work: Callable[[], object]) -> Callable[[], float]:
    """How long a call takes."""

    def timed() -> float:
        begun = perf_counter()
        work()
        return perf_counter() - begun

    return timed
