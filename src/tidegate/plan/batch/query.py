"""A whole query as one SELECT: rows, windows, groups, HAVING and Top-N, output.

In: a query of a program, with the streams it reads. Out: `Batch`: text, and what of it can be compared. Decided here:
a query that changes what it has emitted is compared by what it has in the end, so every EMIT mode means the same
SELECT; `window_id` is a hash that only we know, and is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidegate.errors import TidegateError
from tidegate.model.expressions import Expr, Field, Named, fields_of
from tidegate.model.policies import EmitMode, MissingEventTime, PreEpoch
from tidegate.model.schema import Column
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Scalar
from tidegate.model.windows import Session, Sliding
from tidegate.plan.batch.aggregates import aggregate, overflows, sort_key
from tidegate.plan.batch.rows import Rows, Steps, conditions, rows_of, select, unless_failing
from tidegate.plan.batch.scalars import quote, refused, scalar, type_name
from tidegate.plan.batch.windows import WINDOW_TIMES, windows
from tidegate.plan.event_time import UPSTREAM_TIME
from tidegate.plan.logical import (
    RANK,
    Aggregate,
    Emission,
    Having,
    IntervalJoin,
    Logical,
    NamedAggregate,
    OverAggregate,
    Project,
    TopN,
    Windowed,
    WindowJoin,
    window_field,
)
from tidegate.plan.physical import RowTime
from tidegate.plan.planner import plan_query
from tidegate.plan.row_errors import only_where
from tidegate.plan.script import NamedQuery, Program

_WINDOW_ID = window_field("window_id")
_RUN = ('"$start_us"', '"$end_us"', '"$time_us"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """`sql` gives the columns of `compared`, in their order; `left_out` are those that it cannot know."""

    sql: str
    compared: tuple[Column, ...]
    left_out: tuple[str, ...]


def batch_of(query: NamedQuery, program: Program, *, latest_us: int | None = None) -> Batch:
    """The query over all rows; `latest_us` is the last time that is not in the future, where that is asked."""
    made = _Query(program, latest_us=latest_us)
    result = made.stream(query.name, query.logical)
    left_out = tuple(
        named.name for named in _shape(query.logical).output if named.expr == _WINDOW_ID
    )
    compared = tuple(column for column in query.logical.schema if column.name not in left_out)
    shown = ", ".join(quote(column.name) for column in compared)
    parts = ",\n".join(f"{quote(name)} AS (\n{_indented(sql)}\n)" for name, sql in made.steps.parts)
    return Batch(
        sql=f"WITH {parts}\nSELECT {shown}\nFROM {quote(result)}",
        compared=compared,
        left_out=left_out,
    )


def batches_of(
    program: Program, *, latest_us: int | None = None
) -> Iterator[tuple[str, Batch | str]]:
    """Every query of a program by its name, or why it has no counterpart."""
    for query in program.queries:
        try:
            yield query.name, batch_of(query, program, latest_us=latest_us)
        except TidegateError as refusal:
            yield query.name, refusal.message


def _indented(sql: str) -> str:
    return "\n".join(f"    {line}" for line in sql.splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A query from its top down to what it reads."""

    emission: Emission
    output: tuple[Named, ...]
    above: tuple[Having | TopN, ...]
    grouped: Aggregate | None
    over: OverAggregate | None
    windowed: Windowed | None
    reads: Logical

    @property
    def is_stateless(self) -> bool:
        return self.grouped is None and self.over is None and self.windowed is None


def _shape(emission: Emission) -> _Shape:
    node = emission.input
    output: tuple[Named, ...] = tuple(
        Named(column.name, Field(column.name, column.type)) for column in node.schema
    )
    above: list[Having | TopN] = []
    if isinstance(node, Project):
        output, node = node.columns, node.input
    while isinstance(node, (Having, TopN)):
        above.append(node)
        node = node.input
    if isinstance(node, (WindowJoin, IntervalJoin)):
        raise refused("a join of two streams")
    grouped = node if isinstance(node, Aggregate) else None
    over = node if isinstance(node, OverAggregate) else None
    below = node.input if isinstance(node, (Aggregate, OverAggregate)) else node
    windowed = below if isinstance(below, Windowed) else None
    return _Shape(
        emission=emission,
        output=output,
        above=tuple(reversed(above)),
        grouped=grouped,
        over=over,
        windowed=windowed,
        reads=windowed.input if windowed else below,
    )


class _Query:
    """One WITH for a query and all streams that it reads."""

    def __init__(self, program: Program, *, latest_us: int | None) -> None:
        self._program, self._latest_us = program, latest_us
        taken = {
            one.name.lower() for kind in ("source", "table") for one in program.catalog.all_of(kind)
        }
        self.steps = Steps(stream=self._stream_named, subquery=self._subquery, taken=taken)
        self._written: dict[str, str] = {}
        self._times: list[RowTime] = []

    def stream(self, name: str, emission: Emission) -> str:
        query = NamedQuery(name=name, logical=emission, anonymous=False)
        plan = plan_query(query, self._program)
        for stage in plan.stages:
            if stage.dedup is not None:
                raise refused("dedup_key: which row is the first goes by arrival")
            self._times += [one.time for one in stage.branches if one.time is not None]
        self.steps.falls_back = any(
            time.on_missing is MissingEventTime.FALLBACK for time in self._times
        )
        self._written[name.lower()] = self._answer(name, _shape(emission))
        return self._written[name.lower()]

    def _stream_named(self, name: str) -> str:
        if name.lower() not in self._written:
            query = self._program.query(name)
            assert query is not None
            return self.stream(query.name, query.logical)
        return self._written[name.lower()]

    def _subquery(self, emission: Emission) -> str:
        return self._answer("inner", _shape(emission))

    # One query

    def _answer(self, name: str, shape: _Shape) -> str:
        if shape.is_stateless:
            return self._passed_on(name, shape)
        rows = rows_of(shape.reads, self.steps)
        found = self._kept_rows(shape, rows)
        if shape.windowed is not None:
            keys = [named.expr for named in shape.grouped.keys] if shape.grouped else []
            found = windows(shape.windowed, found, keys, self.steps)
        if isinstance(shape.windowed and shape.windowed.window, Sliding) and (
            shape.emission.emit.mode is EmitMode.ON_UPDATE
        ):
            raise refused("sliding windows that fire at once: what they see goes by arrival")
        if shape.grouped is not None:
            found = self._groups(shape, shape.grouped, found)
        elif shape.over is not None:
            found = self._frames(shape.over, found)
        else:
            found = self._with_window(shape, found)
        for node in shape.above:
            found = (
                self._having(node, found)
                if isinstance(node, Having)
                else self._first(node, shape, found)
            )
        return self._output(name, shape, found)

    def _passed_on(self, name: str, shape: _Shape) -> str:
        rows = rows_of(shape.reads, self.steps)
        columns = [Named(named.name, rows.mean(named.expr)) for named in shape.output]
        failing = unless_failing(*(named.expr for named in columns))
        return self.steps.add(name, select(columns, rows.source, [*conditions(rows), *failing]))

    def _kept_rows(self, shape: _Shape, rows: Rows) -> str:
        """What is aggregated: the columns that are used above, of rows that WHERE keeps and that have a value in all of
        them.
        """
        if rows.time is None and (shape.windowed is not None or shape.over is not None):
            raise refused("a window over rows without a time")
        used = fields_of(*_row_exprs(shape))
        columns = [Named(name, expr) for name, expr in rows.meanings.items() if name in used]
        where = list(conditions(rows))
        if rows.time is not None:
            columns.insert(0, Named("$ts", Field("$ts", Scalar.BIGINT)))
        for expr in _checked(shape):
            where += unless_failing(rows.mean(expr))
        source = rows.source
        if rows.time is not None:
            timed = f'SELECT *, epoch_us({scalar(rows.time)}) AS "$ts"\nFROM {source}'
            source = quote(self.steps.add("timed", timed))
        if shape.windowed is not None or shape.over is not None:
            where += self._in_reach(rows)
        if not columns:
            columns = [Named("$row", Field("$row", Scalar.BIGINT))]
            source = f'(SELECT *, 1 AS "$row" FROM {source})'
        return self.steps.add("rows", select(columns, source, where))

    def _in_reach(self, rows: Rows) -> Iterator[str]:
        yield f'"$ts" BETWEEN {MIN_EVENT_TIME_US} AND {MAX_EVENT_TIME_US}'
        if not rows.from_source:
            return
        if any(time.pre_epoch is PreEpoch.DIVERT for time in self._times):
            yield '"$ts" >= 0'
        if self._latest_us is not None and any(
            time.max_future_skew_us is not None for time in self._times
        ):
            yield f'"$ts" <= {self._latest_us}'

    # Groups

    def _groups(self, shape: _Shape, node: Aggregate, source: str) -> str:
        run = [*_RUN] if shape.windowed else []
        if isinstance(shape.windowed and shape.windowed.window, Sliding):
            run.append('"$trigger"')
        keys = [(scalar(named.expr), quote(named.name)) for named in node.keys]
        having = [f"NOT coalesce({off}, FALSE)" for off in map(_off, node.aggregates) if off]
        columns = [*run, *(f"{text} AS {name}" for text, name in keys)]
        columns += [_aggregated(named) for named in node.aggregates] or ['count(*) AS "$rows"']
        by = [*run, *(text for text, _ in keys)]
        if not by:
            having.insert(0, "count(*) > 0")
        grouped = f"\nGROUP BY {', '.join(by)}" if by else ""
        chosen = f"\nHAVING {' AND '.join(having)}" if having else ""
        sql = f"SELECT {', '.join(columns)}\nFROM {quote(source)}{grouped}{chosen}"
        return self._with_window(shape, self.steps.add("groups", sql))

    def _with_window(self, shape: _Shape, source: str) -> str:
        """The columns of the window, for what is computed from them."""
        if shape.windowed is None:
            return source
        times = ", ".join(
            f'make_timestamp("{number}") AS "{name}"' for name, (number, _) in WINDOW_TIMES.items()
        )
        return self.steps.add("of_windows", f"SELECT *, {times}\nFROM {quote(source)}")

    def _frames(self, node: OverAggregate, source: str) -> str:
        columns, off = [], []
        for frame in node.frames:
            parts = ", ".join(map(scalar, frame.partition_by))
            ahead = frame.window.lookahead_us or 0
            over = (
                f' OVER ({f"PARTITION BY {parts} " if parts else ""}ORDER BY "$ts" '
                f"RANGE BETWEEN {frame.window.lookback_us} PRECEDING AND {ahead} FOLLOWING)"
            )
            for named in frame.aggregates:
                if named.call.function in ("mode", "array_agg", "string_agg"):
                    raise refused(f"{named.call.function.upper()} OVER a frame")
                columns.append(f"{aggregate(named.call, over=over)} AS {quote(named.name)}")
                off += [text] if (text := overflows(named.call, quote(named.name))) else []
        framed = self.steps.add(
            "frames", f'SELECT *, "$ts" AS "$time_us", {", ".join(columns)}\nFROM {quote(source)}'
        )
        if not off:
            return framed
        kept = " AND ".join(f"NOT coalesce({text}, FALSE)" for text in off)
        return self.steps.add("fitting", f"SELECT *\nFROM {quote(framed)}\nWHERE {kept}")

    def _having(self, node: Having, source: str) -> str:
        where = [scalar(node.predicate), *unless_failing(node.predicate)]
        return self.steps.add(
            "having", f"SELECT *\nFROM {quote(source)}\nWHERE {' AND '.join(where)}"
        )

    def _first(self, node: TopN, shape: _Shape, source: str) -> str:
        if shape.grouped is None or shape.windowed is None:
            raise refused("Top-N of rows: which of several equal rows comes first is not said")
        if isinstance(shape.windowed.window, (Session, Sliding)):
            raise refused(f"Top-N of {shape.windowed.window.kind} windows")
        ties = [f"{quote(named.name)} ASC NULLS LAST" for named in shape.grouped.keys]
        order = ", ".join([*map(sort_key, node.order), *ties])
        parts = ", ".join(['"$start_us"', '"$end_us"', *map(scalar, node.within)])
        numbered = f"row_number() OVER (PARTITION BY {parts} ORDER BY {order})"
        limit = "" if node.limit is None else f"\nQUALIFY {quote(RANK.name)} <= {node.limit}"
        return self.steps.add(
            "first_rows", f"SELECT *, {numbered} AS {quote(RANK.name)}\nFROM {quote(source)}{limit}"
        )

    def _output(self, name: str, shape: _Shape, source: str) -> str:
        columns = []
        for named in shape.output:
            if named.expr == _WINDOW_ID:
                columns.append(f"CAST(NULL AS VARCHAR) AS {quote(named.name)}")
                continue
            if _WINDOW_ID.name in fields_of(named.expr):
                raise refused("an expression of window_id")
            text = scalar(named.expr)
            columns.append(text if text == quote(named.name) else f"{text} AS {quote(named.name)}")
        timed = shape.windowed is not None or shape.over is not None
        if timed:
            columns.append(f'make_timestamp("$time_us") AS "{UPSTREAM_TIME.name}"')
        where = list(unless_failing(*(named.expr for named in shape.output)))
        kept = f"\nWHERE {' AND '.join(where)}" if where else ""
        made = self.steps.add(name, f"SELECT {', '.join(columns)}\nFROM {quote(source)}{kept}")
        if timed:
            self.steps.timed.add(made)
        return made


def _aggregated(named: NamedAggregate) -> str:
    text = aggregate(named.call)
    if overflows(named.call, text):
        text = f"TRY_CAST({text} AS {type_name(named.call.type)})"
    return f"{text} AS {quote(named.name)}"


def _off(named: NamedAggregate) -> str:
    return overflows(named.call, aggregate(named.call))


def _row_exprs(shape: _Shape) -> Iterator[Expr]:
    """Everything that is computed from rows."""
    if shape.windowed is not None:
        yield from shape.windowed.partition_by
        yield from (expr for expr, _ in shape.windowed.inherited)
    if shape.grouped is not None:
        yield from (named.expr for named in shape.grouped.keys)
        for named in shape.grouped.aggregates:
            yield from named.call.exprs
        return
    if shape.over is not None:
        for frame in shape.over.frames:
            yield from frame.partition_by
            for named in frame.aggregates:
                yield from named.call.exprs
    yield from (named.expr for named in shape.output)
    for node in shape.above:
        yield from [node.predicate] if isinstance(node, Having) else _of_top(node)


def _of_top(node: TopN) -> Sequence[Expr]:
    return [*node.within, *(key.expr for key in node.order)]


def _checked(shape: _Shape) -> Iterator[Expr]:
    """What must have a value in every row that counts; what only a FILTER lets through, where it does."""
    frames = shape.over.frames if shape.over else ()
    aggregates = [*(shape.grouped.aggregates if shape.grouped else ())]
    aggregates += [named for frame in frames for named in frame.aggregates]
    of_aggregates = {expr for named in aggregates for expr in named.call.exprs}
    for expr in _row_exprs(shape):
        if expr not in of_aggregates and not any(name.startswith("$") for name in fields_of(expr)):
            yield expr
    for named in aggregates:
        condition = named.call.filter
        for expr in named.call.exprs:
            bare = condition is None or expr == condition
            yield expr if bare or condition is None else only_where(condition, expr)
