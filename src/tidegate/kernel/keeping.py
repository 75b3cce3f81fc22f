"""What is kept of values that have been collected for a group, by how they merge.

In: values, each with the number of its list, in any order of arrival. Out: those that are kept, by list.
"""

from collections.abc import Callable

import pyarrow as pa

from tidegate.kernel.arrow import Integers
from tidegate.kernel.lists import Kept, distinct
from tidegate.kernel.sketches import smallest, weights
from tidegate.model.partials import Merge


def every(owners: Integers, values: pa.Array) -> Kept:
    return owners, values


def different(owners: Integers, values: pa.Array) -> Kept:
    places = distinct(owners, values)
    return owners[places], values.take(pa.array(places))


KEEPING: dict[Merge, Callable[[Integers, pa.Array], Kept]] = {
    Merge.CONCAT: every,
    Merge.UNION: different,
    Merge.SMALLEST: smallest,
    Merge.WEIGHTS: weights,
}
