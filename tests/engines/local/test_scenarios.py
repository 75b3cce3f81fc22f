"""Every scenario on the in-process engine, in every way of running it, with the conservation law behind each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.local.ways import WAYS, Travelling
from tests.oracle.playing import planned
from tests.oracle.sensitive import SENSITIVE
from tests.oracle.test_scenarios import FILES, loaded, name_of, runs_at_all
from tidegate.scenarios.runner import play

SHORT = ("whole",)


def runs() -> Iterator[object]:
    for path in FILES:
        name = name_of(path)
        for way, how in WAYS.items():
            if runs_at_all(path) and how.sensitive_as not in SENSITIVE.get(name, ()):
                marks = () if way in SHORT else (pytest.mark.thorough,)
                yield pytest.param(path, way, id=f"{name}-{way}", marks=marks)


@pytest.mark.parametrize(("path", "way"), list(runs()))
def test_the_engine_agrees(path: Path, way: str, tmp_path: Path) -> None:
    scenario = WAYS[way].regime(loaded(path))
    program = planned(scenario)
    subject = Travelling(program, WAYS[way], tmp_path)
    assert play(scenario, program, subject) == []
    subject.check_conservation()
    subject.engine.close()
