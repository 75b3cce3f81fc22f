"""One SELECT, bound: from its clauses to a logical plan.

In: a syntax tree in its `Surroundings`. Out: `Logical`, topped by an `Emission` where the query is windowed or
aggregated; other queries are transparent, and whoever reads them reads through them. The order of the code is the
order in which SQL gives meaning: FROM, GROUP BY and the window, time, WHERE, SELECT, HAVING, ORDER BY … LIMIT, EMIT.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import TRUE, Expr, Field, Named, SortKey, all_of
from tidegate.model.options import OptionValue
from tidegate.model.windows import Counting, Inherited
from tidegate.plan.aggregate_calls import AggregateSink
from tidegate.plan.calls import CallRules
from tidegate.plan.catalog import SourceDef
from tidegate.plan.dedup import check_keys
from tidegate.plan.diagnostics import Diagnostics
from tidegate.plan.emission import Shape, choose_emit, choose_lateness
from tidegate.plan.event_time import TimeChoice, attach_time
from tidegate.plan.expressions import Context, bind_condition
from tidegate.plan.from_clause import FromClause, bind_from
from tidegate.plan.grouping import (
    Grouped,
    Keys,
    bind_keys,
    chooses_windows,
    conjunction,
    one_window,
    split_group,
)
from tidegate.plan.grouping_sets import with_all_keys
from tidegate.plan.interval_join import is_meeting
from tidegate.plan.lineage import bases
from tidegate.plan.logical import (
    Aggregate,
    Emission,
    Filter,
    Having,
    Logical,
    OverAggregate,
    Project,
    Source,
    StreamRef,
    TopN,
    Windowed,
)
from tidegate.plan.outputs import TABLE_WINDOW_COLUMNS, Output, bind_outputs
from tidegate.plan.over import OverSink, has_over, named_windows, refuse_ranking
from tidegate.plan.passing import chosen_behind, pass_on, passes_on
from tidegate.plan.quotas import refuse_quotas
from tidegate.plan.ranking import (
    Ranking,
    RankSink,
    asked_for,
    no_window,
    ranked,
    reads_rank,
    refuse_computed_rank,
)
from tidegate.plan.retraction import refuse_changing_input
from tidegate.plan.scope import Scope
from tidegate.plan.spark_windows import with_window_in_group
from tidegate.plan.surroundings import Surroundings
from tidegate.plan.top_n import bind_order
from tidegate.plan.windows import ChosenWindow, bind_window, inherited_window
from tidegate.sql.places import span_of
from tidegate.sql.source import Span
from tidegate.sql.statements import Clauses

_UNDERSTOOD = frozenset(
    "expressions from_ joins where group having qualify order limit distinct with_ windows".split()
)


def bind_select(select: exp.Select, around: Surroundings) -> Logical:
    """The plan of one SELECT."""
    _refuse_parts(select, around)
    select = with_window_in_group(with_all_keys(select, around.settings.aggregates))
    passing = passes_on(select, around)
    clauses = around.clauses(select)
    inner = replace(around, inherited=clauses if passing else Clauses())
    binder = _SelectBinder(
        select=select, around=around, clauses=clauses, read=bind_from(select, inner)
    )
    if has_over(select) is not None:
        return binder.over()
    return binder.rows() if passing and not binder.read.windows else binder.grouped()


def _refuse_parts(select: exp.Select, around: Surroundings) -> None:
    for part, value in select.args.items():
        if value and part not in _UNDERSTOOD:
            span = (
                span_of(value, around.source, otherwise=around.span(select))
                if isinstance(value, exp.Expression)
                else around.span(select)
            )
            raise errors.not_supported(
                around.source.location(span), what=part.upper().strip("_"), instead=""
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SelectBinder:
    select: exp.Select
    around: Surroundings
    clauses: Clauses
    read: FromClause

    @property
    def span(self) -> Span:
        return self.around.span(self.select)

    @property
    def at(self) -> errors.Location:
        return self.around.source.location(self.span)

    @property
    def read_at(self) -> errors.Location:
        return self.around.source.location(self.read.span)

    @property
    def diagnostics(self) -> Diagnostics:
        return self.around.diagnostics

    def scope(self, *, windowed: bool) -> Scope:
        return Scope(
            source=self.around.source,
            inputs=self.read.scope_inputs,
            windowed=windowed,
            aggregates=self.around.settings.aggregates,
            named=frozenset(
                each.alias.lower()
                for each in self.select.expressions
                if isinstance(each, exp.Alias)
            ),
        )

    def context(
        self, clause: str, scope: Scope, rules: CallRules | RankSink | None = None
    ) -> Context:
        return Context(
            scope=scope, clause=clause, call=(rules or CallRules()).bind, within=self.span
        )

    def where(self) -> Expr:
        predicate: Expr = TRUE
        for part in self._conditions(of_windows=False):
            with self.diagnostics.catching():
                context = self.context("WHERE", self.scope(windowed=False))
                predicate = all_of(predicate, bind_condition(part, context))
        return predicate

    def _conditions(self, *, of_windows: bool) -> list[exp.Expression]:
        """Of a table function's windows, WHERE may choose, too: which rows and which windows are two questions."""
        clause = self.select.args.get("where")
        if clause is None:
            return []
        if not self.read.windows:
            return [] if of_windows else [clause.this]
        scope = self.scope(windowed=False)
        parts = conjunction(clause.this)
        return [part for part in parts if chooses_windows(part, scope) == of_windows]

    # The three shapes of a query

    def rows(self) -> Logical:
        """Neither window nor aggregates: rows are passed on."""
        scope = self.scope(windowed=False)
        predicate = self.where()
        sink = RankSink(rules=CallRules(), named=named_windows(self.select))
        outputs = bind_outputs(self.select, self.context("SELECT", scope, sink), self.diagnostics)
        order, limit = self._order(outputs, scope, CallRules())
        ranking = self._ranking(sink, outputs, scope, limited=limit is not None)
        self.diagnostics.raise_first()
        columns = tuple(output.named for output in outputs)
        unbounded = is_meeting(self.read.node) and (limit is not None or ranking is not None)
        if isinstance(self.read.node, Emission) and not unbounded:
            predicate, behind = chosen_behind(self.read.node, predicate)
            if behind != TRUE and limit is None and ranking is None:
                limited = self._limited(self.read.node, predicate)
                return Project(input=Filter(input=limited, predicate=behind), columns=columns)
            return pass_on(
                self.read.node,
                columns=columns,
                predicate=all_of(predicate, behind),
                order=order,
                limit=limit,
                ranking=ranking,
                at=self.at,
            )
        if ranking is not None:
            raise no_window(ranking.at)
        if limit is not None:
            instead = "add a window to GROUP BY: the first rows of each window are well defined"
            raise errors.top_n_incomplete(
                self.at, clause="LIMIT", missing="a window", instead=instead
            )
        refuse_changing_input(self.read.node, (), at=self.read_at)
        check_keys(self.clauses, self.read.node, self.around.source)
        node = (
            self.read.node
            if predicate == TRUE
            else Filter(input=self.read.node, predicate=predicate)
        )
        return Project(input=node, columns=columns)

    def _limited(self, inner: Emission, predicate: Expr) -> Emission:
        """The inner query with as many rows of each window as the condition says."""
        every = tuple(
            Named(column.name, Field(column.name, column.type)) for column in inner.schema
        )
        return pass_on(
            inner,
            columns=every,
            predicate=predicate,
            order=(),
            limit=None,
            ranking=None,
            at=self.at,
        )

    def over(self) -> Logical:
        """Each row with aggregates of its own frames."""
        self._refuse_beside_over()
        scope = self.scope(windowed=False)
        predicate = self.where()
        sink = OverSink(named=named_windows(self.select))
        context = Context(scope=scope, clause="SELECT", call=sink.bind, within=self.span)
        outputs = bind_outputs(self.select, context, self.diagnostics)
        self.diagnostics.raise_first()
        frames = sink.frames()
        node = self._timed(
            ChosenWindow(window=frames[0].window, syntax=None, time=sink.time), predicate
        )
        node = OverAggregate(input=node, frames=frames)
        shape = self._shape(
            node,
            ChosenWindow(window=frames[0].window, syntax=None, time=sink.time),
            aggregated=False,
            over=True,
        )
        refuse_changing_input(self.read.node, (), at=self.read_at)
        return self._emit(
            Project(input=node, columns=tuple(output.named for output in outputs)), shape
        )

    def grouped(self) -> Logical:
        """Windowed, aggregated, or both."""
        grouping = None
        with self.diagnostics.catching():
            grouping = self._grouping()
        predicate = self.where()
        if grouping is None:
            self._look_at_outputs()
            self.diagnostics.raise_first()
        assert grouping is not None
        keys, chosen, keyed = grouping
        node = self._timed(chosen, predicate)
        return self._finish(node, chosen, keys, items_present=keyed)

    def _grouping(self) -> tuple[Keys, ChosenWindow | None, bool]:
        """Keys, the window if there is one, and whether anything but the window is grouped by."""
        items = split_group(self.select, self.around.source)
        written = (self.clauses.window,) if self.clauses.window else ()
        syntax = one_window((*written, *items.windows, *self.read.windows), self.around.source)
        context = self.context("GROUP BY", self.scope(windowed=False))
        keys = bind_keys(
            items, context, node=self.read.node, select=self.select, windowed=syntax is not None
        )
        if syntax is None:
            return keys, inherited_window(keys), bool(items.keys)
        options = self.options(self._sources())
        return keys, bind_window(syntax, context, keys, options=options), bool(items.keys)

    def _look_at_outputs(self) -> None:
        """After a refused GROUP BY: what else is wrong in the SELECT list, as far as that can be told."""
        rules = CallRules(aggregates=AggregateSink())
        bind_outputs(
            self.select, self.context("SELECT", self.scope(windowed=True), rules), self.diagnostics
        )

    def _finish(
        self, node: Logical, chosen: ChosenWindow | None, keys: Keys, *, items_present: bool
    ) -> Logical:
        sink = AggregateSink()
        scope = self.scope(windowed=chosen is not None and not isinstance(chosen.window, Inherited))
        rules = CallRules(aggregates=sink, window=chosen.syntax if chosen else None)
        ranks = RankSink(rules=rules, named=named_windows(self.select))
        star = TABLE_WINDOW_COLUMNS if self.read.windows else ()
        outputs = bind_outputs(
            self.select, self.context("SELECT", scope, ranks), self.diagnostics, star_adds=star
        )
        scope.aliases = {output.name.lower(): output.expr for output in outputs}
        having = self._having(scope, rules)
        self.diagnostics.raise_first()
        order, limit = self._order(outputs, scope, rules)
        ranking = self._ranking(ranks, outputs, scope, limited=limit is not None, having=having)
        aggregated = bool(sink.calls or items_present or self.select.args.get("distinct"))
        if self.select.args.get("having") and not aggregated:
            raise errors.having_without_aggregate(self._place("having"))
        if self.select.args.get("distinct"):
            keys = self._distinct(outputs, keys, sink)
        grouped = Grouped(
            keys=keys.over_groups(),
            scope=scope,
            within=self.span,
            windowed=chosen is not None,
        )
        if aggregated:
            outputs, having = self._over_groups(outputs, having, grouped)
            order = tuple(replace(key, expr=grouped.over_groups(key.expr)) for key in order)
            ranking = None if ranking is None else ranking.renamed(grouped.over_groups)
        self.diagnostics.raise_first()
        refuse_changing_input(
            self.read.node,
            [named.call for named in sink.calls] if aggregated else (),
            at=self.read_at,
            window=chosen.window if chosen else None,
        )
        top = self._operators(node, chosen, keys if aggregated else None, sink, having)
        if limit is not None:
            top = self._top_n(top, order, limit, chosen)
        if ranking is not None:
            top = ranked(top, ranking)
        shape = self._shape(top, chosen, aggregated=aggregated, over=False)
        return self._emit(
            Project(input=top, columns=tuple(output.named for output in outputs)), shape
        )

    def _over_groups(
        self, outputs: list[Output], having: Expr | None, grouped: Grouped
    ) -> tuple[list[Output], Expr | None]:
        rewritten: list[Output] = []
        for output in outputs:
            with self.diagnostics.catching():
                rewritten.append(replace(output, expr=grouped.over_groups(output.expr)))
        self.diagnostics.drop_repeated()
        with self.diagnostics.catching():
            having = None if having is None else grouped.over_groups(having)
        return rewritten, having

    def _operators(
        self,
        node: Logical,
        chosen: ChosenWindow | None,
        keys: Keys | None,
        sink: AggregateSink,
        having: Expr | None,
    ) -> Logical:
        if chosen is not None:
            node = Windowed(
                input=node,
                window=chosen.window,
                partition_by=chosen.partition_by,
                inherited=keys.inherited if keys else (),
            )
        if keys is not None:
            node = Aggregate(input=node, keys=keys.named, aggregates=tuple(sink.calls))
        return node if having is None else Having(input=node, predicate=having)

    def _distinct(self, outputs: Iterable[Output], keys: Keys, sink: AggregateSink) -> Keys:
        """SELECT DISTINCT a, b is GROUP BY a, b."""
        if sink.calls or keys.named or self.select.args["distinct"].args.get("on"):
            raise errors.not_supported(
                self.at, what="DISTINCT beside GROUP BY or aggregates", instead="leave DISTINCT out"
            )
        exprs = dict.fromkeys(output.expr for output in outputs)
        row_keys = [expr for expr in exprs if not _is_window_column(expr)]
        return Keys(
            tuple(Named(f"$k{place}", expr) for place, expr in enumerate(row_keys)), keys.inherited
        )

    # Parts

    def _refuse_beside_over(self) -> None:
        beside = [
            clause
            for clause in ("group", "having", "qualify", "distinct", "order", "limit")
            if self.select.args.get(clause)
        ]
        if self.clauses.window or self.read.windows:
            beside.append("a window")
        if beside:
            over = has_over(self.select)
            assert over is not None
            refuse_ranking(over, self.context("SELECT", self.scope(windowed=False)))
            span = span_of(over, self.around.source, otherwise=self.span)
            other = {"group": "GROUP BY", "order": "ORDER BY"}.get(
                beside[0], beside[0].upper() if beside[0] != "a window" else beside[0]
            )
            raise errors.over_mixed(self.around.source.location(span), other=other)

    def _place(self, part: str) -> errors.Location:
        clause = self.select.args[part]
        return self.around.source.location(span_of(clause, self.around.source, otherwise=self.span))

    def _having(self, scope: Scope, rules: CallRules) -> Expr | None:
        clause = self.select.args.get("having")
        conditions = [("WHERE", part) for part in self._conditions(of_windows=True)]
        if clause is not None:
            conditions.append(("HAVING", clause.this))
        bound: list[Expr] = []
        for name, condition in conditions:
            with self.diagnostics.catching():
                bound.append(bind_condition(condition, self.context(name, scope, rules)))
        return all_of(*bound) if bound else None

    def _order(
        self, outputs: list[Output], scope: Scope, rules: CallRules
    ) -> tuple[tuple[SortKey, ...], int | None]:
        scope.aliases = {output.name.lower(): output.expr for output in outputs}
        return bind_order(self.select, outputs, self.context("ORDER BY", scope, rules))

    def _top_n(
        self, node: Logical, order: tuple[SortKey, ...], limit: int, chosen: ChosenWindow | None
    ) -> Logical:
        if chosen is None:
            instead = "add a window to GROUP BY: the first rows of each window are well defined"
            raise errors.top_n_incomplete(
                self._place("limit"), clause="ORDER BY … LIMIT", missing="a window", instead=instead
            )
        return TopN(input=node, order=order, limit=limit)

    def _ranking(
        self,
        sink: RankSink,
        outputs: list[Output],
        scope: Scope,
        *,
        limited: bool,
        having: Expr | None = None,
    ) -> Ranking | None:
        """What ROW_NUMBER numbers the rows by; nothing else in the query may ask for the number."""
        ranking = asked_for(self.select, sink, self.context("SELECT", scope))
        if ranking is None:
            return None
        if limited or self.select.args.get("distinct") or (having and reads_rank(having)):
            instead = "write WHERE rn <= n, DISTINCT or ORDER BY … LIMIT in a query around this one"
            what = "ROW_NUMBER() beside DISTINCT, ORDER BY … LIMIT or HAVING on it"
            raise errors.not_supported(ranking.at, what=what, instead=instead)
        refuse_computed_rank((output.expr for output in outputs), ranking.at)
        return ranking

    def _timed(self, chosen: ChosenWindow | None, predicate: Expr) -> Logical:
        options = self.options(self._sources())
        own = self.options(())
        lag = (
            self.clauses.watermark.lag.value_us
            if self.clauses.watermark
            else own.get("watermark_lag")
        )
        choice = TimeChoice(
            expr=chosen.time if chosen else None,
            lag_us=lag if isinstance(lag, int) else None,
            options=options,
        )
        node = attach_time(self.read.node, choice, self.around.catalog)
        return node if predicate == TRUE else Filter(input=node, predicate=predicate)

    def options(self, sources: Iterable[dict[str, OptionValue]]) -> dict[str, OptionValue]:
        """Options in force; without sources and defaults, those that the query itself or its section sets."""
        own = self.around.own_options(self.clauses)
        given = list(sources)
        return self.around.settings.in_force(own, given) if given else own

    def _sources(self) -> list[dict[str, OptionValue]]:
        definitions = [
            self.around.catalog.find(base.name)
            for base in bases(self.read.node)
            if isinstance(base, Source)
        ]
        return [
            definition.options for definition in definitions if isinstance(definition, SourceDef)
        ] or [{}]

    def _shape(
        self, node: Logical, chosen: ChosenWindow | None, *, aggregated: bool, over: bool
    ) -> Shape:
        names = [
            base.name for base in bases(self.read.node) if isinstance(base, (Source, StreamRef))
        ]
        return Shape(
            window=chosen.window if chosen else None,
            spelling=chosen.syntax if chosen else None,
            aggregated=aggregated,
            over=over,
            node=node,
            reads=names[0] if names else "the subquery",
            time_column=_time_name(chosen),
        )

    def _emit(self, node: Logical, shape: Shape) -> Emission:
        check_keys(self.clauses, self.read.node, self.around.source)
        emit, kind = choose_emit(self.clauses, shape, self.around.source, fallback=self.span)
        in_force = self.options(self._sources())
        refuse_quotas(
            shape.window, self.clauses, in_force, source=self.around.source, fallback=self.span
        )
        option = in_force.get("allowed_lateness", 0)
        option_us = (
            option if isinstance(option, int) and not isinstance(shape.window, Counting) else 0
        )
        lateness_us = choose_lateness(
            self.clauses,
            shape,
            emit,
            option_us=option_us,
            source=self.around.source,
            fallback=self.span,
        )
        return Emission(
            input=node,
            emit=emit,
            kind=kind,
            lateness_us=lateness_us,
            options=tuple(sorted(self.options(()).items())),
        )


def _time_name(chosen: ChosenWindow | None) -> str:
    time = chosen.syntax.time if chosen and chosen.syntax else None
    return time.name if isinstance(time, exp.Column) and time.name else "ts"


def _is_window_column(expr: Expr) -> bool:
    return getattr(expr, "name", "").startswith("$window_")
