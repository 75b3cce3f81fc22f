"""Python aggregates in the kernel: from collected arguments to values, against the oracle, which merges nothing."""

from collections.abc import Sequence
from decimal import Decimal as Number
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.rows import KEEP, Row, X, by_key, evaluate, lowered, partial_batch, rows
from tests.oracle.aggregates import Input
from tests.oracle.aggregates import aggregate as judged
from tests.oracle.values import RowError
from tests.user_aggregates import USERS, Newest, Picky, Product
from tidegate.kernel.changes import difference, final, together
from tidegate.kernel.finish import finish
from tidegate.kernel.finishing import Finisher, OutputSpec
from tidegate.kernel.folding import fold
from tidegate.kernel.groups import GroupTable
from tidegate.kernel.panes import WINDOW_END, WINDOW_START
from tidegate.kernel.user import accumulated, states_of
from tidegate.model.expressions import Expr, Field
from tidegate.model.partials import FinishSpec, PartialSpec
from tidegate.model.plain_data import Failed, from_text, to_text
from tidegate.model.policies import AGGREGATED, DISPOSITION, Reason, StreamKind
from tidegate.model.schema import Column, Schema
from tidegate.model.types import Array, DataType, Decimal, Scalar
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.user_aggregates import user_aggregate

KEY = Field("$k0", Scalar.BIGINT)
FAILED = DISPOSITION[Reason.UDF_FAILED]
Outcome = Any  # a value, or the reason why there is none


def call(name: str, *args: Expr, **more: Any) -> AggregateCall:
    user = USERS[name]
    return AggregateCall(function=name, args=args, type=user.returns, user=user, **more)


AMOUNT = X[Decimal(38, 2)]
TEXT, NUMBER, REAL, TIME = (
    X[kind] for kind in (Scalar.VARCHAR, Scalar.BIGINT, Scalar.DOUBLE, Scalar.TIMESTAMP)
)
CALLS = {
    "product": call("product", REAL),
    "product of some": call("product", REAL, filter=KEEP),
    "product of the distinct": call("product", REAL, distinct=True),
    "path": call("path", TEXT, NUMBER),
    "path of the distinct": call("path", TEXT, NUMBER, distinct=True, filter=KEEP),
    "picky": call("picky", X[Scalar.TINYINT]),
    "picky of the distinct": call("picky", X[Scalar.TINYINT], distinct=True),
    "cents": call("cents", AMOUNT, TIME),
}


def batch_of(specs: Sequence[PartialSpec], drawn: Sequence[Row]) -> pa.RecordBatch:
    return accumulated(partial_batch(specs, drawn), specs)


def table_of(specs: Sequence[PartialSpec], *batches: pa.RecordBatch) -> GroupTable:
    table = GroupTable([KEY], specs)
    for batch in batches:
        table.merge(batch)
    return table


def outcomes(spec: FinishSpec, partials: pa.RecordBatch) -> dict[Any, Outcome]:
    """By key. What failed has no value, and says why."""
    done = finish(spec, partials)
    done.values.validate(full=True)
    values = done.values.to_pylist()
    for place, code in enumerate([] if done.codes is None else done.codes.tolist()):
        assert code in (AGGREGATED, FAILED)
        assert (code == FAILED) is (place in done.details)
        if code == FAILED:
            assert values[place] is None
            values[place] = Reason.UDF_FAILED
    return dict(zip(partials.column("$k0").to_pylist(), values, strict=True))


def expected(aggregate: AggregateCall, drawn: Sequence[Row]) -> dict[Any, Outcome]:
    return {key: _judged(aggregate, members) for key, members in by_key(drawn).items()}


def _judged(aggregate: AggregateCall, members: Sequence[Row]) -> Outcome:
    kept = [row for row in members if aggregate.filter is None or evaluate(aggregate.filter, row)]
    inputs = [
        Input(row["$ts"], tuple(evaluate(arg, row) for arg in aggregate.args)) for row in kept
    ]
    try:
        return judged(aggregate, inputs)
    except RowError as failed:
        return failed.reason


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=25)
@given(data=st.data())
def test_laws_of_merging(name: str, data: st.DataObject) -> None:
    """In one batch, in several, row by row, over two shards, restored on the way: what the oracle says of all rows."""
    aggregate = CALLS[name]
    specs, (spec,) = lowered([aggregate])
    fields = [arg for arg in aggregate.args if isinstance(arg, Field)]
    drawn: list[Row] = data.draw(rows(fields))
    wanted = expected(aggregate, drawn)
    assert outcomes(spec, batch_of(specs, drawn)) == wanted
    cuts = sorted(data.draw(st.lists(st.integers(0, len(drawn)), max_size=4)))
    pieces = [drawn[start:end] for start, end in zip([0, *cuts], [*cuts, len(drawn)], strict=True)]
    batches = [batch_of(specs, piece) for piece in pieces]
    whole = table_of(specs, *batches)
    assert outcomes(spec, whole.partials()) == wanted
    assert repr(whole.partials().to_pylist()) == repr(whole.partials().to_pylist())
    assert outcomes(spec, table_of(specs, *reversed(batches)).partials()) == wanted
    shard, other = table_of(specs, *batches[::2]), table_of(specs, *batches[1::2])
    union = table_of(specs, shard.partials())
    union.absorb(other)
    assert outcomes(spec, union.partials()) == wanted
    single = table_of(specs, *(batch_of(specs, [row]) for row in drawn))
    assert outcomes(spec, single.partials()) == wanted
    restored = table_of(specs, whole.partials())
    assert repr(restored.partials().to_pylist()) == repr(whole.partials().to_pylist())
    restored.merge(batch_of(specs, [])), restored.merge(batch_of(specs, drawn).slice(0, 0))
    assert outcomes(spec, restored.partials()) == wanted


@settings(max_examples=25)
@given(data=st.data())
def test_reading_some_slots_is_taking_them_from_all(data: st.DataObject) -> None:
    specs, _ = lowered([CALLS["path"]])
    drawn = data.draw(rows([TEXT, NUMBER], groups=6))
    table = table_of(specs, batch_of(specs, drawn[::2]), batch_of(specs, drawn[1::2]))
    slots = data.draw(
        st.lists(st.integers(0, max(len(table) - 1, 0)), unique=True, max_size=len(table))
    )
    chosen = np.array(slots, np.int64)
    wanted = table.partials().take(pa.array(slots, pa.int64()))
    assert table.partials(chosen).equals(wanted)
    assert table.kept(chosen).partials().equals(wanted)


@settings(max_examples=25)
@given(data=st.data())
def test_folding_rows_of_a_batch(data: st.DataObject) -> None:
    """Runs of a session are combined before they meet a table."""
    specs, (spec,) = lowered([CALLS["path"]])
    drawn: list[Row] = data.draw(rows([TEXT, NUMBER]))
    for row in drawn:
        row["$k0"] = row["$k0"] or 0
    singles = [batch_of(specs, [row]) for row in drawn] or [batch_of(specs, [])]
    owners = np.array([row["$k0"] for row in drawn], np.int64)
    rest = pa.concat_batches(singles).drop_columns(["$k0"])
    folded, keys = fold(rest, owners, specs, timed=True)
    keyed = folded.append_column("$k0", pa.array(keys))
    assert outcomes(spec, keyed) == expected(CALLS["path"], drawn)


# What user code sees


def values(aggregate: AggregateCall, *batches: list[Row]) -> list[Any]:
    specs, (spec,) = lowered([aggregate])
    table = table_of(specs, *(batch_of(specs, drawn) for drawn in batches))
    found: list[Any] = finish(spec, table.partials()).values.to_pylist()
    return found


def row(ts: int, value: Any, field: Field = TEXT, **more: Any) -> Row:
    return {"$k0": 0, "$ts": ts, field.name: value, "keep": True, **more}


def test_rows_of_a_batch_come_by_time_then_by_value() -> None:
    newest = call("newest", TEXT)
    assert values(newest, [row(3, "c"), row(5, "a"), row(5, "b"), row(1, "z")]) == ["b"]
    assert values(newest, [row(9, "first batch")], [row(1, "second batch")]) == ["second batch"]
    assert values(call("newest", TEXT, distinct=True), [row(9, "a"), row(1, "b")]) == ["b"]


def test_rows_without_a_time_come_last() -> None:
    entries = [{"v0": "c", "v1": 3}, {"v0": "no time", "v1": None}, {"v0": "a", "v1": 5}]
    assert states_of(USERS["newest"], pa.array([entries, None, []])).to_pylist() == [
        '"no time"',
        None,
        None,
    ]


def test_a_group_without_arguments_has_the_value_of_the_first_state() -> None:
    some = call("product", REAL, filter=KEEP)
    assert values(some, [row(1, 7.0, REAL, keep=False)]) == [1.0]
    assert values(some, [row(1, None, REAL)], [row(2, None, REAL)]) == [1.0]
    assert values(some, [row(1, None, REAL)], [row(2, 3.0, REAL)]) == [3.0]
    assert values(call("product", REAL, distinct=True), [row(1, None, REAL)]) == [1.0]
    assert values(call("newest", TEXT), [row(1, None)]) == [None]


def test_arguments_are_values_of_python() -> None:
    seen: list[Any] = []

    class Spy(Newest):
        arguments = (
            "TIMESTAMP", "DATE", "DECIMAL(12, 3)", "BINARY", "BOOLEAN", "TINYINT", "ARRAY<BIGINT>", "REAL",
        )  # type: ignore[assignment]  # fmt: skip

        def accumulate(self, _state: Any, *given: Any) -> str:
            seen.append(given)
            return ""

    kinds: list[DataType] = [
        Scalar.TIMESTAMP, Scalar.DATE, Decimal(12, 3), Scalar.BINARY, Scalar.BOOLEAN, Scalar.TINYINT,
        Array(Scalar.BIGINT), Scalar.REAL,
    ]  # fmt: skip
    made = user_aggregate("spy", Spy)
    spied = AggregateCall(
        function="spy", args=tuple(X[kind] for kind in kinds), type=Scalar.VARCHAR, user=made
    )
    given = [1_000_001, 1, Number("1.500"), b"\0", True, -3, [1, 2], 0.5]
    values(
        spied,
        [
            {
                "$k0": 0,
                "$ts": 0,
                **{f"x_{kind}": one for kind, one in zip(kinds, given, strict=True)},
            }
        ],
    )
    ((instant, day, *rest),) = seen
    assert (instant.isoformat(), day.isoformat()) == (
        "1970-01-01T00:00:01.000001+00:00",
        "1970-01-02",
    )
    assert rest == given[2:]
    assert list(map(type, rest)) == [Number, bytes, bool, int, list, float]


def test_an_instant_that_python_does_not_know_fails_its_group_alone() -> None:
    specs, (spec,) = lowered([call("cents", AMOUNT, TIME)])
    drawn = [
        {"$k0": key, "$ts": 0, AMOUNT.name: Number("1.25"), TIME.name: at}
        for key, at in ((0, 5), (1, 2**60), (0, 6), (2, None))
    ]
    batch = batch_of(specs, drawn)
    assert outcomes(spec, batch) == {0: Number("2.5"), 1: Reason.UDF_FAILED, 2: Number("0.0")}
    assert "accumulate of cents: " in finish(spec, batch).details[1]


# What goes wrong


def failure(made: type[Any], *drawn: Any, name: str = "mine") -> str:
    """The one detail of the one group of these values."""
    specs, (spec,) = lowered(
        [AggregateCall(function=name, args=(NUMBER,), type=Scalar.TINYINT, user=user_aggregate(name, made))]
    )  # fmt: skip
    table = table_of(specs, *(batch_of(specs, [row(0, value, NUMBER)]) for value in drawn))
    done = finish(spec, table_of(specs, table.partials()).partials())
    assert done.codes is not None
    assert (done.codes.tolist(), done.values.to_pylist()) == ([FAILED], [None])
    return done.details[0]


class _Fragile(Picky):
    """Its init works when it is registered."""

    inits = 0

    def init(self) -> dict[str, int]:
        self.inits += 1
        if self.inits > 2:
            raise OSError("no disk")
        return {}


class _Merging(Picky):
    def merge(self, one: Any, other: Any) -> Any:
        raise KeyError(one["sum"] + other["sum"])


class _Unwritable(Picky):
    def accumulate(self, state: Any, value: int) -> Any:
        return {"sum": range(value)}


class _UnwritableUnion(Picky):
    def merge(self, one: Any, other: Any) -> Any:
        return object


class _Circular(Picky):
    def accumulate(self, state: Any, value: int) -> Any:
        state["self"] = state


class _Large(Picky):
    def finish(self, state: Any) -> Any:
        return 128


class _Silent(Picky):
    def finish(self, state: Any) -> Any:
        return self

    def __repr__(self) -> str:
        raise _NoText


class _NoText(Exception):
    def __str__(self) -> str:
        raise ValueError


class _Long(Picky):
    def finish(self, state: Any) -> Any:
        raise RuntimeError("x" * 10_000)


@pytest.mark.parametrize(
    ("made", "drawn", "detail"),
    [
        (Picky, [-1], "accumulate of mine: ValueError: negative"),
        (Picky, [3, -1, 4], "accumulate of mine: ValueError: negative"),
        (Picky, [1], "finish of mine: ZeroDivisionError: integer division or modulo by zero"),
        (Picky, [0, 100, 28], "finish of mine: 128 is no TINYINT"),
        (_Fragile, [1], "init of mine: OSError: no disk"),
        (_Merging, [1, 2], "merge of mine: KeyError: 3"),
        (
            _Unwritable,
            [1],
            "the state of mine: it holds a range; a state is made of None, bool, int",
        ),
        (_UnwritableUnion, [1, 2], "the state of mine: it holds a type"),
        (
            _Circular,
            [1],
            "the state of mine: it cannot be written as text: maximum recursion depth",
        ),
        (_Large, [1], "finish of mine: 128 is no TINYINT"),
        (_Silent, [1], "finish of mine: _NoText"),
        (_Long, [1], "finish of mine: RuntimeError: xxx"),
    ],
)
def test_failures_and_their_details(made: type[Any], drawn: list[int], detail: str) -> None:
    found = failure(made, *drawn)
    assert found.startswith(detail)
    assert len(found) <= 500


def test_a_failure_leaves_others_alone_and_stays() -> None:
    specs, (spec,) = lowered([call("picky", NUMBER)])
    drawn = [
        {**row(0, value, NUMBER), "$k0": key} for key, value in ((1, 0), (2, -1), (1, 5), (3, 0))
    ]
    table = table_of(specs, batch_of(specs, drawn))
    wanted = {1: 5, 2: Reason.UDF_FAILED, 3: 0}
    assert outcomes(spec, table.partials()) == wanted
    texts = table.partials().column("$p0").to_pylist()
    assert from_text(texts[1]) == Failed("accumulate of picky: ValueError: negative")
    table.merge(batch_of(specs, [{**row(0, 7, NUMBER), "$k0": 2}]))
    assert outcomes(spec, table.partials()) == wanted
    assert outcomes(spec, table_of(specs, table.partials()).partials()) == wanted


def test_of_two_failures_the_same_one_stays_whichever_came_first() -> None:
    specs, _ = lowered([call("picky", NUMBER)])
    one, other = (
        batch_of(specs, [row(0, 1, NUMBER)]).set_column(
            3, "$p0", pa.array([to_text(Failed(message))])
        )
        for message in ("b", "a")
    )
    assert table_of(specs, one, other).partials().equals(table_of(specs, other, one).partials())


def test_an_interrupt_is_no_failure_of_a_group() -> None:
    class Interrupted(Product):
        def accumulate(self, state: Any, value: float) -> None:
            raise KeyboardInterrupt

    specs, _ = lowered(
        [AggregateCall(function="i", args=(REAL,), type=Scalar.DOUBLE, user=user_aggregate("i", Interrupted))]
    )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        batch_of(specs, [row(0, 1.0, REAL)])


# Behind the kernel's finish


def contents(*states: str | None, sums: Sequence[int]) -> pa.RecordBatch:
    count = len(states)
    return pa.record_batch(
        {
            WINDOW_START: pa.array([0] * count, pa.int64()),
            WINDOW_END: pa.array([10] * count, pa.int64()),
            "$k0": pa.array(range(count), pa.int64()),
            "$p0": pa.array(states, pa.string()),
            "$p1": pa.array([value >> 32 for value in sums], pa.int64()),
            "$p2": pa.array([value & 0xFFFFFFFF for value in sums], pa.int64()),
        }
    )


def finisher() -> Finisher:
    total = FinishSpec(function="sum", partials=(1, 2), type=Scalar.BIGINT)
    picky = FinishSpec(function="picky", partials=(0,), type=Scalar.TINYINT, user=USERS["picky"])
    spec = OutputSpec(
        plan_id="0" * 16,
        keys=(KEY,),
        aggregates=(("$a0", total), ("$a1", picky)),
        reads=frozenset({"$a0", "$a1"}),
        schema=Schema((Column("total", Scalar.BIGINT), Column("picky", Scalar.TINYINT))),
        plain=(("total", "$a0"), ("picky", "$a1")),
    )
    return Finisher(spec, None)


GOOD, BAD = to_text({"sum": 3, "zeros": 1}), to_text(Failed("it broke"))


def test_broken_groups_are_reported_with_reason_and_detail() -> None:
    done = finisher()(contents(GOOD, BAD, GOOD, BAD, sums=[1, 2, 2**64, 2**64]))
    overflow = DISPOSITION[Reason.OVERFLOW]
    assert done.codes.tolist() == [AGGREGATED, FAILED, overflow, overflow]
    emitted = final(done)
    assert emitted.rows.to_pylist() == [{"total": 1, "picky": 3}]
    assert emitted.broken.units.column("$k0").to_pylist() == [1, 2, 3]
    assert emitted.broken.codes.tolist() == [FAILED, overflow, overflow]
    assert emitted.broken.details == ("it broke", "", "")
    both = together([emitted, emitted])
    assert both.broken.details == (*emitted.broken.details, *emitted.broken.details)


def test_a_group_that_breaks_is_taken_back_and_reported_once() -> None:
    finished = finisher()
    before, after = (
        finished(contents(GOOD, BAD, sums=[1, 1])),
        finished(contents(BAD, BAD, sums=[1, 1])),
    )
    changed = difference(before, after, StreamKind.CHANGELOG)
    assert (changed.rows.to_pylist(), changed.ops is not None and changed.ops.tolist()) == (
        [{"total": 1, "picky": 3}],
        [3],
    )
    assert changed.broken.units.column("$k0").to_pylist() == [0]
    assert changed.broken.details == ("it broke",)


def test_memory_is_counted() -> None:
    specs, _ = lowered([call("newest", TEXT)])
    empty, small, large = (
        table_of(specs, *(batch_of(specs, [row(0, text)]) for text in texts)).bytes
        for texts in ([], ["a"], ["a", "b" * 10_000])
    )
    assert empty < small
    assert large > small + 9_000


def test_batches_without_python_aggregates_stay_as_they_are() -> None:
    specs, _ = lowered([AggregateCall(function="count", args=(), type=Scalar.BIGINT)])
    batch = partial_batch(specs, [row(0, "a")])
    assert accumulated(batch, specs) is batch
