"""Every scenario on Spark; and on both engines in turn, each going on where the other has stopped.

Spark takes a second for what takes milliseconds in process, so only a few scenarios change engines in the usual run.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.engines.local.ways import WAYS, Travelling, Way, on_lanes
from tests.oracle.playing import planned
from tests.oracle.sensitive import SENSITIVE
from tests.oracle.test_scenarios import FILES, loaded, name_of, runs_at_all
from tidegate.engines.spark.build import spark_build
from tidegate.engines.subject import Build
from tidegate.scenarios.runner import play
from tidegate.scenarios.steps import Scenario

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

BETWEEN = replace(WAYS["restarted from disk"], lanes=(1, 2))
_USUAL = ("restart/", "cascades/", "joins/")


class Between(Travelling):
    """Restarts on the other engine."""

    @property
    def _next(self) -> Build:
        return spark_build() if self._starts % 2 == 0 else on_lanes(2)


class OnSpark(Travelling):
    """Stays."""

    @property
    def _next(self) -> Build:
        return spark_build()


def files() -> Iterator[Path]:
    return (path for path in FILES if runs_at_all(path))


def changing() -> Iterator[object]:
    for path in files():
        name = name_of(path)
        if BETWEEN.sensitive_as not in SENSITIVE.get(name, ()):
            marks = () if name.startswith(_USUAL) else (pytest.mark.slow,)
            yield pytest.param(path, id=name, marks=marks)


def agree(scenario: Scenario, kind: type[Travelling], way: Way, place: Path) -> None:
    program = planned(scenario)
    subject = kind(program, way, place)
    assert play(scenario, program, subject) == []
    subject.check_conservation()
    subject.engine.close()


@pytest.mark.parametrize("path", list(files()), ids=name_of)
def test_spark_agrees(path: Path, tmp_path: Path, spark: SparkSession) -> None:
    agree(loaded(path), OnSpark, WAYS["whole"], tmp_path)


@pytest.mark.parametrize("path", list(changing()))
def test_engines_go_on_with_each_other(path: Path, tmp_path: Path, spark: SparkSession) -> None:
    agree(BETWEEN.regime(loaded(path)), Between, BETWEEN, tmp_path)
