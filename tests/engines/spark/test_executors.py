"""State on executors: the same rows as everywhere, whatever becomes of shards, tasks and runs.

Scenarios run with three shards, most of which have nothing to do in most epochs. An epoch costs much more than what
tasks do in it here, so only some scenarios are part of the usual run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.engines.local.ways import WAYS, Travelling, Way, on_lanes
from tests.engines.spark.test_scenarios import changing, files
from tests.oracle.playing import planned
from tests.oracle.test_scenarios import loaded, name_of
from tidegate.engines.engine import Surroundings
from tidegate.engines.spark.build import spark_build
from tidegate.engines.subject import Build
from tidegate.model.options import OptionValue
from tidegate.plan.planner import plan_query
from tidegate.plan.rules.placement import AUTO, DRIVER, EXECUTORS
from tidegate.plan.script import Program
from tidegate.scenarios.runner import play

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

_USUAL = (
    "aggregates/sum-is-exact",
    "emit/after-watermark",
    "emit/every-session-closes-grown",
    "emit/changes",
    "errors/overflow-recovers",
    "cascades/union-of-windows",
    "groups/keys-of-every-type",
    "groups/zeros-and-nans",
    "joins/several-matches",
    "lateness/hopping-partly",
    "lateness/session-with-lateness",
)


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where state is in a run, in the next one, …; None is the in-process engine."""

    runs: tuple[tuple[str, int] | None, ...] = ((EXECUTORS, 3),)
    driver_state: int = 1


def build_at(place: tuple[str, int] | None, driver_state: int) -> Build:
    if place is None:
        return on_lanes(2)
    state, shards = place

    def build(program: Program, around: Surroundings) -> object:
        made = program.copy()
        spark: dict[str, OptionValue] = {
            "state": state,
            "shards": shards,
            "driver_state": driver_state,
        }
        made.settings = replace(program.settings, spark=spark)
        return spark_build()(made, around)

    return build  # type: ignore[return-value]


class Placed(Travelling):
    """Restarts with its state elsewhere."""

    def __init__(self, program: Program, way: Way, place: Path, places: Places) -> None:
        self._places = places
        super().__init__(program, way, place)

    @property
    def _next(self) -> Build:
        runs = self._places.runs
        return build_at(runs[self._starts % len(runs)], self._places.driver_state)


ON_DISK = replace(WAYS["whole"], on_disk=True)
RESTARTED = WAYS["restarted from disk"]
JOURNEYS = {
    "other numbers of shards": Places(runs=((EXECUTORS, 3), (EXECUTORS, 1), (EXECUTORS, 4))),
    "the engine in process and back": Places(runs=((EXECUTORS, 2), None)),
    "the driver and back": Places(runs=((DRIVER, 2), (AUTO, 3))),
}
_USUAL_RESTARTED = (
    "emit/changes",
    "emit/every-session-closes-grown",
    "lateness/session-with-lateness",
)


def agree(path: Path, way: Way, tmp_path: Path, places: Places) -> None:
    scenario = loaded(path)
    program = planned(scenario)
    if not may_move(program):
        pytest.skip("nothing of it may leave the driver")
    subject = Placed(program, way, tmp_path, places)
    assert play(way.regime(scenario), program, subject) == []
    subject.check_conservation()
    subject.engine.close()


def may_move(program: Program) -> bool:
    made = program.copy()
    made.settings = replace(program.settings, spark={"state": EXECUTORS})
    stages = [stage for query in made.queries for stage in plan_query(query, made).stages]
    return any(stage.placement == EXECUTORS for stage in stages)


def some_slow(paths: Iterator[Path]) -> Iterator[object]:
    for path in paths:
        name = name_of(path)
        yield pytest.param(path, id=name, marks=() if name in _USUAL else (pytest.mark.slow,))


@pytest.mark.parametrize("path", list(some_slow(files())))
def test_shards_agree(path: Path, tmp_path: Path, spark: SparkSession) -> None:
    agree(path, ON_DISK, tmp_path, Places())


def restarting() -> Iterator[object]:
    """The scenarios that restarts leave alone; each makes one of the journeys."""
    for param, journey in zip(changing(), cycle(JOURNEYS), strict=False):
        (path,) = param.values  # type: ignore[attr-defined]
        name = name_of(path)
        marks = () if name in _USUAL_RESTARTED else (pytest.mark.slow,)
        yield pytest.param(path, journey, id=f"{name}-{journey}", marks=marks)


@pytest.mark.parametrize(("path", "journey"), list(restarting()))
def test_restarts_elsewhere(path: Path, journey: str, tmp_path: Path, spark: SparkSession) -> None:
    agree(path, RESTARTED, tmp_path, JOURNEYS[journey])
