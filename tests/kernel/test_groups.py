"""The laws of merging, for every kind of partial: rows in any batches, in any order, through any tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.rows import KEEP, Row, X, Y, Z, close, lowered, partial_batch, rows
from tidegate.kernel import halves, heap, lists
from tidegate.kernel.groups import GroupTable
from tidegate.model.expressions import Expr, Field, SortKey
from tidegate.model.partials import PartialSpec
from tidegate.model.types import Array, DataType, Decimal, Scalar
from tidegate.plan.decompositions import AggregateCall

KEY = Field("$k0", Scalar.BIGINT)
TS = Field("$ts", Scalar.BIGINT)


def aggregate(
    function: str, *args: Expr, kind: DataType = Scalar.DOUBLE, **more: Any
) -> AggregateCall:
    return AggregateCall(function=function, args=args, type=kind, **more)


def over(*kinds: DataType) -> list[Field]:
    return [X[kind] for kind in kinds]


COMPARABLE = [field for kind, field in X.items() if kind != Array(Scalar.BIGINT)]
SUMMABLE = over(Scalar.BIGINT, Scalar.DOUBLE, Decimal(12, 3), Decimal(38, 2))
CASES: dict[str, list[AggregateCall]] = {
    "count": [aggregate("count"), aggregate("count", Y, filter=KEEP)],
    **{f"sum {x.type}": [aggregate("sum", x), aggregate("avg", x)] for x in SUMMABLE},
    **{
        f"min {x.type}": [aggregate("min", x), aggregate("max", x, filter=KEEP)] for x in COMPARABLE
    },
    **{
        f"first {x.type}": [aggregate("first_value", x), aggregate("last_value", x)]
        for x in COMPARABLE
    },
    **{
        f"by {x.type}": [aggregate("min_by", Y, x), aggregate("max_by", X[Scalar.VARCHAR], x)]
        for x in COMPARABLE
    },
    "moments": [aggregate("var_pop", Y), aggregate("stddev_samp", Y, filter=KEEP)],
    "comoments": [
        aggregate("covar_pop", Y, Z),
        aggregate("corr", Y, Z),
    ],
    "bools": [aggregate("bool_and", X[Scalar.BOOLEAN]), aggregate("bool_or", X[Scalar.BOOLEAN])],
    "bits": [
        aggregate(f"bit_{name}", X[Scalar.BIGINT], kind=Scalar.BIGINT)
        for name in ("and", "or", "xor")
    ],
    **{f"list {x.type}": [aggregate("mode", x)] for x in COMPARABLE},
    **{f"set {x.type}": [aggregate("count", x, distinct=True)] for x in COMPARABLE},
    "pairs": [aggregate("corr", Y, X[Scalar.BIGINT], distinct=True)],
    "in order": [aggregate("array_agg", X[Scalar.VARCHAR], order=(SortKey(Y),))],
}


def table_of(specs: Sequence[PartialSpec], *batches: pa.RecordBatch) -> GroupTable:
    table = GroupTable([KEY], specs)
    for batch in batches:
        table.merge(batch)
    return table


def contents(batch: pa.RecordBatch) -> dict[Any, dict[str, Any]]:
    found = {}
    for row in batch.to_pylist():
        found[row.pop("$k0")] = {
            name: value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
            for name, value in row.items()
        }
    return found


def assert_same(one: pa.RecordBatch, other: pa.RecordBatch) -> None:
    assert one.schema == other.schema
    one.validate(full=True)
    ours, theirs = contents(one), contents(other)
    assert ours.keys() == theirs.keys()
    for key, columns in ours.items():
        for name, value in columns.items():
            assert close(value, theirs[key][name]), (key, name, value, theirs[key][name])


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compaction, rewriting and carrying happen in small tests, too."""
    monkeypatch.setattr(heap, "_SLACK", 2)
    monkeypatch.setattr(lists, "_SLACK", 2)
    monkeypatch.setattr(halves, "_EVERY_ROWS", 1 << 62)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=6)
@given(data=st.data())
def test_laws_of_merging(case: str, data: st.DataObject) -> None:
    specs, _ = lowered(CASES[case])
    drawn: list[Row] = data.draw(rows(_fields(specs)))
    expected = partial_batch(specs, drawn)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(drawn)), max_size=4)))
    pieces = [drawn[start:end] for start, end in zip([0, *cuts], [*cuts, len(drawn)], strict=True)]
    batches = [partial_batch(specs, piece) for piece in pieces]
    whole = table_of(specs, *batches)
    assert_same(whole.partials(), expected)
    backwards = table_of(specs, *reversed(batches))
    assert_same(backwards.partials(), expected)
    shard, other = table_of(specs, *batches[::2]), table_of(specs, *batches[1::2])
    assert_same(table_of(specs, shard.partials(), other.partials()).partials(), expected)
    single = table_of(specs, *(partial_batch(specs, [row]) for row in drawn))
    assert_same(single.partials(), expected)
    again = table_of(specs, whole.partials())
    again.merge(expected.slice(0, 0))
    assert_same(again.partials(), whole.partials())


def _fields(specs: Sequence[PartialSpec]) -> list[Field]:
    return [field for field in (*X.values(), Y, Z) if _reads(specs, field)]


def _reads(specs: Sequence[PartialSpec], field: Field) -> bool:
    return any(repr(field) in repr(spec) for spec in specs)


@settings(max_examples=25)
@given(data=st.data())
def test_reading_some_slots_is_taking_them_from_all(data: st.DataObject) -> None:
    specs, _ = lowered([*CASES["min VARCHAR"], *CASES["list BIGINT"], *CASES["sum DOUBLE"]])
    drawn = data.draw(rows(over(Scalar.VARCHAR, Scalar.BIGINT, Scalar.DOUBLE), groups=8))
    table = table_of(specs, partial_batch(specs, drawn[::2]), partial_batch(specs, drawn[1::2]))
    slots = data.draw(
        st.lists(st.integers(0, max(len(table) - 1, 0)), unique=True, max_size=len(table))
    )
    wanted = table.partials().take(pa.array(slots, pa.int64()))
    assert_same(table.partials(np.array(slots, np.int64)), wanted)
    assert_same(table.kept(np.array(slots, np.int64)).partials(), wanted)


@pytest.mark.parametrize("kind", [kind for kind in X if kind != Array(Scalar.BIGINT)], ids=str)
@settings(max_examples=10)
@given(data=st.data())
def test_keys_of_every_type(kind: DataType, data: st.DataObject) -> None:
    drawn = data.draw(rows([X[kind]]))
    for row in drawn:
        row["$k0"] = row[X[kind].name]
    table = GroupTable([Field("$k0", kind)], [])
    counts: dict[object, int] = {}
    for row in drawn:
        batch = partial_batch([], [row], kind)
        key = batch.column("$k0").to_pylist()[0]
        name = "nan" if key != key else key
        counts[name] = counts.get(name, 0) + 1
        slots = table.merge(batch).tolist()
        assert slots == table.find(batch).tolist() == [list(counts).index(name)]
    assert len(table) == len(counts)
    assert table.partials().column("$rows").to_pylist() == list(counts.values())


def test_equal_keys_that_the_engine_told_apart_are_one_group() -> None:
    specs, _ = lowered([aggregate("var_pop", Y), aggregate("last_value", Y)])
    table = GroupTable([Field("$k0", Scalar.DOUBLE)], specs)
    one, two = (
        partial_batch(specs, [{"$k0": key, "$ts": ts, Y.name: value}], Scalar.DOUBLE)
        for key, ts, value in ((0.0, 1, 2.0), (-0.0, 2, 4.0))
    )
    both = pa.Table.from_batches([one, two]).combine_chunks().to_batches()[0]
    for _ in range(2):
        assert table.merge(both).tolist() == [0, 0]
    row = table.partials().to_pylist()[0]
    assert (row["$rows"], row["$p0"], row["$p1"], row["$p2"], row["$p4"]) == (4, 4, 3.0, 4.0, 4.0)


def test_halves_are_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "_EVERY_ROWS", 3)
    specs, _ = lowered([aggregate("sum", X[Scalar.BIGINT])])
    table = GroupTable([KEY], specs)
    for _ in range(5):
        table.merge(partial_batch(specs, [{"$k0": 1, "$ts": 0, X[Scalar.BIGINT].name: -1}]))
    row = table.partials().to_pylist()[0]
    assert row["$p0"] * 2**32 + row["$p1"] == -5
    assert 0 <= row["$p1"] < 2**34


def test_columns_are_brought_into_their_types() -> None:
    specs, _ = lowered([aggregate("min", X[Scalar.REAL]), aggregate("max", X[Scalar.VARCHAR])])
    batch = pa.record_batch(
        {
            "$k0": pa.array([1], pa.int32()),
            "$rows": [1],
            "$max_ts": [0],
            "$p0": [1.5],
            "$p1": pa.array(["a"], pa.string_view()),
        }
    )
    assert table_of(specs, batch).partials().schema.types[3:] == [pa.float32(), pa.string()]


def test_memory_of_a_group() -> None:
    price = Field("x", Scalar.DOUBLE)
    specs, _ = lowered([aggregate(name, price) for name in ("sum", "count", "avg", "min", "max")])
    for size in (2**17, 2**17 + 1, 150_000):
        table = GroupTable([KEY], specs)
        for start in range(0, size, 50_000):
            count = min(50_000, size - start)
            columns = {"$k0": np.arange(start, start + count), "$rows": np.ones(count, int)}
            columns |= {"$max_ts": np.ones(count, int)}
            columns |= {
                f"$p{place}": np.ones(count, "f8" if spec.type is Scalar.DOUBLE else "i8")
                for place, spec in enumerate(specs)
            }
            table.merge(pa.record_batch(columns))
        assert len(table) == size
        assert table.bytes < 150 * size
