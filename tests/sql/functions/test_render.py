"""Bound expressions as text: names, constants, parameters, and their round trip through both engines."""

import decimal
import math

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.sql.functions.engines import datafusion_run, spark_run
from tests.sql.functions.harness import same
from tidegate.errors import PlanRefused
from tidegate.model.expressions import (
    TRUE,
    Call,
    Case,
    Cast,
    Expr,
    Field,
    Literal,
    Parameter,
    bigint,
    call,
    null,
    text,
)
from tidegate.model.types import Array, Decimal, Map, Scalar, Struct
from tidegate.sql.functions import spelling
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import quote, render, type_name

_ONE = pa.table({"c": pa.array([1])})
_TEXTS = (
    "", "'", "''", "\\", "\\'", "\\n", "\n\r\t", "\x00", "\x1a", "%_\\%", "${env:HOME}", "$", "a\\u0041",
    "é😀\u0301", '"', "`", "--", "/* */", ";", ":p", "?", "{0}", "{{}}", "\\\\'", "line\\\nend", "\u2028",
)  # fmt: skip
_CONSTANTS: tuple[Literal, ...] = (
    *(text(value) for value in _TEXTS),
    *(bigint(value) for value in (0, -1, 2**63 - 1, -(2**63), -(2**63) + 1)),
    *(
        Literal(value, Scalar.DOUBLE)
        for value in (
            0.0,
            -0.0,
            1.0,
            -1.5,
            1e-7,
            1e22,
            1.7976931348623157e308,
            5e-324,
            0.1,
            123456789.125,
        )
    ),
    *(Literal(value, Scalar.DOUBLE) for value in (math.inf, -math.inf, math.nan)),
    Literal(5, Scalar.DOUBLE),
    Literal(1.5, Scalar.REAL),
    Literal(-7, Scalar.INTEGER),
    Literal(-128, Scalar.TINYINT),
    Literal(decimal.Decimal("-0.0000001"), Decimal(10, 7)),
    Literal(decimal.Decimal("1E+3"), Decimal(10, 2)),
    Literal(decimal.Decimal("9" * 38), Decimal(38, 0)),
    Literal(3, Decimal(5, 2)),
    Literal(True, Scalar.BOOLEAN),
    Literal(False, Scalar.BOOLEAN),
    Literal(b"", Scalar.BINARY),
    Literal(b"\x00\xff'", Scalar.BINARY),
    Literal(-719162, Scalar.DATE),
    Literal(2932896, Scalar.DATE),
    Literal(-62_135_596_800_000_000, Scalar.TIMESTAMP),
    Literal(253_402_300_799_999_999, Scalar.TIMESTAMP),
    Literal(-1, Scalar.TIMESTAMP),
    Literal(-86_400_000_000, Scalar.INTERVAL),
    *(null(kind) for kind in Scalar if kind is not Scalar.NULL),
    null(Decimal(5, 2)),
    null(Array(Scalar.BIGINT)),
)


def _check(found: pa.Table) -> None:
    for place, literal in enumerate(_CONSTANTS):
        column = found.column(f"r{place}")
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us")).cast(pa.int64())
        elif pa.types.is_date32(column.type):
            column = column.cast(pa.int32())
        assert same(column.to_pylist()[0], _value(literal)), literal


def _value(literal: Literal) -> object:
    if literal.type in (Scalar.DOUBLE, Scalar.REAL) and literal.value is not None:
        return float(str(literal.value))
    return literal.value


def _selected(engine: Engine) -> list[str]:
    return [f"{render(literal, engine)} AS r{place}" for place, literal in enumerate(_CONSTANTS)]


def test_constants_reach_datafusion_unchanged() -> None:
    _check(datafusion_run(_ONE, _selected(Engine.DATAFUSION)))


@pytest.mark.spark
def test_constants_reach_spark_unchanged(spark: SparkSession) -> None:
    _check(spark_run(spark)(_ONE, _selected(Engine.SPARK)))


@pytest.mark.parametrize("value", _TEXTS)
@pytest.mark.parametrize("engine", list(Engine))
def test_templates_read_literals_back(value: str, engine: Engine) -> None:
    assert spelling.string_value(spelling.string(value, engine), engine) == value


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63) + 1])
@pytest.mark.parametrize("engine", list(Engine))
def test_templates_read_numbers_back(value: int, engine: Engine) -> None:
    assert spelling.bigint_literal(spelling.bigint(value, engine)) == value


def test_what_must_be_a_literal_and_is_not_fails_loudly() -> None:
    digits = Call("round", (Field("x", Scalar.DOUBLE), Field("n", Scalar.BIGINT)), Scalar.DOUBLE)
    with pytest.raises(AssertionError, match="not a literal"):
        render(digits, Engine.SPARK)


def test_names_are_always_quoted() -> None:
    assert quote('a"b`c', Engine.DATAFUSION) == '"a""b`c"'
    assert quote('a"b`c', Engine.SPARK) == '`a"b``c`'
    assert render(Field("select", Scalar.BIGINT), Engine.SPARK) == "`select`"


def test_types() -> None:
    nested = Struct((("a b", Array(Scalar.INTEGER)), ("m", Map(Scalar.VARCHAR, Decimal(5, 2)))))
    assert (
        type_name(nested, Engine.SPARK)
        == "STRUCT<`a b`: ARRAY<INT>, `m`: MAP<STRING, DECIMAL(5, 2)>>"
    )
    assert type_name(Scalar.TIMESTAMP, Engine.DATAFUSION) == "TIMESTAMP(6)"
    assert type_name(Scalar.INTERVAL, Engine.SPARK) == "BIGINT"


def test_parameters_stay_until_their_values_are_known() -> None:
    late = call("<", Field("ts", Scalar.TIMESTAMP), Parameter("watermark", Scalar.TIMESTAMP))
    assert render(late, Engine.DATAFUSION) == '("ts" < :watermark)'
    assert (
        render(late, Engine.DATAFUSION, {"watermark": -1}) == '("ts" < to_timestamp_micros((-1)))'
    )
    assert render(late, Engine.SPARK, {"watermark": 5}) == "(`ts` < timestamp_micros(5L))"


def test_case() -> None:
    choice = Case(((TRUE, bigint(1)),), Cast(null(), Scalar.BIGINT), Scalar.BIGINT)
    assert (
        render(choice, Engine.DATAFUSION) == "CASE WHEN TRUE THEN 1 ELSE CAST(NULL AS BIGINT) END"
    )


def test_long_sums_grow_in_proportion() -> None:
    """A checked sum names its operands several times; nested a hundred deep it must stay small, and right."""
    total: Expr = Field("c", Scalar.BIGINT)
    for _ in range(100):
        total = call(
            "+",
            total,
            call("*", Field("c", Scalar.BIGINT), bigint(2), type=Scalar.BIGINT),
            type=Scalar.BIGINT,
        )
    written = render(total, Engine.DATAFUSION)
    assert len(written) < 100_000
    assert datafusion_run(_ONE, [f"{written} AS r0"]).column("r0").to_pylist() == [201]


def test_text_that_would_explode_is_refused() -> None:
    value: Expr = Field("x", Scalar.DOUBLE)
    for _ in range(100):
        value = Call("round", (value, bigint(1)), Scalar.DOUBLE)
    with pytest.raises(PlanRefused, match="expression of this size"):
        render(value, Engine.DATAFUSION)
