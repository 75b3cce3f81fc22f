"""DataFusion against Python: every overload of every function on adversarial values."""

import pytest

from tests.sql.functions.engines import datafusion_run
from tests.sql.functions.exercises import EXERCISES, Exercise
from tests.sql.functions.harness import Pools, by_pools, call_of, differences, results, rows_of
from tests.sql.functions.oracles import SEES_NULLS, converted, oracle_of
from tidegate.model.expressions import Cast, Literal
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.functions.signature import Engine

_GROUPS = by_pools(EXERCISES)


def test_every_overload_is_exercised() -> None:
    tried: dict[str, set[int]] = {}
    for exercise in EXERCISES:
        types = [arg.type for arg in call_of(exercise).args]
        resolved = FUNCTIONS[exercise.function].resolve(types)
        assert resolved is not None
        tried.setdefault(exercise.function, set()).add(id(resolved[0]))
    missing = [
        f"{function.name}({', '.join(param.label for param in overload.params)})"
        for function in FUNCTIONS.values()
        for overload in function.overloads
        if id(overload) not in tried.get(function.name, ())
    ]
    assert missing == []


def _expected(exercise: Exercise, rows: list[tuple[object, ...]]) -> list[object] | None:
    call = call_of(exercise)
    types = tuple(arg.type for arg in call.args)
    oracle = oracle_of(exercise.function, types, call.type)
    if oracle is None:
        return None
    expected: list[object] = []
    for row in rows:
        columns = iter(row)
        args = []
        for arg in call.args:
            given = arg.operand if isinstance(arg, Cast) else arg
            value = given.value if isinstance(given, Literal) else next(columns)
            args.append(converted(value, given.type, arg.type))
        strict = exercise.function not in SEES_NULLS
        expected.append(None if strict and None in args else oracle(*args))
    return expected


@pytest.mark.parametrize(
    "pools", _GROUPS, ids=lambda pools: "-".join(map(str, pools)) or "constant"
)
def test_datafusion_gives_what_the_oracle_says(pools: Pools) -> None:
    exercises = _GROUPS[pools]
    rows = rows_of(pools)
    found = results(
        pools, [call_of(exercise) for exercise in exercises], datafusion_run, Engine.DATAFUSION
    )
    wrong = {}
    for exercise, values in zip(exercises, found, strict=True):
        expected = _expected(exercise, rows)
        if expected is not None and (different := differences(values, expected, rows)):
            wrong[str(exercise)] = different[:5]
    assert wrong == {}
