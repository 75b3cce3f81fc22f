"""Every scenario on the in-process engine, in every way of running it, with the conservation law behind each.

A scenario that needs what the engine refuses is refused; it starts to run by itself when that is there.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.local.ways import WAYS, Travelling
from tests.oracle.playing import planned
from tests.oracle.sensitive import SENSITIVE
from tests.oracle.test_scenarios import FILES, loaded, name_of, runs_at_all
from tidegate.errors import TidegateError
from tidegate.plan.physical import Stage
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.scenarios.runner import play

SHORT = ("whole",)
NOT_YET = "TG-7001"


def runs() -> Iterator[object]:
    for path in FILES:
        name = name_of(path)
        for way, how in WAYS.items():
            if runs_at_all(path) and how.sensitive_as not in SENSITIVE.get(name, ()):
                marks = () if way in SHORT else (pytest.mark.thorough,)
                yield pytest.param(path, way, id=f"{name}-{way}", marks=marks)


def is_beyond(stage: Stage) -> bool:
    """Whether the stage needs what may be refused."""
    return stage.option("dedup_key") is not None


def subject_of(program: Program, way: str, place: Path) -> Travelling | None:
    """None if the program is refused, and may be."""
    stages = [stage for query in program.queries for stage in plan_query(query, program).stages]
    if not any(map(is_beyond, stages)):
        return Travelling(program, WAYS[way], place)
    with pytest.raises(TidegateError) as refused:
        Travelling(program, WAYS[way], place)
    assert refused.value.code == NOT_YET
    return None


@pytest.mark.parametrize(("path", "way"), list(runs()))
def test_the_engine_agrees(path: Path, way: str, tmp_path: Path) -> None:
    scenario = WAYS[way].regime(loaded(path))
    program = planned(scenario)
    subject = subject_of(program, way, tmp_path)
    if subject is None:
        return
    assert play(scenario, program, subject) == []
    subject.check_conservation()
    subject.engine.close()
