"""Aggregates that users write in Python: their states by slot.

Decided here: when user code runs, and what its exceptions do. The engine's SQL collects the arguments of a batch's rows
per group; at the seam `accumulated` makes a state of each list at once, as text (`model/plain_data.py`). So behind the
seam there is one form, which is logged, snapshotted and sent to other shards as it is, and what a group keeps does not
grow with its rows. A text is only read when two states meet, and only written when a merged one is asked for.

Whatever user code raises, or makes that is not plain data, takes the place of the state (`Failed`), goes where the
state would have gone, and is in the end the reason why the group has no value. Other groups do not notice. Of two
failures the one with the smaller message stays, so that merging remains commutative.

DISTINCT cannot run early: its set of values is kept as that of every aggregate is, and the user's code sees it, sorted,
when the window is finished.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import arrow_type, conform
from tidegate.kernel.collected import Sorting, sort_order
from tidegate.kernel.columns import Arrivals, Where
from tidegate.kernel.growing import Growing
from tidegate.kernel.lists import flattened, list_bounds
from tidegate.kernel.sums import Finished
from tidegate.model.partials import FinishSpec, PartialSpec
from tidegate.model.plain_data import Failed, NotPlain, from_text, to_text
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason
from tidegate.model.python_values import Misfit, fitted
from tidegate.model.user_aggregates import UserAggregate

_FAILED = DISPOSITION[Reason.UDF_FAILED]
_OBJECT_BYTES = 64
_LONGEST_MESSAGE = 500
Row = tuple[Any, ...]


def accumulated(batch: pa.RecordBatch, specs: Sequence[PartialSpec]) -> pa.RecordBatch:
    """A partial batch that comes from SQL, with states in the place of collected arguments."""
    for position, spec in enumerate(specs):
        if spec.user is not None:
            place = batch.schema.get_field_index(f"$p{position}")
            lists = conform(batch.column(place), spec.type)
            batch = batch.set_column(place, f"$p{position}", states_of(spec.user, lists))
    return batch


def states_of(user: UserAggregate, lists: pa.Array) -> pa.Array:
    """A state for each list of rows, as text; for no rows NULL, which every merge leaves out."""
    states = (
        _written(user, _run(user, rows)) if rows else None for rows in _rows(lists, timed=True)
    )
    return pa.array(list(states), pa.string())


class States:
    """USER: states by slot, as the text that arrived, or alive once they have been merged."""

    __slots__ = ("_alive", "_held", "_position", "_sizes", "_texts", "_user")

    def __init__(self, position: int, user: UserAggregate) -> None:
        self._position, self._user = position, user
        self._texts: list[str | None] = []  # None: nothing has arrived; "": see `_alive`
        self._alive: dict[int, Any] = {}
        self._sizes = Growing(np.int64)
        self._held = 0

    @property
    def bytes(self) -> int:
        """About: a state is taken to be as large as the texts that it was made of."""
        return 2 * self._sizes.bytes + self._held

    def grow(self, size: int) -> None:
        self._texts.extend([None] * (size - len(self._texts)))
        self._sizes.grow(size, 0)

    def merge(self, where: Where, arrivals: Arrivals) -> None:
        texts = arrivals.arrays[self._position].to_pylist()
        for slot, text in zip(self._slots(where), texts, strict=True):
            if text is not None:
                self._take(slot, text)

    def read(self, slots: Where) -> pa.Array:
        return pa.array([self._text(slot) for slot in self._slots(slots)], pa.string())

    def _slots(self, where: Where) -> Sequence[int]:
        if isinstance(where, slice):
            return range(len(self._texts))[where]
        slots: list[int] = where.tolist()
        return slots

    def _take(self, slot: int, text: str) -> None:
        held = self._texts[slot]
        if held is None:
            self._texts[slot] = text
        else:
            one = self._alive[slot] if slot in self._alive else _parsed(held)
            self._alive[slot] = _merged(self._user, one, _parsed(text))
            self._texts[slot] = ""
        self._measure(slot, max(int(self._sizes.values[slot]), _OBJECT_BYTES + len(text)))

    def _text(self, slot: int) -> str | None:
        text = self._texts[slot]
        if text == "":
            text = self._texts[slot] = _written(self._user, self._alive[slot])
            self._measure(slot, _OBJECT_BYTES + 2 * len(text))
        return text

    def _measure(self, slot: int, size: int) -> None:
        self._held += size - int(self._sizes.values[slot])
        self._sizes.values[slot] = size


def finish(spec: FinishSpec, arrays: Sequence[pa.Array]) -> Finished:
    """Values of the states; or of sets of values, which go through the user's code now."""
    user = spec.user
    assert user is not None
    values, details = [], {}
    for place, state in enumerate(_states(user, arrays[0], distinct=spec.distinct)):
        value = _value(user, state)
        if isinstance(value, Failed):
            details[place] = value.message
            value = None
        values.append(value)
    array = pa.array(values, arrow_type(spec.type))
    if not details:
        return Finished(array)
    codes = np.full(len(values), AGGREGATED)
    codes[list(details)] = _FAILED
    return Finished(array, codes, details)


def _states(user: UserAggregate, kept: pa.Array, *, distinct: bool) -> Iterator[Any]:
    if distinct:
        yield from (_run(user, rows) for rows in _rows(kept, timed=False))
    else:
        for text in kept.to_pylist():
            yield _run(user, ()) if text is None else _parsed(text)


def _rows(lists: pa.Array, *, timed: bool) -> Iterator[Iterable[Row]]:
    """The argument tuples of each list, by time if they have one, then by value."""
    owners, entries = flattened(lists)
    parts = entries.flatten() if pa.types.is_struct(entries.type) else [entries]
    *values, times = parts if timed else [*parts, None]
    by = [Sorting(part) for part in ([times, *values] if timed else values)]
    order = pa.array(sort_order(owners, by))
    rows, convert = _python_rows([part.take(order) for part in values])
    start = 0
    for length in list_bounds(lists)[1].tolist():
        own = rows[start : start + length]
        yield own if not convert or not own else _converting(own)
        start += length


def _python_rows(columns: Sequence[pa.Array]) -> tuple[list[Row], bool]:
    """Rows, and whether their values are still Arrow's: some have none in Python (an instant after the year 9999)."""
    try:
        return list(zip(*(column.to_pylist() for column in columns), strict=True)), False
    except (ValueError, OverflowError):
        return list(zip(*columns, strict=True)), True


def _converting(rows: Iterable[Row]) -> Iterator[Row]:
    """Fails where the group is computed that has such a value."""
    yield from (tuple(value.as_py() for value in row) for row in rows)


# User code. It is the only part of the kernel that may raise anything.


def _run(user: UserAggregate, rows: Iterable[Row]) -> Any:
    """init, and accumulate over the rows."""
    step, accumulate = "init", user.implementation.accumulate
    try:
        state = user.implementation.init()
        step = "accumulate"
        for row in rows:
            made = accumulate(state, *row)
            if made is not None:
                state = made
    except Exception as problem:
        return _failed(user, step, problem)
    return state


def _merged(user: UserAggregate, one: Any, other: Any) -> Any:
    failures = [state for state in (one, other) if isinstance(state, Failed)]
    if failures:
        return min(failures, key=lambda failed: failed.message)
    try:
        made = user.implementation.merge(one, other)
    except Exception as problem:
        return _failed(user, "merge", problem)
    return one if made is None else made


def _value(user: UserAggregate, state: Any) -> Any:
    if isinstance(state, Failed):
        return state
    try:
        return fitted(user.implementation.finish(state), user.returns)
    except Misfit as problem:
        return Failed(f"finish of {user.name}: {problem}")
    except Exception as problem:
        return _failed(user, "finish", problem)


def _failed(user: UserAggregate, step: str, problem: Exception) -> Failed:
    return Failed(f"{step} of {user.name}: {_described(problem)}"[:_LONGEST_MESSAGE])


def _described(problem: Exception) -> str:
    name = type(problem).__name__
    try:
        return f"{name}: {problem}"
    except Exception:  # its text is user code, too
        return name


def _written(user: UserAggregate, state: Any) -> str:
    try:
        return to_text(state)
    except NotPlain as problem:
        return to_text(Failed(f"the state of {user.name}: {problem}"))


def _parsed(text: str) -> Any:
    try:
        return from_text(text)
    except RecursionError:
        return Failed("a state is nested too deeply")
