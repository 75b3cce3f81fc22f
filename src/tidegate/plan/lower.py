"""From the logical to the physical plan: windowed and aggregated queries become stages.

In: the logical plan of a query. Out: its stages, inner queries first, with every per-row expression in terms of the
input's own columns. What rules choose between is still open. Next: rules/.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidegate.model.connectors import find_connector
from tidegate.model.expressions import (
    FALSE,
    TRUE,
    Expr,
    Field,
    Named,
    SortKey,
    all_of,
    call,
    fields_of,
    substitute,
    walk,
)
from tidegate.model.options import OPTIONS, OptionValue
from tidegate.model.policies import MissingEventTime, PreEpoch, WatermarkOrigin
from tidegate.model.schema import Column, Schema
from tidegate.model.types import Scalar
from tidegate.model.windows import Conditional, Inherited, Window
from tidegate.plan.aggregates import finish_of, partials_of
from tidegate.plan.catalog import Catalog, SourceDef
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.dedup import with_dedup
from tidegate.plan.event_time import PARTITION, SOURCE_TIME, UPSTREAM_TIME
from tidegate.plan.join_columns import join_columns, never_idle
from tidegate.plan.logical import (
    Aggregate,
    Emission,
    EventTime,
    Filter,
    Having,
    IntervalJoin,
    Logical,
    NamedAggregate,
    OverAggregate,
    Project,
    Rung,
    Source,
    StaticTable,
    StreamRef,
    TableJoin,
    TopN,
    UnionAll,
    Windowed,
    WindowJoin,
)
from tidegate.plan.physical import (
    Branch,
    FrameSpec,
    Input,
    InputKind,
    RowTime,
    Stage,
    StageKind,
    TableLookup,
)
from tidegate.plan.row_errors import NO_ERROR, error_of

Columns = Mapping[str, Expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """A branch while it is put together: `columns` says what visible names are in terms of the input."""

    input: Input
    columns: Columns
    lookups: tuple[TableLookup, ...] = ()
    predicate: Expr = TRUE
    time: RowTime | None = None

    def resolve(self, expr: Expr) -> Expr:
        return substitute(
            expr,
            lambda node: self.columns.get(node.name, node) if isinstance(node, Field) else None,
        )


@dataclass(slots=True)
class _RowColumns:
    """Per-row expressions that a stage needs behind the seam, each different one once."""

    exprs: dict[Expr, str] = field(default_factory=dict)

    def add(self, expr: Expr, prefix: str = "$x") -> Field:
        if expr not in self.exprs:
            number = sum(name.startswith(prefix) for name in self.exprs.values())
            self.exprs[expr] = f"{prefix}{number}"
        return Field(self.exprs[expr], expr.type)

    def outside(self, expr: Expr) -> Expr:
        """The expression with its largest parts that are about rows alone replaced by row columns.

        A part that may fail stays, with only its operands replaced: what is around it may not need it for every row.
        """

        def part(node: Expr) -> Expr | None:
            return (
                None if _is_about_windows(node) or error_of(node) != NO_ERROR else self._kept(node)
            )

        return substitute(expr, part) if _is_about_windows(expr) else self._kept(expr)

    def _kept(self, expr: Expr) -> Expr:
        return self.add(expr) if any(isinstance(node, Field) for node in walk(expr)) else expr


def _is_about_windows(expr: Expr) -> bool:
    """Whether the value is known only per window, group or trigger."""
    return any(
        isinstance(node, Field) and node.name.startswith(("$window_", "$a", "$o", "$k", "$rank"))
        for node in walk(expr)
    )


@dataclass(slots=True, kw_only=True)
class Lowering:
    """Lowers one query; collects the stages of its inner queries on the way.

    `defaults` are the project's options; `own` those of the query that is being lowered, which beat its sources'.
    """

    catalog: Catalog
    name: str
    defaults: Mapping[str, OptionValue]
    own: Mapping[str, OptionValue] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)

    def query(self, emission: Emission) -> tuple[Stage, ...]:
        self.stages.append(self._stage(emission, self.name))
        return tuple(self.stages)

    def _stage(self, emission: Emission, name: str) -> Stage:
        peeled = _peel(emission.input)
        inner = replace(self, own=dict(emission.options))
        match peeled.core:
            case IntervalJoin():
                stage = inner._meeting(peeled, peeled.core, emission)
            case WindowJoin():
                stage = inner._join(peeled, peeled.core, emission)
            case Aggregate():
                stage = inner._aggregate(peeled, peeled.core, emission)
            case Windowed():
                stage = inner._window_rows(peeled, peeled.core, emission)
            case OverAggregate():
                stage = inner._over(peeled, peeled.core, emission)
            case _:
                stage = inner._stateless(emission)
        return with_dedup(replace(stage, name=name), inner.own)

    # The kinds of stages

    def _aggregate(self, peeled: "_Peeled", core: Aggregate, emission: Emission) -> Stage:
        windowed = core.input if isinstance(core.input, Windowed) else None
        below = windowed.input if windowed else core.input
        rows = _RowColumns()
        keys = tuple(Field(named.name, named.expr.type) for named in core.keys)
        aggregates = tuple(
            NamedAggregate(named.name, _over_columns(named.call, rows)) for named in core.aggregates
        )
        partition = tuple(rows.add(expr) for expr in windowed.partition_by) if windowed else ()
        inherited = (
            tuple((rows.add(expr), meaning) for expr, meaning in windowed.inherited)
            if windowed
            else ()
        )
        window = _over_row_columns(windowed.window, rows) if windowed else None
        stage = self._base(
            peeled, emission, StageKind.AGGREGATE, self._branches(below, core.keys, rows)
        )
        return _with_partials(
            replace(
                stage,
                window=window,
                keys=keys,
                aggregates=aggregates,
                partition_by=partition,
                inherited=inherited,
            )
        )

    def _window_rows(self, peeled: "_Peeled", core: Windowed, emission: Emission) -> Stage:
        rows = _RowColumns()
        partition = tuple(rows.add(expr) for expr in core.partition_by)
        window = _over_row_columns(core.window, rows)
        peeled = peeled.over(rows)
        stage = self._base(peeled, emission, StageKind.ROWS, self._branches(core.input, (), rows))
        return replace(stage, window=window, partition_by=partition)

    def _join(self, peeled: "_Peeled", core: WindowJoin, emission: Emission) -> Stage:
        columns = join_columns(core, peeled.exprs)
        peeled = peeled.renamed(columns.renamed)
        branches = tuple(
            self._branch(rows, needed)
            for side, needed in ((core.left, columns.left), (core.right, columns.right))
            for rows in self._collapse(side)
        )
        stage = self._base(peeled, emission, StageKind.JOIN, tuple(map(never_idle, branches)))
        return replace(
            stage,
            window=Inherited(),
            keys=columns.keys,
            inherited=columns.edges,
            join=columns.spec,
        )

    def _meeting(self, peeled: "_Peeled", core: IntervalJoin, emission: Emission) -> Stage:
        columns = join_columns(core, peeled.exprs)
        peeled = peeled.renamed(columns.renamed)
        branches = tuple(
            self._branch(rows, needed)
            for side, needed in ((core.left, columns.left), (core.right, columns.right))
            for rows in self._collapse(side)
        )
        # What comes out of windows comes in bursts; only the watermark beside it says whether there is more.
        upstream = WatermarkOrigin.UPSTREAM
        branches = tuple(
            never_idle(one) if one.time is not None and one.time.watermark is upstream else one
            for one in branches
        )
        stage = self._base(peeled, emission, StageKind.MEETING, branches)
        join, keys = columns.spec, columns.keys
        return replace(stage, window=core.interval, partition_by=keys, join=join)

    def _over(self, peeled: "_Peeled", core: OverAggregate, emission: Emission) -> Stage:
        rows = _RowColumns()
        aggregates: list[NamedAggregate] = []
        frames: list[FrameSpec] = []
        for frame in core.frames:
            calls = [
                NamedAggregate(named.name, _over_columns(named.call, rows))
                for named in frame.aggregates
            ]
            aggregates.extend(calls)
            partition = tuple(rows.add(expr).name for expr in frame.partition_by)
            frames.append(
                FrameSpec(
                    window=frame.window,
                    partition_by=partition,
                    aggregates=tuple(named.name for named in calls),
                )
            )
        peeled = peeled.over(rows)
        stage = self._base(
            peeled, emission, StageKind.SLIDING, self._branches(core.input, (), rows)
        )
        return _with_partials(
            replace(
                stage,
                window=core.frames[0].window,
                aggregates=tuple(aggregates),
                frames=tuple(frames),
            )
        )

    def _stateless(self, emission: Emission) -> Stage:
        columns = tuple(
            Named(column.name, Field(column.name, column.type)) for column in emission.schema
        )
        branches = tuple(self._branch(rows, columns) for rows in self._collapse(emission.input))
        peeled = _Peeled(core=emission.input, output=columns)
        return self._base(peeled, emission, StageKind.STATELESS, branches)

    def _base(
        self, peeled: "_Peeled", emission: Emission, kind: StageKind, branches: tuple[Branch, ...]
    ) -> Stage:
        return Stage(
            name=self.name,
            kind=kind,
            branches=branches,
            window=None,
            keys=(),
            partition_by=(),
            inherited=(),
            aggregates=(),
            frames=(),
            having=peeled.having,
            order=peeled.order,
            within=peeled.within,
            limit=peeled.limit,
            output=peeled.output,
            emit=emission.emit,
            stream_kind=emission.kind,
            lateness_us=emission.lateness_us,
            options=self._options(branches),
        )

    def _options(self, branches: tuple[Branch, ...]) -> tuple[tuple[str, OptionValue], ...]:
        """All that is in force for the stage; what is a source's own affair stands with its branch."""
        values = dict(self.defaults)
        for branch in branches:
            values.update(self._declared(branch.input))
        return tuple(sorted({**values, **self.own}.items()))

    def _declared(self, input: Input) -> dict[str, OptionValue]:
        """What CREATE SOURCE says of options that a query can have too."""
        if input.kind is not InputKind.SOURCE:
            return {}
        definition = self.catalog.find(input.name)
        assert isinstance(definition, SourceDef)
        return {name: value for name, value in definition.options.items() if name in OPTIONS}

    # Rows

    def _branches(
        self, node: Logical, keys: Iterable[Named], rows: _RowColumns
    ) -> tuple[Branch, ...]:
        needed = (*keys, *(Named(name, expr) for expr, name in rows.exprs.items()))
        return tuple(self._branch(branch, needed) for branch in self._collapse(node))

    def _branch(self, rows: _Rows, needed: Iterable[Named]) -> Branch:
        columns = tuple(Named(named.name, rows.resolve(named.expr)) for named in needed)
        return Branch(
            input=rows.input,
            lookups=rows.lookups,
            predicate=rows.predicate,
            time=rows.time,
            columns=columns,
        )

    def _collapse(self, node: Logical) -> list[_Rows]:
        """The branches that a tree of projections, filters, joins and unions amounts to."""
        match node:
            case Source() | StreamRef() | Emission() | StaticTable():
                return [self._input(node)]
            case Project(input=input, columns=columns):
                return [
                    replace(
                        rows, columns={named.name: rows.resolve(named.expr) for named in columns}
                    )
                    for rows in self._collapse(input)
                ]
            case Filter(input=input, predicate=predicate):
                return [
                    replace(rows, predicate=all_of(rows.predicate, rows.resolve(predicate)))
                    for rows in self._collapse(input)
                ]
            case UnionAll(inputs=parts):
                return [renamed for part in parts for renamed in self._renamed(part, node.schema)]
            case TableJoin():
                return [self._joined(rows, node) for rows in self._collapse(node.input)]
            case EventTime():
                return [self._timed(rows, node) for rows in self._collapse(node.input)]
            case _:
                raise AssertionError(node)

    def _renamed(self, part: Logical, schema: Schema) -> Iterator[_Rows]:
        """Columns of a union go by position."""
        for rows in self._collapse(part):
            columns = {
                new: rows.columns[column.name]
                for new, column in zip(schema.names, part.schema, strict=True)
            }
            yield replace(rows, columns=columns)

    def _input(self, node: Source | StreamRef | Emission | StaticTable) -> _Rows:
        schema = node.schema
        columns = {column.name: Field(column.name, column.type) for column in schema}
        if isinstance(node, Emission):
            name = self._inner(node)
            pairs = tuple((column, column) for column in schema.names)
            made = Input(
                kind=InputKind.STAGE,
                name=name,
                columns=pairs,
                originals=pairs,
                schema=schema,
                predicate=TRUE,
            )
            return _Rows(input=made, columns=columns)
        kinds = {
            Source: InputKind.SOURCE,
            StreamRef: InputKind.STREAM,
            StaticTable: InputKind.TABLE,
        }
        connector = "" if isinstance(node, StreamRef) else node.connector
        pairs = tuple(zip(schema.names, node.columns.names, strict=True))
        made = Input(
            kind=kinds[type(node)],
            name=node.name,
            columns=pairs,
            originals=pairs,
            schema=schema,
            predicate=TRUE,
            connector=connector,
        )
        return _Rows(input=made, columns=columns)

    def _inner(self, emission: Emission) -> str:
        """The name of a subquery's stage, which gets its number when those that it reads have theirs."""
        stage = self._stage(emission, self.name)
        name = f"{self.name}.{len(self.stages) + 1}"
        self.stages.append(replace(stage, name=name))
        return name

    def _joined(self, rows: _Rows, node: TableJoin) -> _Rows:
        table = self._collapse(node.table)[0]
        place = len(rows.lookups)
        visible = tuple(Named(name, expr) for name, expr in table.columns.items())
        reach = {
            **rows.columns,
            **{named.name: Field(named.name, named.expr.type) for named in visible},
        }
        both = replace(rows, columns=reach)
        lookup = TableLookup(
            table=table.input,
            columns=visible,
            on=both.resolve(node.on),
            outer=node.outer,
            matched=f"$matched{place}",
        )
        return replace(both, lookups=(*rows.lookups, lookup))

    def _timed(self, rows: _Rows, node: EventTime) -> _Rows:
        time = self._time(rows, node)
        return replace(rows, time=time, input=_with_metadata(rows.input, time))

    def _time(self, rows: _Rows, node: EventTime) -> RowTime:
        ladder = tuple(
            (step.rung, rows.resolve(step.expr)) for step in node.ladder if step.expr is not None
        )
        given = {**self.defaults, **self._declared(rows.input)}
        if node.watermark is WatermarkOrigin.UPSTREAM:  # their rows were judged where they came in
            given = {name: it for name, it in given.items() if name not in _OF_SOURCES}
        options = {**given, **self.own}
        return RowTime(
            mode=node.mode,
            ladder=ladder,
            watermark=node.watermark,
            lag_us=node.lag_us,
            on_missing=_on_missing(options, ladder),
            pre_epoch=PreEpoch(str(options.get("pre_epoch", PreEpoch.ALLOW))),
            idle_timeout_us=_duration(options, "idle_timeout"),
            max_future_skew_us=_duration(options, "max_future_skew"),
            partitioned=node.watermark is WatermarkOrigin.ROWS and _is_partitioned(rows.input),
        )


_OF_SOURCES = ("max_future_skew", "pre_epoch")


def _with_metadata(input: Input, time: RowTime) -> Input:
    """The input with what comes beside its rows: times that the ladder asks for, and their partition."""
    asked = fields_of(*(expr for _, expr in time.ladder))
    extra = [field for field in (SOURCE_TIME, UPSTREAM_TIME) if field.name in asked]
    pairs = tuple((field.name, field.name) for field in extra)
    beside = [*extra, *([PARTITION] if time.partitioned else ())]
    columns = (Column(field.name, field.type) for field in beside)
    return replace(
        input,
        columns=(*input.columns, *pairs),
        originals=(*input.originals, *((field.name, field.name) for field in beside)),
        schema=Schema((*input.schema, *columns)),
    )


def _is_partitioned(input: Input) -> bool:
    connector = find_connector(input.connector) if input.kind is InputKind.SOURCE else None
    return connector is not None and connector.partitioned


def _duration(options: Mapping[str, OptionValue], name: str) -> int | None:
    value = options.get(name)
    return value if isinstance(value, int) else None


def _on_missing(
    options: Mapping[str, OptionValue], ladder: tuple[tuple[Rung, Expr], ...]
) -> MissingEventTime:
    """By default a row falls back where a rung below its own exists, and is diverted where none does."""
    given = options.get("on_missing_event_time")
    if given is not None:
        return MissingEventTime(str(given))
    return MissingEventTime.FALLBACK if len(ladder) > 1 else MissingEventTime.DIVERT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Peeled:
    """A query's top taken apart: output, Top-N, HAVING, and the operator below them."""

    core: Logical
    output: tuple[Named, ...]
    having: Expr | None = None
    order: tuple[SortKey, ...] = ()
    within: tuple[Expr, ...] = ()
    limit: int | None = None

    def over(self, rows: _RowColumns) -> "_Peeled":
        """The same in terms of row columns, for stages whose rows cross whole."""
        return self.renamed(rows.outside)

    def renamed(self, rename: Callable[[Expr], Expr]) -> "_Peeled":
        return replace(
            self,
            output=tuple(Named(named.name, rename(named.expr)) for named in self.output),
            having=None if self.having is None else rename(self.having),
            order=tuple(replace(key, expr=rename(key.expr)) for key in self.order),
            within=tuple(map(rename, self.within)),
        )

    @property
    def exprs(self) -> Iterator[Expr]:
        yield from (named.expr for named in self.output)
        yield from (key.expr for key in self.order)
        yield from self.within
        if self.having is not None:
            yield self.having


def _peel(node: Logical) -> _Peeled:
    assert isinstance(node, (Project, UnionAll)), node
    if isinstance(node, UnionAll):
        return _Peeled(core=node, output=())
    having: Expr = TRUE
    top: TopN | None = None
    below = node.input
    while isinstance(below, (Having, TopN)):
        if isinstance(below, Having):
            having = _both(below.predicate, having)
        else:
            top = below
        below = below.input
    return _Peeled(
        core=below,
        output=node.columns,
        having=None if having == TRUE else having,
        order=top.order if top else (),
        within=top.within if top else (),
        limit=top.limit if top else None,
    )


def _both(first: Expr, then: Expr) -> Expr:
    """One filter over another: of what the first removes, nothing is computed that may fail, be it NULL there."""
    if error_of(then) == NO_ERROR:
        return all_of(first, then)
    return all_of(call("coalesce", first, FALSE, type=Scalar.BOOLEAN), then)


def _over_columns(call: AggregateCall, rows: _RowColumns) -> AggregateCall:
    """The aggregate over row columns; constants stay where they are."""

    def column(expr: Expr) -> Expr:
        return rows.add(expr) if any(isinstance(node, Field) for node in walk(expr)) else expr

    return replace(
        call,
        args=tuple(column(arg) for arg in call.args),
        filter=None if call.filter is None else column(call.filter),
        order=tuple(replace(key, expr=column(key.expr)) for key in call.order),
    )


def _over_row_columns(window: Window, rows: _RowColumns) -> Window:
    if isinstance(window, Conditional):
        return replace(window, open=rows.add(window.open), close=rows.add(window.close))
    return window


def _with_partials(stage: Stage) -> Stage:
    """Partial columns of all aggregates, equal ones shared, and how each aggregate is finished from them."""
    partials = []
    finishes = []
    for named in stage.aggregates:
        positions = []
        for spec in partials_of(named.call):
            if spec not in partials:
                partials.append(spec)
            positions.append(partials.index(spec))
        finishes.append(finish_of(named.call, positions))
    return replace(stage, partials=tuple(partials), finishes=tuple(finishes))
