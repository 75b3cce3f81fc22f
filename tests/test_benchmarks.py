"""The benchmark runner, and that every case still measures something; the figures are for `make bench`."""

import json
from pathlib import Path

import pytest

from benchmarks import __main__ as runner
from benchmarks.case import FULL, QUICK, Bound, Case, Measured, Result, Scale, Target, in_turn

TINY = Scale(share=0.0005, repeats=1)


def case(
    *, ours: float = 20, target: Target | None = None, asked: list[Scale] | None = None
) -> Case:
    def measure(scale: Scale) -> Measured:
        if asked is not None:
            asked.append(scale)
        return Measured(ours=ours, baseline="theirs", baseline_value=10)

    return Case(
        name="made_up",
        about="nothing",
        unit="ms",
        target=target or Target(Bound.AT_MOST, 30, 5),
        measure=measure,
    )


@pytest.mark.parametrize(
    ("bound", "to_reach", "aim", "ours", "holds", "meets_aim"),
    [
        (Bound.AT_MOST, 30, 15, 20, True, False),
        (Bound.AT_MOST, 30, 25, 40, False, False),
        (Bound.AT_MOST_TIMES, 3, 2, 20, True, True),
        (Bound.AT_MOST_TIMES, 3, 2, 31, False, False),
        (Bound.AT_MOST_ABOVE, 15, 5, 20, True, False),
        (Bound.AT_MOST_ABOVE, 15, 5, 26, False, False),
        (Bound.AT_LEAST_TIMES, 2, 4, 20, True, False),
        (Bound.AT_LEAST_TIMES, 2, 4, 19, False, False),
        (Bound.AT_LEAST_TIMES, 2, 4, 40, True, True),
    ],
)
def test_a_target_holds_from_its_own_side(
    bound: Bound, to_reach: float, aim: float, ours: float, holds: bool, meets_aim: bool
) -> None:
    result = case(ours=ours, target=Target(bound, to_reach, aim)).run(TINY)
    assert (result.holds, result.meets_aim) == (holds, meets_aim)


def test_contestants_take_turns_and_the_first_round_does_not_count() -> None:
    order: list[str] = []

    def contestant(name: str, *values: float) -> float:
        order.append(name)
        return values[order.count(name) - 1]

    found = in_turn(
        {"a": lambda: contestant("a", 99, 1, 5, 2), "b": lambda: contestant("b", 0, 7, 7, 9)}, 3
    )
    assert found == {"a": 2, "b": 7}
    assert order == ["a", "b"] * 4


def test_the_runner_prints_writes_and_exits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Scale] = []
    monkeypatch.setattr(runner, "CASES", (case(ours=40, asked=asked),))
    written = tmp_path / "results.json"
    assert runner.main(["--quick", "--json", str(written)]) == 1
    assert asked == [QUICK]
    assert capsys.readouterr().out == (
        "case     ours   baseline        ratio  to reach  aim  holds\n"
        "made_up  40 ms  10 ms (theirs)  4      ≤ 30      ≤ 5  NO\n"
    )
    assert json.loads(written.read_text()) == [
        {
            "case": "made_up",
            "baseline": "theirs",
            "ours": 40,
            "baseline_value": 10,
            "ratio": 4.0,
            "to_reach": 30,
            "aim": 5,
            "holds": False,
        }
    ]


def test_only_what_is_asked_for_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Scale] = []
    wanted, other = case(asked=asked), case(ours=99)
    monkeypatch.setattr(
        runner,
        "CASES",
        (wanted, Case(**{**_fields(other), "name": "not_wanted"})),  # type: ignore[arg-type]
    )
    assert runner.main(["--only", "made_up"]) == 0
    assert asked == [FULL]


def _fields(one: Case) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__slots__}


def test_cases_have_different_names() -> None:
    names = [one.name for one in runner.CASES]
    assert len(names) == len(set(names))


def on_spark(one: Case) -> list[pytest.MarkDecorator]:
    """They are built alike, and a query takes Spark seconds to compile: one of them, the others when there is time."""
    if not one.name.startswith("spark_"):
        return []
    return [pytest.mark.spark, *([pytest.mark.slow] if one.name != "spark_tumble" else [])]


@pytest.mark.parametrize(
    "one", [pytest.param(one, id=one.name, marks=on_spark(one)) for one in runner.CASES]
)
def test_every_case_measures_something(one: Case) -> None:
    result = one.run(TINY)
    assert isinstance(result, Result)
    assert result.ours > 0
    assert result.baseline_value > 0
