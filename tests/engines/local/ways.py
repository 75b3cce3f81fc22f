"""Ways of running one program in process that must not change what comes out: lanes, restarts, logs.

A `Way` is what a regime of `tests/oracle/regimes.py` is to a scenario, and besides: on how many lanes row SQL runs, and
what a restart goes on with. Lanes cut every batch, however small.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path

from tests.oracle.regimes import REGIMES, Regime, whole
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.stage import Made
from tidegate.engines.subject import Build, ScenarioSubject
from tidegate.plan.physical import InputKind, Stage
from tidegate.plan.script import Program
from tidegate.scenarios.steps import Checkpoint, Clock, Insert, Restart, Scenario, Step, Watermark
from tidegate.state import Identity, Log, MemoryLog, open_log


@cache
def lanes(number: int) -> Workers:
    """Workers that give each of so many lanes its rows, if there are that many rows."""
    return Workers(number, worth=1)


def on_lanes(number: int) -> Build:
    """Engines in process with so many lanes."""

    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(program, around, workers=lanes(number))

    return build


@dataclass(frozen=True)
class Way:
    """`lanes` of the first engine, the second, …; `sensitive_as`: the regime whose exceptions hold here, too."""

    regime: Regime = whole
    sensitive_as: str = "whole"
    lanes: tuple[int, ...] = (1,)
    on_disk: bool = False


def cut(scenario: Scenario) -> Scenario:
    """The rows of each batch in batches of random sizes, the same in every run."""
    draw = random.Random(scenario.name)

    def pieces(step: Step) -> Iterator[Step]:
        if not isinstance(step, Insert) or not step.rows:
            yield step
            return
        rows = step.rows
        while rows:
            size = draw.randint(1, len(rows))
            yield replace(step, rows=rows[:size])
            rows = rows[size:]

    return replace(scenario, steps=tuple(part for step in scenario.steps for part in pieces(step)))


def restarting(*, checkpoint_every: int) -> Regime:
    """A restart behind every epoch, so that what lies behind the last checkpoint is replayed."""

    def regime(scenario: Scenario) -> Scenario:
        numbers = count(1)

        def parts(step: Step) -> Iterator[Step]:
            yield step
            if isinstance(step, (Insert, Watermark, Clock)):
                if checkpoint_every and next(numbers) % checkpoint_every == 0:
                    yield Checkpoint(line=step.line)
                yield Restart(line=step.line)

        return replace(
            scenario, steps=tuple(part for step in scenario.steps for part in parts(step))
        )

    return regime


WAYS: dict[str, Way] = {
    **{name: Way(regime, name) for name, regime in REGIMES.items()},
    "cut": Way(cut, "rows"),
    "lanes": Way(lanes=(3,)),
    "replayed": Way(restarting(checkpoint_every=0)),
    "restarted on other lanes": Way(restarting(checkpoint_every=2), lanes=(3, 1, 2)),
    "restarted from disk": Way(restarting(checkpoint_every=3), lanes=(1, 3), on_disk=True),
}


class Travelling(ScenarioSubject):
    """A subject that restarts as its way says, and counts what its stages hand on."""

    def __init__(self, program: Program, way: Way, place: Path) -> None:
        self._way, self._place = way, place
        self._starts = 0
        self.handed_on: Counter[str] = Counter()
        super().__init__(program, self._next, log=self._new_log())

    @property
    def _next(self) -> Build:
        return on_lanes(self._way.lanes[self._starts % len(self._way.lanes)])

    def _new_log(self) -> Log:
        identity = Identity(plans={})
        return (
            open_log(self._place, identity=identity) if self._way.on_disk else MemoryLog(identity)
        )

    def restart(self, *, build: Build | None = None, log: Log | None = None) -> None:
        self._starts += 1
        self.engine.close()
        again = self._new_log() if self._way.on_disk else None
        super().restart(build=build or self._next, log=log or again)

    def _watch(self, stage: str, made: Made) -> None:
        self.handed_on[stage] += made.emitted.rows.num_rows
        super()._watch(stage, made)

    def check_conservation(self) -> None:
        """Each row that a stage read is in exactly one place (semantics §8)."""
        totals = self.engine.totals
        for running in self.engine.dataflow.stages:
            stage = running.stage
            counts = totals.rows_by_code.get(stage.name, Counter())
            assert all(rows >= 0 for rows in counts.values()), (stage.name, counts)
            if not any(branch.lookups for branch in stage.branches):
                assert counts.total() == self._read(stage), (stage.name, counts)

    def _read(self, stage: Stage) -> int:
        names = [(branch.input.kind, branch.input.name) for branch in stage.branches]
        return sum(
            self.engine.totals.read[name.lower()]
            if kind is InputKind.SOURCE
            else self.handed_on[name]
            for kind, name in names
        )
