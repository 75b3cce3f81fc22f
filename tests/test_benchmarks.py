"""The benchmark runner; what it measures is for `make bench`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import __main__ as runner
from benchmarks.case import Case, Result


def result(*, ours: float = 20, to_reach: float = 30, more_is_better: bool = False) -> Result:
    return Result(
        case="made_up",
        baseline="theirs",
        ours=ours,
        baseline_value=10,
        to_reach=to_reach,
        aim="thirty",
        unit="ms",
        more_is_better=more_is_better,
    )


@pytest.mark.parametrize(
    ("ours", "to_reach", "more_is_better", "holds"),
    [(20, 30, False, True), (40, 30, False, False), (20, 30, True, False), (40, 30, True, True)],
)
def test_an_aim_holds_from_its_own_side(
    ours: float, to_reach: float, more_is_better: bool, holds: bool
) -> None:
    assert result(ours=ours, to_reach=to_reach, more_is_better=more_is_better).holds is holds


def test_the_runner_prints_writes_and_exits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[bool] = []

    def measure(quick: bool) -> Result:
        asked.append(quick)
        return result(ours=40)

    monkeypatch.setattr(runner, "CASES", (Case("made_up", measure),))
    written = tmp_path / "results.json"
    assert runner.main(["--quick", "--json", str(written)]) == 1
    assert asked == [True]
    assert capsys.readouterr().out == (
        "case     ours   baseline        ratio  aim     holds\n"
        "made_up  40 ms  10 ms (theirs)  4.00   thirty  NO\n"
    )
    assert json.loads(written.read_text()) == [
        {
            "case": "made_up",
            "baseline": "theirs",
            "ours": 40,
            "baseline_value": 10,
            "ratio": 4.0,
            "to_reach": 30,
            "aim": "thirty",
            "holds": False,
        }
    ]


def test_cases_have_different_names() -> None:
    names = [case.name for case in runner.CASES]
    assert len(names) == len(set(names))


def test_planning_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(work: Callable[[], object], _repetitions: int) -> float:
        work()
        return 1.0

    monkeypatch.setattr("benchmarks.planning.typical_ms", once)
    assert runner.main(["--only", "planning", "--quick"]) == 0
