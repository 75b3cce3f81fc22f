"""Sketches: exact while there are few values, close when there are many, and the same however values come."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.rows import X, lowered, partial_batch
from tidegate.kernel import sketches
from tidegate.kernel.finish import finish
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.hashing import stable_hashes
from tidegate.model.expressions import Expr, Field, Literal
from tidegate.model.types import Scalar
from tidegate.plan.aggregates import AGGREGATES
from tidegate.plan.decompositions import AggregateCall

Numbers = np.ndarray


def call(function: str, field: Field, *constants: float) -> AggregateCall:
    args: tuple[Expr, ...] = (field, *(Literal(value, Scalar.DOUBLE) for value in constants))
    resolved = AGGREGATES[function].resolve([arg.type for arg in args])
    assert resolved is not None
    return AggregateCall(function=function, args=args, type=resolved[1])


def batch(values: Numbers, kind: pa.DataType, *, counted: bool) -> pa.RecordBatch:
    """The partial of one group with these values."""
    column = pa.array(values, kind)
    entries = sketches.weighted(values, np.ones(len(values), int)) if counted else column
    lists = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), entries)
    ones = pa.array([1])
    return pa.record_batch({"$k0": ones, "$rows": ones, "$max_ts": ones, "$p0": lists})


def estimate(
    aggregate: AggregateCall, parts: Sequence[Numbers], kind: pa.DataType, *, again: bool = False
) -> tuple[float, GroupTable]:
    """Through a table that gets the parts one after the other; `again`: restored after each."""
    specs, (spec,) = lowered([aggregate])
    counted = aggregate.function == "approx_percentile"
    table = GroupTable([Field("$k0", Scalar.BIGINT)], specs)
    for part in parts:
        table.merge(batch(part, kind, counted=counted))
        if again:
            restored = GroupTable([Field("$k0", Scalar.BIGINT)], specs)
            restored.merge(table.partials())
            table = restored
    return finish(spec, table.partials()).values[0].as_py(), table


@pytest.mark.parametrize("count", [1, 2_047, 2_048, 2_049, 10_000, 200_000])
def test_different_values_are_counted(count: int) -> None:
    values = np.arange(count) * 7_919
    found, table = estimate(
        call("approx_count_distinct", X[Scalar.BIGINT]), [values, values[::-1]], pa.int64()
    )
    assert found == count if count < 2_048 else abs(found - count) < 0.08 * count
    assert len(table.partials().column("$p0")[0]) <= 2_048


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("draw", ["exponential", "normal", "lognormal"])
def test_percentiles_are_close(share: float, draw: str) -> None:
    values = getattr(np.random.default_rng(3), draw)(size=100_000)
    aggregate = call("approx_percentile", X[Scalar.DOUBLE], share)
    found, table = estimate(aggregate, np.array_split(values, 7), pa.float64())
    wanted = np.quantile(values, share)
    assert found == pytest.approx(wanted, rel=0.006, abs=0.01)
    assert len(table.partials().column("$p0")[0]) < 5_000


@pytest.mark.parametrize("function", ["approx_count_distinct", "approx_percentile"])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), count=st.sampled_from([50, 3_000, 9_000]))
def test_how_values_come_does_not_matter(function: str, seed: int, count: int) -> None:
    """In one part or several, in any order, some twice, with and without a restart."""
    draw = np.random.default_rng(seed)
    values = np.round(draw.normal(size=count) * 1_000, 2)
    constants = (0.3,) if function == "approx_percentile" else ()
    aggregate = call(function, X[Scalar.DOUBLE], *constants)
    whole, table = estimate(aggregate, [values], pa.float64())
    cuts = np.sort(draw.integers(0, count, 3))
    parts = np.split(draw.permutation(values), cuts)
    for again in (False, True):
        found, other = estimate(aggregate, parts, pa.float64(), again=again)
        assert found == whole
        assert _kept(other) == _kept(table)


def _kept(table: GroupTable) -> list[str]:
    return sorted(map(repr, table.partials().column("$p0")[0].as_py()))


def test_odd_numbers_stand_for_themselves() -> None:
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.nan])
    values = np.r_[odd, np.arange(1.0, 5_000.0)]
    for share, wanted in ((0.0, -np.inf), (1.0, np.nan)):
        aggregate = call("approx_percentile", X[Scalar.DOUBLE], share)
        found, _ = estimate(aggregate, [values], pa.float64())
        assert found == pytest.approx(wanted, nan_ok=True)


def test_points_stand_for_themselves() -> None:
    draw = np.random.default_rng(5)
    values = np.r_[draw.lognormal(sigma=50, size=20_000), 5e-324, np.finfo(float).max]
    points = sketches._points(values)
    assert (sketches._points(points) == points).all()
    assert (np.abs(points - values) <= 0.0051 * values + 5e-324).all()


def test_hashes_of_sketches_are_the_same_everywhere() -> None:
    """A change of these would make sketches in checkpoints mean something else."""
    arrays = [pa.array([1, 2]), pa.array(["a", "tidegate"]), pa.array([0.5])]
    found = [stable_hashes(array).tolist() for array in arrays]
    assert found == [
        [5382248210678274902, 386722017036237770],
        [1393131102750617614, 12846949878258396923],
        [13229303583381443558],
    ]


def test_partials_are_made_by_sql() -> None:
    """Row SQL brings values with a count of one."""
    specs, _ = lowered([call("approx_percentile", X[Scalar.DOUBLE], 0.5)])
    rows = [{"$k0": 1, "$ts": 1, X[Scalar.DOUBLE].name: 2.5}]
    assert partial_batch(specs, rows).column("$p0").to_pylist() == [[{"v0": 2.5, "v1": 1}]]
