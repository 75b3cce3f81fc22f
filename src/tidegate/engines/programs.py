"""What engines ask of a program as a whole: which sources it reads, and what its checkpoint belongs to."""

from collections.abc import Collection, Mapping

from tidegate.connectors.protocols import SourceReader
from tidegate.connectors.registry import open_source
from tidegate.plan.catalog import SinkDef, SourceDef
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.physical import InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.state import Identity

BY_HAND = "memory"
"""The connector of sources whose rows somebody hands over."""


def sources_of(program: Program) -> list[SourceDef]:
    """Those that a query or a sink of the program reads."""
    read = {
        branch.input.name.lower()
        for query in program.queries
        for stage in plan_query(query, program).stages
        for branch in stage.branches
        if branch.input.kind is InputKind.SOURCE
    }
    sinks = (sink for sink in program.catalog.all_of("sink") if isinstance(sink, SinkDef))
    read |= {sink.stream.lower() for sink in sinks if sink.stream}
    sources = (each for each in program.catalog.all_of("source") if isinstance(each, SourceDef))
    return [source for source in sources if source.name.lower() in read]


def open_readers(
    program: Program, *, bounded: bool | None = None, known: Collection[str] = ()
) -> Mapping[str, SourceReader]:
    """Readers of the sources that are not `known`. `bounded` True reads what is there now, False waits for more."""
    return {
        source.name.lower(): open_source(source, bounded=bounded)
        for source in sources_of(program)
        if source.connector != BY_HAND and source.name.lower() not in known
    }


def identity_of(program: Program, *, anonymous: bool = True) -> Identity:
    """What a checkpoint of the program belongs to. In a session, queries without a name come and go."""
    kept = [query for query in program.queries if anonymous or not query.anonymous]
    plans = {query.name: plan_query(query, program) for query in kept}
    return Identity(plans={name: fingerprint(plan).lines for name, plan in plans.items()})
