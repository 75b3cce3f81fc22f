"""Where the rows of a program come from."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidegate.connectors.protocols import SourceReader
from tidegate.connectors.registry import open_source
from tidegate.plan.catalog import SinkDef, SourceDef
from tidegate.plan.event_time import SOURCE_TIME
from tidegate.plan.physical import InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program

BATCH_ROWS = 1_000_000
DATAFRAME = "dataframe"  # what a job that we are attached to hands over
BY_HAND_CONNECTORS = ("memory", DATAFRAME)


def _nothing(_program: Program) -> Mapping[str, SourceReader]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Readers of sources, by lower-case name. `open` gives those of a program, unless `readers` says which.

    `batch_rows` is how many rows of a source an epoch reads at most, about.
    """

    readers: Mapping[str, SourceReader] = field(default_factory=dict)
    open: Callable[[Program], Mapping[str, SourceReader]] = _nothing
    batch_rows: int = BATCH_ROWS


BY_HAND = Inputs()


def polled(*, bounded: bool | None, batch_rows: int | None = None) -> Inputs:
    """Every source by its connector. `bounded` True reads what is there now, False waits for more."""

    def open_readers(program: Program) -> Mapping[str, SourceReader]:
        return {
            source.name.lower(): open_source(source, bounded=bounded)
            for source in sources_of(program)
            if source.connector not in BY_HAND_CONNECTORS
        }

    return Inputs(open=open_readers, batch_rows=batch_rows or BATCH_ROWS)


def sources_of(program: Program) -> list[SourceDef]:
    """Those that a query or a sink of the program reads."""
    sinks = (sink for sink in program.catalog.all_of("sink") if isinstance(sink, SinkDef))
    read = {*uses_of(program), *(sink.stream.lower() for sink in sinks if sink.stream)}
    sources = (each for each in program.catalog.all_of("source") if isinstance(each, SourceDef))
    return [source for source in sources if source.name.lower() in read]


def uses_of(program: Program) -> Counter[str]:
    """How many branches of queries read each source, by lower-case name."""
    return Counter(
        branch.input.name.lower()
        for query in program.queries
        for stage in plan_query(query, program).stages
        for branch in stage.branches
        if branch.input.kind is InputKind.SOURCE
    )


def dated_by_source(program: Program) -> frozenset[str]:
    """Sources that a branch asks for the time of their rows, which is beside them, by lower-case name."""
    return frozenset(
        branch.input.name.lower()
        for query in program.queries
        for stage in plan_query(query, program).stages
        for branch in stage.branches
        if SOURCE_TIME.name in (physical for _, physical in branch.input.columns)
    )
