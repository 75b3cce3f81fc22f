"""One scenario on one engine, and what came of it.

In: a scenario and what builds the engine. Out: an outcome with what there is to say, never an exception.

Decided here: a file that says what cannot be (wrong key, a value that is none of its column) is malformed, whenever
that is found out. What Tidegate refuses to plan or to run is a failed scenario, unless it is the refusal that the
scenario expects. Anything else that is raised is an error of ours.
"""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tidegate import config, errors
from tidegate.engines.subject import Build, ScenarioSubject
from tidegate.errors import Location, TidegateError
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.scenarios.config import document
from tidegate.scenarios.runner import error_differences, play
from tidegate.scenarios.steps import Scenario
from tidegate.sql.carets import describe
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

_MALFORMED = (errors.bad_scenario.code, errors.unknown_scenario_key.code)


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of a scenario. `malformed`: the file is to blame, whatever the engine."""

    file: str
    name: str
    engine: str
    outcome: Outcome
    seconds: float = 0.0
    message: str = ""
    malformed: bool = False


def unreadable(file: str, engine: str, problem: BaseException) -> Trial:
    """A file that holds no scenario."""
    ours = isinstance(problem, TidegateError)
    return Trial(
        file=file,
        name="",
        engine=engine,
        outcome=Outcome.ERROR,
        message=_told(problem),
        malformed=ours,
    )


def attempt(scenario: Scenario, engine: str, build: Build) -> Trial:
    """Plays the scenario, if it is meant for the engine."""
    if engine not in scenario.engines:
        message = f"not for {engine}: engines are {', '.join(scenario.engines)}"
        return _trial(scenario, engine, Outcome.SKIPPED, message)
    began = time.perf_counter()
    outcome, message, malformed = _outcome(scenario, build)
    seconds = time.perf_counter() - began
    return _trial(scenario, engine, outcome, message, seconds=seconds, malformed=malformed)


def _trial(
    scenario: Scenario,
    engine: str,
    outcome: Outcome,
    message: str,
    *,
    seconds: float = 0.0,
    malformed: bool = False,
) -> Trial:
    return Trial(
        file=scenario.file,
        name=scenario.name,
        engine=engine,
        outcome=outcome,
        seconds=seconds,
        message=message,
        malformed=malformed,
    )


def _outcome(scenario: Scenario, build: Build) -> tuple[Outcome, str, bool]:
    try:
        different = _differences(scenario, build)
    except TidegateError as refusal:
        if refusal.code in _MALFORMED:
            return Outcome.ERROR, describe(refusal), True
        return Outcome.FAILED, f"{scenario.file}: {describe(refusal)}", False
    except Exception as failure:  # one scenario must not end the run of all others
        return Outcome.ERROR, f"{scenario.file}: {_told(failure)}", False
    if different:
        return Outcome.FAILED, "\n".join(different), False
    return Outcome.PASSED, "", False


def _differences(scenario: Scenario, build: Build) -> list[str]:
    program = _planned(scenario)
    if scenario.error is not None:
        return error_differences(scenario, program.errors or _refused_by(program, build))
    if program.errors:
        return [_unexpected(scenario, program.errors)]
    subject = ScenarioSubject(program, build)
    try:
        return play(scenario, program, subject)
    finally:
        subject.engine.close()


def _planned(scenario: Scenario) -> Program:
    source = SourceText(scenario.sql, scenario.sql_name)
    return plan_script(parse_script(source), _settings(scenario))


def _settings(scenario: Scenario) -> Settings:
    loaded = config.checked(document(scenario.config), file="config")
    if loaded.errors:
        first = loaded.errors[0]
        raise errors.bad_scenario(_config_line(scenario), problem=first.message, hint=first.hint)
    return loaded.settings


def _config_line(scenario: Scenario) -> Location:
    lines = scenario.text.splitlines()
    return scenario.place(
        next((n for n, line in enumerate(lines, 1) if line.startswith("config")), 1)
    )


def _refused_by(program: Program, build: Build) -> Sequence[TidegateError]:
    """What is refused behind binding: when a query is planned to the end, and when the engine takes it."""
    try:
        for query in program.queries:
            plan_query(query, program)
        ScenarioSubject(program, build).engine.close()
    except TidegateError as refusal:
        return [refusal]
    return []


def _unexpected(scenario: Scenario, refused: Sequence[TidegateError]) -> str:
    texts = [f"{scenario.file}: the query is refused", *map(describe, refused)]
    return "\n".join(texts)


def _told(problem: BaseException) -> str:
    if isinstance(problem, TidegateError):
        return describe(problem)
    return "".join(traceback.format_exception(problem)).rstrip()
