"""From partials to values: what every aggregate is in the end.

Decided here: one function for each aggregate, found by name. In: the partial columns of some groups. Out: an array of
the aggregate's SQL type, and where there is no value: it has left that type, or a Python aggregate has failed (the
group's row is then diverted, its value is NULL).
SQL's rules about nothing are the same in all: no values give NULL, but COUNT gives 0. A DISTINCT aggregate turns the
set that it has kept into the partials that the plain one would have kept (`sets.py`), so it cannot differ from it.

>>> from tidegate.model.types import Scalar
>>> spec = FinishSpec(function="sum", partials=(0, 1), type=Scalar.BIGINT)
>>> batch = pa.record_batch({"$p0": [-1, 2**31, None], "$p1": [2**32 - 5, 0, None]})
>>> done = finish(spec, batch)
>>> done.values.to_pylist(), done.codes
([-5, None, None], array([ 0, 12,  0]))
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from tidegate.kernel import collected, sets, sketches, sums, user
from tidegate.kernel.arrow import arrow_type, conform
from tidegate.kernel.spread import correlation, covariance, variance
from tidegate.kernel.sums import Finished
from tidegate.model.partials import FinishSpec

Finisher = Callable[[FinishSpec, Sequence[pa.Array]], Finished]


def finish(spec: FinishSpec, batch: pa.RecordBatch) -> Finished:
    """The aggregate's value for each row of a partial batch."""
    arrays: Sequence[pa.Array] = [batch.column(f"$p{position}") for position in spec.partials]
    if spec.distinct:
        arrays = sets.partials_of_set(spec.function, arrays[0])
    finisher = FINISHERS[spec.function] if spec.user is None else user.finish
    done = finisher(spec, arrays)
    if done.values.type == arrow_type(spec.type):
        return done
    return replace(done, values=conform(done.values, spec.type))


def _kept(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    """The last column is the value."""
    return Finished(arrays[-1])


FINISHERS: dict[str, Finisher] = {
    "count": sums.count,
    "sum": sums.total,
    "avg": sums.average,
    **dict.fromkeys(
        "min max first_value last_value min_by max_by bool_and bool_or bit_and bit_or bit_xor".split(),
        _kept,
    ),
    "var_pop": variance(sample=False, root=False),
    "var_samp": variance(sample=True, root=False),
    "stddev_pop": variance(sample=False, root=True),
    "stddev_samp": variance(sample=True, root=True),
    "covar_pop": covariance(sample=False),
    "covar_samp": covariance(sample=True),
    "corr": correlation,
    "median": collected.median,
    "percentile_cont": collected.percentile_cont,
    "percentile_disc": collected.percentile_disc,
    "approx_percentile": collected.approx_percentile,
    "mode": collected.mode,
    "array_agg": collected.array_agg,
    "string_agg": collected.string_agg,
    "approx_count_distinct": sketches.count_distinct,
}
