"""Ways of playing one scenario that must not change its outcome."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tidegate.scenarios.steps import Checkpoint, Insert, Restart, Scenario, Step

Regime = Callable[[Scenario], Scenario]


def whole(scenario: Scenario) -> Scenario:
    return scenario


def row_by_row(scenario: Scenario) -> Scenario:
    """Every row a batch of its own."""

    def split(step: Step) -> Iterator[Step]:
        if isinstance(step, Insert) and step.rows:
            yield from (replace(step, rows=(row,)) for row in step.rows)
        else:
            yield step

    return replace(scenario, steps=tuple(part for step in scenario.steps for part in split(step)))


def backwards(scenario: Scenario) -> Scenario:
    """The rows of each batch in the opposite order."""

    def turned(step: Step) -> Step:
        return replace(step, rows=step.rows[::-1]) if isinstance(step, Insert) else step

    return replace(scenario, steps=tuple(map(turned, scenario.steps)))


def restarted(scenario: Scenario) -> Scenario:
    """A checkpoint and a restart behind every step."""
    steps = (
        part
        for step in scenario.steps
        for part in (step, Checkpoint(line=step.line), Restart(line=step.line))
    )
    return replace(scenario, steps=tuple(steps))


REGIMES: dict[str, Regime] = {
    "whole": whole,
    "rows": row_by_row,
    "backwards": backwards,
    "restarted": restarted,
}
