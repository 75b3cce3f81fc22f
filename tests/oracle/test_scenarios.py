"""Every scenario on the oracle, in every regime. The expectations were worked out by hand, from semantics.md."""

from functools import cache
from pathlib import Path

import pytest

from tests.oracle.playing import SCENARIOS, differences
from tests.oracle.regimes import REGIMES
from tests.oracle.sensitive import SENSITIVE
from tidegate.scenarios.loader import load
from tidegate.scenarios.steps import Scenario

FILES = sorted(SCENARIOS.glob("**/*.yaml"))


def name_of(path: Path) -> str:
    return path.relative_to(SCENARIOS).with_suffix("").as_posix()


@cache
def loaded(path: Path) -> Scenario:
    return load(path)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_oracle_agrees(path: Path, regime: str) -> None:
    scenario = loaded(path)
    if regime != "whole" and scenario.error is not None:
        pytest.skip("a refused query does not run")
    if regime in SENSITIVE.get(name_of(path), ()):
        pytest.skip("the rule is about batches, or about arrival")
    assert differences(REGIMES[regime](scenario)) == []


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
