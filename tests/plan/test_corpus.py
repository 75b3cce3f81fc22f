"""The corpus: what people write for other systems, and what Tidegate makes of it (see tests/corpus/README.md)."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.planning import program, windows_of
from tidegate.errors import TidegateError
from tidegate.plan.script import Program

CORPUS = Path(__file__).parents[1] / "corpus"


@dataclass(frozen=True)
class Case:
    """One file; `expected` are its keys but name and sql."""

    sql: str
    expected: dict[str, object]


def read(path: Path) -> Case:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Case(sql=content.pop("sql"), expected=content)


def files(*, negative: bool) -> list[object]:
    found = (path for path in sorted(CORPUS.glob("*/*.yaml")))
    return [
        pytest.param(path, id=f"{path.parent.name}/{path.stem}")
        for path in found
        if (path.parent.name == "negative") is negative
    ]


def plan(sql: str) -> Program:
    return program(sql, prelude="")


@pytest.mark.parametrize("path", files(negative=True))
def test_negative_queries_are_refused_once_at_their_place(path: Path) -> None:
    case = read(path)
    expected = case.expected["error"]
    assert isinstance(expected, dict)
    refused = plan(case.sql).errors
    assert len(refused) == 1, [str(error) for error in refused] or "it plans"
    check_place(refused[0], expected)
    assert str(expected["contains"]).lower() in refused[0].message.lower()
    assert str(expected.get("hint", "")).lower() in refused[0].hint.lower()


@pytest.mark.parametrize("path", files(negative=False))
def test_queries_of_other_systems_plan_or_are_refused_in_words(path: Path) -> None:
    case = read(path)
    if case.expected["outcome"] == "plans":
        check_plan(plan(case.sql), case.expected)
    else:
        check_refused(plan(case.sql).errors, case.expected)


def check_refused(refused: list[TidegateError], expected: dict[str, object]) -> None:
    """Whatever is refused, is refused for one reason."""
    assert {error.code for error in refused} == {expected["code"]}
    check_place(refused[0], expected)
    said = f"{refused[0].message} {refused[0].hint}"
    assert str(expected["contains"]).lower() in said.lower()


def check_place(error: TidegateError, expected: dict[str, object]) -> None:
    place = {"code": error.code, "line": error.line, "column": error.column}
    assert place == {key: expected[key] for key in place}, str(error)


def check_plan(made: Program, expected: dict[str, object]) -> None:
    assert made.errors == []
    query = made.queries[-1]
    assert windows_of(query.logical, made.catalog) == stages(expected["window"])
    names = list(query.logical.schema.names)
    wanted = expected["output"]
    assert isinstance(wanted, list)
    assert names == [name or own for name, own in zip(wanted, names, strict=True)]
    if expected["emit"] is not None:
        assert query.logical.emit.mode == expected["emit"]


def stages(window: object) -> list[object]:
    if window is None:
        return []
    return window if isinstance(window, list) else [window]
