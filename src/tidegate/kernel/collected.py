"""Aggregates over collected values: percentiles, MODE, ARRAY_AGG, STRING_AGG.

Decided here: how values of many groups are sorted at once. All values stand in one array, each with the number of its
group; one sort by group and value puts each group's values in order, and everything else is picking places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.kernel.arrow import Integers, Mask, array_of, has_numbers, numbers
from tidegate.kernel.lists import flattened, list_bounds, listed
from tidegate.kernel.ordering import equal
from tidegate.kernel.sketches import percentile
from tidegate.kernel.sums import Finished
from tidegate.model.partials import FinishSpec

_FIXED = 8  # decimal places to which a place in a list is trusted: 0.7 * 10 is 7


@dataclass(frozen=True, slots=True)
class Sorting:
    """One column to sort by. NULLs come last unless `nulls_first`, NaN is the largest."""

    values: pa.Array
    descending: bool = False
    nulls_first: bool = False


def sort_order(owners: Integers, keys: Sequence[Sorting]) -> Integers:
    """The order by owner and keys. Arrow would put NaN and NULL last in either direction, so both get a column."""
    columns, directions = {"owner": pa.array(owners)}, [("owner", "ascending")]

    def by(values: Any, *, descending: bool) -> None:
        name = str(len(columns))
        columns[name] = values
        directions.append((name, "descending" if descending else "ascending"))

    for key in keys:
        values = key.values
        if values.null_count:
            by(values.is_null(), descending=key.nulls_first)
        if pa.types.is_floating(values.type):
            by(pc.is_nan(values), descending=key.descending)
            values = pc.add(values, pa.scalar(0.0, values.type))
        if pa.types.is_nested(values.type):
            values = pa.array([repr(value) for value in values.to_pylist()])
        by(values, descending=key.descending)
    order = pc.sort_indices(pa.table(columns), sort_keys=directions)
    places: Integers = order.to_numpy().astype(np.int64)
    return places


def _sorted(lists: pa.Array, *, descending: bool = False) -> tuple[Integers, Integers, pa.Array]:
    """Lengths of the lists, where each begins, and all values, sorted within their lists."""
    owners, values = flattened(lists)
    lengths = list_bounds(lists)[1]
    if pa.types.is_floating(values.type) and not descending:
        order = np.lexsort((numbers(values).values, owners))
    else:
        order = sort_order(owners, [Sorting(values, descending)])
    return lengths, np.cumsum(lengths) - lengths, values.take(pa.array(order))


def _at(values: pa.Array, places: Integers, lengths: Integers) -> pa.Array:
    return values.take(pa.array(places, mask=lengths == 0))


def median(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    return _interpolated(arrays[0], 0.5, descending=False)


def percentile_cont(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    share = _share(spec)
    return (
        Finished(pa.nulls(len(arrays[0]), pa.float64()))
        if share is None
        else _interpolated(arrays[0], share, descending=_descending(spec))
    )


def approx_percentile(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    """Of a sketch, or of the whole set of different values."""
    share = _share(spec)
    if share is None or spec.distinct:
        return percentile_cont(spec, arrays)
    return percentile(arrays[0], share)


def _interpolated(lists: pa.Array, share: float, *, descending: bool) -> Finished:
    lengths, starts, values = _sorted(lists, descending=descending)
    place = np.round(share * np.maximum(lengths - 1, 0), _FIXED)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(lengths - 1, 0))
    low, high = (numbers(_at(values, starts + at, lengths)).values for at in (below, above))
    part = place - below
    with np.errstate(all="ignore"):
        mixed = low + (high - low) * part
    result = np.where((part == 0) | (low == high), low, mixed)
    return Finished(array_of(result, lengths > 0, pa.float64()))


def percentile_disc(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    share = _share(spec)
    lengths, starts, values = _sorted(arrays[0], descending=_descending(spec))
    if share is None:
        return Finished(pa.nulls(len(lengths), values.type))
    reached = np.ceil(np.round(share * lengths, _FIXED)).astype(np.int64)
    return Finished(_at(values, starts + np.maximum(reached - 1, 0), lengths))


def _share(spec: FinishSpec) -> float | None:
    value = spec.parameters[0].value
    return None if value is None else float(value)


def _descending(spec: FinishSpec) -> bool:
    return bool(spec.order) and spec.order[0].descending


def mode(_spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    """Runs of equal values; of each list the longest run, of several the first, which is the smallest."""
    lengths, _, values = _sorted(arrays[0])
    owners = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.ones(len(owners), bool)
    if len(owners):
        begins[1:] = (owners[1:] != owners[:-1]) | ~_same_as_before(values)
    runs = np.flatnonzero(begins)
    sizes = np.diff(np.append(runs, len(owners)))
    order = np.lexsort((runs, -sizes, owners[runs]))
    first = np.searchsorted(owners[runs][order], np.arange(len(lengths)))
    places = runs[order][np.minimum(first, max(len(runs) - 1, 0))] if len(runs) else first
    return Finished(_at(values, places, lengths))


def _same_as_before(values: pa.Array) -> Mask:
    one, other = values[1:], values[:-1]
    return equal(numbers(one), numbers(other)) if has_numbers(values) else equal(one, other)


def array_agg(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    return Finished(_in_order(spec, arrays[0]))


def string_agg(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    separator = spec.parameters[0].value
    return Finished(pc.binary_join(_in_order(spec, arrays[0]), pa.scalar(separator, pa.string())))


def _in_order(spec: FinishSpec, lists: pa.Array) -> pa.Array:
    """By the keys of ORDER BY, then event time, then value; a set by its values."""
    owners, entries = flattened(lists)
    keys: list[Sorting]
    if spec.distinct:
        values = entries
        keys = [Sorting(values, _descending(spec))]
    else:
        values, *by, times = entries.flatten()
        keys = [
            Sorting(part, key.descending, key.nulls_first)
            for part, key in zip(by, spec.order, strict=True)
        ]
        keys += [Sorting(times), Sorting(values)]
    order = sort_order(owners, keys)
    return listed(list_bounds(lists)[1], values.take(pa.array(order)), pa.list_(values.type))
