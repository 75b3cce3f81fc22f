"""Every scenario on the oracle, in every regime. The expectations were worked out by hand, from semantics.md."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.oracle.playing import SCENARIOS, differences
from tests.oracle.regimes import REGIMES
from tests.oracle.sensitive import SENSITIVE
from tidegate.errors import TidegateError
from tidegate.scenarios.loader import load
from tidegate.scenarios.steps import Scenario

FILES = sorted(SCENARIOS.glob("**/*.yaml"))


def name_of(path: Path) -> str:
    return path.relative_to(SCENARIOS).with_suffix("").as_posix()


@cache
def loaded(path: Path) -> Scenario:
    return load(path)


def runs() -> Iterator[object]:
    """Every file in every regime that must not change it; a refused query does not run."""
    for path in FILES:
        name = name_of(path)
        for regime in REGIMES if runs_at_all(path) else ("whole",):
            if regime not in SENSITIVE.get(name, ()):
                yield pytest.param(path, regime, id=f"{name}-{regime}")


def runs_at_all(path: Path) -> bool:
    try:
        return loaded(path).error is None
    except TidegateError:
        return False  # its test will tell


@pytest.mark.parametrize(("path", "regime"), list(runs()))
def test_the_oracle_agrees(path: Path, regime: str) -> None:
    assert differences(REGIMES[regime](loaded(path))) == []


def test_sensitive_scenarios_exist() -> None:
    assert SENSITIVE.keys() <= {name_of(path) for path in FILES}


@pytest.mark.parametrize("name", SENSITIVE)
def test_sensitive_scenarios_differ(name: str) -> None:
    """A regime is left out only where it does change the outcome."""
    scenario = loaded(SCENARIOS / f"{name}.yaml")
    for regime in SENSITIVE[name]:
        assert differences(REGIMES[regime](scenario)) != [], regime


def test_every_name_is_used_once() -> None:
    names = [loaded(path).name for path in FILES]
    assert len(set(names)) == len(names)
