"""How each aggregate is taken apart: what it keeps per group, how that merges, and how large it may grow."""

import pytest

from tests.planning import logical, the, written
from tidegate.model.partials import FinishSpec, PartialSpec
from tidegate.plan.aggregates import (
    AGGREGATES,
    aggregate_names,
    find_aggregate,
    finish_of,
    is_bounded,
    partials_of,
)
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.logical import Aggregate


def call(aggregate: str) -> AggregateCall:
    plan = logical(f"SELECT {aggregate} AS x FROM trades GROUP BY TUMBLE(ts, '1m')")
    return the(Aggregate, plan).aggregates[0].call


def shown(spec: PartialSpec) -> str:
    where = f" if {written(spec.filter)}" if spec.filter is not None else ""
    return f"{spec.op}({', '.join(map(written, spec.args))}){where} {spec.type} by {spec.merge}"


HIGH, LOW = "sum((qty >> 32)) BIGINT by add", "sum((qty & 4294967295)) BIGINT by add"
PRESENT = "not(is_null(price))"


@pytest.mark.parametrize(
    ("aggregate", "partials"),
    [
        ("COUNT(*)", ["rows() BIGINT by add"]),
        ("COUNT(qty)", ["count(qty) BIGINT by add"]),
        ("COUNT(qty) FILTER (WHERE ok)", ["count(qty) if ok BIGINT by add"]),
        ("SUM(qty)", [HIGH, LOW]),
        ("SUM(price)", ["sum(price) DOUBLE by add"]),
        ("AVG(qty)", ["count(qty) BIGINT by add", HIGH, LOW]),
        ("AVG(price)", ["count(price) BIGINT by add", "sum(price) DOUBLE by add"]),
        ("MIN(symbol)", ["min(symbol) VARCHAR by min"]),
        ("MAX(ts)", ["max(ts) TIMESTAMP by max"]),
        ("BOOL_AND(ok)", ["bool_and(ok) BOOLEAN by and"]),
        ("BOOL_OR(ok)", ["bool_or(ok) BOOLEAN by or"]),
        ("BIT_AND(qty)", ["bit_and(qty) BIGINT by bit_and"]),
        ("BIT_OR(qty)", ["bit_or(qty) BIGINT by bit_or"]),
        ("BIT_XOR(qty)", ["bit_xor(qty) BIGINT by bit_xor"]),
        ("FIRST_VALUE(price)", [f"min($ts) if ({PRESENT} and not(is_null($ts))) BIGINT by min",
                                f"first($ts, price) if ({PRESENT} and not(is_null($ts))) DOUBLE by follow_min"]),
        ("LAST_VALUE(price)", [f"max($ts) if ({PRESENT} and not(is_null($ts))) BIGINT by max",
                               f"last($ts, price) if ({PRESENT} and not(is_null($ts))) DOUBLE by follow_max"]),
        ("MIN_BY(price, qty)", [f"min(qty) if ({PRESENT} and not(is_null(qty))) BIGINT by min",
                                f"first(qty, price) if ({PRESENT} and not(is_null(qty))) DOUBLE by follow_min"]),
        ("MAX_BY(price, qty) FILTER (WHERE ok)",
         [f"max(qty) if ((ok and {PRESENT}) and not(is_null(qty))) BIGINT by max",
          f"last(qty, price) if ((ok and {PRESENT}) and not(is_null(qty))) DOUBLE by follow_max"]),
        ("STDDEV(price)", ["count(price) BIGINT by add", "mean(price) DOUBLE by moments",
         "m2(price) DOUBLE by moments"]),
        ("COVAR_POP(price, bid)".replace("bid", "CAST(qty AS DOUBLE)"), None),
        ("MEDIAN(price)", ["collect(price) ARRAY<DOUBLE> by concat"]),
        ("MODE(symbol)", ["collect(symbol) ARRAY<VARCHAR> by concat"]),
        ("QUANTILE(price, 0.5)", ["collect(price) ARRAY<DOUBLE> by concat"]),
        ("APPROX_PERCENTILE(price, 0.5)",
         ["collect(price, 1) if not(is_null(price)) ARRAY<STRUCT<v0 DOUBLE, v1 BIGINT>> by weights"]),
        ("ARRAY_AGG(qty)", ["collect(qty, $ts) if not(is_null(qty)) ARRAY<STRUCT<v0 BIGINT, v1 BIGINT>> by concat"]),
        ("STRING_AGG(symbol, ',' ORDER BY price)",
         ["collect(symbol, price, $ts) if not(is_null(symbol)) ARRAY<STRUCT<v0 VARCHAR, v1 DOUBLE, "
         "v2 BIGINT>> by concat"]),
        ("COUNT(DISTINCT symbol)", ["collect_set(symbol) ARRAY<VARCHAR> by union"]),
        ("SUM(DISTINCT qty) FILTER (WHERE ok)", ["collect_set(qty) if ok ARRAY<BIGINT> by union"]),
        ("APPROX_COUNT_DISTINCT(symbol)", ["collect_set(symbol) ARRAY<VARCHAR> by smallest"]),
    ],
)  # fmt: skip
def test_partials(aggregate: str, partials: list[str] | None) -> None:
    made = [shown(spec) for spec in partials_of(call(aggregate))]
    if partials is None:
        assert [text.partition("(")[0] for text in made] == [
            "rows",
            "mean",
            "mean",
            "m2",
            "m2",
            "comoment",
        ]
        assert all(
            " if (not(is_null(price)) and not(is_null(qty::DOUBLE))) " in text for text in made
        )
        assert [text.rpartition(" ")[2] for text in made] == ["add", *["moments"] * 5]
    else:
        assert made == partials


@pytest.mark.parametrize("name", AGGREGATES)
def test_every_aggregate_keeps_something_and_is_found_by_all_its_names(name: str) -> None:
    function = AGGREGATES[name]
    assert function.doc.endswith(".")
    for alias in (name, *function.aliases):
        assert find_aggregate(alias.upper()) is function
        assert alias in aggregate_names()


def test_no_name_means_two_aggregates() -> None:
    names = [
        name for function in AGGREGATES.values() for name in (function.name, *function.aliases)
    ]
    assert len(names) == len(set(names))
    assert find_aggregate("nope") is None


@pytest.mark.parametrize(
    ("aggregate", "finish"),
    [
        ("COUNT(*)", ("count", False, [])),
        ("SUM(DISTINCT qty)", ("sum", True, [])),
        ("QUANTILE(price, 0.25)", ("percentile_cont", False, ["0.25"])),
        ("STRING_AGG(symbol, '-')", ("string_agg", False, ["'-'"])),
        ("MIN_BY(price, 5)", ("min_by", False, [])),
    ],
)
def test_finishing(aggregate: str, finish: tuple[str, bool, list[str]]) -> None:
    made = finish_of(call(aggregate), [3, 4])
    assert isinstance(made, FinishSpec)
    assert (made.function, made.distinct, [written(value) for value in made.parameters]) == finish
    assert made.partials == (3, 4)
    assert made.type == call(aggregate).type


def test_finishing_keeps_the_order() -> None:
    made = finish_of(call("ARRAY_AGG(qty ORDER BY price DESC)"), [0])
    assert [(written(key.expr), key.descending) for key in made.order] == [("price", True)]


HOLISTIC = {"median", "percentile_cont", "percentile_disc", "mode", "array_agg", "string_agg"}
APPROXIMATE = {"approx_count_distinct", "approx_percentile"}


def test_which_say_that_they_keep_what_they_must() -> None:
    assert {
        name for name, function in AGGREGATES.items() if function.precision == "holistic"
    } == HOLISTIC
    assert {
        name for name, function in AGGREGATES.items() if function.precision == "approximate"
    } == APPROXIMATE
    assert is_bounded(call("SUM(qty)"))
    assert not is_bounded(call("COUNT(DISTINCT qty)"))
    assert not is_bounded(call("MEDIAN(qty)"))
