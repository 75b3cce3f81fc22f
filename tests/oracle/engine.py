"""The oracle: a program of bound queries, run epoch by epoch in plain Python.

It obeys semantics.md to the letter and nothing else: it keeps every row of every open window, computes every
aggregate from its rows, and knows no panes, partials or plans. README.md lists what it had to decide by itself.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracle.arrivals import Fed, Inputs, Reader
from tests.oracle.dedup import Seen
from tests.oracle.emission import Emitter, Output
from tests.oracle.evaluate import Row, evaluate
from tests.oracle.shape import Shape, shape_of
from tests.oracle.sides import Sides
from tests.oracle.stage import Moment, Options, Stage, keeper_of
from tests.oracle.values import Values
from tests.oracle.watermarks import FOREVER, NEVER, InputClock
from tidegate.model.policies import WatermarkOrigin
from tidegate.plan.catalog import Catalog, SourceDef, TableDef
from tidegate.plan.lineage import bases
from tidegate.plan.logical import Emission, EventTime, Logical, Source, StreamRef, walk
from tidegate.plan.script import NamedQuery, Program


def input_name(base: Source | StreamRef | Emission) -> str:
    return f"#{id(base)}" if isinstance(base, Emission) else base.name.lower()


@dataclass
class Query:
    """A query with the windowed subqueries inside it, which are stages of their own."""

    name: str
    stage: Stage
    inner: "list[tuple[Emission, Query]]"
    watermark: float = NEVER

    def run(self, epoch: "Epoch") -> Output:
        made = {id(node): query.run(epoch) for node, query in self.inner}

        def emitted(node: StreamRef | Emission) -> Sequence[Fed]:
            found = made[id(node)] if isinstance(node, Emission) else epoch.made[node.name.lower()]
            return found.fed

        inputs = Inputs(epoch.sources, epoch.tables, emitted, epoch.clock_us)
        upstream = {
            input_name(base): made[id(base)].watermark
            if isinstance(base, Emission)
            else epoch.made[base.name.lower()].watermark
            for base in bases(self.stage.shape.reads)
            if not isinstance(base, Source)
        }
        moment = Moment(epoch.clock_us, epoch.before_us, epoch.explicit, upstream, epoch.ended)
        return self.stage.run(inputs, moment)

    @property
    def stages(self) -> list[Stage]:
        return [self.stage, *(stage for _, query in self.inner for stage in query.stages)]


@dataclass
class Epoch:
    """One micro-batch, or one step of a clock or a watermark. `made`: what queries emitted in it."""

    sources: dict[str, Sequence[Values]]
    tables: dict[str, list[Values]]
    clock_us: int
    before_us: int
    explicit: dict[str, float] = field(default_factory=dict)
    ended: bool = False
    made: dict[str, Output] = field(default_factory=dict)


class Oracle:
    """Runs a program. Rows are dicts of plain values; `take` gives what a stream emitted since it was asked last."""

    def __init__(self, program: Program) -> None:
        assert program.errors == [], program.errors
        self.program = program
        self.clock_us = 0
        self.ended = False
        self.tables: dict[str, list[Values]] = {}
        self.queries = [_query(query, program) for query in program.queries]
        self._fresh: dict[str, list[Values]] = {query.name.lower(): [] for query in self.queries}
        self._taken_sides: Counter[str] = Counter()
        for inserted in program.inserts:
            rows = [
                {
                    name: evaluate(expr, Row({}))
                    for name, expr in zip(inserted.columns, row, strict=True)
                }
                for row in inserted.rows
            ]
            self.insert(inserted.source, rows)

    # What a scenario does

    def insert(self, source: str, rows: Sequence[Values]) -> None:
        """One micro-batch; columns that are left out are NULL."""
        definition = self.program.catalog.find(source)
        assert isinstance(definition, (SourceDef, TableDef)), source
        whole = [{name: row.get(name) for name in definition.physical.names} for row in rows]
        if isinstance(definition, TableDef):
            self.tables.setdefault(source.lower(), []).extend(whole)
        else:
            self._epoch(sources={source.lower(): whole})

    def watermark(self, source: str, at_us: int) -> None:
        self._epoch(explicit={source.lower(): at_us})

    def clock(self, at_us: int) -> None:
        before, self.clock_us = self.clock_us, max(self.clock_us, at_us)
        self._epoch(before_us=before)

    def end(self) -> None:
        self._epoch(ended=True)

    def checkpoint(self) -> None:
        """The oracle loses nothing."""

    def restart(self) -> None:
        """The oracle loses nothing."""

    # What it makes of it

    def take(self, stream: str) -> list[Values]:
        fresh, self._fresh[stream.lower()] = self._fresh[stream.lower()], []
        return fresh

    def table(self, stream: str) -> list[Values]:
        query = next(query for query in self.queries if query.name.lower() == stream.lower())
        return list(query.stage.emitter.table.values())

    def take_side(self, kind: str) -> list[Values]:
        every = [
            record
            for query in self.queries
            for stage in query.stages
            for own, record in stage.sides.records
            if own == kind
        ]
        for query in self.queries:
            for stage in query.stages:
                stage.sides.records = [one for one in stage.sides.records if one[0] != kind]
        return every

    def check(self) -> None:
        """The conservation law."""
        for query in self.queries:
            for stage in query.stages:
                stage.sides.check()

    def _epoch(
        self,
        *,
        sources: dict[str, Sequence[Values]] | None = None,
        explicit: dict[str, float] | None = None,
        before_us: int | None = None,
        ended: bool = False,
    ) -> None:
        assert not self.ended, "input has ended"
        self.ended = ended
        before = self.clock_us if before_us is None else before_us
        explicit = dict.fromkeys(self._sources(), FOREVER) if ended else explicit or {}
        epoch = Epoch(sources or {}, self.tables, self.clock_us, before, explicit, ended)
        for query in self.queries:
            made = query.run(epoch)
            epoch.made[query.name.lower()] = made
            self._fresh[query.name.lower()] += made.rows
        self.check()

    def _sources(self) -> list[str]:
        return [definition.name.lower() for definition in self.program.catalog.all_of("source")]


_OF_SOURCES = ("max_future_skew", "pre_epoch")


def _query(query: NamedQuery, program: Program) -> Query:
    return _built(query.logical, query.name, program, stream=query.name)


def _built(emission: Emission, name: str, program: Program, *, stream: str) -> Query:
    """`stream` is what people call it, of which this may be a part."""
    shape = shape_of(emission)
    inner = [
        (base, _built(base, f"{name}.{place}", program, stream=stream))
        for place, base in enumerate(bases(shape.reads), start=1)
        if isinstance(base, Emission)
    ]
    return Query(name, _stage(shape, name, program, stream=stream), inner)


def _stage(shape: Shape, name: str, program: Program, *, stream: str) -> Stage:
    catalog, settings = program.catalog, program.settings
    own = dict(shape.emission.options)
    clocks = {}
    for node in _below(shape.reads):
        if isinstance(node, EventTime):
            base = next(bases(node))
            options = settings.in_force(own, _source_options(base, catalog))
            if node.watermark is WatermarkOrigin.UPSTREAM:  # rows were judged where they came in
                options = {it: options[it] for it in options if it in own or it not in _OF_SOURCES}
            clocks[id(node)] = InputClock(node, input_name(base), options)
    every = [option for base in bases(shape.reads) for option in _source_options(base, catalog)]
    options = settings.in_force(own, every)
    processing = any(clock.processing for clock in clocks.values())
    return Stage(
        name=name,
        shape=shape,
        options=options,
        clocks=list(clocks.values()),
        reader=Reader(shape.reads, clocks),
        keeper=keeper_of(shape, options, processing=processing),
        sides=Sides(stream, shape),
        emitter=Emitter(shape),
        seen=_seen(options),
    )


def _below(node: Logical) -> list[Logical]:
    """The nodes of one stage: not those of its subqueries' stages."""
    if isinstance(node, Emission):
        return []
    parts = [part for part in walk(node) if part is not node]
    inside = {id(deep) for part in parts if isinstance(part, Emission) for deep in walk(part)}
    return [node, *(part for part in parts if id(part) not in inside)]


def _source_options(base: Source | StreamRef | Emission, catalog: Catalog) -> list[Options]:
    if not isinstance(base, Source):
        return []
    definition = catalog.find(base.name)
    assert isinstance(definition, SourceDef)
    return [definition.options]


def _seen(options: Options) -> Seen:
    columns = str(options.get("dedup_key", ""))
    within = options.get("dedup_within")
    return Seen(
        tuple(part.strip().lower() for part in columns.split(",") if part.strip()),
        within if isinstance(within, int) else None,
    )
