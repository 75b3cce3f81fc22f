"""Any values at all: arithmetic, comparison and casts on DataFusion against Python's exact numbers."""

import datetime as dt
import decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.functions.engines import datafusion_run
from tests.sql.functions.harness import differences
from tests.sql.functions.oracles import ORACLES, arithmetic
from tests.sql.functions.oracles_cast import cast_of
from tidegate.model.expressions import Call, Cast, Expr, Field
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import DataType, Decimal, Scalar
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import render

_NEAR = [
    offset + sign * 2**power
    for offset in (-1, 0, 1)
    for sign in (-1, 1)
    for power in (0, 31, 32, 53, 62)
]
INTEGERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-100, 100),
    st.sampled_from([*_NEAR, 2**63 - 1, -(2**63), 3_037_000_499, 3_037_000_500]),
)
FLOATS = st.one_of(st.floats(), st.integers(-(2**53), 2**53).map(lambda n: n / 8))
EXACT = st.decimals(-(10**7) + 1, 10**7 - 1, places=3)
INSTANTS = st.integers(MIN_EVENT_TIME_US, MAX_EVENT_TIME_US)
NUMBER_TEXT = st.one_of(
    st.from_regex(r"\A ?[+-]?[0-9]{0,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,3})? ?\Z"),
    st.text("0123456789+-.eE ", max_size=12),
    INTEGERS.map(str),
    FLOATS.map(repr),
)


def _time_texts() -> st.SearchStrategy[str]:
    moments = st.datetimes().map(lambda when: when.isoformat())
    zones = st.sampled_from(["", "Z", "+00:00", "-07:30", "+14:00"])
    spoiled = st.text("0123456789-:T Z.+", max_size=30)
    return st.one_of(
        st.builds(str.__add__, moments, zones), st.dates().map(dt.date.isoformat), spoiled
    )


def _answers(
    expr: Expr, rows: list[tuple[object, ...]], arrow: tuple[pa.DataType, ...]
) -> list[object]:
    columns = {
        f"c{place}": pa.array([row[place] for row in rows], kind)
        for place, kind in enumerate(arrow)
    }
    column = datafusion_run(pa.table(columns), [f"{render(expr, Engine.DATAFUSION)} AS r"]).column(
        "r"
    )
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    values: list[object] = column.to_pylist()
    return values


def _call(function: str, *types: DataType, long: bool = False) -> Call:
    args: list[Expr] = [Field(f"c{place}", kind) for place, kind in enumerate(types)]
    if long:  # past the length up to which an operand is written more than once
        args = [Call("coalesce", (arg,) * 20, arg.type) for arg in args]
    resolved = FUNCTIONS[function].resolve(types)
    assert resolved is not None
    return Call(function, tuple(args), resolved[0].result(types))


@given(st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1), st.sampled_from("+-*"), st.booleans())
def test_integers_never_wrap(rows: list[tuple[int, int]], symbol: str, long: bool) -> None:
    expr = _call(symbol, Scalar.BIGINT, Scalar.BIGINT, long=long)
    oracle = arithmetic(symbol, Scalar.BIGINT)
    found = _answers(expr, list(rows), (pa.int64(), pa.int64()))
    assert differences(found, [oracle(*row) for row in rows], rows) == []


@given(
    st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1),
    st.sampled_from(["div", "%", "&", "|", "^", "<<", ">>"]),
)
def test_quotients_and_bits(rows: list[tuple[int, int]], symbol: str) -> None:
    found = _answers(
        _call(symbol, Scalar.BIGINT, Scalar.BIGINT), list(rows), (pa.int64(), pa.int64())
    )
    assert differences(found, [ORACLES[symbol](*row) for row in rows], rows) == []


@given(
    st.lists(st.tuples(FLOATS, FLOATS), min_size=1),
    st.sampled_from(["=", "<", ">=", "is_distinct", "/", "%"]),
)
def test_floats(rows: list[tuple[float, float]], symbol: str) -> None:
    found = _answers(
        _call(symbol, Scalar.DOUBLE, Scalar.DOUBLE), list(rows), (pa.float64(), pa.float64())
    )
    assert differences(found, [_quotient(symbol, *row) for row in rows], rows) == []


def _quotient(symbol: str, left: float, right: float) -> object:
    return ORACLES[symbol](left, right)


@given(st.lists(st.tuples(EXACT, EXACT), min_size=1), st.sampled_from("+-*"))
def test_decimals_are_exact(
    rows: list[tuple[decimal.Decimal, decimal.Decimal]], symbol: str
) -> None:
    kind = pa.decimal128(10, 3)
    expr = _call(symbol, Decimal(10, 3), Decimal(10, 3))
    oracle = arithmetic(symbol, expr.type)
    assert (
        differences(_answers(expr, list(rows), (kind, kind)), [oracle(*row) for row in rows], rows)
        == []
    )


def _cast_holds(
    values: list[object], source: DataType, arrow: pa.DataType, target: DataType
) -> None:
    rows: list[tuple[object, ...]] = [(value,) for value in values]
    oracle = cast_of(source, target)
    found = _answers(Cast(Field("c0", source), target), rows, (arrow,))
    assert differences(found, [oracle(value) for value in values], rows) == []


_NUMBERS = st.sampled_from(
    [
        Scalar.TINYINT,
        Scalar.INTEGER,
        Scalar.BIGINT,
        Scalar.DOUBLE,
        Decimal(10, 3),
        Decimal(38, 10),
        Decimal(5, 5),
    ]
)


@given(st.lists(FLOATS, min_size=1), _NUMBERS)
def test_doubles_to_numbers(values: list[object], target: DataType) -> None:
    if target is not Scalar.DOUBLE:
        _cast_holds(values, Scalar.DOUBLE, pa.float64(), target)


@given(st.lists(INTEGERS, min_size=1), _NUMBERS)
def test_integers_to_numbers(values: list[object], target: DataType) -> None:
    if target is not Scalar.BIGINT:
        _cast_holds(values, Scalar.BIGINT, pa.int64(), target)


@given(st.lists(NUMBER_TEXT, min_size=1), _NUMBERS)
def test_text_to_numbers(values: list[object], target: DataType) -> None:
    _cast_holds(values, Scalar.VARCHAR, pa.string(), target)


@given(st.lists(_time_texts(), min_size=1), st.sampled_from([Scalar.TIMESTAMP, Scalar.DATE]))
def test_text_to_times(values: list[object], target: Scalar) -> None:
    _cast_holds(values, Scalar.VARCHAR, pa.string(), target)


@given(st.lists(INSTANTS, min_size=1))
def test_instants_survive_their_text(values: list[int]) -> None:
    there = Cast(Field("c0", Scalar.TIMESTAMP), Scalar.VARCHAR)
    back = Cast(there, Scalar.TIMESTAMP)
    rows: list[tuple[object, ...]] = [(value,) for value in values]
    assert _answers(back, rows, (pa.timestamp("us"),)) == values
