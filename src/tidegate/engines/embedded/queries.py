"""SQL on DataFusion, planned once and run for every batch.

Decided here: how a query is run again with other rows and without planning it again, which costs more than running it
over a small batch. The table that it reads is a `Feed`, a dataset whose batches are asked for when the plan runs, not
when it is made. Plans that remember something of their input (joins keep their build side) are made anew each time, and
any plan is made anew from time to time, because plans collect metrics of all their runs.

A batch is cut into one piece per core, and each core runs a plan of its own: pieces give partials that the kernel
merges, as it merges everything.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import datafusion
import pyarrow as pa
import pyarrow.dataset as ds

from tidegate.kernel.arrow import arrow_type
from tidegate.model.schema import Schema
from tidegate.plan.event_time import PARTITION, SOURCE_TIME

_SETTINGS = {
    "datafusion.sql_parser.recursion_limit": "1000",
    "datafusion.execution.target_partitions": "1",
    "datafusion.optimizer.enable_dynamic_filter_pushdown": "false",
    "datafusion.execution.batch_size": "32768",
    # Arrow's functions know no views of strings: a CAST to VARCHAR makes plain ones.
    "datafusion.sql_parser.map_string_types_to_utf8view": "false",
}
_WORTH_A_THREAD = 20_000
_PIECE_ROWS = 32_768
_RUNS_PER_PLAN = 2_000
_PLANS = 4
Text = Callable[[], str]


class _Scan:
    """What a plan gets when it asks for rows."""

    def __init__(self, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> None:
        self.projected_schema = schema
        self._batches = batches

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches)


class Feed(ds.InMemoryDataset):  # type: ignore[misc]  # pyarrow has no types
    """A table whose rows are those of the moment."""

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__(pa.Table.from_batches([], schema))
        self.batches: Sequence[pa.RecordBatch] = ()

    def scanner(
        self, columns: Sequence[str] | None = None, filter: Any = None, **_options: Any
    ) -> _Scan:
        schema, batches = self.schema, self.batches
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
            batches = [batch.select(list(columns)) for batch in batches]
        if isinstance(filter, pa.Scalar):  # a condition that says the same of all rows
            batches = batches if filter.as_py() else []
        elif filter is not None:
            batches = pa.Table.from_batches(batches, schema).filter(filter).to_batches()
        return _Scan(schema, batches)

    def get_fragments(self, _filter: Any = None) -> Iterator["_Fragment"]:
        return iter((_Fragment(self),))


class _Fragment:
    """The whole feed: a plan has one partition."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def scanner(
        self, _schema: pa.Schema, columns: Sequence[str] | None = None, filter: Any = None, **_: Any
    ) -> _Scan:
        # A filter may read columns that are not asked for, so it comes first.
        if filter is None:
            return self._feed.scanner(columns)
        every = self._feed.scanner(None, filter)
        chosen = list(columns) if columns is not None else every.projected_schema.names
        batches = [batch.select(chosen) for batch in every.to_batches()]
        return _Scan(pa.schema([self._feed.schema.field(name) for name in chosen]), batches)


class _Lane:
    """One core's context: its feed, and the plans that read it."""

    def __init__(self, name: str, schema: pa.Schema, tables: Mapping[str, pa.Table]) -> None:
        self.feed = Feed(schema)
        self._context = datafusion.SessionContext(datafusion.SessionConfig(_SETTINGS))
        self._context.register_dataset(name, self.feed)
        for table, rows in tables.items():
            batches = rows.to_batches() or [pa.RecordBatch.from_pylist([], schema=rows.schema)]
            self._context.register_record_batches(table, [batches])
        self._plans: OrderedDict[object, tuple[Any, list[int]]] = OrderedDict()

    def run(
        self, batches: Sequence[pa.RecordBatch], key: object, text: Text, *, fresh: bool
    ) -> list[pa.RecordBatch]:
        self.feed.batches = batches
        try:
            plan = self._context.sql(text()).execution_plan() if fresh else self._plan(key, text)
            return [
                without_views(batch.to_pyarrow())
                for partition in range(plan.partition_count)
                for batch in self._context.execute(plan, partition)
            ]
        finally:
            self.feed.batches = ()

    def _plan(self, key: object, text: Text) -> Any:
        plan, runs = self._plans.get(key, (None, []))
        if plan is None or runs[0] >= _RUNS_PER_PLAN:
            plan, runs = self._context.sql(text()).execution_plan(), [0]
            self._plans[key] = plan, runs
            if len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        runs[0] += 1
        return plan


class Workers:
    """The cores, and the threads that keep them busy. Long calls into DataFusion release the interpreter.

    `worth`: a batch of so many rows is cut into one piece for each of them.
    """

    def __init__(self, count: int | None = None, *, worth: int = _WORTH_A_THREAD) -> None:
        self.count = count or len(os.sched_getaffinity(0))
        self.worth = worth
        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="tidegate")

    def close(self) -> None:
        self._pool.shutdown()

    def each(self, work: Sequence[Callable[[], list[pa.RecordBatch]]]) -> list[pa.RecordBatch]:
        """All results, in the order of the work."""
        if len(work) == 1:
            return work[0]()
        return [batch for made in self._pool.map(lambda one: one(), work) for batch in made]


class Query:
    """Statements over one fed table and some that stay. `fresh`: plans of it cannot be used twice."""

    def __init__(
        self,
        name: str,
        schema: pa.Schema,
        workers: Workers,
        *,
        tables: Mapping[str, pa.Table] | None = None,
        fresh: bool = False,
    ) -> None:
        self._name, self._schema, self._tables = name, schema, dict(tables or {})
        self._workers, self._fresh = workers, fresh
        self._lanes: list[_Lane] = []

    def run(
        self, rows: Sequence[pa.RecordBatch], key: object, text: Text, *, parallel: bool = False
    ) -> list[pa.RecordBatch]:
        """What the text gives over the rows; `key` says which text it is. In parallel, each piece gives its own."""
        count = sum(batch.num_rows for batch in rows)
        lanes = self._workers.count if parallel and count >= self._workers.worth else 1
        while len(self._lanes) < lanes:
            self._lanes.append(_Lane(self._name, self._schema, self._tables))
        pieces = _cut(rows, -(-count // lanes), lanes)

        def one(lane: _Lane, piece: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
            return lane.run(piece, key, text, fresh=self._fresh)

        work = [
            lambda lane=lane, piece=piece: one(lane, piece)
            for lane, piece in zip(self._lanes, pieces, strict=False)
        ]
        return self._workers.each(work)


def _cut(rows: Sequence[pa.RecordBatch], per_lane: int, lanes: int) -> list[list[pa.RecordBatch]]:
    """As many rows for each lane, in batches that fit into a processor's cache."""
    pieces: list[list[pa.RecordBatch]] = [[] for _ in range(lanes)]
    lane, left = 0, per_lane
    for batch in rows:
        start = 0
        while start < batch.num_rows:
            size = min(_PIECE_ROWS, batch.num_rows - start, left)
            pieces[lane].append(batch.slice(start, size))
            start, left = start + size, left - size
            if left == 0 and lane + 1 < lanes:
                lane, left = lane + 1, per_lane
    return pieces


def sql_type(kind: pa.DataType) -> pa.DataType:
    """DataFusion knows instants without a zone: they are UTC on our side, and no zone is UTC on its own.

    >>> print(sql_type(pa.list_(pa.timestamp("us", tz="UTC"))))
    list<item: timestamp[us]>
    """
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    if pa.types.is_list(kind):
        return pa.list_(sql_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(sql_type(kind.key_type), sql_type(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, sql_type(field.type)) for field in kind])
    return kind


def without_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Some functions of DataFusion give texts as views, which Arrow can neither filter nor take.

    >>> viewed = pa.RecordBatch.from_arrays([pa.array(["a"], pa.string_view())], ["k"])
    >>> print(without_views(viewed).schema)
    k: string
    """
    kinds = [_without_views(field.type) for field in batch.schema]
    if kinds == batch.schema.types:
        return batch
    names = batch.schema.names
    columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names)


def _without_views(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list(kind) and _without_views(kind.value_type) != kind.value_type:
        return pa.list_(_without_views(kind.value_type))
    return kind


def sql_schema(schema: Schema) -> pa.Schema:
    """The columns as DataFusion reads them."""
    return pa.schema([(column.name, sql_type(arrow_type(column.type))) for column in schema])


def as_sql_table(table: pa.Table) -> pa.Table:
    """A whole table in DataFusion's types."""
    return table.cast(pa.schema([(field.name, sql_type(field.type)) for field in table.schema]))


_BESIDE = (SOURCE_TIME.name, PARTITION.name)


def as_sql(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> list[pa.RecordBatch]:
    """The batches with the columns of the schema, in its types; what the source does not say beside them is NULL."""
    return [_as_sql(batch, schema) for batch in batches]


def _as_sql(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = []
    for field in schema:
        if field.name in _BESIDE and field.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        column = batch.column(field.name)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
